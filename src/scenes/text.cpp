// SPDX-License-Identifier: BSD-3-Clause
#include <type_traits>

#include "core/number_text.hpp"
#include "io/text.hpp"
#include "quadrat/io/brownian_scene.hpp"
#include "quadrat/io/circles_scene.hpp"
#include "quadrat/io/electrolyte_scene.hpp"
#include "quadrat/io/friction_scene.hpp"
#include "quadrat/io/scene.hpp"
#include "quadrat/io/srd_scene.hpp"

namespace quadrat::io {
namespace {

/// Visitor that prints each key on a line; the numbers keep all their digits.
class key_printer {
 public:
  template <typename T>
  void operator()(std::string_view table, std::string_view key, const std::optional<T>& value) {
    if (value) (*this)(table, key, *value);
  }
  template <typename T>
  void operator()(std::string_view table, std::string_view key, const T& value) {
    text_ += message(table, '.', key, " = ");
    print(value);
    text_ += '\n';
  }

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  template <typename T>
  void print(const std::array<T, 3>& v) {
    const char* before = "[";
    for (const T& one : v) {
      text_ += before;
      print(one);
      before = ", ";
    }
    text_ += ']';
  }
  void print(const std::vector<frame_file_format>& formats) {
    const char* before = "[";
    for (const frame_file_format one : formats) {
      text_ += before;
      print(one);
      before = ", ";
    }
    text_ += ']';
  }
  void print(const std::vector<granular_wall>& walls) {
    text_ += '[';
    for (std::size_t k = 0; k < walls.size(); ++k) {
      text_ += k > 0 ? ", {point = " : "{point = ";
      print(walls[k].point);
      text_ += ", normal = ";
      print(walls[k].normal);
      if (walls[k].opening) {
        text_ += ", opening = {center = ";
        print(walls[k].opening->center);
        text_ += ", radius = ";
        print(walls[k].opening->radius);
        text_ += '}';
      }
      text_ += '}';
    }
    text_ += ']';
  }
  void print(const std::vector<ion_kind>& kinds) {
    text_ += '[';
    for (std::size_t k = 0; k < kinds.size(); ++k) {
      text_ += message(k > 0 ? ", {count = " : "{count = ", kinds[k].count, ", charge = ");
      print(kinds[k].charge);
      text_ += ", mass = ";
      print(kinds[k].mass);
      text_ += ", diameter = ";
      print(kinds[k].diameter);
      text_ += '}';
    }
    text_ += ']';
  }
  void print(bool value) { text_ += value ? "true" : "false"; }
  void print(const std::string& value) { text_ += message('"', value, '"'); }
  template <typename T>
  void print(const T& value) {
    if constexpr (std::is_enum_v<T>) {
      text_ += message('"', name_of(value), '"');
    } else if constexpr (std::is_floating_point_v<T>) {
      text_ += full_number_text(value);
    } else {
      text_ += message(value);
    }
  }

  std::string text_;
};

using lines = std::map<std::string, std::string, std::less<>>;

lines lines_of(std::string_view text) {
  lines result;
  for (line_reader in(text); in.next();) {
    const std::string_view line = in.line();
    const auto equals = line.find(" = ");
    if (equals != std::string_view::npos) result[std::string(line.substr(0, equals))] = line.substr(equals + 3);
  }
  return result;
}

const std::string& value_in(const lines& all, const std::string& key) {
  static const std::string none;
  const auto found = all.find(key);
  return found == all.end() ? none : found->second;
}

bool matters(std::string_view key, std::string_view level) {
  const std::string_view table = key.substr(0, key.find('.'));
  if (table == "output" || table == "camera" || key == "scene.name") return false;
  for (const std::string_view one : {"run.steps", "run.threads", "run.sort_every", "grid.capacity"}) {
    if (key == one) return false;
  }
  if (key == "run.device") return level != "\"none\"";
  if (key == "run.method" || key == "run.sums" || table == "search") return level == "\"run_to_run\"";
  return true;
}

template <typename Scene>
std::string text_of(const Scene& scene) {
  key_printer printer;
  visit_keys(scene, printer);
  return printer.text();
}

}  // namespace

std::string to_text(const granular_scene& scene) { return text_of(scene); }
std::string to_text(const friction_scene& scene) { return text_of(scene); }
std::string to_text(const brownian_scene& scene) { return text_of(scene); }
std::string to_text(const circles_scene& scene) { return text_of(scene); }
std::string to_text(const srd_scene& scene) { return text_of(scene); }
std::string to_text(const electrolyte_scene& scene) { return text_of(scene); }

std::optional<scene_difference> first_difference(std::string_view stored, std::string_view asked) {
  const lines before = lines_of(stored);
  const lines now = lines_of(asked);
  const std::string level = value_in(now, "run.deterministic");
  for (const std::string key : {"scene.model", "physics.law"}) {
    const std::string& old_value = value_in(before, key);
    const std::string& value = value_in(now, key);
    if (old_value != value) return scene_difference{key, old_value, value};
  }
  std::optional<scene_difference> first;
  const auto compare = [&](std::string_view table, std::string_view key, const auto&) {
    const std::string name = message(table, ".", key);
    const std::string& old_value = value_in(before, name);
    const std::string& new_value = value_in(now, name);
    if (!first && matters(name, level) && old_value != new_value) first = {name, old_value, new_value};
  };
  const std::string model = value_in(now, "scene.model");
  const auto compare_all = [&](const auto& keys) { visit_keys(keys, compare); };
  if (model == "\"brownian\"") {
    compare_all(brownian_scene{});
  } else if (model == "\"circles\"") {
    compare_all(circles_scene{});
  } else if (model == "\"srd\"") {
    compare_all(srd_scene{});
  } else if (model == "\"electrolyte\"") {
    compare_all(electrolyte_scene{});
  } else if (value_in(now, "physics.law") != "\"springs\"") {
    compare_all(friction_scene{});
  } else {
    compare_all(granular_scene{});
  }
  return first;
}

}  // namespace quadrat::io
