// SPDX-License-Identifier: BSD-3-Clause
#include "spectral/chebyshev.hpp"

#include <cmath>
#include <cstddef>
#include <utility>

namespace quadrat::detail {

int terms_within(const std::vector<long double>& series, long double limit) {
  long double rest = 0;
  int terms = static_cast<int>(series.size());
  while (terms > 1 && rest + std::fabs(series[static_cast<std::size_t>(terms - 1)]) <= limit) {
    rest += std::fabs(series[static_cast<std::size_t>(--terms)]);
  }
  return (terms + 3) / 4 * 4;
}

std::vector<long double> in_powers(const std::vector<long double>& series, int terms) {
  const auto count = static_cast<std::size_t>(terms);
  std::vector<long double> powers(count, 0.0L), before(count, 0.0L), here(count, 0.0L);
  before[0] = 1;               // T_0
  if (count > 1) here[1] = 1;  // T_1
  for (std::size_t d = 0; d < count; ++d) {
    for (std::size_t i = 0; i <= d; ++i) powers[i] += series[d] * before[i];
    std::vector<long double> next(count, 0.0L);
    for (std::size_t i = 0; i < count; ++i) next[i] = (i > 0 ? 2 * here[i - 1] : 0.0L) - before[i];
    before = here;
    here = std::move(next);
  }
  return powers;
}

}  // namespace quadrat::detail
