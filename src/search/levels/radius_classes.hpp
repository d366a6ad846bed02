// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "quadrat/core/config.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "search/levels/sizes.hpp"

namespace quadrat::detail {

/// Adds the numbers of points of each class to `what.counts`.
template <typename T>
void count_radius_classes(const cpu_context& context, const count_radii<T>& what) {
  for_each(context, "search.count_radii", what.shares, what);
}
#if QUADRAT_HAS_CUDA
/// Counts in shared memory, in as many blocks as the device holds. Asynchronous.
template <typename T>
void count_radius_classes(const cuda_context& context, const count_radii<T>& what);
#else
template <typename T>
void count_radius_classes(const cuda_context& context, const count_radii<T>&) {
  context.activate();
}
#endif

}  // namespace quadrat::detail
