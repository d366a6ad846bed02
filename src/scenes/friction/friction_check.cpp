// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/io/friction_scene.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "core/suggestion.hpp"
#include "models/friction/options.hpp"
#include "models/friction/setup.hpp"
#include "quadrat/contacts/mesh_contact_detector.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/io/triangle_mesh.hpp"
#include "scenes/demands.hpp"

namespace quadrat::io {
namespace {

struct value_range {
  bool (*holds)(double);
  const char* words;
};

value_range range_of(std::string_view key) {
  if (key == "poisson_ratio") {
    return {[](double v) { return v > -1 && v <= 0.5; }, "lie above -1 and not above 0.5"};
  }
  if (key == "restitution") return {[](double v) { return v > 0 && v <= 1; }, "lie above 0 and not above 1"};
  for (const std::string_view positive : {"density", "young_modulus", "normal_spring", "tangential_spring"}) {
    if (key == positive) return {[](double v) { return v > 0; }, "be positive"};
  }
  return {[](double v) { return v >= 0; }, "not be negative"};
}

template <typename Physics>
scene_material material_of_physics(const Physics& p) {
  return {"",
          p.density,
          p.young_modulus,
          p.poisson_ratio,
          p.normal_spring,
          p.tangential_spring,
          p.restitution,
          p.friction,
          p.rolling_friction,
          p.rolling_damping,
          p.twisting_friction,
          p.cohesion};
}

/// `base` with the values that are given.
granular_material filled(granular_material base, const scene_material& given) {
  const auto take = [](double& value, const std::optional<double>& one) { value = one.value_or(value); };
  take(base.density, given.density);
  take(base.young_modulus, given.young_modulus);
  take(base.poisson_ratio, given.poisson_ratio);
  take(base.normal_spring, given.normal_spring);
  take(base.tangential_spring, given.tangential_spring);
  take(base.restitution, given.restitution);
  take(base.friction, given.friction);
  take(base.rolling_friction, given.rolling_friction);
  take(base.rolling_damping, given.rolling_damping);
  take(base.twisting_friction, given.twisting_friction);
  take(base.cohesion, given.cohesion);
  return base;
}

/// The number of a material that is known.
std::size_t number_of(const friction_scene& scene, std::string_view name) {
  const auto& all = *scene.physics.materials;
  return static_cast<std::size_t>(std::ranges::find(all, name, &scene_material::name) - all.begin());
}

void set_materials(const friction_scene& scene, granular_friction_options& options) {
  const auto& p = scene.physics;
  options.rolling = p.rolling.value_or(options.rolling);
  options.material = filled(options.material, material_of_physics(p));
  if (!p.materials) return;
  const granular_material base = options.material;
  options.material = filled(base, p.materials->front());
  for (std::size_t k = 1; k < p.materials->size(); ++k) {
    options.further_materials.push_back(filled(base, (*p.materials)[k]));
  }
  if (!p.material_pairs) return;
  for (const scene_material_pair& pair : *p.material_pairs) {
    options.material_pairs.push_back(pair);
    options.material_pairs.back().first = number_of(scene, pair.between[0]);
    options.material_pairs.back().second = number_of(scene, pair.between[1]);
  }
}

void set_walls(const friction_scene& scene, granular_friction_options& options) {
  options.walls = walls_of_box(scene.box.lower, scene.box.upper);
  if (scene.box.material) {
    for (granular_wall& face : options.walls) face.material = number_of(scene, *scene.box.material);
  }
  for (const scene_wall& wall : scene.box.walls) {
    options.walls.push_back(wall);
    if (!wall.material_name.empty()) options.walls.back().material = number_of(scene, wall.material_name);
  }
}

granular_mesh placed_mesh(const friction_scene& scene, const scene_mesh& given) {
  triangle_mesh read = read_triangle_mesh(given.file);
  const double scale = given.scale.value_or(1);
  const triple turn = given.rotate.value_or(triple{});
  for (vec<double, 3>& p : read.vertices) {
    p *= scale;
    for (int axis = 0; axis < 3; ++axis) {
      const double angle = turn[static_cast<std::size_t>(axis)] * (std::numbers::pi / 180);
      if (angle == 0) continue;
      double &u = p[(axis + 1) % 3], &v = p[(axis + 2) % 3];
      std::tie(u, v) = std::pair(u * std::cos(angle) - v * std::sin(angle), u * std::sin(angle) + v * std::cos(angle));
    }
    p += detail::to_vec(given.translate.value_or(triple{}));
  }
  return {std::move(read.vertices), std::move(read.triangles), given.material ? number_of(scene, *given.material) : 0};
}

/// All but the meshes, whose files take time to read.
granular_friction_options options_without_meshes(const friction_scene& scene) {
  const auto& p = scene.physics;
  granular_friction_options options;
  options.stiffness = p.law == granular_force_law::hertz ? contact_stiffness::hertz : contact_stiffness::linear;
  options.damping = p.damping;
  set_materials(scene, options);
  options.gravity = p.gravity;
  options.lower = scene.box.lower;
  options.upper = scene.box.upper;
  set_walls(scene, options);
  options.time_step = p.time_step.value_or(0);
  return options;
}

class friction_checker : private scene_demands<friction_scene> {
 public:
  using scene_demands::scene_demands;

