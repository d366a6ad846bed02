// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "contacts/bodies/placed.hpp"
#include "contacts/families.hpp"

/// Stages 7 and 9 of parallel-binning-collision: one thread per bin, brute force inside the bin, first to count (slides
/// 23 to 27), then to write (slides 29 to 31).
namespace quadrat::detail {

/// The results of stages 1 to 6. Thread k serves entry k of C from the end: if C is sorted, the fullest bins come
/// first.
template <typename T>
struct bins_search {
  grid<T, 3> space;
  const placed_body<T>* bodies;
  const particle_id* body_of_B;       ///< the values of B, in order of bins
  const std::uint32_t* first_of_bin;  ///< where a bin begins in B
  const std::uint32_t* bodies_of_C;   ///< the keys of C: bodies per bin
  const cell_id* bin_of_C;            ///< the values of C
  std::size_t bins;

  /// Calls f(a, b) for all pairs of one bin until it returns false; a has the lower id.
  template <typename F>
  QUADRAT_HD void visit(std::size_t k, F&& f) const {
    const std::size_t entry = bins - 1 - k;
    const std::uint32_t bodies_here = bodies_of_C[entry];
    if (bodies_here < 2) return;
    const std::uint32_t first = first_of_bin[bin_of_C[entry]];
    const std::uint32_t last = first + bodies_here;
    for (std::uint32_t i = first; i + 1 < last; ++i) {
      // The sort is stable: bodies of a bin are in order of their ids.
      const placed_body<T> a = bodies[body_of_B[i]];
      for (std::uint32_t j = i + 1; j < last; ++j) {
        if (!f(a, bodies[body_of_B[j]])) return;
      }
    }
  }
  [[nodiscard]] QUADRAT_HD vec<int, 3> bin(std::size_t k) const { return bin_position(space, bin_of_C[bins - 1 - k]); }

  /// The bin that a pair belongs to: that of the center of its contact volume, taken as the midpoint of point_a and
  /// point_b of its first contact (for two spheres, the middle of the lens). Clamped to the bins that both bodies
  /// touch, so that rounding cannot put it into a bin without the pair.
  [[nodiscard]] QUADRAT_HD vec<int, 3> owner(const placed_body<T>& a, const placed_body<T>& b,
                                             const contact_point<T>& contact) const {
    vec<int, 3> bin{};
    for (int axis = 0; axis < 3; ++axis) {
      const T middle = a.center[axis] + (contact.point_a[axis] + contact.point_b[axis]) * T(0.5);
      const index_range common = common_along(space, a, b, axis);
      int index = space.unwrapped_index(middle, axis);
      index = index > common.last ? common.last : index;
      index = index < common.first ? common.first : index;
      bin[axis] = space.wrapped(index, axis);
    }
    return bin;
  }
};

/// Stage 7, counting: D, the number of contacts that belong to each bin.
template <typename T, typename Family>
struct count_bin {
  bins_search<T> search;
  Family family;
  std::uint32_t* contacts_D;

  QUADRAT_HD void operator()(std::size_t k) const {
    std::uint32_t sum = 0;
    const vec<int, 3> bin = search.bin(k);
    search.visit(k, [&](const placed_body<T>& a, const placed_body<T>& b) {
      typename Family::manifold_type manifold;
      const std::uint32_t found = family.collide(a, b, manifold);
      if (found > 0 && search.owner(a, b, manifold.points[0]) == bin) sum += found;
      return true;
    });
    contacts_D[k] = sum;
  }
};

/// Stage 9: E, the records. Ends with the last contact of the bin.
template <typename T, typename Family>
struct fill_bin {
  bins_search<T> search;
  Family family;
  contact_sink<T> contacts_E;
  const std::uint64_t* offsets_of_D;

  QUADRAT_HD void operator()(std::size_t k) const {
    std::uint64_t at = offsets_of_D[k];
    const std::uint64_t end = offsets_of_D[k + 1];
    if (at == end || end > contacts_E.capacity) return;
    const vec<int, 3> bin = search.bin(k);
    search.visit(k, [&](const placed_body<T>& a, const placed_body<T>& b) {
      typename Family::manifold_type manifold;
      std::uint32_t found = family.collide(a, b, manifold);
      if (found == 0 || !(search.owner(a, b, manifold.points[0]) == bin)) return true;
      if (found > end - at) found = static_cast<std::uint32_t>(end - at);
      contacts_E.write(at, manifold.points, found, a, b);
      at += found;
      return at < end;
    });
  }
};

}  // namespace quadrat::detail
