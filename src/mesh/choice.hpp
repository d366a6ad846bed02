// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>

#include "mesh/engine.hpp"
#include "quadrat/core/context.hpp"

namespace quadrat::detail {

struct spread_choice {
  std::string method;
  std::string reason;
};

/// The method that the options ask for, or the one that suits so many points.
template <typename T>
[[nodiscard]] spread_choice choose_spread_method(const cpu_context& context, const spread_setup<T>& setup,
                                                 std::size_t count);
template <typename T>
[[nodiscard]] spread_choice choose_spread_method(const cuda_context& context, const spread_setup<T>& setup,
                                                 std::size_t count);

/// The choice for CUDA, which needs no device.
template <typename T>
[[nodiscard]] spread_choice choose_cuda_spread_method(determinism level, const spread_setup<T>& setup,
                                                      std::size_t count);

}  // namespace quadrat::detail