  void run() const {
    all_finite();
    name();
    box();
    materials();
    grains();
    walls();
    time_step();
    start();
    if (scene_.box.meshes) meshes(*scene_.box.meshes);
    running();
    output();
    demand(scene_.camera.speed >= 0, "camera.speed", "is ", scene_.camera.speed, ", but must not be negative");
  }

 private:
  void box() const {
    const auto& b = scene_.box;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      demand(b.upper[axis] > b.lower[axis], "box.upper", "is ", b.upper[axis], " along ", "xyz"[axis],
             ", but must lie above box.lower (", b.lower[axis], ")");
      demand(std::isfinite(b.upper[axis] - b.lower[axis]), "box.upper", "is too far from box.lower");
    }
  }

  void grains() const {
    const auto& p = scene_.particles;
    demand(p.count >= 1, "particles.count", "is ", p.count, ", but must be at least 1");
    demand(p.radius > 0, "particles.radius", "is ", p.radius, ", but must be positive");
    const double smallest = p.smallest_radius.value_or(p.radius);
    demand(smallest > 0 && smallest <= p.radius, "particles.smallest_radius", "is ", smallest,
           ", but must be positive and at most particles.radius (", p.radius, ")");
    demand(p.jitter >= 0 && p.jitter <= 1, "particles.jitter", "is ", p.jitter,
           ", but must lie between 0 and 1 (of a radius)");
    demand(p.seed >= 0, "particles.seed", "is ", p.seed, ", but must not be negative");
    const granular_fill fill = fill_of(scene_);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      demand(fill.lower[axis] >= scene_.box.lower[axis], "particles.lower", "is ", fill.lower[axis], " along ",
             "xyz"[axis], ", outside the box");
      demand(fill.upper[axis] <= scene_.box.upper[axis], "particles.upper", "is ", fill.upper[axis], " along ",
             "xyz"[axis], ", outside the box");
    }
    demand(static_cast<std::uint64_t>(p.count) <= room_of(fill), "particles.count", "is ", p.count,
           ", but the region from particles.lower to particles.upper holds only ", room_of(fill),
           " grains on a lattice; use fewer or smaller ones, a larger region or less jitter");
    demand(static_cast<std::uint64_t>(p.count) <= max_count, "particles.count", "is ", p.count,
           ", but one simulation holds fewer than 2^31 (2147483648) grains");
  }

  void materials() const {
    check_values("physics", "", material_of_physics(scene_.physics));
    if (scene_.physics.materials) named_materials(*scene_.physics.materials);
    if (scene_.physics.material_pairs) pairs(*scene_.physics.material_pairs);
    if (scene_.particles.material) {
      for (const std::string& one : *scene_.particles.material) known("particles.material", one);
    }
    if (scene_.box.material) known("box.material", *scene_.box.material);
    for (const scene_wall& wall : scene_.box.walls) {
      if (!wall.material_name.empty()) known("box.walls", wall.material_name);
    }
    if (!scene_.box.meshes) return;
    for (const scene_mesh& mesh : *scene_.box.meshes) {
      if (mesh.material) known("box.meshes", *mesh.material);
    }
  }

  void named_materials(const std::vector<scene_material>& all) const {
    const char* const list = "physics.materials";
    demand(all.size() <= most_granular_materials, list, "has ", all.size(), " materials; at most ",
           most_granular_materials, " are possible");
    std::set<std::string_view> seen;
    for (const scene_material& one : all) {
      printable(list, one.name);
      demand(!one.name.empty(), list, "has a material, number ", seen.size() + 1, ", whose name is empty");
      demand(seen.insert(one.name).second, list, "has two materials \"", one.name, "\"");
      check_values(list, message('"', one.name, '"'), one);
    }
  }

