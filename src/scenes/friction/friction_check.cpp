// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/io/friction_scene.hpp"

#include <cmath>
#include <vector>

#include "models/friction/options.hpp"
#include "models/friction/setup.hpp"
#include "quadrat/core/types.hpp"
#include "scenes/demands.hpp"

namespace quadrat::io {
namespace {

class friction_checker : private scene_demands<friction_scene> {
 public:
  using scene_demands::scene_demands;

  void run() const {
    all_finite();
    name();
    box();
    grains();
    law();
    material();
    walls();
    time_step();
    start();
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

  void law() const {
    const auto& p = scene_.physics;
    const bool hertz = p.law == granular_force_law::hertz;
    const auto belongs = [&](bool given, bool fits, const char* key, const char* others) {
      demand(!given || fits, key, "belongs to the law \"", hertz ? "linear" : "hertz", "\"; \"", name_of(p.law),
             "\" has ", others);
    };
    belongs(p.young_modulus.has_value(), hertz, "physics.young_modulus", "physics.normal_spring");
    belongs(p.poisson_ratio.has_value(), hertz, "physics.poisson_ratio", "physics.tangential_spring");
    belongs(p.normal_spring.has_value(), !hertz, "physics.normal_spring", "physics.young_modulus");
    belongs(p.tangential_spring.has_value(), !hertz, "physics.tangential_spring", "physics.poisson_ratio");
  }

  void material() const {
    const auto& p = scene_.physics;
    positive("physics.density", p.density);
    positive("physics.young_modulus", p.young_modulus.value_or(1));
    positive("physics.normal_spring", p.normal_spring.value_or(1));
    positive("physics.tangential_spring", p.tangential_spring.value_or(1));
    const double nu = p.poisson_ratio.value_or(0);
    demand(nu > -1 && nu <= 0.5, "physics.poisson_ratio", "is ", nu, ", but must lie above -1 and not above 0.5");
    demand(p.restitution > 0 && p.restitution <= 1, "physics.restitution", "is ", p.restitution,
           ", but must lie above 0 and not above 1");
    demand(p.friction >= 0, "physics.friction", "is ", p.friction, ", but must not be negative");
    demand(p.rolling_friction >= 0, "physics.rolling_friction", "is ", p.rolling_friction,
           ", but must not be negative");
  }

  void positive(const std::string& key, double value) const {
    demand(value > 0, key, "is ", value, ", but must be positive");
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
    const double longest = longest_granular_time_step(options_of(scene_), fill_of(scene_).smallest_radius);
    const double step = scene_.physics.time_step.value_or(longest);
    demand(step > 0 && step <= longest, "physics.time_step", "is ", step, ", but must be positive, and at most ",
           longest, " s for contacts of these grains to be stable");
  }

  /// The first step would reject grains that overlap a wall by more than half their radius.
  void start() const {
    if (scene_.box.walls.empty()) return;
    const granular_filling grains = filled_region(fill_of(scene_));
    const std::vector<granular_wall> walls = detail::completed(options_of(scene_), grains.radii).walls;
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
  const auto& p = scene.physics;
  granular_friction_options options;
  options.stiffness = p.law == granular_force_law::hertz ? contact_stiffness::hertz : contact_stiffness::linear;
  granular_material& material = options.material;
  material.density = p.density;
  material.young_modulus = p.young_modulus.value_or(material.young_modulus);
  material.poisson_ratio = p.poisson_ratio.value_or(material.poisson_ratio);
  material.normal_spring = p.normal_spring.value_or(material.normal_spring);
  material.tangential_spring = p.tangential_spring.value_or(material.tangential_spring);
  material.restitution = p.restitution;
  options.damping = p.damping;
  material.friction = p.friction;
  material.rolling_friction = p.rolling_friction;
  options.gravity = p.gravity;
  options.lower = scene.box.lower;
  options.upper = scene.box.upper;
  options.walls = walls_of_box(scene.box.lower, scene.box.upper);
  options.walls.insert(options.walls.end(), scene.box.walls.begin(), scene.box.walls.end());
  options.time_step = p.time_step.value_or(0);
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
  return fill;
}

void check(const friction_scene& scene, const scene_places& places) { friction_checker(scene, places).run(); }

void complete(friction_scene& scene, const scene_places& places) {
  const granular_friction_options options = options_of(scene);
  const granular_fill fill = fill_of(scene);
  auto& physics = scene.physics;
  if (physics.law == granular_force_law::hertz) {
    physics.young_modulus = options.material.young_modulus;
    physics.poisson_ratio = options.material.poisson_ratio;
  } else {
    physics.normal_spring = options.material.normal_spring;
    physics.tangential_spring = options.material.tangential_spring;
  }
  if (!physics.time_step) physics.time_step = longest_granular_time_step(options, fill.smallest_radius) / 10;
  scene.particles.smallest_radius = fill.smallest_radius;
  scene.particles.lower = fill.lower;
  scene.particles.upper = fill.upper;
  complete_names(scene, places);
}

}  // namespace quadrat::io
