// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "quadrat/core/types.hpp"
#include "quadrat/io/srd_scene.hpp"
#include "scenes/demands.hpp"

namespace quadrat::io {
namespace {

constexpr double default_per_cell = 10;
constexpr std::int64_t most_bins = 65536;

int_triple cells_of(const srd_scene& scene) {
  return scene.box.cells.value_or(int_triple{20, 20, scene.box.dimension == 3 ? 20 : 1});
}

double number_of_cells(const srd_scene& scene) {
  double result = 1;
  for (const std::int64_t count : cells_of(scene)) result *= static_cast<double>(count);
  return result;
}

/// The number of fluid particles of the scene.
double number_of_particles(const srd_scene& scene) {
  const auto& p = scene.particles;
  return p.count ? static_cast<double>(*p.count)
                 : std::round(p.per_cell.value_or(default_per_cell) * number_of_cells(scene));
}

class srd_checker : private scene_demands<srd_scene> {
 public:
  using scene_demands::scene_demands;

  void run() const {
    all_finite();
    name();
    box();
    plane();
    walls();
    fluid();
    start();
    solutes();
    physics();
    measure();
    running();
    demand(scene_.run.sort_every >= 0, "run.sort_every", "is ", scene_.run.sort_every, ", but must not be negative");
    demand(scene_.run.sums != srd_sums::floating || scene_.run.deterministic == determinism::none, "run.sums",
           "is \"floating\", whose last bits depend on the order of additions; run.deterministic needs \"fixed\" or ",
           "\"automatic\"");
    output();
    demand(scene_.camera.speed >= 0, "camera.speed", "is ", scene_.camera.speed, ", but must not be negative");
  }

 private:
  void box() const {
    const auto& b = scene_.box;
    demand(b.dimension == 2 || b.dimension == 3, "box.dimension", "is ", b.dimension, ", but must be 2 or 3");
    positive("box.cell_edge", b.cell_edge);
    const int_triple cells = cells_of(scene_);
    double total = 1;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      demand(cells[axis] >= 1, "box.cells", "is ", cells[axis], " along ", "xyz"[axis], ", but must be at least 1");
      // Walls cut the cells of a shifted grid: it has one more cell along their axis.
      total *= static_cast<double>(cells[axis]) + (b.boundaries[axis] == srd_boundary::wall ? 1 : 0);
      const double step = static_cast<double>(cells[axis]) * std::numeric_limits<float>::epsilon();
      demand(scene_.run.precision != number_precision::float32 || step <= 1.0 / 64, "box.cells", "is ", cells[axis],
             " along ", "xyz"[axis], ", where float has steps of ", step, " of a cell; use precision = \"double\"");
    }
    demand(total <= static_cast<double>(max_count), "box.cells", "makes ", cells[0], " x ", cells[1], " x ", cells[2],
           " cells, and one more along axes with walls, but a grid has fewer than 2^31 (2147483648)");
    demand(std::isfinite(static_cast<double>(*std::ranges::max_element(cells)) * b.cell_edge), "box.cell_edge", "is ",
           b.cell_edge, ": the box has no finite size");
  }

  /// A two-dimensional scene may have nothing along z.
  void plane() const {
    if (scene_.box.dimension == 3) return;
    demand(cells_of(scene_)[2] == 1, "box.cells", "is ", cells_of(scene_)[2],
           " along z, but must be 1 in two dimensions");
    demand(scene_.box.boundaries[2] == srd_boundary::periodic, "box.boundaries",
           "has walls along z, which two dimensions do not have");
    demand(scene_.physics.acceleration[2] == 0, "physics.acceleration", "is ", scene_.physics.acceleration[2],
           " along z, but must be 0 in two dimensions");
    demand(scene_.measure.profile != profile_axis::z, "measure.profile",
           "is \"z\", an axis that two dimensions do not have");
  }

