// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "mesh/shape.hpp"
#include "quadrat/core/config.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/mesh/window.hpp"
#include "quadrat/parallel/atomic.hpp"

/// Spreading as a sparse matrix (particle-mesh-spreading, section 3.1): a row for each mesh point, a column for each
/// point, the weights as entries.
namespace quadrat::detail {

/// A contribution to a mesh point: weight times the value of point `column`. One struct, because it is a scattered
/// write.
template <typename T>
struct alignas(2 * sizeof(T)) mesh_entry {
  T weight;
  std::uint32_t column;
};

/// Compressed sparse rows: mesh point k has the entries [offsets[k], offsets[k + 1]).
template <typename T>
struct mesh_rows {
  const std::uint64_t* offsets;
  mesh_entry<T>* entries;
  std::size_t rows;

  QUADRAT_HD void put(std::size_t node, std::uint32_t slot, std::uint32_t column, T weight) const {
    entries[offsets[node] + slot] = mesh_entry<T>{weight, column};
  }
};

/// Rows with more than `most` entries, in any order. Many threads share the work of each.
struct long_row_list {
  static constexpr std::uint32_t none = ~std::uint32_t{0};  ///< more than a row can have
  static constexpr std::uint32_t least = 32;                ///< `most` is no less
  std::size_t* rows = nullptr;
  std::uint32_t* count = nullptr;  ///< 0 before entries are inserted
  std::uint32_t most = none;
  std::size_t capacity = 0;

  /// The capacity for this many entries in all.
  [[nodiscard]] static std::size_t capacity_for(std::size_t entries, std::uint32_t most) {
    return most == none ? 0 : entries / (std::size_t{most} + 1);
  }
  /// Room that also suffices for fewer entries, for which `most` may be smaller.
  [[nodiscard]] static std::size_t room_for(std::size_t entries, std::uint32_t most) {
    return capacity_for(entries, most == none ? none : least);
  }
};

/// mesh_rows that list long rows as entries are inserted: each long row has exactly one entry of slot `most`.
template <typename T>
struct listed_rows {
  mesh_rows<T> rows;
  long_row_list long_rows;

  QUADRAT_HD void put(std::size_t node, std::uint32_t slot, std::uint32_t column, T weight) const {
    rows.put(node, slot, column, weight);
    if (slot == long_rows.most) long_rows.rows[atomic_add(long_rows.count, 1u)] = node;
  }
};

/// Entries of a row that a warp sorts; a block sorts longer ones.
template <typename T>
inline constexpr std::uint32_t most_sorted_by_warp = 2048 / sizeof(mesh_entry<T>);
static_assert(most_sorted_by_warp<double> >= long_row_list::least);

/// The same with separate columns and weights and 32-bit offsets, as cuSPARSE reads them.
template <typename T>
struct split_rows {
  const std::uint32_t* offsets;
  std::uint32_t* columns;
  T* weights;

  QUADRAT_HD void put(std::size_t node, std::uint32_t slot, std::uint32_t column, T weight) const {
    const std::size_t at = static_cast<std::size_t>(offsets[node]) + slot;
    columns[at] = column;
    weights[at] = weight;
  }
};

/// The first `width` entries of each row are stored in columns of one entry per row, entry j of row k at ell[j * rows +
/// k]; the others are in a list with their row numbers, row by row, from overflow[k] on.
template <typename T>
struct hybrid_rows {
  mesh_entry<T>* ell;
  const std::uint64_t* overflow;
  mesh_entry<T>* list;
  std::uint32_t* list_rows;
  std::size_t rows;
  std::uint32_t width;

  QUADRAT_HD void put(std::size_t node, std::uint32_t slot, std::uint32_t column, T weight) const {
    if (slot < width) {
      ell[slot * rows + node] = mesh_entry<T>{weight, column};
    } else {
      const std::uint64_t at = overflow[node] + (slot - width);
      list[at] = mesh_entry<T>{weight, column};
      list_rows[at] = static_cast<std::uint32_t>(node);
    }
  }
};

/// The source of contributions.
template <typename T>
struct contribution_source {
  mesh_shape shape;
  mesh_window<T> window;
  const placed_point<T>* points;
  std::size_t count;

