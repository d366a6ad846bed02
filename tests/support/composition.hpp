// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "quadrat/core/macros.hpp"

namespace quadrat::test {

/// Composition of maps x -> a x + b modulo 2^32, each in one word as a, b: exactly associative, and not commutative.
struct composition {
  QUADRAT_HD std::uint64_t operator()(std::uint64_t first, std::uint64_t second) const {
    const auto a = static_cast<std::uint32_t>(second >> 32), b = static_cast<std::uint32_t>(second);
    const auto factor = static_cast<std::uint32_t>(first >> 32) * a;
    const auto offset = static_cast<std::uint32_t>(first) * a + b;
    return std::uint64_t{factor} << 32 | offset;
  }
};

}  // namespace quadrat::test
