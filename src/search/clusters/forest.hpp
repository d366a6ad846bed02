// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "quadrat/core/macros.hpp"
#include "quadrat/parallel/atomic.hpp"

namespace quadrat::detail {

/// Counters for tests: points, bounding boxes and rows of cells that are visited, and steps in the forest.
struct no_cluster_counts {
  QUADRAT_HD void look() const {}
  QUADRAT_HD void hop() const {}
};

/// A disjoint-set forest in which many threads unite trees at once (ECL-CC). A root is its own parent. Any other parent
/// is smaller than its child, so the root of a finished tree is its smallest element, whatever the timing.
template <typename Counts>
struct cluster_forest {
  std::uint32_t* parents;
  Counts counts;

  /// The root at some time during the call. Shortens the path to it: an element that is not a root never becomes one
  /// again, so a plain store of one of its ancestors is safe.
  [[nodiscard]] QUADRAT_HD std::uint32_t root(std::uint32_t element) const {
    std::uint32_t parent = load(element);
    if (parent == element) return element;
    std::uint32_t before = element;
    for (std::uint32_t next = load(parent); next < parent; next = load(parent)) {
      counts.hop();
      store(before, next);
      before = parent;
      parent = next;
    }
    return parent;
  }

  QUADRAT_HD void flatten(std::uint32_t element) const { store(element, root(element)); }

  QUADRAT_HD void unite(std::uint32_t a, std::uint32_t b) const {
    a = root(a);
    b = root(b);
    while (a != b) {
      const std::uint32_t larger = a > b ? a : b, smaller = a > b ? b : a;
      const std::uint32_t found = atomic_compare_exchange(parents + larger, larger, smaller);
      if (found == larger) return;
      counts.hop();
      a = root(found);
      b = root(smaller);
    }
  }

 private:
  // Relaxed: another thread may write the same element.
  [[nodiscard]] QUADRAT_HD std::uint32_t load(std::uint32_t element) const {
#if defined(__CUDA_ARCH__)
    return *static_cast<const volatile std::uint32_t*>(parents + element);
#else
    return __atomic_load_n(parents + element, __ATOMIC_RELAXED);
#endif
  }
  QUADRAT_HD void store(std::uint32_t element, std::uint32_t parent) const {
#if defined(__CUDA_ARCH__)
    *static_cast<volatile std::uint32_t*>(parents + element) = parent;
#else
    __atomic_store_n(parents + element, parent, __ATOMIC_RELAXED);
#endif
  }
};

}  // namespace quadrat::detail
