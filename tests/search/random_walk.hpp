// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>

#include "list_support.hpp"
#include "support/random.hpp"

namespace quadrat::test {

template <typename T, int D>
void give_points(const backend_context& context, neighbor_input_on_device<T, D>& stored,
                 const neighbor_problem<T, D>& problem) {
  copy_bytes(context, problem.points.data(), stored.points().data(), stored.points().bytes());
  context.synchronize();
}

/// Points on random walks, with small steps, that are wrapped or moved by whole boxes at any time.
template <typename T, int D>
class random_walk {
 public:
  random_walk(neighbor_problem<T, D>& problem, std::uint64_t seed) : problem_(problem), random_(seed) {}

  void step() {
    const bool home = random_() % 2 == 0;  // as molecular dynamics does after each step
    for (std::size_t i = 0; i < problem_.points.size(); ++i) {
      const lattice<T, D>& box = problem_.boxes[problem_.system_of_point.empty() ? 0 : problem_.system_of_point[i]];
      vec<T, D>& point = problem_.points[i];
      for (int axis = 0; axis < D; ++axis) {
        if (!box.periodic[axis] && !problem_.options.accept_outside) continue;
        const T length = std::sqrt(squared_norm(box.vectors[axis]));
        point += box.vectors[axis] * (between(-0.06, 0.06) * problem_.options.skin / length);
        if (box.periodic[axis] && !home && random_() % 8 == 0) {
          point += box.vectors[axis] * static_cast<T>(static_cast<int>(random_() % 5) - 2);
        }
      }
      vec<int, D> boxes{};
      if (home) point = box.wrap(point, boxes);
    }
  }

 private:
  [[nodiscard]] T between(double low, double high) {
    return static_cast<T>(low + (high - low) * random_unit<double>(random_));
  }

  neighbor_problem<T, D>& problem_;
  std::mt19937_64 random_;
};

}  // namespace quadrat::test
