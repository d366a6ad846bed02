// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

#include "list_support.hpp"
#include "support/random.hpp"

namespace quadrat::test {

/// 64 atoms in a periodic box, by velocity Verlet, with forces that fall to 0 at the cutoff. Every step wraps.
class lennard_jones_atoms {
 public:
  static constexpr int side = 4;
  static constexpr double edge = 6.0;
  static constexpr double cutoff = 2.5;

  explicit lennard_jones_atoms(const backend_context& context) : context_(context), list_(context, options()) {
    std::mt19937_64 random(3);
    problem_.boxes = {
        make_lattice<double, 3>({}, {{{{edge, 0, 0}}, {{0, edge, 0}}, {{0, 0, edge}}}}, {true, true, true})};
    for (int k = 0; k < side * side * side; ++k) {
      const vec<int, 3> place{k % side, k / side % side, k / side / side};
      vec<double, 3> velocity{};
      for (int axis = 0; axis < 3; ++axis) velocity[axis] = 2.4 * random_unit<double>(random) - 1.2;
      problem_.points.push_back(cast<double>(place) * (edge / side));
      velocities_.push_back(velocity);
    }
    find_forces();
  }

  void step(double dt) {
    for (std::size_t i = 0; i < velocities_.size(); ++i) {
      velocities_[i] += forces_[i] * (dt / 2);
      vec<int, 3> boxes{};
      problem_.points[i] = problem_.boxes[0].wrap(problem_.points[i] + velocities_[i] * dt, boxes);
      wraps_ += boxes == vec<int, 3>{} ? 0 : 1;
    }
    find_forces();
    for (std::size_t i = 0; i < velocities_.size(); ++i) velocities_[i] += forces_[i] * (dt / 2);
  }
  [[nodiscard]] double energy_an_atom() const {
    double sum = potential_;
    for (const auto& velocity : velocities_) sum += squared_norm(velocity) / 2;
    return sum / static_cast<double>(velocities_.size());
  }
  [[nodiscard]] int wraps() const { return wraps_; }
  [[nodiscard]] int kept() const { return kept_; }

 private:
  static neighbor_options<double> options() {
    neighbor_options<double> result;
    result.cutoff = cutoff;
    result.skin = 0.4;
    result.pairs = neighbor_pairs::half;
    result.shifts = true;
    return result;
  }
  static double potential(double r) { return 4 * (std::pow(r, -12) - std::pow(r, -6)); }
  static double slope(double r) { return -48 * std::pow(r, -13) + 24 * std::pow(r, -7); }

  void find_forces() {
    const neighbor_input_on_device<double, 3> stored(context_, problem_);
    kept_ += list_.update(stored.input()) ? 0 : 1;
    forces_.assign(problem_.points.size(), {});
    potential_ = 0;
    for (const auto& entry : bring_home(context_, list_).entries) {
      // From the shift alone, like a program that keeps its own positions.
      const vec<double, 3> r =
          problem_.points[entry.j] + problem_.boxes[0].translation(entry.shift) - problem_.points[entry.i];
      const double length = std::sqrt(squared_norm(r));
      if (length >= cutoff) continue;
      potential_ += potential(length) - potential(cutoff) - (length - cutoff) * slope(cutoff);
      const vec<double, 3> push = r * ((slope(length) - slope(cutoff)) / length);
      forces_[entry.i] += push;
      forces_[entry.j] -= push;
    }
  }

  const backend_context& context_;
  neighbor_problem<double, 3> problem_;
  neighbor_list<backend_context, double, 3> list_;
  std::vector<vec<double, 3>> velocities_, forces_;
  double potential_ = 0;
  int wraps_ = 0;
  int kept_ = 0;
};

}  // namespace quadrat::test
