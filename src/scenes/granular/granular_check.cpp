// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/suggestion.hpp"
#include "quadrat/core/grid.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/io/granular_scene.hpp"
#include "scenes/demands.hpp"

namespace quadrat::io {
namespace {

/// Tolerance for a quotient of decimal numbers that should be whole but is rounded below it: 0.6 / 0.2 is
/// 2.9999999999999996.
constexpr double rounding = 1e-9;

class checker : private scene_demands<granular_scene> {
 public:
  using scene_demands::scene_demands;

  void run(std::span<const std::string_view> methods) const {
    all_finite();
    name();
    sizes();
    resolution();
    cells();
    room_for_the_grains();
    physics();
    collider();
    running();
    method(methods);
    output();
    top_speed();
  }

 private:
  void sizes() const {
    const auto& [lower, upper] = scene_.box;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      demand(upper[axis] > lower[axis], "box.upper", "is ", upper[axis], " along ", "xyz"[axis],
             ", but must lie above box.lower (", lower[axis], ")");
      demand(std::isfinite(upper[axis] - lower[axis]), "box.upper", "is too far from box.lower");
    }
    const auto& particles = scene_.particles;
    demand(particles.count >= 1, "particles.count", "is ", particles.count, ", but must be at least 1");
    demand(static_cast<std::uint64_t>(particles.count) <= max_count, "particles.count", "is ", particles.count,
           ", but one simulation holds fewer than 2^31 (2147483648) grains");
    demand(particles.radius > 0, "particles.radius", "is ", particles.radius, ", but must be positive");
    demand(particles.jitter >= 0 && particles.jitter <= 1, "particles.jitter", "is ", particles.jitter,
           ", but must lie between 0 and 1 (of a radius)");
    demand(particles.seed >= 0, "particles.seed", "is ", particles.seed, ", but must not be negative");
  }

  /// Single-precision positions must resolve a grain.
  void resolution() const {
    if (scene_.run.precision != number_precision::float32) return;
    for (const auto& [key, bounds] :
         {std::pair("box.lower", scene_.box.lower), std::pair("box.upper", scene_.box.upper)}) {
      for (const double bound : bounds) {
        const double step = std::abs(bound) * std::numeric_limits<float>::epsilon();
        demand(step <= scene_.particles.radius / 16, key, "reaches to ", bound, ", where float has steps of ", step,
               ": too coarse for grains of radius ", scene_.particles.radius, "; use precision = \"double\"");
      }
    }
  }

  void cells() const {
    const bool chosen = scene_.grid.cells.has_value();
    const int_triple cells = scene_.grid.cells.value_or(default_cells(scene_));
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::int64_t count = cells[axis];
      demand(count >= 1, chosen ? "grid.cells" : "particles.radius",
             chosen ? message("is ", count, " along ", "xyz"[axis], ", but must be at least 1")
                    : message("is ", scene_.particles.radius, ": a grain of that size does not fit the box along ",
                              "xyz"[axis]));
      const double edge = length(axis) / static_cast<double>(count);
      const double diameter = 2 * scene_.particles.radius;
      demand(edge >= diameter * (1 - rounding), "grid.cells", "is ", count, " along ", "xyz"[axis], ": cells of edge ",
             edge, " are smaller than a grain (2 radius = ", diameter, "); at most ", lattice_sites(scene_)[axis],
             " fit");
      demand(count <= max_cells_along_axis, "grid.cells", "is ", count, " along ", "xyz"[axis], ", but at most ",
             max_cells_along_axis, " are possible");
    }
    demand(scene_.grid.capacity >= 0, "grid.capacity", "is ", scene_.grid.capacity, ", but must not be negative");
  }

