// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "quadrat/cells/detail/build_state.hpp"
#include "quadrat/cells/detail/ordered_pairs.hpp"
#include "quadrat/cells/grid_cells.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/curves.hpp"
#include "quadrat/core/instance.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"

#if defined(__CUDACC__)
#include <vector_types.h>
#endif

namespace quadrat {

/// A particle's position, with the link to the next particle of its cell in the padding: 16 bytes in float, 32 in
/// double, aligned to their size.
template <typename T, int D>
struct alignas(4 * sizeof(T)) packed_record {
  vec<T, D> position;  ///< as given, not wrapped
  particle_id next;    ///< no_particle ends the list
};

/// Reads a record with 16-byte loads: one in float, two in double. Otherwise the compiler may load the link separately.
template <typename T, int D>
[[nodiscard]] QUADRAT_HD packed_record<T, D> load_record(const packed_record<T, D>* records, std::size_t i) {
#if defined(__CUDA_ARCH__)
  constexpr std::size_t words = sizeof(packed_record<T, D>) / sizeof(uint4);
  const auto* source = reinterpret_cast<const uint4*>(records + i);
  uint4 raw[words];
  for (std::size_t word = 0; word < words; ++word) raw[word] = source[word];
  packed_record<T, D> record;
  memcpy(&record, raw, sizeof(record));
  return record;
#else
  return records[i];
#endif
}

/// The device's view of linked_packed_cells. Trivially copyable; valid until the next build.
template <typename T, int D>
struct linked_packed_view {
  using value_type = T;
  using numbering_type = row_major_numbering<D>;
  static constexpr int dimension = D;

  grid<T, D> space;
  row_major_numbering<D> numbering;
  const particle_id* heads;
  const packed_record<T, D>* records;

  /// The point whose cell stores a particle at `point`.
  [[nodiscard]] QUADRAT_HD vec<T, D> anchored(const vec<T, D>& point) const { return space.domain.wrap(point); }

  /// Calls f(particle, record) for each particle of a cell.
  template <typename F>
  QUADRAT_HD void for_each_record_in_cell(cell_id id, F&& f) const {
    for (particle_id i = heads[id]; i != no_particle;) {
      const packed_record<T, D> record = load_record(records, i);
      f(i, record);
      i = record.next;
    }
  }
  /// Calls f(particle) for each particle of a cell.
  template <typename F>
  QUADRAT_HD void for_each_in_cell(cell_id id, F&& f) const {
    for (particle_id i = heads[id]; i != no_particle;) {
      const particle_id after = records[i].next;
      f(i);
      i = after;
    }
  }
};

/// Linked lists with links in the padding of the particles' records (uniform-grid-atomics, end of section 2): a walk
/// reads position and link together, while the insertion writes whole records. One pass, one atomic exchange per
/// particle. Memory: 4 bytes per cell and 16 (float) or 32 (double) per particle, unless the caller owns the records.
///
/// Determinism: as linked_buckets.
template <typename Context, typename T, int D>
class linked_packed_cells {
  static_assert(detail::instance<Context, T, D>::exists);

 public:
  using context_type = Context;
  using value_type = T;
  using view_type = linked_packed_view<T, D>;
  using record_type = packed_record<T, D>;
  static constexpr int dimension = D;
  static constexpr std::string_view name = "linked_packed";

  linked_packed_cells(const Context& context, const grid<T, D>& space, const cell_list_options<T>& options = {});

  /// Like grid_cells::build; copies the positions into internal records.
  void build(const points_view<T, D>& points);
  /// Like grid_cells::build_async.
  void build_async(const points_view<T, D>& points);
  /// Like `build`, but links the caller's records, whose positions are the points, and writes only the `next` of each.
  /// The records must not move as long as the cell list is used.
  void build(record_type* records, std::size_t count);
  void build_async(record_type* records, std::size_t count);
  /// Like grid_cells::reserve, for points and for records.
  void reserve(std::size_t points);
  /// Like grid_cells::check.
  void check();
  /// Like grid_cells::view.
  [[nodiscard]] view_type view() const {
    state_.require_usable();
    return {space_.current(), row_major_numbering<D>{space_.current().stored}, heads_.data(), linked_};
  }
  /// Like grid_cells::space.
  [[nodiscard]] const grid<T, D>& space() const { return space_.current(); }
  /// Memory held on the context's device, in bytes, without the caller's records.
  [[nodiscard]] std::size_t bytes() const {
    return heads_.bytes() + records_.bytes() + pairs_.bytes() + state_.bytes();
  }

 private:
  using key_type = cell_key<T, D, row_major_numbering<D>, center_anchor<T, D>>;

  [[nodiscard]] bool has_records(std::size_t points) const { return points * sizeof(record_type) <= records_.bytes(); }
  /// Makes room for builds over the caller's records.
  void reserve_links(std::size_t points);
  void link(const points_view<T, D>& points, record_type* records, bool in_place);

  detail::foldable_grid<T, D> space_;
  array<particle_id, Context> heads_;
  array<record_type, Context> records_;
  record_type* linked_ = nullptr;
  detail::ordered_pairs<Context> pairs_;
  detail::point_build_state<Context, T, D> state_;
  bool accept_outside_;
};

namespace cell_methods {

struct linked_packed : cell_list_method {
  static constexpr std::string_view name = "linked_packed";
  static constexpr std::string_view summary = "linked lists; the link is in the padding of the particle's record";
  template <typename Context, typename T, int D>
  using type = linked_packed_cells<Context, T, D>;
};

}  // namespace cell_methods

}  // namespace quadrat
