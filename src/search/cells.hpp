// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "cells/counting_build.hpp"
#include "quadrat/cells/counting.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/search/lattice/system.hpp"
#include "search/search.hpp"

namespace quadrat::detail {

/// The input of a build, as passed to engines.
template <typename T, int D>
struct search_task {
  const neighbor_input<T, D>& input;
  std::size_t rows;
  std::uint64_t boxes_number;  ///< changes whenever the boxes do
  bool one_image;              ///< boxes are orthorhombic and hold `boxes_of_one_image`
  bool nearest_image;          ///< and `boxes_of_nearest_image`
  /// One box and no system numbers. Numbers that are given must be checked on the device, even if all should be 0.
  bool one_system;
  bool keeps_shifts;
  std::uint64_t* note;  ///< a word for the engine's kernels; its value is passed to `neighbor_engine::grow`
  double mean_row;      ///< mean number of neighbors in the last build; 0: not known
};

/// The largest number of cells for a search. With far more cells than points, most cells would be empty.
[[nodiscard]] inline std::size_t most_cells(std::size_t points) { return 64 + 4 * points; }

/// Boxes cut into cells, and the points in them.
template <typename Context, typename T, int D>
struct search_cells {
  array<search_system<T, D>, Context> systems;
  search_system<T, D> first{};  ///< of the first system
  std::size_t count = 0;        ///< cells of all systems
  bool folded = false;          ///< whether the cells of any system are folded
  double volume = 0;            ///< of all stored cells, where boxes are orthorhombic
  counting_buckets<Context> buckets;

  /// Whether the boxes have changed since, or the number of points has more than doubled or halved.
  [[nodiscard]] bool unfit(const search_task<T, D>& task) const {
    const std::size_t points = task.input.points.count;
    return boxes_number_ != task.boxes_number || points > 2 * points_ || 2 * points < points_;
  }
  void cut(const Context& context, const search_task<T, D>& task, const cells_request<T, D>& request) {
    boxes_number_ = 0;  // in case of an exception below
    const auto made = make_search_systems(task.input.boxes, request);
    first = made.front();
    count = cell_count(made);
    folded = false;
    volume = 0;
    for (const search_system<T, D>& system : made) {
      double product = system.count;
      for (int axis = 0; axis < D; ++axis) product *= static_cast<double>(system.edge[axis]);
      folded = folded || system.folded();
      volume += product;
    }
    systems = to_device(context, made);
    points_ = task.input.points.count;
    boxes_number_ = task.boxes_number;
  }
  /// Puts the points into the cells. Asynchronous.
  void fill(const Context& context, const search_key<T, D>& key, bool one_system) {
    const std::size_t points = key.search.points.count;
    if (one_system) {
      buckets.build(context, points, count, search_key_of_one<T, D>{key, first}, key.faults);
    } else {
      buckets.build(context, points, count, key, key.faults);
    }
  }
  [[nodiscard]] std::size_t bytes() const { return systems.bytes() + buckets.bytes(); }

 private:
  std::uint64_t boxes_number_ = 0;  // 0: none
  std::size_t points_ = 0;
};

}  // namespace quadrat::detail
