// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "models/srd/random.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/philox.hpp"
#include "quadrat/core/vec.hpp"

namespace quadrat::detail {

/// The purpose of a random number of the electrolyte.
enum class electrolyte_use : std::uint32_t { thermostat, velocity, site };

/// Four random words, determined by the arguments alone.
[[nodiscard]] QUADRAT_HD inline philox_block electrolyte_words(std::uint64_t seed, electrolyte_use use,
                                                               std::uint64_t step, std::uint32_t element) {
  return philox({{element, static_cast<std::uint32_t>(use), static_cast<std::uint32_t>(step),
                  static_cast<std::uint32_t>(step >> 32)}},
                seed);
}

/// Independent standard normal numbers of one ion.
template <typename T>
[[nodiscard]] QUADRAT_HD inline vec<T, 3> electrolyte_normal(std::uint64_t seed, electrolyte_use use,
                                                             std::uint64_t step, std::uint32_t ion) {
  return srd_normal<T, 3>(electrolyte_words(seed, use, step, ion));
}

}  // namespace quadrat::detail
