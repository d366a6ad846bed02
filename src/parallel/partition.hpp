// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "quadrat/core/context.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/core/types.hpp"

namespace quadrat::detail {

/// A range of indices, divided into `parts` consecutive parts of equal size, each the work of one thread. Results do
/// not depend on the number of threads that OpenMP provides.
struct partition {
  std::size_t count;
  std::size_t parts;

  [[nodiscard]] std::size_t first(std::size_t part) const { return count * part / parts; }
  [[nodiscard]] std::size_t last(std::size_t part) const { return first(part + 1); }
};

/// One part per thread, or fewer if parts would be smaller than `least`.
[[nodiscard]] inline partition partition_for(const cpu_context& context, std::size_t count, std::size_t least) {
  const std::size_t most = count / least;
  const auto threads = static_cast<std::size_t>(context.threads());
  return {count, most < 1 ? 1 : (most < threads ? most : threads)};
}

/// Throws argument_error if 32-bit particle ids cannot number all elements.
inline void require_count_fits(const char* name, std::size_t count) {
  require(count <= max_count, name, " was given ", count, " elements; at most ", max_count, " are possible");
}

}  // namespace quadrat::detail
