// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>
#include <span>
#include <string_view>
#include <type_traits>

#include "quadrat/cells/concepts.hpp"
#include "quadrat/core/grid.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/method.hpp"
#include "quadrat/core/method_list.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"

/// The order in which a neighborhood is walked (modular-bin-strips: the four orders of the paper, and one more). An
/// order is an empty type that visits the cells of a grid that can hold a point nearer than `distance` to `point`:
///   for_each_cell(space, point, distance, f)    f(cell): one cell after the other, or
///   for_each_strip(space, point, distance, f)   f(cell, last): from `cell` along x to the cell whose index in x is
///                                               `last`, as one range; two where a row crosses the seam of the box
/// each distinct cell once, as the stored cells of the grid. The point is inside the box along periodic axes. The cells
/// are those of grid::reach: if edge and distance are equal, the Moore neighborhood of the paper, 3 cells along each
/// axis (a fourth for a point within rounding of a face, fewer where the box ends). Ranges may have any width.

namespace quadrat {

namespace detail {

/// A range of cells along x as one or two runs of stored cells: two where it crosses the seam of a periodic axis, or
/// the end of a folded row.
struct strip_runs {
  index_range run;       ///< in a folded grid: on a row that begins at place 0 of its ring, and may go beyond its end
  int last_beyond_seam;  ///< the second run is [0, last_beyond_seam]; -1: no second run

  template <typename T, int D>
  QUADRAT_HD strip_runs(const grid<T, D>& space, const index_range& range) : run(range), last_beyond_seam(-1) {
    const int n = space.stored[0];
    if (space.folded) {
      const int first = range.first % n;
      run.first = first < 0 ? first + n : first;
      run.last = run.first + (range.last - range.first);
    } else if (range.first < 0) {
      run = {range.first + n, n - 1};
      last_beyond_seam = range.last;
    } else if (range.last >= n) {
      run.last = n - 1;
      last_beyond_seam = range.last - n;
    }
  }

  /// Calls f(cell, last) for each run of a row; `cell` brings the indices along the other axes. f is called in one
  /// place, so that it is inlined once.
  template <typename T, int D, typename F>
  QUADRAT_HD void for_each(const grid<T, D>& space, vec<int, D> cell, F&& f) const {
    strip_runs runs = *this;
    if (space.folded) runs.place(space.fold_row(cell), space.stored[0]);
    int last = runs.run.last;
    cell[0] = runs.run.first;
    for (bool more = runs.last_beyond_seam >= 0;; more = false) {
      f(cell, last);
      if (!more) return;
      cell[0] = 0;
      last = runs.last_beyond_seam;
    }
  }

 private:
  /// Moves the run to the place of its row on a ring of n cells.
  QUADRAT_HD void place(int begin, int n) {
    if (run.first + begin >= n) begin -= n;
    run.first += begin;
    run.last += begin;
    if (run.last < n) return;
    last_beyond_seam = run.last - n;
    run.last = n - 1;
  }
};

/// Calls f(cell) for each row of a range, y fastest; `cell` holds the indices along y and z, inside the grid, before
/// folding.
template <typename T, int D, typename F>
QUADRAT_HD void for_each_row(const grid<T, D>& space, const cell_range<D>& range, F&& f) {
  vec<int, D> cell{};
  if constexpr (D == 2) {
    for (int y = range.first[1]; y <= range.last[1]; ++y) {
      cell[1] = space.home(y, 1);
      f(cell);
    }
  } else {
    for (int z = range.first[2]; z <= range.last[2]; ++z) {
      cell[2] = space.home(z, 2);
      for (int y = range.first[1]; y <= range.last[1]; ++y) {
        cell[1] = space.home(y, 1);
        f(cell);
      }
    }
  }
}

/// Calls f(cell, last) for each run of cells along x of a range, row by row.
template <typename T, int D, typename F>
QUADRAT_HD void for_each_strip(const grid<T, D>& space, const cell_range<D>& range, F&& f) {
  const strip_runs runs(space, {range.first[0], range.last[0]});
  for_each_row(space, range, [&](const vec<int, D>& row) { runs.for_each(space, row, f); });
}

/// The indices of a range along one axis, grouped by label: the index modulo 3. Indices are unwrapped, so that labels
/// continue across the seam of a periodic axis whose number of cells is not a multiple of 3.
struct labeled_indices {
  int first = 0;
  int last = 0;
  int label_of_first = 0;