  /// The start from a lattice needs a site for every grain: a cubic lattice of spacing 2 radius in the box. Other
  /// starts may have twice as many grains. They compress the grains, which the soft springs tolerate (512K grains in
  /// the paper's box). With more grains the run blows up at once.
  void room_for_the_grains() const {
    const int_triple sites = lattice_sites(scene_);
    double room = 1;
    for (const std::int64_t count : sites) room *= static_cast<double>(count);
    const bool lattice = scene_.particles.start == granular_start_state::lattice;
    demand(static_cast<double>(scene_.particles.count) <= (lattice ? room : 2 * room), "particles.count", "is ",
           scene_.particles.count, ", but the box holds only ", static_cast<std::int64_t>(lattice ? room : 2 * room),
           lattice ? " grains on a lattice of spacing 2 radius ("
                   : " grains, two for each site of a lattice of spacing 2 radius (",
           sites[0], " x ", sites[1], " x ", sites[2], "); use fewer, a larger box or a smaller radius");
  }

  void physics() const {
    const auto& p = scene_.physics;
    demand(p.time_step > 0, "physics.time_step", "is ", p.time_step, ", but must be positive");
    demand(p.spring >= 0, "physics.spring", "is ", p.spring, ", but must not be negative");
    demand(p.damping >= 0, "physics.damping", "is ", p.damping, ", but must not be negative");
    demand(p.shear >= 0, "physics.shear", "is ", p.shear, ", but must not be negative");
    demand(p.global_damping >= 0 && p.global_damping <= 1, "physics.global_damping", "is ", p.global_damping,
           ", but must lie between 0 and 1 (it multiplies the velocity)");
    demand(p.wall_restitution >= -1 && p.wall_restitution <= 0, "physics.wall_restitution", "is ", p.wall_restitution,
           ", but must lie between -1 and 0 (it multiplies the velocity at a wall)");
  }

  void collider() const {
    const auto& [center, radius] = scene_.collider;
    demand(!radius || center, "collider.center", "is missing: a collider needs a center and a radius");
    demand(!center || radius, "collider.radius", "is missing: a collider needs a center and a radius");
    if (radius) demand(*radius > 0, "collider.radius", "is ", *radius, ", but must be positive");
  }

  void method(std::span<const std::string_view> methods) const {
    const auto& run = scene_.run;
    demand(std::find(methods.begin(), methods.end(), run.method) != methods.end(), "run.method", "cannot be \"",
           run.method, "\"; ", detail::suggestion(run.method, methods));
  }

  void top_speed() const {
    const double speed = scene_.camera.speed;
    demand(speed >= 0, "camera.speed", "is ", speed, ", but must not be negative");
  }

  [[nodiscard]] double length(std::size_t axis) const { return scene_.box.upper[axis] - scene_.box.lower[axis]; }
};

}  // namespace

const std::string& scene_places::of(const std::string& key) const {
  if (const auto found = places_.find(key); found != places_.end()) return found->second;
  if (const auto found = places_.find(key.substr(0, key.find('.'))); found != places_.end()) return found->second;
  return file_;
}

void check(const granular_scene& scene, const scene_places& places, std::span<const std::string_view> methods) {
  checker(scene, places).run(methods);
}

int_triple lattice_sites(const granular_scene& scene) {
  int_triple cells{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double fitting = (scene.box.upper[axis] - scene.box.lower[axis]) / (2 * scene.particles.radius);
    // Any count above 2^31 is refused later; the bound keeps the conversion defined.
    cells[axis] = static_cast<std::int64_t>(std::min(std::floor(fitting * (1 + rounding)), 4294967296.0));
  }
  return cells;
}

int_triple default_cells(const granular_scene& scene) {
  int_triple cells = lattice_sites(scene);
  for (std::int64_t& count : cells) count = std::min<std::int64_t>(count, max_cells_along_axis);
  return cells;
}

void complete(granular_scene& scene, const scene_places& places) {
  if (!scene.grid.cells) scene.grid.cells = default_cells(scene);
  complete_names(scene, places);
}

}  // namespace quadrat::io