  void walls() const {
    for (int axis = 0; axis < 3; ++axis) {
      for (int side = 0; side < 2; ++side) {
        const std::optional<triple>& velocity = scene_.wall_velocity.of(axis, side);
        if (!velocity) continue;
        const char letter = "xyz"[axis];
        const std::string key = message("wall_velocity.", side == 0 ? "lower_" : "upper_", letter);
        demand(has_walls(axis), key, "is given, but box.boundaries has no walls along ", letter);
        demand((*velocity)[static_cast<std::size_t>(axis)] == 0, key, "is ",
               (*velocity)[static_cast<std::size_t>(axis)], " along ", letter,
               ", but must be 0 there: a wall slides in its plane");
        demand(scene_.box.dimension == 3 || (*velocity)[2] == 0, key, "is ", (*velocity)[2],
               " along z, but must be 0 in two dimensions");
      }
    }
  }

  void fluid() const {
    const auto& p = scene_.particles;
    demand(!p.count || !p.per_cell, "particles.per_cell",
           "is given, and particles.count as well: one follows from the other");
    demand(!p.count || *p.count >= 1, "particles.count", "is ", p.count.value_or(0), ", but must be at least 1");
    positive("particles.per_cell", p.per_cell.value_or(1));
    positive("particles.mass", p.mass);
    demand(p.temperature >= 0, "particles.temperature", "is ", p.temperature, ", but must not be negative");
    demand(p.temperature > 0 || !scene_.physics.thermostat, "particles.temperature",
           "is 0, but the thermostat needs a positive one (or thermostat = false in [physics])");
    demand(p.seed >= 0, "particles.seed", "is ", p.seed, ", but must not be negative");
    const double number = number_of_particles(scene_);
    const char* const cause = p.count ? "particles.count" : (p.per_cell ? "particles.per_cell" : "box.cells");
    demand(number >= 1, cause, "makes no particle at all");
    demand(number <= static_cast<double>(max_count), cause, "makes ", number,
           " particles, but one simulation holds fewer than 2^31 (2147483648)");
  }

  void start() const {
    const auto& p = scene_.particles;
    const bool wave = p.start == srd_start_state::shear_wave;
    demand(wave || !p.amplitude, "particles.amplitude", "belongs to start = \"shear_wave\"");
    demand(p.amplitude.value_or(1) != 0, "particles.amplitude", "is 0, which is not a wave");
    demand(!wave || (!has_walls(0) && !has_walls(1) && !has_walls(2)), "particles.start",
           "is \"shear_wave\", which needs a box that is periodic along every axis");
    demand(!wave || p.amplitude || p.temperature > 0, "particles.amplitude",
           "is missing: without a temperature there is no default");
  }

  void solutes() const {
    const auto& [count, mass] = scene_.solutes;
    demand(count >= 0, "solutes.count", "is ", count, ", but must not be negative");
    positive("solutes.mass", mass.value_or(1));
    demand(count > 0 || !mass, "solutes.mass", "is given, but solutes.count is 0");
    demand(static_cast<double>(count) + number_of_particles(scene_) <= static_cast<double>(max_count), "solutes.count",
           "is ", count, ", but one simulation holds fewer than 2^31 (2147483648) particles, the fluid's included");
  }

  void physics() const {
    const auto& p = scene_.physics;
    positive("physics.time_step", p.time_step);
    demand(p.angle > 0 && p.angle <= 180, "physics.angle", "is ", p.angle,
           ", but must lie above 0 and not above 180 degrees");
  }

  void measure() const {
    const auto& m = scene_.measure;
    demand(m.every >= 1, "measure.every", "is ", m.every, ", but must be at least 1");
    demand(m.from >= 0, "measure.from", "is ", m.from, ", but must not be negative");
    demand(m.to.value_or(m.from) >= m.from, "measure.to", "is ", m.to.value_or(0),
           ", but must not lie before measure.from (", m.from, ")");
    demand(m.bins.value_or(1) >= 1 && m.bins.value_or(1) <= most_bins, "measure.bins", "is ", m.bins.value_or(0),
           ", but must lie between 1 and ", most_bins);
    const bool profile = m.profile != profile_axis::none;
    const char* const absent = "is given, but there is no profile; measure.profile says along which axis";
    demand(profile || !m.bins, "measure.bins", absent);
    demand(profile || !m.to, "measure.to", absent);
    demand(profile || m.from == 0, "measure.from", absent);
  }