  labeled_indices() = default;
  QUADRAT_HD labeled_indices(int from, int to) : first(from), last(to), label_of_first(from % 3) {
    if (label_of_first < 0) label_of_first += 3;
  }
  /// The first index with a label; the next ones follow at steps of 3.
  [[nodiscard]] QUADRAT_HD int first_of(int label) const {
    return first + label - label_of_first + (label < label_of_first ? 3 : 0);
  }
};

/// Calls f(stored cell) in order of the labels 0 to 3^D - 1, or f(row) in order of the labels of rows, 0 to 3^(D-1) -
/// 1, if `Lowest` is 1; axis `Lowest` fastest. Cells with the same label (in ranges wider than 3) come in order of
/// their unwrapped indices. cell[0] stays 0 if `Lowest` is 1.
template <int Lowest, typename T, int D, typename F>
QUADRAT_HD void for_each_in_label_order(const grid<T, D>& space, const cell_range<D>& range, F&& f) {
  labeled_indices x, z;  // By default the single index 0, of label 0.
  if constexpr (Lowest == 0) x = {range.first[0], range.last[0]};
  if constexpr (D == 3) z = {range.first[D - 1], range.last[D - 1]};
  const labeled_indices y(range.first[1], range.last[1]);
  vec<int, D> cell{};
  for (int label_z = 0; label_z < (D == 3 ? 3 : 1); ++label_z) {
    for (int label_y = 0; label_y < 3; ++label_y) {
      for (int label_x = 0; label_x < (Lowest == 0 ? 3 : 1); ++label_x) {
        for (int k = z.first_of(label_z); k <= z.last; k += 3) {
          if constexpr (D == 3) cell[D - 1] = space.home(k, D - 1);
          for (int j = y.first_of(label_y); j <= y.last; j += 3) {
            cell[1] = space.home(j, 1);
            for (int i = x.first_of(label_x); i <= x.last; i += 3) {
              cell[0] = i;
              f(Lowest == 0 ? space.stored_cell(cell) : cell);
            }
          }
        }
      }
    }
  }
}

/// A lower bound on the distance along one axis, over all periodic images, between a point inside the box and any point
/// in the cells with a given index. It allows for twice the grid's slack, which covers the rounding of the faces, of
/// the two anchors, and of the pair's separation.
template <typename T, int D>
struct axis_gap {
  T lower, edge, coordinate, length, allowance;
  bool periodic;

  QUADRAT_HD axis_gap(const grid<T, D>& space, T x, int axis)
      : lower(space.domain.lower[axis]),
        edge(space.edge(axis)),
        coordinate(x),
        length(space.domain.length[axis]),
        allowance(2 * space.slack[axis]),
        periodic(space.domain.periodic[axis]) {
    // Border cells of an open axis also store points whose anchor lies beyond it (low_vertex_anchor). A point outside
    // is measured from the face, which never increases a gap.
    if (periodic) return;
    const T upper = space.domain.upper(axis);
    coordinate = x < lower ? lower : (x > upper ? upper : x);
  }

