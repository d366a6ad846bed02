// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/cells/linked_packed.hpp"

#include <cstring>

#include "cells/build_and_check.hpp"
#include "cells/checks.hpp"
#include "cells/ordered_pairs_build.hpp"
#include "core/backend.hpp"
#include "core/point_checks.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/parallel/atomic.hpp"
#include "quadrat/parallel/for_each.hpp"

namespace quadrat {

namespace {

/// Writes a record with 16-byte stores.
template <typename T, int D>
QUADRAT_HD void store_record(packed_record<T, D>* records, std::size_t i, const packed_record<T, D>& record) {
#if defined(__CUDA_ARCH__)
  constexpr std::size_t words = sizeof(packed_record<T, D>) / sizeof(uint4);
  uint4 raw[words];
  memcpy(raw, &record, sizeof(record));
  auto* target = reinterpret_cast<uint4*>(records + i);
  for (std::size_t word = 0; word < words; ++word) target[word] = raw[word];
#else
  records[i] = record;
#endif
}

/// Inserts particle i. Writes its whole record, or only links it if the position comes from the record.
template <typename T, int D, typename KeyOf>
struct insert_record {
  KeyOf key_of;
  particle_id* heads;
  packed_record<T, D>* records;
  bool in_place;

  QUADRAT_HD void operator()(std::size_t i) const {
    const vec<T, D> position = key_of.points[i];
    const cell_id cell = key_of.at(i, position);
    const particle_id former_head = atomic_exchange(heads + cell, static_cast<particle_id>(i));
    if (in_place) {
      records[i].next = former_head;
    } else {
      store_record(records, i, packed_record<T, D>{position, former_head});
    }
  }
};

/// Links sorted pairs, so that each list runs in increasing order. Index: place in the sorted order.
template <typename T, int D>
struct link_records_in_order {
  const std::uint32_t* keys;
  const particle_id* elements;
  points_view<T, D> points;
  particle_id* heads;
  packed_record<T, D>* records;
  bool in_place;

  QUADRAT_HD void operator()(std::size_t k) const {
    const particle_id i = elements[k];
    const particle_id next = detail::last_of_bucket(keys, k, points.count) ? no_particle : elements[k + 1];
    if (detail::first_of_bucket(keys, k)) heads[keys[k]] = i;
    if (in_place) {
      records[i].next = next;
    } else {
      store_record(records, i, packed_record<T, D>{points[i], next});
    }
  }
};

}  // namespace

template <typename Context, typename T, int D>
linked_packed_cells<Context, T, D>::linked_packed_cells(const Context& context, const grid<T, D>& space,
                                                        const cell_list_options<T>& options)
    : space_(detail::checked_grid(space, options.fold_reach > T(0) ? any_number_of_cells : max_count),
             options.fold_reach),
      state_(context),
      accept_outside_(options.accept_outside) {}

template <typename Context, typename T, int D>
void linked_packed_cells<Context, T, D>::reserve_links(std::size_t points) {
  detail::require_count(points, "points");
  const row_major_numbering<D> numbering{space_.fitted(points).stored};
  state_.reserve(points, numbering.bound(), [&](std::size_t elements, std::size_t cells) {
    const Context& context = state_.context();
    heads_.resize_discarding(context, cells);
    if (context.reproducibility() != determinism::none) pairs_.reserve(context, elements, cells);
  });
}

template <typename Context, typename T, int D>
void linked_packed_cells<Context, T, D>::reserve(std::size_t points) {
  reserve_links(points);
  if (has_records(points)) return;
  state_.lose_result();
  records_.resize_discarding(state_.context(), points);
}

template <typename Context, typename T, int D>
void linked_packed_cells<Context, T, D>::build(const points_view<T, D>& points) {
  detail::build_and_check(*this, state_, points, [&] { build_async(points); });
}

template <typename Context, typename T, int D>
void linked_packed_cells<Context, T, D>::build_async(const points_view<T, D>& points) {
  detail::require_points(points, "points");
  require(has_records(points.size()), "build_async has no room for copies of ", points.size(), " points; call reserve(",
          points.size(), ") or build first");
  link(points, records_.data(), false);
}

template <typename Context, typename T, int D>
void linked_packed_cells<Context, T, D>::build(record_type* records, std::size_t count) {
  detail::require_array(records, count, "records");
  reserve_links(count);
  state_.forget_faults();
  build_async(records, count);
  check();
}

template <typename Context, typename T, int D>
void linked_packed_cells<Context, T, D>::build_async(record_type* records, std::size_t count) {
  detail::require_array(records, count, "records");
  require(reinterpret_cast<std::uintptr_t>(records) % alignof(record_type) == 0, "records must be aligned to ",
          alignof(record_type));
  const T* first = count == 0 ? nullptr : records->position.component;
  link(strided_points<D>(first, count, sizeof(record_type) / sizeof(T)), records, true);
}

template <typename Context, typename T, int D>
void linked_packed_cells<Context, T, D>::link(const points_view<T, D>& points, record_type* records, bool in_place) {
  const grid<T, D> space = space_.fitted(points.size());
  const row_major_numbering<D> numbering{space.stored};
  state_.begin(points, numbering.bound());
  space_.take(space, points.size());
  linked_ = records;
  const Context& context = state_.context();
  heads_.resize_discarding(context, numbering.bound());
  fill_bytes(context, heads_.data(), 0xff, heads_.size() * sizeof(particle_id));
  const key_type key_of{points, space, numbering, {}, state_.flag(), accept_outside_};
  if (context.reproducibility() == determinism::none) {
    const insert_record<T, D, key_type> body{key_of, heads_.data(), records, in_place};
    for_each(context, "cells.linked_packed.insert", points.size(), body);
    return;
  }
  pairs_.make(context, points.size(), heads_.size(), key_of);
  const link_records_in_order<T, D> body{pairs_.keys(), pairs_.elements(), points, heads_.data(), records, in_place};
  for_each(context, "cells.linked_packed.link_in_order", points.size(), body);
}

template <typename Context, typename T, int D>
void linked_packed_cells<Context, T, D>::check() {
  state_.check(space_.current(), 0);
}

template class linked_packed_cells<backend_context, float, 2>;
template class linked_packed_cells<backend_context, float, 3>;
template class linked_packed_cells<backend_context, double, 2>;
template class linked_packed_cells<backend_context, double, 3>;

}  // namespace quadrat
