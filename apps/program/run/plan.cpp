// SPDX-License-Identifier: BSD-3-Clause
#include "program/run/plan.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

#include "program/device.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/io/brownian_scene.hpp"
#include "quadrat/io/circles_scene.hpp"
#include "quadrat/io/electrolyte_scene.hpp"
#include "quadrat/io/friction_scene.hpp"
#include "quadrat/io/srd_scene.hpp"
#include "quadrat/models/granular.hpp"

namespace quadrat::program {
namespace {

using json = nlohmann::ordered_json;

/// Visitor that puts each key of a scene into its table.
class settings_writer {
 public:
  explicit settings_writer(json& out) : out_(out) {}

  template <typename T>
  void operator()(std::string_view table, std::string_view key, const T& value) {
    json& entries = out_[std::string(table)];
    if (entries.is_null()) entries = json::object();  // see array_json
    entries[std::string(key)] = as_value(value);
  }

 private:
  template <typename T>
  static json as_value(const std::optional<T>& value) {
    return value ? as_value(*value) : json();
  }
  static json as_value(const std::vector<io::frame_file_format>& formats) {
    json result = json::array();
    for (const io::frame_file_format one : formats) result.push_back(io::name_of(one));
    return result;
  }
  static json as_value(const std::vector<granular_wall>& walls) {
    json result = json::array();
    for (const granular_wall& wall : walls) {
      json one{{"point", wall.point}, {"normal", wall.normal}};
      if (wall.opening) one["opening"] = {{"center", wall.opening->center}, {"radius", wall.opening->radius}};
      result.push_back(one);
    }
    return result;
  }
  static json as_value(const std::vector<io::ion_kind>& kinds) {
    json result = json::array();
    for (const io::ion_kind& kind : kinds) {
      result.push_back(
          {{"count", kind.count}, {"charge", kind.charge}, {"mass", kind.mass}, {"diameter", kind.diameter}});
    }
    return result;
  }
  template <typename T>
  static json as_value(const std::array<T, 3>& values) {
    return {as_value(values[0]), as_value(values[1]), as_value(values[2])};
  }
  template <typename T>
  static json as_value(const T& value) {
    if constexpr (std::is_enum_v<T>) {
      return io::name_of(value);
    } else {
      return value;
    }
  }

  json& out_;
};

/// The methods that run on the device of the scene, and the one that it names: if that runs elsewhere, the model says
/// so.
std::vector<std::string_view> granular_method_names(const io::granular_scene& scene) {
  const bool cuda = resolved(scene.run.device) == io::device_choice::cuda;
  std::vector<std::string_view> names{"auto"};
  for (const granular_method& method : granular_methods()) {
    if ((cuda ? method.on_cuda : method.on_cpu) || method.name == scene.run.method) names.push_back(method.name);
  }
  return names;
}

/// Puts values of options into a scene and remembers where they came from.
template <typename Scene>
class overrides {
 public:
  explicit overrides(io::scene_file<Scene>& file) : file_(file) {}

  template <typename T>
  void apply(const std::optional<T>& given, T& member, const std::string& key, const std::string& option) {
    if (!given) return;
    member = *given;
    file_.places.set(key, option);
  }

  template <typename Enum>
  void apply_name(const std::optional<std::string>& given, Enum& member, const std::string& key,
                  const std::string& option) {
    if (!given) return;
    member = named<Enum>(*given);
    file_.places.set(key, option);
  }

  /// Several values, each once; none given: those of the scene.
  template <typename Enum>
  void apply_names(const std::vector<std::string>& given, std::vector<Enum>& member, const std::string& key,
                   const std::string& option) {
    if (given.empty()) return;
    member.clear();
    for (const std::string& name : given) {
      const Enum value = named<Enum>(name);
      require(std::ranges::find(member, value) == member.end(), option, " names ", name, " twice");
      member.push_back(value);
    }
    file_.places.set(key, option);
  }

 private:
  /// The command line was checked against the same list when it was read.
  template <typename Enum>
  [[nodiscard]] static Enum named(const std::string& name) {
    const auto& names = io::names_of<Enum>;
    return static_cast<Enum>(std::find(names.begin(), names.end(), name) - names.begin());
  }

