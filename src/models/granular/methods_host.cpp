// SPDX-License-Identifier: BSD-3-Clause
#include "models/granular/methods.hpp"

#include "core/method_choice.hpp"
#include "quadrat/models/granular.hpp"

namespace quadrat {

namespace {

/// The number of grains is not known here; the ranking of methods does not depend on it.
[[nodiscard]] std::string_view quickest(bool cuda, determinism level) {
  const cell_load load{cuda, 1 << 20};
  return detail::expected_times<detail::granular_method_list>({"granular method", cuda, level}, load).front().method;
}

}  // namespace

std::span<const granular_method> granular_methods() { return detail::listed<detail::granular_method_list>(); }

std::string_view granular_default_method(const cpu_context& context) {
  return quickest(false, context.reproducibility());
}

std::string_view granular_default_method(const cuda_context& context) {
  return quickest(true, context.reproducibility());
}

}  // namespace quadrat