  [[nodiscard]] QUADRAT_HD T operator()(int index) const {
    const T low_face = lower + static_cast<T>(index) * edge;
    const T below = low_face - coordinate;
    const T above = (coordinate - low_face) - edge;
    T gap = below > above ? below : above;
    // The way around the periodic box is the shorter one if the range holds all cells of the axis.
    if (periodic && gap > T(0)) {
      const T around = length - edge - gap;
      gap = around < gap ? around : gap;
    }
    return gap > allowance ? gap - allowance : T(0);
  }
};

/// The largest separation along x of a pair within `distance`, given the least distances along the other axes.
template <typename T>
struct chord {
  /// Bounds the rounding of a squared distance and of the expressions here: 16 epsilon of distance^2, or the smallest
  /// normal number on underflow.
  static constexpr T rounding = 16 * std::numeric_limits<T>::epsilon();
  static constexpr T underflow = std::numeric_limits<T>::min();

  T distance;
  T most_squared;

  explicit QUADRAT_HD chord(T within)
      : distance(within), most_squared(within * within * (T(1) + rounding) + underflow) {}

  /// Half the chord, at most `distance`; negative if there is no chord. NaN gives `distance`.
  [[nodiscard]] QUADRAT_HD T half(T squared_gap) const {
    const T rest = most_squared - squared_gap;
    if (rest < T(0)) return T(-1);
    const T root = std::sqrt(rest);
    return root < distance ? root : distance;
  }
};

}  // namespace detail

namespace search_orders {

/// The base of the records of all orders. Sums are taken in walking order, so another order may change the last bits.
struct search_order {
  static constexpr bool on_cpu = true;
  static constexpr bool on_cuda = true;
  static constexpr determinism reproducible = determinism::run_to_run;
  /// Default number of cells along the distance.
  static constexpr int cells_per_distance = 1;
};

/// Cell by cell, x fastest: the paper's "existing technique".
struct default_order : search_order {
  static constexpr std::string_view name = "default";
  static constexpr std::string_view summary = "cell by cell, x fastest";
  static constexpr bool by_strips = false;

  template <typename T, int D, typename F>
  QUADRAT_HD static void for_each_cell(const grid<T, D>& space, const vec<T, D>& point, T distance, F&& f) {
    const cell_range<D> range = space.reach(point, distance);
    detail::for_each_row(space, range, [&](vec<int, D> cell) {
      for (int x = range.first[0]; x <= range.last[0]; ++x) {
        cell[0] = x;
        f(space.stored_cell(cell));
      }
    });
  }
};

/// The cells of a row as one range (modular-bin-strips, "Strips"): a third of the bounds to read, and a third of the
/// loops in which the threads of a warp diverge.
struct strips : search_order {
  static constexpr std::string_view name = "strips";
  static constexpr std::string_view summary = "the cells of a row along x as one range";
  static constexpr bool by_strips = true;

  template <typename T, int D, typename F>
  QUADRAT_HD static void for_each_strip(const grid<T, D>& space, const vec<T, D>& point, T distance, F&& f) {
    detail::for_each_strip(space, space.reach(point, distance), static_cast<F&&>(f));
  }
};

/// Cells have labels 0 to 3^D - 1 by their indices modulo 3, x fastest, and every neighborhood is walked in order of
/// the labels (modular-bin-strips, "Modular"): threads that start together start in cells with the same label.
struct modular : search_order {
  static constexpr std::string_view name = "modular";
  static constexpr std::string_view summary = "cells in order of their indices modulo 3";
  static constexpr bool by_strips = false;

  template <typename T, int D, typename F>
  QUADRAT_HD static void for_each_cell(const grid<T, D>& space, const vec<T, D>& point, T distance, F&& f) {
    detail::for_each_in_label_order<0>(space, space.reach(point, distance), static_cast<F&&>(f));
  }
};

/// Strips along x, walked in order of the labels 0 to 3^(D-1) - 1 of the other axes (modular-bin-strips, "Hybrid").
struct hybrid : search_order {
  static constexpr std::string_view name = "hybrid";
  static constexpr std::string_view summary = "strips along x, in order of the other indices modulo 3";
  static constexpr bool by_strips = true;

