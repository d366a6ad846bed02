// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "quadrat/parallel/team_error.hpp"

namespace quadrat::detail {

/// Calls body(part) for a few parts of much work each, on up to `threads` CPU threads. A body may throw: when all have
/// ended, the exception of the lowest part that threw is rethrown.
template <typename Body>
void for_each_part(int threads, std::size_t parts, const Body& body) {
  const auto last = static_cast<std::int64_t>(parts);
  team_error error;
#pragma omp parallel for schedule(static) num_threads(threads) if (last > 1 && threads > 1)
  for (std::int64_t part = 0; part < last; ++part) {
    error.guard(part, [&] { body(static_cast<std::size_t>(part)); });
  }
  error.rethrow();
}

}  // namespace quadrat::detail
