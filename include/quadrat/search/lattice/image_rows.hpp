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

/// The trimmed rows of cells around a point, in any box: the rows of a cuboid_grid around each image of the point
/// within reach. Most points need one image. Rounding never loses a pair. For kernels with a thread per point and, by
/// number, for kernels with several threads per point.
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
    for (int axis = 0; axis < D; ++axis) {
      margin_[axis] = reach * grid.cells.cells_per_length[axis] + slack_[axis];
      all_ = all_ || (grid.folded && margin_[axis] > grid.cells.distinct[axis]);
    }
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
        const index_range x = row_within(here, left);
        for (int part = 0; part < parts(); ++part) {
          const row_range<D> range = part_of_row(here, y, z, x, part);
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
      const bool is_short = number >> 32 == 0;  // 32-bit division is much faster
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
    return part_of_row(here, y, z, row_within(here, left), part);
  }

 private:
  /// The point relative to an image of the box, and the rows within reach, along all axes but the first.
  struct place {
    vec<int, D> image;
    vec<T, D> at;  ///< along axes without end, from the point's cell on
    cell_id home;  ///< the number of this cell
    vec<int, D> first;
    vec<int, D> last;
  };

  [[nodiscard]] QUADRAT_HD bool is_endless(int axis) const { return grid_.folded && grid_.cells.cells[axis] == 0; }
  /// Parts of a row: if cells are folded, it may continue at the beginning of the stored cells.
  [[nodiscard]] QUADRAT_HD int parts() const { return grid_.folded ? 2 : 1; }
  [[nodiscard]] QUADRAT_HD std::uint32_t image_count(int k) const {
    return static_cast<std::uint32_t>(images_.last[k] - images_.first[k] + 1);
  }
  /// An upper bound on the number of rows in the range of any image.
  [[nodiscard]] QUADRAT_HD std::uint32_t most_rows(int axis) const {
    const T rounding = 4 * cuboid_grid<T, D>::epsilon * (static_cast<T>(grid_.cells.cells[axis] + 1) + margin_[axis]);
    const int most = floor_to_int(2 * margin_[axis] + rounding);
    const int cells = grid_.cells.cells[axis];
    if (all_) return 1;
    return static_cast<std::uint32_t>(is_endless(axis) || (most >= 0 && most < cells - 2) ? most + 2 : cells);
  }

  [[nodiscard]] QUADRAT_HD place seen_from(const vec<int, D>& shift) const {
    place here{};
    here.image = shift;
    for (int axis = 0; axis < D; ++axis) {
      T moved = T(0);
      for (int k = 0; k < D; ++k) moved += static_cast<T>(shift[k]) * grid_.vectors[k][axis];
      here.at[axis] = at_[axis] - moved;
      if (is_endless(axis)) here.home += grid_.cells.strides[axis] * grid_.cells.take_index(here.at[axis]);
      if (axis == 0 || all_) continue;
      const index_range rows = within(here.at[axis], margin_[axis], axis);
      here.first[axis] = rows.first;
      here.last[axis] = rows.last;
    }
    return here;
  }

  [[nodiscard]] QUADRAT_HD index_range within(T at, T margin, int axis) const {
    const int cells = grid_.cells.cells[axis];
    const index_range range{floor_to_int(at - margin), floor_to_int(at + margin)};
    if (is_endless(axis)) return range;
    return {range.first < 0 ? 0 : range.first, range.last < cells ? range.last : cells - 1};
  }
  [[nodiscard]] QUADRAT_HD index_range row_within(const place& here, T squared) const {
    return all_ ? index_range{0, 0} : within(here.at[0], half_length(squared), 0);
  }

  [[nodiscard]] QUADRAT_HD T half_length(T squared) const {
    return root(squared) * grid_.cells.cells_per_length[0] + slack_[0];
  }

  /// A lower bound on the squared distance along an axis from the point to a layer of cells.
  [[nodiscard]] QUADRAT_HD T squared_gap(const place& here, int index, int axis) const {
    const T below = static_cast<T>(index) - here.at[axis];
    const T gap = larger(larger(below, T(-1) - below) - slack_[axis], T(0)) * grid_.cells.edge[axis];
    return all_ ? T(0) : gap * gap;
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

  /// The slots of the cells x of a row. Part 1 is the piece beyond the end of the stored cells.
  [[nodiscard]] QUADRAT_HD row_range<D> part_of_row(const place& here, int y, int z, const index_range& x,
                                                    int part) const {
    const search_system<T, D>& cells = grid_.cells;
    if (x.first > x.last) return {0, 0, here.image};
    cell_id begin = static_cast<cell_id>(x.first) + static_cast<cell_id>(y) * cells.strides[1];
    if constexpr (D == 3) begin += static_cast<cell_id>(z) * cells.strides[D - 1];
    cell_id end = static_cast<cell_id>(x.last - x.first) + 1;
    if (grid_.folded) {
      begin = all_ ? 0 : (here.home + begin) & cells.mask;
      end = all_ ? cells.count : begin + end;
      const cell_id beyond = end > cells.count ? end - cells.count : 0;
      if (part > 0 && beyond == 0) return {0, 0, here.image};
      if (part > 0) begin = 0;
      end = part > 0 ? beyond : end - beyond;
    } else {
      end += begin;
    }
    return {offsets_[cells.first_cell + begin], offsets_[cells.first_cell + end], here.image};
  }

  const cuboid_grid<T, D>& grid_;
  const std::uint32_t* offsets_;
  T squared_reach_;
  vec<T, D> at_;
  vec<T, D> slack_;
  image_range<D> images_;
  vec<T, D> margin_;
  bool all_ = false;  ///< all stored cells, once for each image
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
