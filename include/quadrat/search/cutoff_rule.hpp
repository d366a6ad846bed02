// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "quadrat/core/macros.hpp"

namespace quadrat {

/// The length to which a pair's distance is compared.
enum class cutoff_rule {
  uniform,        ///< the cutoff
  sum_of_radii,   ///< radius of i + radius of j (ASE's and matscipy's list of radii)
  larger_radius,  ///< the larger of the two radii
  own_radius,     ///< the radius of i: (i, j) may be listed and (j, i) not; for full lists
  table_of_types  ///< type_cutoffs[type of i * types + type of j]
};

namespace detail {

/// The cutoff of a pair by a rule with radii: the only expression that decides.
template <typename T>
[[nodiscard]] QUADRAT_HD T cutoff_of_radii(cutoff_rule rule, T own, T other, T skin) {
  if (rule == cutoff_rule::sum_of_radii) return own + other + skin;
  return (rule == cutoff_rule::larger_radius && own < other ? other : own) + skin;
}

[[nodiscard]] constexpr bool has_radii(cutoff_rule rule) {
  return rule == cutoff_rule::sum_of_radii || rule == cutoff_rule::larger_radius || rule == cutoff_rule::own_radius;
}

}  // namespace detail

}  // namespace quadrat
