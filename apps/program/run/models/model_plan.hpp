// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "program/device.hpp"
#include "program/run/plan.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/io/electrolyte_scene.hpp"
#include "quadrat/io/friction_scene.hpp"

namespace quadrat::program {

/// Visitor that writes each key of a scene to its table.
class settings_writer {
 public:
  explicit settings_writer(nlohmann::ordered_json& out) : out_(out) {}

  template <typename T>
  void operator()(std::string_view table, std::string_view key, const T& value) {
    nlohmann::ordered_json& entries = out_[std::string(table)];
    if (entries.is_null()) entries = nlohmann::ordered_json::object();  // see array_json
    entries[std::string(key)] = as_value(value);
  }

 private:
  template <typename T>
  static nlohmann::ordered_json as_value(const std::optional<T>& value) {
    return value ? as_value(*value) : nlohmann::ordered_json();
  }
  static nlohmann::ordered_json as_value(const std::vector<io::frame_file_format>& formats) {
    nlohmann::ordered_json result = nlohmann::ordered_json::array();
    for (const io::frame_file_format one : formats) result.push_back(io::name_of(one));
    return result;
  }
  template <io::scene_record Record>
  static nlohmann::ordered_json as_value(const std::vector<Record>& records) {
    nlohmann::ordered_json result = nlohmann::ordered_json::array();
    for (const Record& record : records) {
      nlohmann::ordered_json one = nlohmann::ordered_json::object();
      visit_members(record, [&](std::string_view key, const auto& member) {
        if (auto value = as_value(member); !value.is_null()) one[std::string(key)] = std::move(value);
      });
      result.push_back(one);
    }
    return result;
  }
  static nlohmann::ordered_json as_value(const std::vector<io::scene_wall>& walls) {
    nlohmann::ordered_json result = nlohmann::ordered_json::array();
    for (const io::scene_wall& wall : walls) {
      nlohmann::ordered_json one{{"point", wall.point}, {"normal", wall.normal}};
      if (wall.opening) one["opening"] = {{"center", wall.opening->center}, {"radius", wall.opening->radius}};
      if (!wall.material_name.empty()) one["material"] = wall.material_name;
      result.push_back(one);
    }
    return result;
  }
  static nlohmann::ordered_json as_value(const std::vector<io::ion_kind>& kinds) {
    nlohmann::ordered_json result = nlohmann::ordered_json::array();
    for (const io::ion_kind& kind : kinds) {
      result.push_back(
          {{"count", kind.count}, {"charge", kind.charge}, {"mass", kind.mass}, {"diameter", kind.diameter}});
    }
    return result;
  }
  template <typename T>
  static nlohmann::ordered_json as_value(const std::array<T, 3>& values) {
    return {as_value(values[0]), as_value(values[1]), as_value(values[2])};
  }
  template <typename T>
  static nlohmann::ordered_json as_value(const T& value) {
    if constexpr (std::is_enum_v<T>) {
      return io::name_of(value);
    } else {
      return value;
    }
  }

  nlohmann::ordered_json& out_;
};

/// Puts option values into a scene, and remembers their source: `option` is the one on the command line.
template <typename Scene>
class overrides {
 public:
  overrides(const run_options& options, io::scene_file<Scene>& file) : options_(options), file_(file) {}

  template <typename T>
  void apply(const std::optional<T>& given, T& member, const std::string& key, const std::string& option) {
    if (!given) return;
    member = *given;
    file_.places.set(key, options_.named(option));
  }

  template <typename Enum>
  void apply_name(const std::optional<std::string>& given, Enum& member, const std::string& key,
                  const std::string& option) {
    if (!given) return;
    member = named<Enum>(*given);
    file_.places.set(key, options_.named(option));
  }

  /// Several distinct values; none: the scene's values stay.
  template <typename Enum>
  void apply_names(const std::vector<std::string>& given, std::vector<Enum>& member, const std::string& key,
                   const std::string& option) {
    if (given.empty()) return;
    member.clear();
    for (const std::string& name : given) {
      const Enum value = named<Enum>(name);
      require(std::ranges::find(member, value) == member.end(), options_.named(option), " names ", name, " twice");
      member.push_back(value);
    }
    file_.places.set(key, options_.named(option));
  }

 private:
  /// The value is valid: the parser has checked it against the same names.
  template <typename Enum>
  [[nodiscard]] static Enum named(const std::string& name) {
    const auto& names = io::names_of<Enum>;
    return static_cast<Enum>(std::find(names.begin(), names.end(), name) - names.begin());
  }

  const run_options& options_;
  io::scene_file<Scene>& file_;
};

template <typename Scene>
overrides<Scene> apply_common(const run_options& options, io::scene_file<Scene>& file) {
  Scene& scene = file.scene;
  overrides<Scene> given(options, file);
  given.apply_name(options.device, scene.run.device, "run.device", "--device");
  given.apply_name(options.deterministic, scene.run.deterministic, "run.deterministic", "--deterministic");
  given.apply_name(options.precision, scene.run.precision, "run.precision", "--precision");
  given.apply(options.output, scene.output.directory, "output.directory", "--output");
  given.apply(options.frame_every, scene.output.frame_every, "output.frame_every", "--frame-every");
  given.apply(options.statistics_every, scene.output.statistics_every, "output.statistics_every", "--statistics-every");
  given.apply_names(options.frame_format, scene.output.frame_format, "output.frame_format", "--frame-format");
  given.apply(options.steps, scene.run.steps, "run.steps", "--steps");
  given.apply(options.threads, scene.run.threads, "run.threads", "--threads");
  if constexpr (requires { scene.run.autotune; }) {
    given.apply(options.autotune, scene.run.autotune, "run.autotune", "--no-autotune");
  } else {
    require(!options.autotune, options.named("--no-autotune"), ": the model ", scene.scene.model, " times no methods");
  }
  return given;
}

}  // namespace quadrat::program
