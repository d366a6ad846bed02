// SPDX-License-Identifier: BSD-3-Clause
#include "choice/frames.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "harness/points.hpp"
#include "quadrat/search/neighbor_list.hpp"

namespace quadrat::bench {

namespace {

constexpr int moments = 8;

/// Calls f(i, j) for each pair within the cutoff once.
template <int D>
class frame_pairs {
 public:
  explicit frame_pairs(double cutoff) : list_(context_, options_for(cutoff)) {}

  template <typename F>
  void for_each(const frame<D>& at, const box<double, D>& domain, F&& f) {
    flat_.resize(D * at.size());
    for (std::size_t i = 0; i < at.size(); ++i) {
      for (int axis = 0; axis < D; ++axis) flat_[D * i + static_cast<std::size_t>(axis)] = at[i][axis];
    }
    const std::array<lattice<double, D>, 1> boxes{make_lattice(domain)};
    neighbor_input<double, D> input;
    input.points = strided_points<D>(flat_.data(), at.size());
    input.boxes = boxes;
    list_.build(input);
    const auto pairs = list_.view();
    for (std::size_t i = 0; i < at.size(); ++i) {
      for (auto k = pairs.offsets[i]; k < pairs.offsets[i + 1]; ++k) f(i, std::size_t{pairs.neighbors[k]});
    }
  }

 private:
  [[nodiscard]] static neighbor_options<double> options_for(double cutoff) {
    neighbor_options<double> options;
    options.cutoff = cutoff;
    options.pairs = neighbor_pairs::half;
    options.keeps_points = true;
    return options;
  }

  cpu_context context_{cpu_context::options{.threads = 1}};
  neighbor_list<cpu_context, double, D> list_;
  std::vector<double> flat_;
};

[[nodiscard]] box<double, 2> hall(double side) {
  return make_box(vec<double, 2>::filled(0), vec<double, 2>::filled(side), vec<bool, 2>::filled(false));
}

[[nodiscard]] std::vector<frame<2>> simulate_crowd() {
  // In meters and seconds: persons of 0.3 m radius who want to walk at 1.3 m/s.
  constexpr double side = 40, radius = 0.3, speed = 1.3, reaction = 0.5, push = 25, range = 0.08, stiff = 600;
  constexpr double step = 0.02;
  constexpr std::size_t persons = 1200;
  constexpr int steps = 1600;
  const std::array<vec<double, 2>, 2> doors{vec<double, 2>{side, 0.3 * side}, vec<double, 2>{side, 0.8 * side}};
  frame<2> at(persons), velocity(persons, vec<double, 2>::filled(0)), force(persons);
  for (std::size_t i = 0; i < persons; ++i) at[i] = {side * random_unit(1, i), side * random_unit(2, i)};
  frame_pairs<2> pairs(2 * radius + 8 * range);
  std::vector<frame<2>> frames;
  for (int now = 0; now <= steps; ++now) {
    if (now % (steps / (moments - 1)) == 0) {
      frames.push_back(at);
      for (auto& x : frames.back()) x = x * (1 / side);
    }
    for (std::size_t i = 0; i < persons; ++i) {
      const vec<double, 2> to_first = doors[0] - at[i], to_second = doors[1] - at[i];
      const vec<double, 2> way = dot(to_first, to_first) < dot(to_second, to_second) ? to_first : to_second;
      force[i] = (way * (speed / std::max(norm(way), 1e-9)) - velocity[i]) * (1 / reaction);
    }
    pairs.for_each(at, hall(side), [&](std::size_t i, std::size_t j) {
      const vec<double, 2> apart = at[i] - at[j];
      const double distance = std::max(norm(apart), 1e-6), overlap = 2 * radius - distance;
      const double size = push * std::exp(std::min(overlap / range, 2.0)) + stiff * std::max(overlap, 0.0);
      force[i] = force[i] + apart * (size / distance);
      force[j] = force[j] - apart * (size / distance);
    });
    for (std::size_t i = 0; i < persons; ++i) {
      velocity[i] = velocity[i] + force[i] * step;
      velocity[i] = velocity[i] * std::min(1.0, 3 * speed / std::max(norm(velocity[i]), 1e-9));
      at[i] = at[i] + velocity[i] * step;
      for (const auto& door : doors) {
        if (norm(door - at[i]) < 2 * radius) at[i] = {0, side * random_unit(3 + static_cast<unsigned>(now), i)};
      }
      for (int axis = 0; axis < 2; ++axis) at[i][axis] = std::clamp(at[i][axis], 0.0, side * (1 - 1e-12));
    }
  }
  return frames;
}

/// A fluid of density 1 that starts in a corner, in units of the box and of its gravity.
template <int D>
struct fluid {
  static constexpr double spacing = D == 2 ? 0.01 : 0.025;
  static constexpr double smoothing = 1.3 * spacing, sound = 6, viscosity = 0.2, step = 0.2 * smoothing / sound;
  static constexpr double end = 2.4;

