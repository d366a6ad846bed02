// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "contacts/bodies/placed.hpp"
#include "contacts/families.hpp"

/// The two passes of a search: each row counts; after a scan, each row writes. Places are not reserved by atomic
/// operations, so rows in the same order give the same bytes.
namespace quadrat::detail {

template <typename Search, typename Family>
struct count_row {
  using T = typename Family::value_type;

  Search search;
  Family family;
  std::uint32_t* counts;

  /// Returns what it found.
  QUADRAT_HD std::uint32_t operator()(std::size_t row) const {
    std::uint32_t found = 0;
    search.visit(row, [&](const placed_body<T>& p, const placed_body<T>& q) {
      found += family.count(p, q);
      return true;
    });
    counts[row] = found;
    return found;
  }
};

/// A row ends as soon as it has written as many contacts as it counted. Rows that do not fit write nothing.
template <typename Search, typename Family, typename Sink>
struct fill_row {
  using T = typename Family::value_type;

  Search search;
  Family family;
  Sink sink;
  const std::uint64_t* offsets;

  QUADRAT_HD void operator()(std::size_t row) const {
    std::uint64_t at = offsets[row];
    const std::uint64_t end = offsets[row + 1];
    if (at == end || end > sink.capacity) return;
    search.visit(row, [&](const placed_body<T>& p, const placed_body<T>& q) {
      const bool in_order = p.id < q.id;
      at += sink(family, in_order ? p : q, in_order ? q : p, at, static_cast<std::uint32_t>(end - at));
      return at < end;
    });
  }
};

/// Calls f(k, number of contacts, manifold) for each plane that a body touches.
template <typename T>
struct plane_search {
  bodies_view<T> bodies;
  const placed_body<T>* placed;
  const plane<T>* planes;
  std::uint32_t plane_count;
  group_filter groups;

  template <typename F>
  QUADRAT_HD void visit(std::size_t i, F&& f) const {
    body<T> own = bodies[i];
    own.center = placed[i].center;
    for (std::uint32_t k = 0; k < plane_count; ++k) {
      if (!groups.meet(placed[i].group, planes[k].group)) continue;
      contact_manifold<T> manifold;
      const int found = collide_with_plane(own, planes[k], manifold);
      if (found > 0) f(k, static_cast<std::uint32_t>(found), manifold);
    }
  }
};

/// Index: body.
template <typename T>
struct count_planes {
  plane_search<T> search;
  std::uint32_t* counts;

  QUADRAT_HD void operator()(std::size_t i) const {
    std::uint32_t sum = 0;
    search.visit(i, [&](std::uint32_t, std::uint32_t found, const contact_manifold<T>&) { sum += found; });
    counts[i] = sum;
  }
};

template <typename T, typename Domain>
struct fill_planes {
  plane_search<T> search;
  contact_sink<T, Domain> sink;
  const std::uint64_t* offsets;

  QUADRAT_HD void operator()(std::size_t i) const {
    std::uint64_t at = offsets[i];
    const std::uint64_t end = offsets[i + 1];
    if (at == end || end > sink.capacity) return;
    search.visit(i, [&](std::uint32_t k, std::uint32_t found, const contact_manifold<T>& manifold) {
      for (std::uint32_t point = 0; point < found && at < end; ++point) {
        sink.write_of_plane(at++, manifold.points[point], static_cast<particle_id>(i), first_plane + k);
      }
    });
  }
};

}  // namespace quadrat::detail
