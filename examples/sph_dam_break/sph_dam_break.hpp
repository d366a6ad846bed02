// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <quadrat/core/array.hpp>
#include <quadrat/core/error.hpp>
#include <quadrat/io/preview.hpp>
#include <quadrat/parallel/for_each.hpp>
#include <quadrat/parallel/reduce.hpp>
#include <quadrat/search/make_neighbor_list.hpp>
#include <quadrat/search/visit_list.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numbers>
#include <string>
#include <vector>

// A column of water collapses in a tank: weakly compressible smoothed particle hydrodynamics in two dimensions. The
// same for cpu_context and cuda_context. Units: the width of the column, the acceleration of gravity and the density of
// water at rest are 1.

using vector = quadrat::vec<double, 2>;
using id = quadrat::particle_id;

constexpr double height = 2, tank_length = 5, tank_height = 6;                    // height: of the column
constexpr double sound = 20, exponent = 7, stiffness = sound * sound / exponent;  // ten times the speed of free fall, 2
constexpr double viscosity = 0.03, diffusion = 0.1;
constexpr int wall_layers = 3;

/// Wendland's kernel C2 (1995) in two dimensions; its support is 2 h.
struct kernel {
  double h;
  [[nodiscard]] QUADRAT_HD double value(double rr) const {
    const double q = std::sqrt(rr) / h, s = 1 - q / 2;
    return 7 / (4 * std::numbers::pi * h * h) * s * s * s * s * (1 + 2 * q);
  }
  /// The derivative by the distance, divided by the distance.
  [[nodiscard]] QUADRAT_HD double slope(double rr) const {
    const double s = 1 - std::sqrt(rr) / (2 * h);
    return -35 / (4 * std::numbers::pi * h * h * h * h) * s * s * s;
  }
};

/// All particles in the memory of the device: first water, then walls.
struct particles {
  vector* positions;
  vector* velocities;
  double* densities;
  double* pressures;
  std::size_t water;
  double mass;
  kernel w;
};

QUADRAT_HD inline double pressure_of(double density) { return stiffness * (std::pow(density, exponent) - 1); }
QUADRAT_HD inline double density_of(double pressure) { return std::pow(pressure / stiffness + 1, 1 / exponent); }

// What a particle i gets from a neighbor j; r is the vector from i to j, rr its square.

/// The rate of change of the density. Diffusion smooths what differs from the density at rest at that depth.
struct compression {
  particles all;
  QUADRAT_HD double operator()(id i, id j, const vector& r, double rr) const {
    if (i >= all.water) return 0;
    const double volume = all.mass / all.densities[j], slope = all.w.slope(rr);
    double rate = all.densities[i] * dot(all.velocities[j] - all.velocities[i], r);
    if (j < all.water) {
      const double excess = all.densities[j] - all.densities[i] + r[1] / (sound * sound);
      rate -= 2 * diffusion * all.w.h * sound * excess;
    }
    return volume * slope * rate;
  }
};

/// For the mean pressure of the water around a particle of a wall, corrected by the depth: a weighted sum, and the sum
/// of the weights.
struct pressure_at_wall {
  particles all;
  QUADRAT_HD vector operator()(id i, id j, const vector& r, double rr) const {
    if (i < all.water || j >= all.water) return {0, 0};
    const double weight = all.w.value(rr);
    return {weight * (all.pressures[j] + all.densities[j] * r[1]), weight};
  }
};

/// The acceleration by pressure, and by Monaghan's viscosity where two particles of water come closer.
struct push {
  particles all;
  QUADRAT_HD vector operator()(id i, id j, const vector& r, double rr) const {
    if (i >= all.water) return {0, 0};
    const double di = all.densities[i], dj = all.densities[j];
    double sum = all.pressures[i] / (di * di) + all.pressures[j] / (dj * dj);
    const double approach = dot(all.velocities[j] - all.velocities[i], r);
    if (j < all.water && approach < 0) {
      sum -= viscosity * sound * all.w.h * approach / (rr + 0.01 * all.w.h * all.w.h) * 2 / (di + dj);
    }
    return r * (all.mass * sum * all.w.slope(rr));
  }
};

// Steps of one particle.

