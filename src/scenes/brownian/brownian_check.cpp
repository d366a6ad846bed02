// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "core/suggestion.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/io/brownian_scene.hpp"
#include "scenes/demands.hpp"

namespace quadrat::io {
namespace {

constexpr double default_brownian_fraction = 0.1;
constexpr double most_elongated_brownian = 1000;

double volume_of_spheres(const brownian_scene& scene) {
  const auto& p = scene.particles;
  return 4 * std::numbers::pi / 3 * std::pow(p.radius, 3) * static_cast<double>(p.count);
}

triple brownian_box(const brownian_scene& scene) {
  if (scene.box.size) return *scene.box.size;
  const double fraction = scene.particles.volume_fraction.value_or(default_brownian_fraction);
  const double edge = std::cbrt(volume_of_spheres(scene) / fraction);
  return {edge, edge, edge};
}

double range_of_repulsion(const brownian_scene& scene) {
  return scene.physics.repulsion_range.value_or(2 * scene.particles.radius);
}

class brownian_checker : private scene_demands<brownian_scene> {
 public:
  using scene_demands::scene_demands;

  void run() const {
    all_finite();
    name();
    spheres();
    box();
    positive("fluid.viscosity", scene_.fluid.viscosity);
    not_negative("fluid.temperature", scene_.fluid.temperature);
    forces();
    chains();
    hydrodynamics();
    running();
    demand(scene_.run.deterministic != determinism::canonical, "run.deterministic",
           "cannot be \"canonical\" with this model; \"none\" and \"run_to_run\" are possible");
    output();
    not_negative("camera.displacement", scene_.camera.displacement);
  }

 private:
  void spheres() const {
    const auto& p = scene_.particles;
    demand(p.count >= 1, "particles.count", "is ", p.count, ", but must be at least 1");
    demand(p.count <= static_cast<std::int64_t>(max_count), "particles.count", "is ", p.count,
           ", but one simulation holds fewer than 2^31 (2147483648)");
    positive("particles.radius", p.radius);
    demand(p.seed >= 0, "particles.seed", "is ", p.seed, ", but must not be negative");
    demand(!scene_.box.size || !p.volume_fraction, "particles.volume_fraction",
           "is given, and box.size as well: one follows from the other");
    positive("particles.volume_fraction", p.volume_fraction.value_or(1));
  }

  void box() const {
    const triple size = brownian_box(scene_);
    const char* const cause = scene_.box.size ? "box.size" : "particles.volume_fraction";
    for (const double edge : size) {
      demand(edge > 0 && std::isfinite(edge), cause, "makes an edge of the box ", edge,
             ", which must be positive and finite");
    }
    const double longest = *std::ranges::max_element(size), shortest = *std::ranges::min_element(size);
    demand(longest <= most_elongated_brownian * shortest, cause, "makes a box ", longest, " long and ", shortest,
           " wide; at most ", most_elongated_brownian, " times as long as wide is possible");
    const double radius = scene_.particles.radius;
    demand(2 * radius <= shortest, cause, "makes a box that is ", shortest,
           " wide, but it must be at least as wide as a sphere, 2 radius (", 2 * radius, ")");
    const double step = longest * static_cast<double>(std::numeric_limits<float>::epsilon());
    demand(scene_.run.precision != number_precision::float32 || step <= radius / 64, cause, "makes a box ", longest,
           " long, where float has steps of ", step, ": too coarse for a radius of ", radius,
           "; use precision = \"double\"");
  }

  void forces() const {
    const auto& p = scene_.physics;
    const triple size = brownian_box(scene_);
    const double half = *std::ranges::min_element(size) / 2;
    positive("physics.time_step", p.time_step);
    moves();
    not_negative("physics.repulsion", p.repulsion);
    demand(p.repulsion > 0 || !p.repulsion_range, "physics.repulsion_range", "is given, but physics.repulsion is 0");
    const double range = range_of_repulsion(scene_);
    positive("physics.repulsion_range", range);
    demand(p.repulsion == 0 || range <= half, p.repulsion_range ? "physics.repulsion_range" : "physics.repulsion",
           "reaches ", range, " far, but half of the box is only ", half);
    not_negative("physics.spring", p.spring);
    not_negative("physics.spring_length", p.spring_length);
    demand(p.spring_length < half, "physics.spring_length", "is ", p.spring_length, ", but half of the box is only ",
           half);
  }

