// SPDX-License-Identifier: BSD-3-Clause
#include "core/cpu_lanes.hpp"

#include <cstddef>
#include <cstdlib>
#include <span>
#include <string_view>

#include "core/suggestion.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::detail {

namespace {

/// In the order of cpu_lanes.
constexpr std::string_view lane_names[] = {"plain", "avx2", "avx512"};

}  // namespace

cpu_lanes lanes_of_cpu() {
#if defined(__x86_64__) && defined(__GNUC__)
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return cpu_lanes::plain;
  const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
  return wide ? cpu_lanes::avx512 : cpu_lanes::avx2;
#else
  return cpu_lanes::plain;
#endif
}

cpu_lanes lanes_named(const char* name, cpu_lanes most) {
  if (name == nullptr || *name == '\0') return most;
  const std::span<const std::string_view> possible(lane_names, static_cast<std::size_t>(most) + 1);
  for (std::size_t i = 0; i < std::size(lane_names); ++i) {
    if (name != lane_names[i]) continue;
    require(i < possible.size(), "QUADRAT_LANES is ", name, ", which this CPU lacks; it has ", joined(possible));
    return static_cast<cpu_lanes>(i);
  }
  throw argument_error(message("QUADRAT_LANES is ", name, "; possible are ", joined(possible)));
}

cpu_lanes lanes_in_use() {
  static const cpu_lanes lanes = lanes_named(std::getenv("QUADRAT_LANES"), lanes_of_cpu());
  return lanes;
}

}  // namespace quadrat::detail