struct compress {
  particles all;
  const double* rates;
  double dt;
  QUADRAT_HD void operator()(std::size_t i) const {
    all.densities[i] += rates[i] * dt;
    all.pressures[i] = pressure_of(all.densities[i]);
  }
};
struct set_wall {
  particles all;
  const vector* sums;
  QUADRAT_HD void operator()(std::size_t k) const {
    const std::size_t i = all.water + k;
    const double mean = sums[i][1] > 0 ? sums[i][0] / sums[i][1] : 0;
    all.pressures[i] = mean > 0 ? mean : 0;  // walls do not hold water back
    all.densities[i] = density_of(all.pressures[i]);
  }
};
struct move {
  particles all;
  const vector* accelerations;
  double dt;
  QUADRAT_HD void operator()(std::size_t i) const {
    all.velocities[i] += (accelerations[i] + vector{0, -1}) * dt;
    all.positions[i] += all.velocities[i] * dt;
  }
};

struct front_of {
  particles all;
  QUADRAT_HD double operator()(std::size_t i) const { return all.positions[i][0]; }
};
struct deviation_of {
  particles all;
  QUADRAT_HD double operator()(std::size_t i) const { return std::fabs(all.densities[i] - 1); }
};

/// The water and its tank in the memory of a context.
template <typename Context>
class dam {
 public:
  /// `across`: particles across the column.
  dam(const Context& context, int across)
      : context_(context), spacing_(1.0 / across), list_(make_list(context, spacing_)) {
    std::vector<vector> positions;
    std::vector<double> densities;
    const int right = static_cast<int>(tank_length) * across, up = static_cast<int>(tank_height) * across;
    const auto place = [&](int x, int y) { positions.push_back(vector{x + 0.5, y + 0.5} * spacing_); };
    for (int y = 0; y < static_cast<int>(height) * across; ++y) {
      for (int x = 0; x < across; ++x) {
        place(x, y);
        densities.push_back(density_of(height - positions.back()[1]));
      }
    }
    water_ = positions.size();
    for (int y = -wall_layers; y < up; ++y) {
      for (int x = -wall_layers; x < right + wall_layers; ++x) {
        if (x < 0 || x >= right || y < 0) place(x, y);
      }
    }
    densities.resize(positions.size(), 1);
    std::vector<double> pressures;
    for (const double density : densities) pressures.push_back(pressure_of(density));
    positions_ = to_device(context_, positions);
    densities_ = to_device(context_, densities);
    pressures_ = to_device(context_, pressures);
    velocities_ = to_device(context_, std::vector<vector>(positions.size()));
    rates_ = {context_, positions.size()};
    sums_ = {context_, positions.size()};
  }

  void step() {
    const particles all = view();
    lists_ += list_.update(points_of(positions_)) ? 1 : 0;
    accumulate_neighbors(list_, rates_.data(), compression{all});
    for_each(context_, "compress", water_, compress{all, rates_.data(), time_step()});
    accumulate_neighbors(list_, sums_.data(), pressure_at_wall{all});
    for_each(context_, "set wall", positions_.size() - water_, set_wall{all, sums_.data()});
    accumulate_neighbors(list_, sums_.data(), push{all});
    for_each(context_, "move", water_, move{all, sums_.data(), time_step()});
    ++steps_;
  }

  /// The rightmost edge of the water, and the largest deviation of its density.
  [[nodiscard]] double front() {
    return reduce_maximum(context_, "front", water_, front_of{view()}, scratch_) + spacing_ / 2;
  }
  [[nodiscard]] double deviation() {
    return reduce_maximum(context_, "deviation", water_, deviation_of{view()}, scratch_);
  }
  [[nodiscard]] double time() const { return steps_ * time_step(); }
  [[nodiscard]] int steps() const { return steps_; }
  [[nodiscard]] std::size_t water() const { return water_; }
  [[nodiscard]] std::size_t size() const { return positions_.size(); }
  [[nodiscard]] int lists() const { return lists_; }
  [[nodiscard]] std::vector<vector> positions() const { return to_host(context_, positions_.data(), water_); }
  [[nodiscard]] std::vector<vector> velocities() const { return to_host(context_, velocities_.data(), water_); }
  [[nodiscard]] double spacing() const { return spacing_; }
  [[nodiscard]] double time_step() const { return 0.3 * smoothing(spacing_).h / sound; }

 private:
  [[nodiscard]] particles view() {
    return {positions_.data(),   velocities_.data(), densities_.data(), pressures_.data(), water_,
            spacing_ * spacing_, smoothing(spacing_)};
  }
  [[nodiscard]] static kernel smoothing(double spacing) { return {1.3 * spacing}; }
  [[nodiscard]] static auto make_list(const Context& context, double spacing) {
    const double wall = wall_layers * spacing, h = smoothing(spacing).h;
    const auto box =
        quadrat::make_box<double, 2>({-wall, -wall}, {tank_length + wall, 2 * tank_height}, {false, false});
    return quadrat::make_neighbor_list(context, box, {.cutoff = 2 * h, .skin = 0.3 * h});
  }

