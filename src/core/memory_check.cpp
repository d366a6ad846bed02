// SPDX-License-Identifier: BSD-3-Clause
#include "core/memory_check.hpp"

#include <cmath>
#include <string>

#include "quadrat/core/error.hpp"

namespace quadrat::detail {

namespace {

/// "5.37 GB", "12.3 kB"
[[nodiscard]] std::string in_units(std::size_t bytes) {
  const auto size = static_cast<double>(bytes);
  const bool giga = size >= 1e9, mega = !giga && size >= 1e6;
  const double unit = giga ? 1e9 : mega ? 1e6 : 1e3;
  return message(std::round(size / unit * 100) / 100, giga ? " GB" : mega ? " MB" : " kB");
}

/// The memory that is held or free.
[[nodiscard]] std::size_t within_reach(const memory_resource& memory, std::size_t held) {
  const std::size_t available = memory.available_bytes();
  return available > ~std::size_t{0} - held ? available : available + held;
}

}  // namespace

void require_memory(const memory_resource& memory, const memory_demand& demand, std::size_t most) {
  if (demand.needed <= demand.held && (most == 0 || demand.needed <= most)) return;
  const std::size_t limit = most == 0 ? within_reach(memory, demand.held) : most;
  require(demand.needed <= limit, "the method ", demand.method, " needs ", demand.needed, " bytes (",
          in_units(demand.needed), ") for these ", demand.what, "; ", limit, " (", in_units(limit),
          most != 0 ? ") are allowed" : ") are free", ". ", demand.advice);
}

void require_memory(const memory_resource& memory, std::string_view what, std::size_t needed, std::size_t held,
                    std::string_view advice) {
  constexpr std::size_t much = std::size_t{1} << 26;
  if (needed <= held || needed < much) return;
  const std::size_t limit = within_reach(memory, held);
  require(needed <= limit, what, " needs ", needed, " bytes (", in_units(needed), "); ", limit, " (", in_units(limit),
          ") are free. ", advice);
}

}  // namespace quadrat::detail
