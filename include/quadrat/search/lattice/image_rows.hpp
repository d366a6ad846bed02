// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>

#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/search/lattice/cuboid_grid.hpp"
#include "quadrat/search/lattice/row_range.hpp"

namespace quadrat::detail {

/// The trimmed rows of cells around a point, in any box: those of a cuboid_grid, seen from each image of the box within
/// reach. Most points see one image. Everything is rounded so that no pair is lost. For kernels with a thread per
/// point, and, by number, for those with several threads per point.
template <typename T, int D>
class image_rows {
 public:
  /// `point` is wrapped.
  QUADRAT_HD image_rows(const cuboid_grid<T, D>& grid, const std::uint32_t* offsets, const vec<T, D>& point, T reach)
      : grid_(grid),
        offsets_(offsets),
        squared_reach_(reach * reach * rounded_up<T>),
        at_(grid.coordinates(point)),
        slack_(grid.slack_at(point, at_)),
        images_(grid.images_around(at_, slack_)) {
    for (int axis = 0; axis < D; ++axis) margin_[axis] = reach * grid.cells.cells_per_length[axis] + slack_[axis];
  }

  /// Calls f(S) for each image.
  QUADRAT_CALLS_ANY
  template <typename F>
  QUADRAT_HD void for_each_image(F&& f) const {
    vec<int, D> shift = images_.first;
    while (shift[D - 1] <= images_.last[D - 1]) {
      f(shift);
      bool carry = true;
      for (int k = 0; k < D; ++k) {
        if (carry) ++shift[k];
        carry = carry && k + 1 < D && shift[k] > images_.last[k];
        if (carry) shift[k] = images_.first[k];
      }
    }
  }

  /// Calls f(range) for each range of slots in an image that is not empty.
  QUADRAT_CALLS_ANY
  template <typename F>
  QUADRAT_HD void for_each_range(const vec<int, D>& shift, F&& f) const {
    const place here = seen_from(shift);
    const row_gaps gaps = gaps_of(here);
    for (int z = D == 3 ? here.first[D - 1] : 0; z <= (D == 3 ? here.last[D - 1] : 0); ++z) {
      const T rest = D == 3 ? squared_reach_ - squared_gap(here, z, D - 1) : squared_reach_;
      for (int y = here.first[1]; y <= here.last[1]; ++y) {
        const T left = rest - gap_at(here, gaps, y);
        if (!(left > T(0))) continue;
        const index_range x = within(here.at[0], half_length(left), 0);
        const int ends = x.first < 0 || x.last >= grid_.cells.cells[0] ? 2 : 1;
        for (int part = 0; part < ends; ++part) {
          const row_range<D> range = part_of_row(y, z, x, part, shift);
          if (range.first < range.last) f(range);
        }
      }
    }
  }

  /// Random access: ranges 0 to count() - 1, of all images, some of them empty.
  [[nodiscard]] QUADRAT_HD std::uint64_t count() const {
    auto product = static_cast<std::uint64_t>(parts());
    for (int k = 0; k < D; ++k) product *= image_count(k);
    for (int axis = 1; axis < D; ++axis) product *= most_rows(axis);
    return product;
  }
  [[nodiscard]] QUADRAT_HD row_range<D> range(std::uint64_t number) const {
    const auto next = [&](std::uint32_t count) {
      const bool is_short = number >> 32 == 0;  // which is divided much faster
      const std::uint64_t rest = is_short ? static_cast<std::uint32_t>(number) / count : number / count;
      const auto digit = static_cast<int>(number - rest * count);
      number = rest;
      return digit;
    };
    const int part = next(static_cast<std::uint32_t>(parts()));
    const int row = next(most_rows(1)), layer = D == 3 ? next(most_rows(D - 1)) : 0;
    vec<int, D> shift{};
    for (int k = 0; k < D; ++k) shift[k] = images_.first[k] + next(image_count(k));
    const place here = seen_from(shift);
    const int y = here.first[1] + row, z = D == 3 ? here.first[D - 1] + layer : 0;
    if (y > here.last[1] || (D == 3 && z > here.last[D - 1])) return {0, 0, shift};
    const T rest = D == 3 ? squared_reach_ - squared_gap(here, z, D - 1) : squared_reach_;
    const T left = rest - squared_gap(here, y, 1);
    if (!(left > T(0))) return {0, 0, shift};
    return part_of_row(y, z, within(here.at[0], half_length(left), 0), part, shift);
  }

