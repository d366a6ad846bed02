// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/select.hpp"

#include "parallel/partition.hpp"
#include "quadrat/core/config.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::detail {

void select_others(const cpu_context& context, const std::uint32_t* values, std::uint32_t common, std::uint32_t bound,
                   std::size_t count, std::uint32_t* indices, std::uint32_t* words, workspace<cpu_context>& scratch) {
  require_count_fits("select_others", count);
  constexpr std::size_t least = 8192;
  const partition split = partition_for(context, count, least);
  auto* const before = reinterpret_cast<std::uint32_t*>(scratch.request(context, (split.parts + 1) * sizeof(*words)));
  const auto parts = static_cast<int>(split.parts);
  words[1] = 0;
#pragma omp parallel for schedule(static, 1) num_threads(parts) if (parts > 1)
  for (int part = 0; part < parts; ++part) {
    const auto p = static_cast<std::size_t>(part);
    std::uint32_t found = 0, beyond = 0;
    for (std::size_t i = split.first(p); i < split.last(p); ++i) {
      found += values[i] != common ? 1 : 0;
      beyond |= values[i] >= bound ? 1 : 0;
    }
    before[p + 1] = found;
    if (beyond != 0) {
#pragma omp atomic write
      words[1] = 1;
    }
  }
  before[0] = 0;
  for (std::size_t p = 0; p < split.parts; ++p) before[p + 1] += before[p];
#pragma omp parallel for schedule(static, 1) num_threads(parts) if (parts > 1)
  for (int part = 0; part < parts; ++part) {
    const auto p = static_cast<std::size_t>(part);
    std::uint32_t place = before[p];
    for (std::size_t i = split.first(p); i < split.last(p); ++i) {
      if (values[i] != common) indices[place++] = static_cast<std::uint32_t>(i);
    }
  }
  words[0] = before[split.parts];
}

}  // namespace quadrat::detail
