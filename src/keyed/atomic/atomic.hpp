// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <string_view>
#include <type_traits>

#include "keyed/atomic/cpu.hpp"
#include "keyed/atomic/cuda.hpp"
#include "keyed/cost.hpp"
#include "quadrat/core/config.hpp"
#include "quadrat/core/types.hpp"

namespace quadrat::detail {

struct atomic_method : key_method_defaults {
  static constexpr std::string_view name = "atomic";
  static constexpr std::string_view summary = "an atomic operation per element";
  static constexpr bool on_cpu = true;
  static constexpr bool on_cuda = true;
  static constexpr determinism reproducible = determinism::none;
  static method_cost cost(const key_request& request) {
    return request.cuda ? cuda_cost({left_over::elements, 0.8, 0.25}, request) : cpu_join_cost(request);
  }
  /// Several threads use atomic operations, which wait for each other at the same result.
  static method_cost cpu_join_cost(const key_request& request) {
    const bool team = starts_team(request, request.elements);
    const double atomic = request.threads > 1 ? 4000 * std::max(1.0, request.row_bytes / 8) : 0;
    return cpu_cost({.element = atomic + cpu_join(request), .commonest = team ? 40000.0 : 0, .teams = team ? 1.0 : 0},
                    request);
  }
  template <typename Context>
  using engine = std::conditional_t<std::is_same_v<Context, cpu_context>, cpu_atomic_engine, cuda_atomic_engine>;
};

}  // namespace quadrat::detail
