// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "quadrat/distributed/mesh_halo.hpp"

/// The mesh points that a patch and a block have in common: boxes, in an order that both sides know.
namespace quadrat::detail {

/// A run of mesh points along one axis, with its places in the patch and in the block.
struct mesh_run {
  int in_patch;
  int in_block;
  int length;
};

/// The common runs: one for each periodic image of the block that the patch meets.
[[nodiscard]] inline std::vector<mesh_run> common_runs(int first, int extent, int begin, int end, int n,
                                                       bool periodic) {
  std::vector<mesh_run> runs;
  const auto box_of = [n](int index) { return index >= 0 ? index / n : -1 - (-1 - index) / n; };
  const int lowest = periodic ? box_of(first) : 0, highest = periodic ? box_of(first + extent - 1) : 0;
  for (int image = lowest; image <= highest; ++image) {
    const int from = std::max(begin + image * n, first), to = std::min(end + image * n, first + extent);
    if (from < to) runs.push_back({from - first, from - image * n - begin, to - from});
  }
  return runs;
}

/// The runs of a box of common points along the axes.
template <int D>
using mesh_box = std::array<mesh_run, D>;

template <int D>
[[nodiscard]] std::size_t points_of(const mesh_box<D>& box) {
  std::size_t product = 1;
  for (const mesh_run& run : box) product *= static_cast<std::size_t>(run.length);
  return product;
}

template <int D>
[[nodiscard]] std::vector<mesh_box<D>> common_boxes(const decomposition<D>& owners, int rank,
                                                    const mesh_patch<D>& patch) {
  const cell_block<D>& block = owners.blocks[static_cast<std::size_t>(rank)];
  std::vector<mesh_box<D>> boxes;
  if (block.empty()) return boxes;
  boxes.emplace_back();
  for (std::size_t axis = 0; axis < D; ++axis) {
    const int a = static_cast<int>(axis);
    const auto runs =
        common_runs(patch.first[a], patch.extent[a], block.first[a], block.end[a], owners.cells[a], owners.periodic[a]);
    std::vector<mesh_box<D>> next;
    for (const mesh_box<D>& before : boxes) {
      for (const mesh_run& run : runs) next.emplace_back(before)[axis] = run;
    }
    boxes = std::move(next);
  }
  return boxes;
}

/// Appends the indices of a box's points, in an array of that extent. `first`: mesh_run::in_patch or
/// mesh_run::in_block.
template <int D>
void append_points(const mesh_box<D>& box, const vec<int, D>& extent, int mesh_run::*first,
                   std::vector<std::uint32_t>& list) {
  std::vector<std::uint32_t> places{0};
  for (std::size_t axis = 0; axis < D; ++axis) {
    std::vector<std::uint32_t> next;
    next.reserve(places.size() * static_cast<std::size_t>(box[axis].length));
    for (const std::uint32_t place : places) {
      const std::uint32_t begin = place * static_cast<std::uint32_t>(extent[static_cast<int>(axis)]) +
                                  static_cast<std::uint32_t>(box[axis].*first);
      for (int i = 0; i < box[axis].length; ++i) next.push_back(begin + static_cast<std::uint32_t>(i));
    }
    places = std::move(next);
  }
  list.insert(list.end(), places.begin(), places.end());
}

}  // namespace quadrat::detail