 private:
  /// The point as an image of the box sees it, and the rows within reach, along all axes but the first.
  struct place {
    vec<T, D> at;
    vec<int, D> first;
    vec<int, D> last;
  };

  /// Whether the stored cells repeat along an axis.
  [[nodiscard]] QUADRAT_HD bool repeats(int axis) const { return grid_.folded && grid_.cells.repeats[axis] == 0; }
  /// Parts of a row: where the stored cells repeat, it may continue at their other end.
  [[nodiscard]] QUADRAT_HD int parts() const { return repeats(0) ? 2 : 1; }
  [[nodiscard]] QUADRAT_HD std::uint32_t image_count(int k) const {
    return static_cast<std::uint32_t>(images_.last[k] - images_.first[k] + 1);
  }
  /// At least the number of rows in the range of any image.
  [[nodiscard]] QUADRAT_HD std::uint32_t most_rows(int axis) const {
    const T rounding = 4 * cuboid_grid<T, D>::epsilon * (static_cast<T>(grid_.cells.cells[axis]) + margin_[axis]);
    const int most = floor_to_int(2 * margin_[axis] + rounding);
    const int cells = grid_.cells.cells[axis];
    return static_cast<std::uint32_t>(most >= 0 && most < cells - 2 ? most + 2 : cells);
  }

  [[nodiscard]] QUADRAT_HD place seen_from(const vec<int, D>& shift) const {
    place here{};
    for (int axis = 0; axis < D; ++axis) {
      T moved = T(0);
      for (int k = 0; k < D; ++k) moved += static_cast<T>(shift[k]) * grid_.vectors[k][axis];
      here.at[axis] = at_[axis] - moved;
      int repeat = 0;
      if (repeats(axis)) here.at[axis] = grid_.cells.folded(here.at[axis], axis, repeat);
      if (axis == 0) continue;
      const index_range rows = within(here.at[axis], margin_[axis], axis);
      here.first[axis] = rows.first;
      here.last[axis] = rows.last;
    }
    return here;
  }

  /// The cells within a margin: where they repeat unwrapped, each stored one at most once.
  [[nodiscard]] QUADRAT_HD index_range within(T at, T margin, int axis) const {
    const int cells = grid_.cells.cells[axis];
    const index_range range{floor_to_int(at - margin), floor_to_int(at + margin)};
    if (repeats(axis)) {
      if (2 * margin + T(2) <= static_cast<T>(cells)) return range;
      return {0, cells - 1};
    }
    return {range.first < 0 ? 0 : range.first, range.last < cells ? range.last : cells - 1};
  }

  [[nodiscard]] QUADRAT_HD T half_length(T squared) const {
    return root(squared) * grid_.cells.cells_per_length[0] + slack_[0];
  }

  /// A lower bound on the squared distance along an axis from the point to a layer of cells.
  [[nodiscard]] QUADRAT_HD T squared_gap(const place& here, int index, int axis) const {
    const T below = static_cast<T>(index) - here.at[axis];
    T cells = larger(below, T(-1) - below);
    if (repeats(axis)) {
      // Where all stored cells are in the range, another repeat of the layer may be nearer.
      cells = smaller(cells, static_cast<T>(grid_.cells.cells[axis]) - T(1) - larger(cells, T(0)));
    }
    const T gap = larger(cells - slack_[axis], T(0)) * grid_.cells.edge[axis];
    return gap * gap;
  }

