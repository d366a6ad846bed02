// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "quadrat/cells/carry.hpp"
#include "quadrat/cells/detail/build_state.hpp"
#include "quadrat/cells/detail/ordered_pairs.hpp"
#include "quadrat/cells/grid_cells.hpp"
#include "quadrat/cells/keys.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/curves.hpp"
#include "quadrat/core/grid.hpp"
#include "quadrat/core/instance.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/views.hpp"

namespace quadrat {

/// An entry of the hash table: the row-major number of an occupied cell, and its range of slots. An empty entry has all
/// bits set: its number is larger than any cell's, and its range is empty.
struct alignas(16) occupied_cell {
  static constexpr std::uint64_t no_key = ~std::uint64_t{0};

  std::uint64_t key;
  std::uint32_t begin;
  std::uint32_t end;
};

/// Numbers occupied cells by their places in a hash table with open addressing. In groups of 4, consecutive cells along
/// x have consecutive home places: a walk finds them in one cache line. If cells compete for a place, the one with the
/// smallest row-major number gets it (an ordered hash table: O. Amble, D. E. Knuth, 1974). The table therefore does not
/// depend on the order of insertion, and a lookup of an absent cell ends as soon as one of a present cell. At most half
/// of the places are taken.
template <int D>
struct hashed_numbering {
  static constexpr const char* name = "hashed";
  static constexpr bool rows_are_contiguous = false;
  /// Cells in a group: their places fill 64 bytes.
  static constexpr cell_id group = 4;

  wide_row_major_numbering<D> rows;
  const occupied_cell* table;  ///< one place more than `places`, which stays empty
  cell_id places;              ///< a multiple of `group`, at least twice the number of occupied cells

  /// The place where the search for a cell begins.
  [[nodiscard]] QUADRAT_HD cell_id home(std::uint64_t key) const {
    const std::uint64_t groups = places / group;
    const std::uint64_t chosen = ((hashed_keys::hash(key / group) >> 32) * groups) >> 32;
    return static_cast<cell_id>(chosen * group + key % group);
  }
  [[nodiscard]] QUADRAT_HD cell_id after(cell_id place) const { return place + 1 == places ? 0 : place + 1; }

  /// The place of the cell with this row-major number; `absent()` if it holds no particle.
  [[nodiscard]] QUADRAT_HD cell_id find(std::uint64_t key) const {
    cell_id place = home(key);
    while (table[place].key < key) place = after(place);
    return table[place].key == key ? place : absent();
  }

  [[nodiscard]] QUADRAT_HD cell_id id(const vec<int, D>& cell) const { return find(rows.id(cell)); }
  /// The indices of an occupied cell.
  [[nodiscard]] QUADRAT_HD vec<int, D> cell(cell_id place) const { return rows.cell(table[place].key); }
  /// The number of every cell without particles.
  [[nodiscard]] QUADRAT_HD cell_id absent() const { return places; }
  /// One past the largest number. Unused numbers below it hold no particles.
  [[nodiscard]] QUADRAT_HD std::uint64_t bound() const { return std::uint64_t{places} + 1; }
};

/// The ranges of occupied cells.
struct hashed_buckets_view {
  const occupied_cell* table;   ///< by number of a cell
  const particle_id* elements;  ///< count
  std::size_t count;

  [[nodiscard]] QUADRAT_HD std::uint32_t begin(cell_id place) const { return table[place].begin; }
  [[nodiscard]] QUADRAT_HD std::uint32_t end(cell_id place) const { return table[place].end; }
  [[nodiscard]] QUADRAT_HD particle_id particle(std::uint32_t slot) const { return elements[slot]; }

  template <typename F>
  QUADRAT_HD void for_each_in(cell_id place, F&& f) const {
    const std::uint32_t last = end(place);
    for (std::uint32_t slot = begin(place); slot < last; ++slot) f(elements[slot]);
  }
};

/// Stores the occupied cells only, so that neither time nor memory depends on the box: for grids of up to
/// max_sparse_count cells, while other cell lists store every cell. A stable radix sort of (row-major number of the
/// cell, particle) by 64-bit keys brings particles into the order of cells (S. Green, *Particle Simulation using CUDA*,
/// 2010); each occupied cell is entered into a hash table (M. Teschner et al., *Optimized Spatial Hashing for Collision
/// Detection of Deformable Objects*, 2003), where a walk finds its range. The table holds whole cell numbers, so that
/// cells are never confused. Slots are in row-major order of the cells.
///
/// Time is proportional to the points, and grows with the bits of the number of cells. Memory: 56 bytes per point. On a
/// grid with at most a few cells per point, `sorted` is faster.
///
/// Determinism: always canonical at no extra cost: the elements of a cell come in increasing order, and a cell has the
/// same number and slots in every run, with any number of threads.
template <typename Context, typename T, int D>
class hashed_cells {
  static_assert(detail::instance<Context, T, D>::exists);

 public:
  using context_type = Context;
  using value_type = T;
  using view_type = grid_cells_view<T, D, hashed_numbering<D>, center_anchor<T, D>, hashed_buckets_view>;
  static constexpr int dimension = D;
  static constexpr std::string_view name = "hashed";
  /// The table has twice as many places, numbered by 32 bits.
  static constexpr std::size_t most_points = std::size_t{1} << 30;

  /// Throws argument_error for more than max_sparse_count cells.
  hashed_cells(const Context& context, const grid<T, D>& space, const cell_list_options<T>& options = {});

  /// Like grid_cells::build. Throws argument_error for more than `most_points` points.
  void build(const points_view<T, D>& points);
  /// Like grid_cells::build_async.
  void build_async(const points_view<T, D>& points);
  /// Like grid_cells::build_and_carry.
  void build_and_carry(const points_view<T, D>& points, std::span<const carried_array> arrays);
  /// Like grid_cells::build_and_carry_async.
  void build_and_carry_async(const points_view<T, D>& points, std::span<const carried_array> arrays);
  /// Like grid_cells::reserve; also suffices for fewer points.
  void reserve(std::size_t points);
  /// Like grid_cells::check.
  void check();
  /// Like grid_cells::view.
  [[nodiscard]] view_type view() const {
    state_.require_usable();
    return {space_, numbering(), {}, {table_.data(), pairs_.elements(), pairs_.size()}};
  }
  [[nodiscard]] const grid<T, D>& space() const { return space_; }
  /// Memory held on the context's device, in bytes.
  [[nodiscard]] std::size_t bytes() const { return table_.bytes() + pairs_.bytes() + state_.bytes(); }

 private:
  [[nodiscard]] hashed_numbering<D> numbering() const {
    return {{space_.cells}, table_.data(), static_cast<cell_id>(table_.size() - 1)};
  }

  grid<T, D> space_;
  array<occupied_cell, Context> table_;
  detail::ordered_pairs<Context, std::uint64_t> pairs_;
  detail::point_build_state<Context, T, D> state_;
  bool accept_outside_;
};

namespace cell_methods {

struct hashed : cell_list_method {
  static constexpr std::string_view name = "hashed";
  static constexpr std::string_view summary = "occupied cells only, in a hash table; cost does not depend on the box";
  static constexpr std::uint64_t most_cells = max_sparse_count;
  template <typename Context, typename T, int D>
  using type = hashed_cells<Context, T, D>;
};

}  // namespace cell_methods

}  // namespace quadrat
