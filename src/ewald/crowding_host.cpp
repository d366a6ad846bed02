// SPDX-License-Identifier: BSD-3-Clause
#include "ewald/crowding.hpp"

#include <algorithm>
#include <span>

#include "ewald/long_waves.hpp"

namespace quadrat::detail {

template <typename T>
std::vector<crowding_boxes<T>> make_crowding_boxes(const std::vector<lattice<T, 3>>& cells, double points) {
  std::vector<crowding_boxes<T>> result;
  std::uint32_t first = 0;
  // Few points still need many boxes, because a cluster would fit in one. (The number is bounded for many systems.)
  const double least = std::clamp(262144.0 / static_cast<double>(cells.size()), 1.0, 512.0);
  for (const lattice<T, 3>& cell : cells) {
    crowding_boxes<T> boxes{cell, {1, 1, 1}, first};
    double volume = 1;
    for (int axis = 0; axis < 3; ++axis) volume *= static_cast<double>(cell.height(axis));
    const double edge = std::cbrt(volume / std::max(least, points / 8));
    for (int axis = 0; axis < 3; ++axis) {
      boxes.boxes[axis] =
          static_cast<int>(std::clamp(std::round(static_cast<double>(cell.height(axis)) / edge), 1.0, 64.0));
    }
    first += boxes.count();
    result.push_back(boxes);
  }
  return result;
}

/// The crowding of boxes twice, four times, ... as long, until one has all points. Boxes at an end may be shorter.
[[nodiscard]] static std::vector<double> crowding_of_wider(const vec<std::size_t, 3>& boxes, std::vector<double> in_box,
                                                           double points) {
  std::vector<double> result;
  vec<std::size_t, 3> extent = boxes;
  for (std::size_t length = 2; extent[0] > 1 || extent[1] > 1 || extent[2] > 1; length *= 2) {
    const vec<std::size_t, 3> before = extent;
    double even = 1;  // fraction of pairs that share a box, for random points
    for (int axis = 0; axis < 3; ++axis) {
      extent[axis] = (before[axis] + 1) / 2;
      double squares = 0;
      for (std::size_t from = 0; from < boxes[axis]; from += length) {
        const auto part = static_cast<double>(std::min(length, boxes[axis] - from));
        squares += part * part;
      }
      even *= squares / static_cast<double>(boxes[axis] * boxes[axis]);
    }
    std::vector<double> wider(extent[0] * extent[1] * extent[2], 0.0);
    for (std::size_t i = 0; i < in_box.size(); ++i) {
      const std::size_t row = i / before[2], x = row / before[1], y = row % before[1], z = i % before[2];
      wider[(x / 2 * extent[1] + y / 2) * extent[2] + z / 2] += in_box[i];
    }
    double pairs = 0;
    for (const double n : wider) pairs += n * (n - 1);
    result.push_back(pairs / std::max(1.0, points * (points - 1)) / even);
    in_box = std::move(wider);
  }
  return result;
}

/// Subtracts the expectation of random fluctuations over that many boxes.
template <typename T>
[[nodiscard]] static double coherence_of(const crowding_boxes<T>& cut, const std::vector<double>& charge_of_box,
                                         const charged_system& system) {
  if (!(system.sum_of_squares > 0)) return 1;
  const double boxes = cut.count();
  double sum = 0, squares = 0;
  for (std::uint32_t k = 0; k < cut.count(); ++k) {
    const double charge = charge_of_box[cut.first + k];
    sum += charge;
    squares += charge * charge;
  }
  const double found = (squares - sum * sum / boxes) / system.sum_of_squares;
  return std::max(1.0, found - 3 * std::sqrt(2 / boxes));
}

template <typename T>
measured_charges measured_systems(const std::vector<crowding_boxes<T>>& boxes,
                                  const std::vector<std::uint32_t>& box_of_point, const std::vector<T>& charges) {
  std::vector<double> in_box(boxes.back().first + boxes.back().count(), 0.0);
  for (const std::uint32_t box : box_of_point) ++in_box[box];
  std::vector<double> charge_of_box(in_box.size(), 0.0), square_of_box(in_box.size(), 0.0);
  measured_charges result;
  std::vector<charged_system>& systems = result.systems;
  for (const crowding_boxes<T>& cut : boxes) {
    charged_system system{};
    for (int axis = 0; axis < 3; ++axis) system.vectors[axis] = cast<double>(cut.shape.vectors[axis]);
    double pairs = 0;
    for (std::uint32_t k = 0; k < cut.count(); ++k) {
      const double n = in_box[cut.first + k];
      system.points += n;
      pairs += n * (n - 1);
    }
    // Subtracts 3 standard deviations of random points.
    const double found = pairs * cut.count() / std::max(1.0, system.points * (system.points - 1));
    system.crowding = std::max(1.0, found - 3 * std::sqrt(2.0 * cut.count()) / std::max(1.0, system.points));
    system.companions = pairs / std::max(1.0, system.points);
    system.box = std::cbrt(system.volume() / cut.count());
    const auto begin = in_box.begin() + cut.first;
    const auto extent = make_vec<std::size_t, 3>([&](int axis) { return static_cast<std::size_t>(cut.boxes[axis]); });
    system.wider_crowding = crowding_of_wider(extent, {begin, begin + cut.count()}, system.points);
    systems.push_back(system);
  }
  for (std::size_t i = 0; i < charges.size(); ++i) {
    const auto after = std::ranges::upper_bound(boxes, box_of_point[i], {}, &crowding_boxes<T>::first);
    const double square = static_cast<double>(charges[i]) * static_cast<double>(charges[i]);
    if (!std::isfinite(square)) continue;  // reported when charges are placed
    charge_of_box[box_of_point[i]] += static_cast<double>(charges[i]);
    square_of_box[box_of_point[i]] += square;
    charged_system& system = systems[static_cast<std::size_t>(after - boxes.begin()) - 1];
    system.sum_of_squares += square;
    system.sum_of_fourth_powers += square * square;
    system.net_charge += static_cast<double>(charges[i]);
  }
  for (std::size_t k = 0; k < systems.size(); ++k) {
    systems[k].coherence = coherence_of(boxes[k], charge_of_box, systems[k]);
    const vec<int, 3> extent{boxes[k].boxes[0], boxes[k].boxes[1], boxes[k].boxes[2]};
    const auto of_system = [&](const std::vector<double>& all) {
      return std::span<const double>(all).subspan(boxes[k].first, boxes[k].count());
    };
    systems[k].long_waves =
        long_wave_excess(systems[k].vectors, extent, of_system(charge_of_box), of_system(square_of_box));
  }
  for (charged_system& system : systems) {
    if (system.points == 0 || system.points >= measured_charges::fewest) continue;
    const double more = measured_charges::fewest / system.points;
    result.strictness = std::min(result.strictness, std::pow(more, -2.0 / 3));
    system.points *= more;
    system.sum_of_squares *= more;
    system.sum_of_fourth_powers *= more;
    system.net_charge *= more;
  }
  return result;
}

template std::vector<crowding_boxes<float>> make_crowding_boxes(const std::vector<lattice<float, 3>>&, double);
template std::vector<crowding_boxes<double>> make_crowding_boxes(const std::vector<lattice<double, 3>>&, double);
template measured_charges measured_systems(const std::vector<crowding_boxes<float>>&, const std::vector<std::uint32_t>&,
                                           const std::vector<float>&);
template measured_charges measured_systems(const std::vector<crowding_boxes<double>>&,
                                           const std::vector<std::uint32_t>&, const std::vector<double>&);

}  // namespace quadrat::detail