  /// Contributions, when none is clipped.
  [[nodiscard]] std::size_t contributions() const { return count * static_cast<std::size_t>(shape.footprint_size()); }
  /// The weight of mesh point first + j along an axis.
  [[nodiscard]] QUADRAT_HD T weight(const placed_point<T>& point, int axis, int j) const {
    if (axis < shape.first_axis) return T(1);
    const T s = point.place[axis];
    T w = T(0);
    for (int d = window.terms - 1; d >= 0; --d) w = w * s + window.coefficient[d][j];
    return w;
  }
};

/// Throws argument_error when a mesh point might receive more contributions than 32 bits can count.
inline void require_row_counts(const mesh_shape& shape, std::size_t count) {
  std::size_t most = count;
  for (int axis = 0; axis < 3; ++axis) {
    most *= static_cast<std::size_t>((shape.width[axis] + shape.extent[axis] - 1) / shape.extent[axis]);
  }
  require(most <= 0xffffffffu, "a mesh point might receive ", most, " contributions; at most ", 0xffffffffu,
          " are possible with this method");
}

/// Adds the number of contributions to each mesh point to counts[mesh point].
template <typename T>
void count_contributions(const cpu_context& context, const contribution_source<T>& source, std::uint32_t* counts);
/// Calls rows.put for each contribution, with slots from 0 up to the count of its mesh point in an order that depends
/// on timing, and decrements the counts to 0.
template <typename T, typename Rows>
void insert_contributions(const cpu_context& context, const contribution_source<T>& source, std::uint32_t* counts,
                          const Rows& rows);
/// Sorts each row by column, and entries of one column by the bits of their weights, so that nothing depends on timing.
/// On CUDA the list must have all rows that are too long for a warp to sort.
template <typename T>
void order_rows(const cpu_context& context, const listed_rows<T>& all);

#if QUADRAT_HAS_CUDA
// Asynchronous.
template <typename T>
void count_contributions(const cuda_context& context, const contribution_source<T>& source, std::uint32_t* counts);
template <typename T, typename Rows>
void insert_contributions(const cuda_context& context, const contribution_source<T>& source, std::uint32_t* counts,
                          const Rows& rows);
template <typename T>
void order_rows(const cuda_context& context, const listed_rows<T>& all);
#else
template <typename T>
void count_contributions(const cuda_context& context, const contribution_source<T>&, std::uint32_t*) {
  context.activate();
}
template <typename T, typename Rows>
void insert_contributions(const cuda_context& context, const contribution_source<T>&, std::uint32_t*, const Rows&) {
  context.activate();
}
template <typename T>
void order_rows(const cuda_context& context, const listed_rows<T>&) {
  context.activate();
}
#endif

/// One or two channels of a call: for point i value[c][i * stride], for mesh point k node[c][k * stride].
template <typename T>
struct channel_pair {
  const T* value[2];
  T* node[2];
  std::size_t stride;
  int count;
  bool accumulate;

  /// Writes the sum of mesh point k.
  QUADRAT_HD void store(int channel, std::size_t k, T sum) const {
    T& target = node[channel][k * stride];
    target = accumulate ? target + sum : sum;
  }
};

/// Calls f(channel_pair) for all channels, two at a time, so that entries are read once for both.
template <typename T, typename F>
void for_each_channel_pair(const value_layout& layout, const T* values, T* mesh, bool accumulate, F&& f) {
  for (int c = 0; c < layout.channels(); c += 2) {
    const int count = c + 1 < layout.channels() ? 2 : 1;
    const int second = c + count - 1;
    f(channel_pair<T>{{values + layout.value(0, c), values + layout.value(0, second)},
                      {mesh + layout.node(0, c), mesh + layout.node(0, second)},
                      static_cast<std::size_t>(layout.components),
                      count,
                      accumulate});
  }
}

}  // namespace quadrat::detail
