// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "mesh/sparse/rows.hpp"
#include "quadrat/core/array.hpp"

namespace quadrat::detail {

/// Approximate scratch memory of an exclusive scan over `entries` entries.
[[nodiscard]] constexpr std::size_t scan_bytes(std::size_t entries) { return entries / 32 + 65'536; }

/// The number of contributions on the mesh, read from *total in the context's memory. If nothing can be clipped, it is
/// known in advance; otherwise this synchronizes.
template <typename Context, typename T, typename Offset>
[[nodiscard]] std::size_t contribution_total(const Context& context, const contribution_source<T>& source,
                                             const Offset* total) {
  if (all_periodic(source.shape)) return source.contributions();
  return static_cast<std::size_t>(to_host(context, total, 1)[0]);
}

}  // namespace quadrat::detail