  void pairs(const std::vector<scene_material_pair>& all) const {
    const char* const list = "physics.material_pairs";
    std::set<std::pair<std::string_view, std::string_view>> seen;
    for (const scene_material_pair& pair : all) {
      const auto& names = pair.between;
      demand(names.size() == 2, list, "has a pair, number ", seen.size() + 1, ", between ", names.size(),
             " materials; it must be two (of which both may be the same)");
      for (const std::string& one : names) known(list, one);
      const std::string owner = message('"', names[0], "\" and \"", names[1], '"');
      demand(seen.insert(std::minmax<std::string_view>(names[0], names[1])).second, list, "has the pair of ", owner,
             " twice");
      check_values(list, owner, pair);
    }
  }

  /// Demands that a material has this name.
  void known(const std::string& key, const std::string& name) const {
    std::vector<std::string_view> names;
    const auto& all = scene_.physics.materials;
    if (all) {
      for (const scene_material& one : *all) names.push_back(one.name);
    }
    demand(!names.empty(), key, "names the material \"", name, "\", but physics.materials has none");
    demand(std::ranges::find(names, name) != names.end(), key, "names the material \"", name,
           "\", which physics.materials lacks; ", detail::suggestion(name, names));
  }

  /// The values of [physics], or, with an owner, of an element of `table`.
  template <typename Record>
  void check_values(const std::string& table, const std::string& owner, const Record& values) const {
    visit_members(values, [&](std::string_view key, const auto& member) {
      if constexpr (requires { *member < 1.0; }) {
        if (member) check_value(table, owner, std::string(key), *member);
      }
    });
  }

  void check_value(const std::string& table, const std::string& owner, const std::string& key, double value) const {
    const std::string place = owner.empty() ? message(table, ".", key) : table;
    const std::string what = owner.empty() ? std::string() : message("has ", owner, " with a ", key, " that ");
    const auto belongs = [&](bool fits, const char* other, const char* others) {
      demand(fits, place, what, "belongs to the law \"", other, "\"; \"", name_of(scene_.physics.law),
             "\" has physics.", others);
    };
    const bool hertz = scene_.physics.law == granular_force_law::hertz;
    const bool springs = scene_.physics.rolling == rolling_resistance::sds;
    if (key == "young_modulus") belongs(hertz, "hertz", "normal_spring");
    if (key == "poisson_ratio") belongs(hertz, "hertz", "tangential_spring");
    if (key == "normal_spring") belongs(!hertz, "linear", "young_modulus");
    if (key == "tangential_spring") belongs(!hertz, "linear", "poisson_ratio");
    if (key == "rolling_damping") demand(springs, place, what, "belongs to physics.rolling = \"sds\"");
    demand(std::isfinite(value), place, what, "is ", value, ", not a finite number");
    const value_range range = range_of(key);
    demand(range.holds(value), place, what, "is ", value, ", but must ", range.words);
  }

  void walls() const {
    const auto& walls = scene_.box.walls;
    demand(walls.size() + 6 <= most_granular_walls, "box.walls", "has ", walls.size(), " walls; at most ",
           most_granular_walls - 6, " are possible");
    for (std::size_t k = 0; k < walls.size(); ++k) {
      const granular_wall& wall = walls[k];
      finite("box.walls", wall.point);
      finite("box.walls", wall.normal);
      demand(wall.normal != triple{}, "box.walls", "has a wall, number ", k + 1, ", whose normal is [0, 0, 0]");
      if (!wall.opening) continue;
      finite("box.walls", wall.opening->center);
      finite("box.walls", wall.opening->radius);
      demand(wall.opening->radius >= scene_.particles.radius, "box.walls", "has a wall, number ", k + 1,
             ", with an opening of radius ", wall.opening->radius, ", but grains have up to ", scene_.particles.radius);
    }
  }

  void time_step() const {
    const double longest = longest_granular_time_step(options_without_meshes(scene_), fill_of(scene_).smallest_radius);
    const double step = scene_.physics.time_step.value_or(longest);
    demand(step > 0 && step <= longest, "physics.time_step", "is ", step, ", but must be positive, and at most ",
           longest, " s for contacts of these grains to be stable");
  }