  template <typename T, int D, typename F>
  QUADRAT_HD static void for_each_strip(const grid<T, D>& space, const vec<T, D>& point, T distance, F&& f) {
    const cell_range<D> range = space.reach(point, distance);
    const detail::strip_runs runs(space, {range.first[0], range.last[0]});
    detail::for_each_in_label_order<1>(space, range, [&](const vec<int, D>& row) { runs.for_each(space, row, f); });
  }
};

/// Not in the paper: strips, each cut to the chord of the sphere (circle) around the point at the row's least distance;
/// rows that the sphere does not touch are left out. For cells of any size: with edges of 1, 1/2 and 1/3 of the
/// distance it walks on average 20.6, 10.5 and 8.0 times distance^3; strips walk 27, 15.6 and 12.7. Finds every pair
/// that `reach` finds.
struct trimmed : search_order {
  static constexpr std::string_view name = "trimmed";
  static constexpr std::string_view summary = "strips, each cut to the sphere around the point";
  static constexpr int cells_per_distance = 2;  // smaller cells let it skip more
  static constexpr bool by_strips = true;

  template <typename T, int D, typename F>
  QUADRAT_HD static void for_each_strip(const grid<T, D>& space, const vec<T, D>& point, T distance, F&& f) {
    const detail::chord<T> chord(distance);
    const detail::axis_gap<T, D> gap_y(space, point[1], 1);
    const cell_range<D> range = space.reach(point, distance);
    // Such a range has no distances of rows.
    const bool everywhere = space.folded && space.holds_all(range);
    vec<int, D> row{};
    const auto walk_plane = [&](T squared_gap) {
      for (int j = range.first[1]; j <= range.last[1]; ++j) {
        const T gap = gap_y(j);
        const T half = everywhere ? distance : chord.half(squared_gap + gap * gap);
        if (half < T(0)) continue;
        row[1] = space.home(j, 1);
        const index_range along =
            everywhere ? index_range{range.first[0], range.last[0]} : space.reach_along(point[0], half, 0);
        detail::strip_runs(space, along).for_each(space, row, f);
      }
    };
    if constexpr (D == 2) {
      walk_plane(T(0));
    } else {
      const detail::axis_gap<T, D> gap_z(space, point[2], 2);
      for (int k = range.first[2]; k <= range.last[2]; ++k) {
        row[2] = space.home(k, 2);
        const T gap = gap_z(k);
        walk_plane(gap * gap);
      }
    }
  }
};

/// The order of walks that name none: strips if the cell list stores a row of cells as one range, otherwise the default
/// order. It is a choice among orders, so it is not in their list.
struct natural {
  static constexpr std::string_view name = "natural";
  static constexpr std::string_view summary = "strips if the cell list allows them, else default";
};

}  // namespace search_orders

/// All orders, by name.
using search_order_list = method_list<search_orders::default_order,  //
                                      search_orders::strips,         //
                                      search_orders::modular,        //
                                      search_orders::hybrid,         //
                                      search_orders::trimmed>;

/// Their names and summaries, in the same order.
[[nodiscard]] std::span<const method_info> traversal_orders();

namespace detail {

template <typename Order, typename View>
struct resolved_order {
  using type = Order;
};
template <typename View>
struct resolved_order<search_orders::natural, View> {
  using type = std::conditional_t<contiguous_rows<View>, search_orders::strips, search_orders::default_order>;
};

}  // namespace detail

/// The order that walks a cell list: resolves `natural`, and returns every other order unchanged.
template <typename Order, typename View>
using order_for = typename detail::resolved_order<Order, View>::type;

/// Whether a cell list can be walked in an order: strips, hybrid and trimmed need rows stored as one range;
/// linked_tight, which stores a particle in several cells, has a separate walk without an order.
template <typename Order, typename View>
concept walkable =
    cell_list<View> && !tight_cell_list<View> && (!order_for<Order, View>::by_strips || contiguous_rows<View>);

}  // namespace quadrat