  void positive(const std::string& key, double value) const {
    demand(value > 0, key, "is ", value, ", but must be positive");
  }
  [[nodiscard]] bool has_walls(int axis) const {
    return scene_.box.boundaries[static_cast<std::size_t>(axis)] == srd_boundary::wall;
  }
};

}  // namespace

void check(const srd_scene& scene, const scene_places& places) { srd_checker(scene, places).run(); }

void complete(srd_scene& scene, const scene_places& places) {
  auto& p = scene.particles;
  scene.box.cells = cells_of(scene);
  p.count = static_cast<std::int64_t>(number_of_particles(scene));
  p.per_cell = static_cast<double>(*p.count) / number_of_cells(scene);
  if (p.start == srd_start_state::shear_wave && !p.amplitude) p.amplitude = 0.5 * std::sqrt(p.temperature / p.mass);
  if (scene.solutes.count > 0 && !scene.solutes.mass) scene.solutes.mass = p.mass * *p.per_cell;
  auto& m = scene.measure;
  if (m.profile != profile_axis::none && !m.bins) {
    m.bins = std::min(most_bins, (*scene.box.cells)[static_cast<std::size_t>(m.profile)]);
  }
  if (scene.run.sort_every == 0) scene.run.sort_every = static_cast<std::int64_t>(srd_default_sort_every);
  complete_names(scene, places);
}

template <int D>
srd_options<D> options_of(const srd_scene& scene) {
  srd_options<D> options;
  const int_triple cells = cells_of(scene);
  for (int axis = 0; axis < D; ++axis) {
    const auto index = static_cast<std::size_t>(axis);
    options.cells[axis] = static_cast<int>(cells[index]);
    options.periodic[axis] = scene.box.boundaries[index] == srd_boundary::periodic;
    options.acceleration[axis] = scene.physics.acceleration[index];
    for (int side = 0; side < 2; ++side) {
      const triple velocity = scene.wall_velocity.of(axis, side).value_or(triple{});
      auto& wall = options.wall_velocity[index][static_cast<std::size_t>(side)];
      for (int k = 0; k < D; ++k) wall[k] = velocity[static_cast<std::size_t>(k)];
    }
  }
  options.cell_edge = scene.box.cell_edge;
  options.time_step = scene.physics.time_step;
  options.rotation_angle = scene.physics.angle;
  options.mass = scene.particles.mass;
  options.temperature = scene.particles.temperature;
  options.thermostat = scene.physics.thermostat;
  options.seed = static_cast<std::uint64_t>(scene.particles.seed);
  options.sort_every = static_cast<std::size_t>(scene.run.sort_every);
  options.sums = scene.run.sums;
  return options;
}

template <int D>
srd_particles<D> particles_of(const srd_scene& scene) {
  const srd_options<D> options = options_of<D>(scene);
  const std::vector<double> masses(static_cast<std::size_t>(scene.solutes.count), scene.solutes.mass.value_or(1));
  srd_particles<D> particles = srd_start<D>(options, static_cast<std::size_t>(scene.particles.count.value()), masses);
  if (scene.particles.amplitude) add_shear_wave<D>(options, *scene.particles.amplitude, particles);
  return particles;
}

template srd_options<2> options_of<2>(const srd_scene&);
template srd_options<3> options_of<3>(const srd_scene&);
template srd_particles<2> particles_of<2>(const srd_scene&);
template srd_particles<3> particles_of<3>(const srd_scene&);

}  // namespace quadrat::io