  io::scene_file<Scene>& file_;
};

template <typename Scene>
overrides<Scene> apply_common(const run_options& options, io::scene_file<Scene>& file) {
  Scene& scene = file.scene;
  overrides<Scene> given(file);
  given.apply_name(options.device, scene.run.device, "run.device", "--device");
  given.apply_name(options.deterministic, scene.run.deterministic, "run.deterministic", "--deterministic");
  given.apply_name(options.precision, scene.run.precision, "run.precision", "--precision");
  given.apply(options.output, scene.output.directory, "output.directory", "--output");
  given.apply_names(options.frame_format, scene.output.frame_format, "output.frame_format", "--frame-format");
  given.apply(options.steps, scene.run.steps, "run.steps", "--steps");
  given.apply(options.threads, scene.run.threads, "run.threads", "--threads");
  return given;
}

io::granular_scene load_granular(const run_options& options) {
  io::granular_scene_file file = io::read_granular_scene(options.scene);
  io::granular_scene& scene = file.scene;
  overrides given = apply_common(options, file);
  given.apply(options.method, scene.run.method, "run.method", "--method");
  given.apply(options.particles, scene.particles.count, "particles.count", "--particles");
  given.apply(options.seed, scene.particles.seed, "particles.seed", "--seed");
  io::check(scene, file.places, granular_method_names(scene));
  io::complete(scene, file.places);
  return scene;
}

io::friction_scene load_friction(const run_options& options) {
  io::friction_scene_file file = io::read_friction_scene(options.scene);
  io::friction_scene& scene = file.scene;
  overrides given = apply_common(options, file);
  require(!options.method || *options.method == "auto",
          "--method: grains with friction have one way to find neighbors");
  given.apply(options.particles, scene.particles.count, "particles.count", "--particles");
  given.apply(options.seed, scene.particles.seed, "particles.seed", "--seed");
  io::check(scene, file.places);
  io::complete(scene, file.places);
  return scene;
}

io::brownian_scene load_brownian(const run_options& options) {
  io::brownian_scene_file file = io::read_brownian_scene(options.scene);
  io::brownian_scene& scene = file.scene;
  overrides given = apply_common(options, file);
  given.apply(options.method, scene.hydrodynamics.method, "hydrodynamics.method", "--method");
  given.apply(options.particles, scene.particles.count, "particles.count", "--particles");
  given.apply(options.seed, scene.particles.seed, "particles.seed", "--seed");
  io::check(scene, file.places);
  io::complete(scene, file.places);
  return scene;
}

io::circles_scene load_circles(const run_options& options) {
  io::circles_scene_file file = io::read_circles_scene(options.scene);
  io::circles_scene& scene = file.scene;
  overrides given = apply_common(options, file);
  given.apply(options.method, scene.search.order, "search.order", "--method");
  if (options.particles) {
    scene.agents.count = *options.particles;
    scene.agents.density.reset();
    file.places.set("agents.count", "--particles");
  }
  given.apply(options.seed, scene.agents.seed, "agents.seed", "--seed");
  io::check(scene, file.places);
  io::complete(scene, file.places);
  return scene;
}

io::srd_scene load_srd(const run_options& options) {
  io::srd_scene_file file = io::read_srd_scene(options.scene);
  io::srd_scene& scene = file.scene;
  overrides given = apply_common(options, file);
  require(!options.method || *options.method == "auto", "--method: the SRD fluid has no neighbors to find");
  if (options.particles) {
    scene.particles.count = *options.particles;
    scene.particles.per_cell.reset();
    file.places.set("particles.count", "--particles");
  }
  given.apply(options.seed, scene.particles.seed, "particles.seed", "--seed");
  io::check(scene, file.places);
  io::complete(scene, file.places);
  return scene;
}

io::electrolyte_scene load_electrolyte(const run_options& options) {
  io::electrolyte_scene_file file = io::read_electrolyte_scene(options.scene);
  io::electrolyte_scene& scene = file.scene;
  overrides given = apply_common(options, file);
  given.apply(options.method, scene.electrostatics.method, "electrostatics.method", "--method");
  require(!options.particles, "--particles: ions are counted by kind; change ions.species in the scene");
  given.apply(options.seed, scene.ions.seed, "ions.seed", "--seed");
  io::check(scene, file.places);
  io::complete(scene, file.places);
  return scene;
}

template <typename Scene>
run_plan plan_of(Scene scene, std::string particles, double time_step) {
  scene.run.device = resolved(scene.run.device);
  run_plan plan;
  plan.name = scene.scene.name;
  plan.particles = std::move(particles);
  plan.output = scene.output;
  plan.steps = static_cast<std::uint64_t>(scene.run.steps);
  plan.time_step = time_step;
  plan.precision = io::name_of(scene.run.precision);
  plan.text = io::to_text(scene);
  io::visit_keys(scene, settings_writer(plan.settings));
  plan.make = [scene] { return make_simulation(scene); };
  plan.make_on = [scene](communicator& ranks) { return make_simulation(scene, ranks); };
  return plan;
}

}  // namespace

run_plan load_plan(const run_options& options) {
  switch (io::kind_of_scene(options.scene)) {
    case io::scene_kind::brownian: {
      const io::brownian_scene scene = load_brownian(options);
      return plan_of(scene, "spheres", scene.physics.time_step);
    }
    case io::scene_kind::circles:
      return plan_of(load_circles(options), "agents", 1);
    case io::scene_kind::srd: {
      const io::srd_scene scene = load_srd(options);
      return plan_of(scene, "particles", scene.physics.time_step);
    }
    case io::scene_kind::electrolyte: {
      const io::electrolyte_scene scene = load_electrolyte(options);
      return plan_of(scene, "ions", scene.physics.time_step);
    }
    case io::scene_kind::granular_friction: {
      const io::friction_scene scene = load_friction(options);
      return plan_of(scene, "grains", scene.physics.time_step.value());
    }
    case io::scene_kind::granular:
      break;
  }
  const io::granular_scene scene = load_granular(options);
  return plan_of(scene, "grains", scene.physics.time_step);
}

}  // namespace quadrat::program