  /// Steps whose noise is below the rounding of positions would lose it silently.
  void moves() const {
    const double move = brownian_move(options_of(scene_));
    const triple size = brownian_box(scene_);
    const double step = *std::ranges::max_element(size) * static_cast<double>(std::numeric_limits<float>::epsilon());
    demand(scene_.run.precision != number_precision::float32 || scene_.fluid.temperature == 0 || move >= 8 * step,
           "physics.time_step", "is ", scene_.physics.time_step, ", in which spheres move by ", move,
           ", but float has steps of ", step, " in this box; use precision = \"double\" or longer steps");
  }

  void chains() const {
    const auto& p = scene_.particles;
    const bool chained = p.start == brownian_start::chains;
    demand(p.chain_length >= 1, "particles.chain_length", "is ", p.chain_length, ", but must be at least 1");
    demand(chained || p.chain_length == 1, "particles.chain_length", "belongs to start = \"chains\"");
    demand(!chained || p.chain_length > 1, "particles.chain_length", "is ", p.chain_length,
           ", but start = \"chains\" needs chains of 2 spheres and more");
    demand(!chained || scene_.physics.spring > 0, "physics.spring", "is 0, but chains need springs");
    demand(chained || scene_.physics.spring == 0, "physics.spring", "belongs to start = \"chains\" in [particles]");
    demand(chained || scene_.physics.spring_length == 0, "physics.spring_length",
           "belongs to start = \"chains\" in [particles]");
  }

  void hydrodynamics() const {
    const auto& [method, accuracy] = scene_.hydrodynamics;
    std::vector<std::string_view> valid{"auto"};
    for (const method_info& one : brownian_methods()) valid.push_back(one.name);
    demand(std::ranges::find(valid, method) != valid.end(), "hydrodynamics.method", "cannot be \"", method, "\"; ",
           detail::suggestion(method, valid));
    demand(accuracy > 0 && accuracy <= 0.1, "hydrodynamics.accuracy", "is ", accuracy,
           ", but must lie above 0 and not above 0.1");
  }

  void positive(const std::string& key, double value) const {
    demand(value > 0, key, "is ", value, ", but must be positive");
  }
  void not_negative(const std::string& key, double value) const {
    demand(value >= 0, key, "is ", value, ", but must not be negative");
  }
};

}  // namespace

void check(const brownian_scene& scene, const scene_places& places) { brownian_checker(scene, places).run(); }

void complete(brownian_scene& scene, const scene_places& places) {
  scene.box.size = brownian_box(scene);
  const triple& size = *scene.box.size;
  scene.particles.volume_fraction = volume_of_spheres(scene) / (size[0] * size[1] * size[2]);
  if (scene.physics.repulsion > 0) scene.physics.repulsion_range = range_of_repulsion(scene);
  complete_names(scene, places);
}

brownian_options options_of(const brownian_scene& scene) {
  const auto& p = scene.physics;
  brownian_options options;
  const triple size = brownian_box(scene);
  options.box = {size[0], size[1], size[2]};
  options.radius = scene.particles.radius;
  options.viscosity = scene.fluid.viscosity;
  options.temperature = scene.fluid.temperature;
  options.time_step = p.time_step;
  options.scheme = p.scheme;
  options.method = scene.hydrodynamics.method;
  options.accuracy = scene.hydrodynamics.accuracy;
  options.force = {p.force[0], p.force[1], p.force[2]};
  options.repulsion = p.repulsion;
  options.repulsion_range = range_of_repulsion(scene);
  options.spring = p.spring;
  options.spring_length = p.spring_length;
  options.seed = static_cast<std::uint64_t>(scene.particles.seed);
  options.bonds = chain_bonds(static_cast<std::size_t>(scene.particles.count),
                              static_cast<std::size_t>(scene.particles.chain_length));
  return options;
}

std::vector<vec<double, 3>> positions_of(const brownian_scene& scene) {
  return brownian_positions(options_of(scene), scene.particles.start, static_cast<std::size_t>(scene.particles.count),
                            static_cast<std::size_t>(scene.particles.chain_length));
}

}  // namespace quadrat::io
