// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ewald/choice/choice.hpp"
#include "ewald/domain.hpp"
#include "quadrat/core/lattice.hpp"
#include "quadrat/core/views.hpp"

/// The properties of charges and positions that error estimates need.
namespace quadrat::detail {

/// A cell cut into equal boxes, as near to cubes as its shape allows.
template <typename T>
struct crowding_boxes {
  lattice<T, 3> shape;
  int boxes[3];
  std::uint32_t first;  ///< number of the first box

  [[nodiscard]] QUADRAT_HD std::uint32_t count() const {
    return static_cast<std::uint32_t>(boxes[0]) * static_cast<std::uint32_t>(boxes[1]) *
           static_cast<std::uint32_t>(boxes[2]);
  }
  [[nodiscard]] QUADRAT_HD std::uint32_t box_of(const vec<T, 3>& point) const {
    std::uint32_t box = 0;
    for (int axis = 0; axis < 3; ++axis) {
      T fraction = shape.fraction(point, axis);
      fraction -= std::floor(fraction);
      const int at = fraction >= T(0) ? static_cast<int>(fraction * static_cast<T>(boxes[axis])) : 0;  // NaN: 0
      box = box * static_cast<std::uint32_t>(boxes[axis]) +
            static_cast<std::uint32_t>(at < boxes[axis] ? at : boxes[axis] - 1);
    }
    return first + box;
  }
};

/// About one box for every 8 of `points` charges in each cell, at least about 512 boxes, at most 64 along an axis.
template <typename T>
[[nodiscard]] std::vector<crowding_boxes<T>> make_crowding_boxes(const std::vector<lattice<T, 3>>& cells,
                                                                 double points);

/// Index: point.
template <typename T>
struct find_crowding_box {
  points_view<T, 3> points;
  const std::uint32_t* system_of_point;
  const crowding_boxes<T>* boxes;
  std::uint32_t systems;
  std::uint32_t* box;

  QUADRAT_HD void operator()(std::size_t i) const {
    const std::uint32_t system = system_of_point == nullptr ? 0 : system_of_point[i];
    box[i] = boxes[system < systems ? system : 0].box_of(points[i]);
  }
};

struct measured_charges {
  /// Systems with few points count as if they had `fewest`. Their errors come mostly from charges and their own images,
  /// which the estimates for random places do not include.
  std::vector<charged_system> systems;
  static constexpr double fewest = 8;
  /// The factor on the accuracy for that, because reference forces of few points are smaller.
  double strictness = 1;
};

/// Computes the estimates from the box and the charge of each point.
template <typename T>
[[nodiscard]] measured_charges measured_systems(const std::vector<crowding_boxes<T>>& boxes,
                                                const std::vector<std::uint32_t>& box_of_point,
                                                const std::vector<T>& charges);

}  // namespace quadrat::detail