  /// On a CPU the gaps of the first rows along y are kept for all z; on a GPU they would not fit in registers.
#if defined(__CUDA_ARCH__)
  struct row_gaps {};
  [[nodiscard]] QUADRAT_HD static row_gaps gaps_of(const place& /*here*/) { return {}; }
  [[nodiscard]] QUADRAT_HD T gap_at(const place& here, const row_gaps& /*gaps*/, int y) const {
    return squared_gap(here, y, 1);
  }
#else
  struct row_gaps {
    static constexpr int most = 12;
    T squared[most];
  };
  [[nodiscard]] QUADRAT_HD row_gaps gaps_of(const place& here) const {
    row_gaps gaps;
    for (int k = 0; k < row_gaps::most && here.first[1] + k <= here.last[1]; ++k) {
      gaps.squared[k] = squared_gap(here, here.first[1] + k, 1);
    }
    return gaps;
  }
  [[nodiscard]] QUADRAT_HD T gap_at(const place& here, const row_gaps& gaps, int y) const {
    return y - here.first[1] < row_gaps::most ? gaps.squared[y - here.first[1]] : squared_gap(here, y, 1);
  }
#endif

  /// The slots of the cells x of a row. Part 1 is what lies beyond the end of the stored cells: at most one end.
  [[nodiscard]] QUADRAT_HD row_range<D> part_of_row(int y, int z, const index_range& x, int part,
                                                    const vec<int, D>& shift) const {
    const int cells = grid_.cells.cells[0];
    int first = x.first < 0 ? 0 : x.first;
    int last = x.last < cells ? x.last : cells - 1;
    if (part > 0) {
      first = x.first < 0 ? x.first + cells : 0;
      last = x.first < 0 ? cells - 1 : x.last - cells;
    }
    if (first > last) return {0, 0, shift};
    cell_id row = stored(y, 1);
    if constexpr (D == 3) row += stored(z, D - 1) * static_cast<cell_id>(grid_.cells.cells[1]);
    const cell_id begin = grid_.cells.first_cell + row * static_cast<cell_id>(cells);
    return {offsets_[begin + static_cast<cell_id>(first)], offsets_[begin + static_cast<cell_id>(last) + 1], shift};
  }

  [[nodiscard]] QUADRAT_HD cell_id stored(int index, int axis) const {
    const int cells = grid_.cells.cells[axis];
    if (repeats(axis)) index += index < 0 ? cells : (index >= cells ? -cells : 0);
    return static_cast<cell_id>(index);
  }

  const cuboid_grid<T, D>& grid_;
  const std::uint32_t* offsets_;
  T squared_reach_;
  vec<T, D> at_;
  vec<T, D> slack_;
  image_range<D> images_;
  vec<T, D> margin_;
};

/// Images as numbers, for words that hold a slot in their lower bits and an image in the others.
template <int D>
struct image_codes {
  vec<int, D> most;    ///< images on either side along each vector
  unsigned slot_bits;  ///< at most 31

  [[nodiscard]] QUADRAT_HD std::uint32_t of(const vec<int, D>& shift) const {
    int code = 0;
    for (int k = D - 1; k >= 0; --k) code = (2 * most[k] + 1) * code + shift[k] + most[k];
    return static_cast<std::uint32_t>(code) << slot_bits;
  }
  [[nodiscard]] QUADRAT_HD vec<int, D> shift(std::uint32_t word) const {
    auto code = static_cast<int>(word >> slot_bits);
    vec<int, D> result{};
    for (int k = 0; k < D; ++k) {
      result[k] = code % (2 * most[k] + 1) - most[k];
      code /= 2 * most[k] + 1;
    }
    return result;
  }
  [[nodiscard]] QUADRAT_HD std::uint32_t slot(std::uint32_t word) const { return word & ((1u << slot_bits) - 1); }

  /// Whether all images have a number that fits.
  [[nodiscard]] bool fit() const {
    double codes = 1;
    for (int k = 0; k < D; ++k) codes *= 2 * most[k] + 1;
    return codes <= static_cast<double>(std::uint64_t{1} << (32 - slot_bits));
  }
};

}  // namespace quadrat::detail
