// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>

#include "hydro/choice.hpp"
#include "hydro/place.hpp"
#include "quadrat/core/box.hpp"
#include "quadrat/core/lattice.hpp"

/// Levels of crowding of spheres, each twice as crowded as the previous one. Parameters depend only on the box, the
/// number of spheres and the level.
namespace quadrat::detail {

/// Boxes with about 8 spheres each.
template <typename T>
[[nodiscard]] sphere_boxes<T> make_sphere_boxes(const vec<T, 3>& box, std::size_t count) {
  sphere_boxes<T> boxes{};
  double volume = 1;
  for (int axis = 0; axis < 3; ++axis) volume *= static_cast<double>(box[axis]);
  boxes.shape = make_lattice(make_box_from_lengths(vec<T, 3>{}, box, vec<bool, 3>::filled(true)));
  const double edge = std::cbrt(volume / std::max(1.0, static_cast<double>(count) / 8));
  for (int axis = 0; axis < 3; ++axis) {
    const double along = std::round(static_cast<double>(box[axis]) / edge);
    boxes.boxes[axis] = static_cast<int>(std::clamp(along, 1.0, static_cast<double>(sphere_boxes<T>::most)));
  }
  return boxes;
}

/// The largest number of pairs in boxes for a level.
template <typename T>
[[nodiscard]] double most_pairs_of_level(const sphere_boxes<T>& boxes, std::size_t count, int level) {
  const auto spheres = static_cast<double>(count);
  const double random = spheres * (spheres - 1) / static_cast<double>(boxes.count());
  return level < 0 ? -1 : std::ldexp(random, level + 1) + 0.5;
}

template <typename T>
[[nodiscard]] int crowding_level(const sphere_boxes<T>& boxes, std::size_t count, double pairs) {
  int result = 0;
  while (pairs >= most_pairs_of_level(boxes, count, result)) ++result;
  return result;
}

template <typename T>
[[nodiscard]] mobility_request request_of_level(const mobility_options& options, const vec<T, 3>& box,
                                                std::size_t count, int level, bool cuda) {
  mobility_request request;
  request.method = options.method;
  request.accuracy = options.accuracy;
  request.radius = options.radius;
  request.given = options.parameters;
  request.box = cast<double>(box);
  request.spheres = static_cast<double>(count);
  request.crowding = level == 0 ? 1 : std::ldexp(std::numbers::sqrt2, level);
  request.cuda = cuda;
  request.single_precision = sizeof(T) == 4;
  return request;
}

[[nodiscard]] inline mobility_report report_of(const mobility_choice& choice) {
  return {choice.method,
          choice.reason,
          choice.parameters,
          choice.neighbors,
          choice.near_error,
          choice.wave_error,
          choice.transform_error,
          choice.error(),
          0,
          0};
}

/// The error allowed for pairs of the near part. Errors of the images of few spheres add up.
[[nodiscard]] inline double near_tolerance(double accuracy, std::size_t count) {
  return accuracy / 20 * std::clamp(static_cast<double>(count) / 500, 0.01, 1.0);
}

/// The convergence criterion of the Lanczos method: the largest change, and how often in a row. Changes of the whole
/// operator's root decrease slowly and unevenly, so the remaining error is larger than they suggest.
struct lanczos_limits {
  double tolerance;
  int looks;
};
[[nodiscard]] inline lanczos_limits lanczos_limits_of(double accuracy, bool krylov, std::size_t count) {
  return {(krylov ? 0.3 : 0.8) * accuracy, krylov || count < 500 ? 2 : 1};  // of few: often chance
}

}  // namespace quadrat::detail
