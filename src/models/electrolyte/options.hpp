// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "quadrat/models/electrolyte.hpp"

namespace quadrat::detail {

/// 2^(1/6): where the repulsion ends, in diameters.
inline constexpr double repulsion_reach = 1.122462048309373;

/// Throws argument_error for options that are impossible for any particles.
void check_electrolyte(const electrolyte_options& options);

/// Throws data_error for the first value that is not finite; `kind` names it: "position".
template <typename T>
void check_vectors(const std::vector<vec<T, 3>>& values, const char* kind);

/// Throws data_error if the word of a run_fault reports a fault.
void throw_electrolyte_fault(std::uint64_t fault);

[[nodiscard]] std::size_t ions_of(const electrolyte_options& options);
[[nodiscard]] double largest_diameter(const electrolyte_options& options);

/// A property of each ion, by number.
template <typename T>
[[nodiscard]] std::vector<T> by_ion(const electrolyte_options& options, double ion_species::*property,
                                    double factor = 1) {
  std::vector<T> result;
  result.reserve(ions_of(options));
  for (const ion_species& kind : options.species) {
    result.insert(result.end(), kind.count, static_cast<T>(factor * kind.*property));
  }
  return result;
}

}  // namespace quadrat::detail