  template <typename T>
  using array = quadrat::array<T, Context>;
  Context context_;
  double spacing_;
  std::size_t water_ = 0;
  int steps_ = 0, lists_ = 0;
  quadrat::neighbor_list<Context, double, 2> list_;
  array<vector> positions_, velocities_, sums_;
  array<double> densities_, pressures_, rates_;
  quadrat::workspace<Context> scratch_;
};

/// Where the front was measured, in widths of the column, at the time T = t sqrt(2 g / width): J. C. Martin and
/// W. J. Moyce, Phil. Trans. R. Soc. A 244 (1952) 312, columns twice as high as wide, 2.25 inches wide.
struct moment {
  double time, front;
  bool drawn;
};
constexpr moment moments[] = {{0.84, 1.22, false}, {1.43, 1.67, true}, {1.98, 2.33, false},
                              {2.51, 3.00, false}, {2.98, 3.67, true}, {4.6, 0, true}};

/// Adds a picture below.
inline void append(quadrat::io::image& picture, const quadrat::io::image& panel) {
  picture.width = panel.width;
  picture.height += panel.height;
  picture.rgb.insert(picture.rgb.end(), panel.rgb.begin(), panel.rgb.end());
}

template <typename Context>
quadrat::io::image draw(const dam<Context>& water) {
  std::vector<quadrat::vec<double, 3>> positions, velocities;
  for (const vector& x : water.positions()) positions.push_back({x[0], x[1], 0});
  for (const vector& v : water.velocities()) velocities.push_back({v[0], v[1], 0});
  const double radius = 0.6 * water.spacing();
  const quadrat::io::preview_stage stage{
      .lower = {0, 0, -radius}, .upper = {tank_length, 2.4, radius}, .radius = radius};
  const quadrat::io::preview_options options{.width = 640, .height = 340, .azimuth = 0, .elevation = 0, .top_value = 3};
  return draw_preview(stage, quadrat::points_of(positions), quadrat::points_of(velocities), options);
}

struct dam_options {
  int across = 40;
  std::string output = "sph_dam_break.png";
};

inline dam_options options_of(int argc, char** argv) {
  dam_options options;
  if (argc > 1) options.across = std::atoi(argv[1]);
  if (argc > 2) options.output = argv[2];
  quadrat::require(options.across >= 8 && options.across <= 1000 && argc <= 3,
                   "usage: sph_dam_break [particles across the column, 8 to 1000] [file for the picture]");
  return options;
}

/// Gives the exit status: 0 where the front is about as far and as fast as the measured one, and the density of the
/// water has been within 2 % before the front meets the wall.
template <typename Context>
int run(const Context& context, const dam_options& options) {
  dam<Context> water(context, options.across);
  std::printf("%zu particles of water, %zu of walls\n", water.water(), water.size() - water.water());
  quadrat::io::image picture;
  std::vector<double> fronts;
  double deviation = 0, before_the_wall = 0, ahead = 0;
  for (const moment& now : moments) {
    while (water.time() * std::sqrt(2.0) < now.time) {
      water.step();
      deviation = std::max(deviation, water.deviation());
    }
    fronts.push_back(water.front());
    std::printf("T = %.2f: front at %.2f, density within %.1f %%", now.time, fronts.back(), 100 * deviation);
    if (now.front > 0) {
      std::printf("; measured front at %.2f", now.front);
      ahead = std::max(ahead, std::fabs(fronts.back() - now.front));
      before_the_wall = deviation;
    }
    std::puts("");
    if (now.drawn) append(picture, draw(water));
  }
  quadrat::io::write_png(options.output, picture);
  const moment &first = moments[1], &last = moments[4];
  const double speed = (fronts[4] - fronts[1]) / (last.time - first.time);
  const double measured = (last.front - first.front) / (last.time - first.time);
  std::printf("front from T = %.2f to %.2f: speed %.2f, measured %.2f\n", first.time, last.time, speed, measured);
  std::printf("%d steps, %d neighbor lists; %s shows the water\n", water.steps(), water.lists(),
              options.output.c_str());
  return ahead < 0.5 && std::fabs(speed / measured - 1) < 0.05 && before_the_wall < 0.02 ? 0 : 1;
}
