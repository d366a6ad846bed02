// SPDX-License-Identifier: BSD-3-Clause
#include "core/memory_check.hpp"

#include <cmath>
#include <string>

#include "quadrat/core/error.hpp"

namespace quadrat::detail {

namespace {

/// "12.3 GB"
[[nodiscard]] std::string gigabytes(std::size_t bytes) {
  return message(std::round(static_cast<double>(bytes) / 1e7) / 100, " GB");
}

}  // namespace

void require_memory(const memory_resource& memory, const memory_demand& demand, std::size_t most) {
  if (demand.needed <= demand.held && (most == 0 || demand.needed <= most)) return;
  std::size_t limit = most;
  if (limit == 0) {
    const std::size_t available = memory.available_bytes();
    limit = available > ~std::size_t{0} - demand.held ? available : available + demand.held;
  }
  require(demand.needed <= limit, "the method ", demand.method, " needs ", demand.needed, " bytes (",
          gigabytes(demand.needed), ") for these ", demand.what, "; ", limit, " (", gigabytes(limit),
          most != 0 ? ") are allowed" : ") are free", ". ", demand.least, " the least");
}

}  // namespace quadrat::detail
