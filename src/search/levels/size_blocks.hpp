// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "quadrat/core/macros.hpp"
#include "quadrat/parallel/atomic.hpp"
#include "quadrat/search/lattice/system.hpp"
#include "search/levels/layer_rows.hpp"
#include "search/levels/sizes.hpp"

/// The largest sizes of points by block of cells. A level spans a factor of two in size, and where sizes follow the
/// density, most of its cells are empty: a row is searched as far as the sizes around its point ask for, and not at all
/// in layers without points there.
namespace quadrat::detail {

/// The blocks of the cells of a layer: as long as the largest distance that is asked for, so that everything in reach
/// of a point is in its block or a neighbor of that.
template <int D>
struct size_blocks {
  std::uint32_t first;  ///< of the layer, in the numbers of all blocks
  vec<int, D> shift;    ///< 2^shift cells along each axis
  vec<int, D> count;
  vec<int, D> around;  ///< neighbors to each side; along an axis that wraps and whose last block is shorter, two
  vec<bool, D> wraps;

  [[nodiscard]] QUADRAT_HD std::uint32_t size() const {
    int product = 1;
    for (int axis = 0; axis < D; ++axis) product *= count[axis];
    return static_cast<std::uint32_t>(product);
  }

  /// The block of a wrapped point.
  template <typename T>
  [[nodiscard]] QUADRAT_HD std::uint32_t block_of(const search_system<T, D>& cells, const vec<T, D>& point) const {
    int id = 0;
    for (int axis = D - 1; axis >= 0; --axis) {
      T at = cells.coordinate(point, axis);
      int repeat = 0;
      if (cells.repeats[axis] != 1) at = cells.folded(at, axis, repeat);
      id = id * count[axis] + (cells.clamped(cells.unwrapped_index(at), axis) >> shift[axis]);
    }
    return first + static_cast<std::uint32_t>(id);
  }

  /// Calls f(run of cells) for the rows of cells of a block.
  template <typename T, typename F>
  QUADRAT_HD void for_each_run(const search_system<T, D>& cells, std::size_t number, F&& f) const {
    auto rest = static_cast<int>(number - first);
    vec<int, D> begin{}, end{};
    for (int axis = 0; axis < D; ++axis) {
      begin[axis] = rest % count[axis] << shift[axis];
      rest /= count[axis];
      end[axis] = begin[axis] + (1 << shift[axis]);
      end[axis] = end[axis] < cells.cells[axis] ? end[axis] : cells.cells[axis];
    }
    for (int z = D == 3 ? begin[D - 1] : 0; z < (D == 3 ? end[D - 1] : 1); ++z) {
      for (int y = begin[1]; y < end[1]; ++y) {
        const std::int64_t row =
            cells.first_cell + static_cast<std::int64_t>(D == 3 ? z * cells.cells[1] + y : y) * cells.cells[0];
        f(cell_run<D>{row + begin[0], row + end[0] - 1, {}});
      }
    }
  }
};

/// A bound on the rounding of coordinates of points in the box, in cells.
template <typename T, int D>
[[nodiscard]] T rounding_in_box(const search_system<T, D>& cells, int axis) {
  vec<T, D> end = cells.shape.origin;
  end[axis] += cells.shape.vectors[axis][axis];
  return std::fmax(cells.slack_at(cells.coordinate(cells.shape.origin, axis), axis),
                   cells.slack_at(cells.coordinate(end, axis), axis));
}

/// Blocks for searches up to `reach` by points in an orthorhombic box.
template <typename T, int D>
[[nodiscard]] size_blocks<D> make_size_blocks(const search_system<T, D>& cells, T reach, std::uint32_t first) {
  size_blocks<D> blocks{};
  blocks.first = first;
  for (int axis = 0; axis < D; ++axis) {
    const T margin = reach * cells.cells_per_length[axis] + 2 * rounding_in_box(cells, axis);
    while (static_cast<T>(1 << blocks.shift[axis]) < margin && 1 << blocks.shift[axis] < cells.cells[axis]) {
      ++blocks.shift[axis];
    }
    const int length = 1 << blocks.shift[axis];
    blocks.count[axis] = (cells.cells[axis] + length - 1) / length;
    blocks.wraps[axis] = cells.shape.periodic[axis] || cells.repeats[axis] != 1;
    blocks.around[axis] = blocks.wraps[axis] && cells.cells[axis] % length != 0 ? 2 : 1;
  }
  return blocks;
}

/// A size as a word: never less for a larger one, and 0 for none.
template <typename T>
[[nodiscard]] QUADRAT_HD std::uint32_t word_of_size(const radius_sizes<T>& sizes, T radius) {
  const auto part = static_cast<float>(sizes.part(radius));
  std::uint32_t bits = 0;
  memcpy(&bits, &part, sizeof bits);
  return part >= 0 ? bits + 1 : 1;
}
/// At least the size; for words other than 0.
template <typename T>
[[nodiscard]] QUADRAT_HD T size_of_word(const radius_sizes<T>& sizes, std::uint32_t word) {
  const std::uint32_t bits = word - 1;
  float part = 0;
  memcpy(&part, &bits, sizeof bits);
  return static_cast<T>(part) * sizes.largest * T(1 + 1e-6);
}

/// Index: block of any layer. The largest word of a block and its neighbors.
template <int D>
struct widen_size_blocks {
  const size_blocks<D>* layers;
  const std::uint32_t* own;
  std::uint32_t* largest;

  QUADRAT_HD void operator()(std::size_t number) const {
    const size_blocks<D>* blocks = layers;
    while (number >= blocks->first + blocks->size()) ++blocks;
    auto rest = static_cast<int>(number - blocks->first);
    vec<int, D> at{};
    for (int axis = 0; axis < D; ++axis) {
      at[axis] = rest % blocks->count[axis];
      rest /= blocks->count[axis];
    }
    largest[number] = largest_around(*blocks, at);
  }

 private:
  [[nodiscard]] QUADRAT_HD std::uint32_t largest_around(const size_blocks<D>& blocks, const vec<int, D>& at) const {
    std::uint32_t word = 0;
    int steps = 1;
    for (int axis = 0; axis < D; ++axis) steps *= 2 * blocks.around[axis] + 1;
    for (int step = 0; step < steps; ++step) {
      int rest = step, id = 0, factor = 1;
      bool inside = true;
      for (int axis = 0; axis < D; ++axis) {
        const int width = 2 * blocks.around[axis] + 1;
        int index = at[axis] + rest % width - blocks.around[axis];
        rest /= width;
        if (blocks.wraps[axis]) index -= floor_division(index, blocks.count[axis]) * blocks.count[axis];
        inside = inside && index >= 0 && index < blocks.count[axis];
        id += factor * index;
        factor *= blocks.count[axis];
      }
      if (!inside) continue;
      const std::uint32_t other = own[blocks.first + static_cast<std::uint32_t>(id)];
      word = other > word ? other : word;
    }
    return word;
  }
};

}  // namespace quadrat::detail
