// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "quadrat/distributed/mesh_halo.hpp"

/// Where a patch and a block have mesh points in common: boxes, in an order that both sides know.
namespace quadrat::detail {

/// A run of mesh points along one axis: its places in the patch and in the block.
struct mesh_run {
  int in_patch;
  int in_block;
  int length;
};

/// One run for each periodic image of the block that the patch meets.
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

/// Indices of the points of one piece in the arrays of the patch and of the block. A piece names no point twice.
struct mesh_piece {
  std::vector<std::uint32_t> in_patch;
  std::vector<std::uint32_t> in_block;
};

template <int D>
[[nodiscard]] std::vector<mesh_piece> common_pieces(const decomposition<D>& owners, int rank,
                                                    const mesh_patch<D>& patch) {
  const cell_block<D>& block = owners.blocks[static_cast<std::size_t>(rank)];
  std::vector<mesh_piece> pieces;
  if (block.empty()) return pieces;
  pieces.push_back({{0}, {0}});
  for (int axis = 0; axis < D; ++axis) {
    const int extent = patch.extent[axis], layers = block.end[axis] - block.first[axis];
    const auto runs = common_runs(patch.first[axis], extent, block.first[axis], block.end[axis], owners.cells[axis],
                                  owners.periodic[axis]);
    std::vector<mesh_piece> next;
    for (const mesh_piece& before : pieces) {
      for (const mesh_run& run : runs) {
        mesh_piece& one = next.emplace_back();
        for (std::size_t k = 0; k < before.in_patch.size(); ++k) {
          for (int i = 0; i < run.length; ++i) {
            one.in_patch.push_back(before.in_patch[k] * static_cast<std::uint32_t>(extent) +
                                   static_cast<std::uint32_t>(run.in_patch + i));
            one.in_block.push_back(before.in_block[k] * static_cast<std::uint32_t>(layers) +
                                   static_cast<std::uint32_t>(run.in_block + i));
          }
        }
      }
    }
    pieces = std::move(next);
  }
  return pieces;
}

}  // namespace quadrat::detail
