// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <cstdio>

#include "quadrat/core/error.hpp"

namespace quadrat {
namespace {

/// A number of at most three digits before the point, and its unit.
struct memory_amount {
  double number;
  const char* unit;
};

memory_amount amount_of(std::size_t bytes) {
  constexpr std::array<const char*, 5> units{"bytes", "kB", "MB", "GB", "TB"};
  memory_amount result{static_cast<double>(bytes), units[0]};
  for (std::size_t k = 1; k < units.size() && result.number >= 1000; ++k) result = {result.number / 1000, units[k]};
  return result;
}

}  // namespace

out_of_memory::out_of_memory(std::size_t asked, std::size_t available) noexcept : asked_(asked), text_{} {
  const memory_amount wanted = amount_of(asked), left = amount_of(available);
  if (available == ~std::size_t{0}) {
    std::snprintf(text_, sizeof text_, "out of memory: %.4g %s were asked for", wanted.number, wanted.unit);
  } else {
    std::snprintf(text_, sizeof text_, "out of memory: %.4g %s were asked for; %.4g %s are available", wanted.number,
                  wanted.unit, left.number, left.unit);
  }
}

}  // namespace quadrat