  frame<D> at, velocity, force;
  std::vector<double> density, change;
  double mass = std::pow(spacing, D);

  fluid() {
    const vec<double, 3> edges{0.25, 0.5, 0.3};
    std::array<int, 3> along{1, 1, 1};
    for (int axis = 0; axis < D; ++axis) {
      along[static_cast<std::size_t>(axis)] = static_cast<int>(std::lround(edges[axis] / spacing));
    }
    for (int number = 0; number < along[0] * along[1] * along[2]; ++number) {
      const std::array<int, 3> cell{number % along[0], number / along[0] % along[1], number / along[0] / along[1]};
      vec<double, D> x;
      for (int axis = 0; axis < D; ++axis) x[axis] = (cell[static_cast<std::size_t>(axis)] + 0.5) * spacing;
      at.push_back(x);
    }
    velocity.assign(at.size(), vec<double, D>::filled(0));
    force = velocity;
    density.assign(at.size(), 1);
    change.assign(at.size(), 0);
  }
  /// The derivative of the cubic spline, divided by the distance.
  [[nodiscard]] static double slope(double distance) {
    const double q = distance / smoothing;
    const double norm = (D == 2 ? 10 / (7 * std::numbers::pi) : 1 / std::numbers::pi) / std::pow(smoothing, D + 1);
    return norm * (q < 1 ? q * (2.25 * q - 3) : -0.75 * (2 - q) * (2 - q)) / distance;
  }
  [[nodiscard]] double pressure(std::size_t i) const { return std::max(0.0, sound * sound * (density[i] - 1)); }

  void interact(std::size_t i, std::size_t j) {
    const vec<double, D> apart = at[i] - at[j], relative = velocity[i] - velocity[j];
    const double distance = std::max(norm(apart), 1e-6), approach = dot(relative, apart), w = mass * slope(distance);
    const double damping =
        approach < 0 ? -viscosity * smoothing * sound * approach / (distance * distance + 0.01 * smoothing * smoothing)
                     : 0;
    const double push = pressure(i) / (density[i] * density[i]) + pressure(j) / (density[j] * density[j]) + damping;
    force[i] = force[i] - apart * (push * w);
    force[j] = force[j] + apart * (push * w);
    change[i] += approach * w;
    change[j] += approach * w;
  }
  void move() {
    for (std::size_t i = 0; i < at.size(); ++i) {
      density[i] = std::clamp(density[i] + step * change[i], 0.8, 1.3);
      velocity[i] = velocity[i] + force[i] * step;
      at[i] = at[i] + velocity[i] * step;
      for (int axis = 0; axis < D; ++axis) {
        const double inside = std::clamp(at[i][axis], 0.3 * spacing, 1 - 0.3 * spacing);
        if (inside != at[i][axis]) velocity[i][axis] *= -0.3;
        at[i][axis] = inside;
      }
    }
  }
};

template <int D>
[[nodiscard]] std::vector<frame<D>> simulate_dam_break() {
  fluid<D> state;
  const box<double, D> domain =
      make_box(vec<double, D>::filled(0), vec<double, D>::filled(1), vec<bool, D>::filled(false));
  frame_pairs<D> pairs(2 * fluid<D>::smoothing);
  std::vector<frame<D>> frames;
  const int steps = static_cast<int>(fluid<D>::end / fluid<D>::step);
  for (int now = 0; now <= steps; ++now) {
    if (now % (steps / (moments - 1)) == 0) frames.push_back(state.at);
    vec<double, D> down = vec<double, D>::filled(0);
    down[1] = -1;
    std::ranges::fill(state.force, down);
    std::ranges::fill(state.change, 0.0);
    pairs.for_each(state.at, domain, [&](std::size_t i, std::size_t j) { state.interact(i, j); });
    state.move();
  }
  return frames;
}

}  // namespace

const std::vector<frame<2>>& crowd_frames() {
  static const std::vector<frame<2>> frames = simulate_crowd();
  return frames;
}

template <int D>
const std::vector<frame<D>>& dam_break_frames() {
  static const std::vector<frame<D>> frames = simulate_dam_break<D>();
  return frames;
}
template <int D>
double dam_break_spacing() {
  return fluid<D>::spacing;
}

template const std::vector<frame<2>>& dam_break_frames<2>();
template const std::vector<frame<3>>& dam_break_frames<3>();
template double dam_break_spacing<2>();
template double dam_break_spacing<3>();

}  // namespace quadrat::bench
