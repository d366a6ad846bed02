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

/// The sum of what is held and what is free.
[[nodiscard]] std::size_t within_reach(const memory_resource& memory, std::size_t held) {
  const std::size_t available = memory.available_bytes();
  return available > ~std::size_t{0} - held ? available : available + held;
}

}  // namespace

void require_memory(const memory_resource& memory, const memory_demand& demand, std::size_t most) {
  if (demand.needed <= demand.held && (most == 0 || demand.needed <= most)) return;
  const std::size_t limit = most == 0 ? within_reach(memory, demand.held) : most;
  require(demand.needed <= limit, "the method ", demand.method, " needs ", demand.needed, " bytes (",
          gigabytes(demand.needed), ") for these ", demand.what, "; ", limit, " (", gigabytes(limit),
          most != 0 ? ") are allowed" : ") are free", ". ", demand.least, " the least");
}

void require_memory(const memory_resource& memory, std::string_view what, std::size_t needed, std::size_t held,
                    std::string_view advice) {
  constexpr std::size_t much = std::size_t{1} << 26;
  if (needed <= held || needed < much) return;
  const std::size_t limit = within_reach(memory, held);
  require(needed <= limit, what, " needs ", needed, " bytes (", gigabytes(needed), "); ", limit, " (", gigabytes(limit),
          ") are free. ", advice);
}

}  // namespace quadrat::detail