  void meshes(const std::vector<scene_mesh>& all) const {
    const char* const list = "box.meshes";
    const granular_filling grains = filled_region(fill_of(scene_));
    for (const scene_mesh& mesh : all) {
      printable(list, mesh.file);
      const double scale = mesh.scale.value_or(1);
      demand(scale > 0 && std::isfinite(scale), list, "has a mesh, \"", mesh.file, "\", with a scale of ", scale,
             "; it must be positive and finite");
      finite(list, mesh.rotate.value_or(triple{}));
      finite(list, mesh.translate.value_or(triple{}));
      try {
        start_beside(mesh.file, placed_mesh(scene_, mesh), grains);
      } catch (const io_error& problem) {
        demand(false, list, "has a mesh that is refused: ", problem.what());
      } catch (const data_error& problem) {
        demand(false, list, "has a mesh, \"", mesh.file, "\", whose ", problem.what());
      }
    }
  }

  /// As for walls, below.
  void start_beside(const std::string& file, const granular_mesh& mesh, const granular_filling& grains) const {
    const cpu_context context;
    mesh_contact_detector<cpu_context, double> detector(context, {mesh.vertices, mesh.triangles});
    bodies_view<double> spheres;
    spheres.centers = points_of(grains.positions.data(), grains.positions.size());
    spheres.radii = grains.radii.data();
    detector.build(spheres);
    const contacts_view<double> found = detector.view();
    for (std::uint64_t k = 0; k < found.count; ++k) {
      const contact<double>& one = found.records[k];
      const vec<double, 3>& at = grains.positions[one.a];
      demand(one.depth <= grains.radii[one.a] / 2, "box.meshes", "has a mesh, \"", file, "\", in which grain ", one.a,
             " would start, at [", at[0], ", ", at[1], ", ", at[2],
             "]; particles.lower and particles.upper say where grains start");
    }
  }

  /// The first step would reject grains that overlap a wall by more than half their radius.
  void start() const {
    if (scene_.box.walls.empty()) return;
    const granular_filling grains = filled_region(fill_of(scene_));
    const std::vector<granular_wall> walls = detail::completed(options_without_meshes(scene_), grains.radii).walls;
    const std::size_t faces = walls.size() - scene_.box.walls.size();
    for (std::size_t k = faces; k < walls.size(); ++k) {
      const auto wall = detail::make_friction_wall<double>(walls[k]);
      for (std::size_t i = 0; i < grains.radii.size(); ++i) {
        const vec<double, 3>& at = grains.positions[i];
        vec<double, 3> direction{};
        demand(wall.overlap(at, grains.radii[i], direction) <= grains.radii[i] / 2, "box.walls", "has a wall, number ",
               k - faces + 1, ", in which grain ", i, " would start, at [", at[0], ", ", at[1], ", ", at[2],
               "]; particles.lower and particles.upper say where grains start");
      }
    }
  }
};

}  // namespace

granular_friction_options options_of(const friction_scene& scene) {
  granular_friction_options options = options_without_meshes(scene);
  if (!scene.box.meshes) return options;
  for (const scene_mesh& mesh : *scene.box.meshes) options.meshes.push_back(placed_mesh(scene, mesh));
  return options;
}

granular_fill fill_of(const friction_scene& scene) {
  const auto& p = scene.particles;
  granular_fill fill;
  fill.count = static_cast<std::size_t>(p.count);
  fill.smallest_radius = p.smallest_radius.value_or(p.radius);
  fill.largest_radius = p.radius;
  fill.lower = p.lower.value_or(scene.box.lower);
  fill.upper = p.upper.value_or(scene.box.upper);
  fill.down = scene.physics.gravity;
  fill.jitter = p.jitter;
  fill.seed = static_cast<std::uint64_t>(p.seed);
  if (p.material) {
    for (const std::string& one : *p.material) {
      fill.materials.push_back(static_cast<std::uint32_t>(number_of(scene, one)));
    }
  }
  return fill;
}

void check(const friction_scene& scene, const scene_places& places) { friction_checker(scene, places).run(); }

void complete(friction_scene& scene, const scene_places& places) {
  const granular_friction_options options = options_without_meshes(scene);
  const granular_fill fill = fill_of(scene);
  auto& physics = scene.physics;
  const granular_material base = filled({}, material_of_physics(physics));
  if (physics.law == granular_force_law::hertz) {
    physics.young_modulus = base.young_modulus;
    physics.poisson_ratio = base.poisson_ratio;
  } else {
    physics.normal_spring = base.normal_spring;
    physics.tangential_spring = base.tangential_spring;
  }
  if (!physics.time_step) physics.time_step = longest_granular_time_step(options, fill.smallest_radius) / 10;
  scene.particles.smallest_radius = fill.smallest_radius;
  scene.particles.lower = fill.lower;
  scene.particles.upper = fill.upper;
  complete_names(scene, places);
}

}  // namespace quadrat::io
