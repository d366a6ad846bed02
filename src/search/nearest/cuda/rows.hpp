// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "quadrat/core/config.hpp"
#include "quadrat/core/context.hpp"
#include "search/nearest/rows.hpp"

namespace quadrat::detail {

/// Finds this many rows on a GPU: those of all points, or of all queries; each warp finds 32 together. Asynchronous.
#if QUADRAT_HAS_CUDA
template <typename T, int D>
void find_nearest_rows(const cuda_context& context, const nearest_search<T, D>& search, std::size_t rows);
#else
template <typename T, int D>
void find_nearest_rows(const cuda_context& context, const nearest_search<T, D>&, std::size_t) {
  context.activate();
}
#endif

}  // namespace quadrat::detail
