// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "distributed/particles/box_partitioner.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/distributed/decomposition.hpp"

/// The weights of cells in the form that a partitioner takes.
namespace quadrat::detail {

/// The cells that hold particles of this rank, each once. If they are many, cubes of 2^shift cells along each axis
/// replace them: some hundred thousand suffice to balance ranks within a percent.
template <int D>
class weighted_cells {
 public:
  static constexpr std::size_t most = std::size_t{1} << 17;

  /// `cells`: one per particle. `weights`: one per particle; nullptr: 1 each.
  weighted_cells(std::vector<vec<int, D>> cells, const std::uint32_t* weights) {
    entries_.reserve(cells.size());
    for (std::size_t i = 0; i < cells.size(); ++i) entries_.push_back({cells[i], weights == nullptr ? 1 : weights[i]});
    join();
    while (entries_.size() > most) coarsen(shift_ + 1);
  }

  [[nodiscard]] int shift() const { return shift_; }
  void coarsen(int shift) {
    if (shift <= shift_) return;
    for (entry& one : entries_) {
      for (int axis = 0; axis < D; ++axis) one.cell[axis] >>= shift - shift_;
    }
    shift_ = shift;
    join();
  }

  /// Centers of the cells or cubes. `edges`: lengths of a cell.
  [[nodiscard]] std::vector<double> places(const vec<double, D>& edges) const {
    std::vector<double> result;
    for (const entry& one : entries_) {
      for (int axis = 0; axis < D; ++axis) result.push_back((one.cell[axis] + 0.5) * std::ldexp(edges[axis], shift_));
    }
    return result;
  }
  [[nodiscard]] std::vector<float> weights() const {
    std::vector<float> result;
    for (const entry& one : entries_) result.push_back(static_cast<float>(one.weight));
    return result;
  }
  /// Blocks of whole cells whose faces are nearest to those of the boxes.
  [[nodiscard]] std::vector<cell_block<D>> blocks(const std::vector<part_box>& boxes, const vec<double, D>& edges,
                                                  const vec<int, D>& cells) const {
    std::vector<cell_block<D>> result;
    for (const part_box& box : boxes) {
      cell_block<D>& block = result.emplace_back();
      for (int axis = 0; axis < D; ++axis) {
        const auto a = static_cast<std::size_t>(axis);
        const auto cell_at = [&](double place) {
          // A cube belongs below the cut if its center does.
          const double cube = std::ceil(place / std::ldexp(edges[axis], shift_) - 0.5);
          return static_cast<int>(std::clamp(std::ldexp(cube, shift_), 0.0, static_cast<double>(cells[axis])));
        };
        block.first[axis] = cell_at(box.lower[a]);
        block.end[axis] = cell_at(box.upper[a]);
      }
    }
    return result;
  }

 private:
  struct entry {
    vec<int, D> cell;
    std::uint64_t weight;
  };

  /// Merges equal cells.
  void join() {
    const auto before = [](const entry& a, const entry& b) {
      return std::lexicographical_compare(a.cell.component, a.cell.component + D, b.cell.component,
                                          b.cell.component + D);
    };
    std::sort(entries_.begin(), entries_.end(), before);
    std::size_t count = 0;
    for (const entry& one : entries_) {
      if (count > 0 && entries_[count - 1].cell == one.cell) {
        entries_[count - 1].weight += one.weight;
      } else {
        entries_[count++] = one;
      }
    }
    entries_.resize(count);
  }

  std::vector<entry> entries_;
  int shift_ = 0;
};

}  // namespace quadrat::detail
