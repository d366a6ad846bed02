// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

/// Sums of Chebyshev's polynomials of t in [-1, 1].
namespace quadrat::detail {

/// The least number of terms, a multiple of 4, such that the remainder is at most `limit`.
[[nodiscard]] int terms_within(const std::vector<long double>& series, long double limit);

/// The first `terms` of a series in powers of t.
[[nodiscard]] std::vector<long double> in_powers(const std::vector<long double>& series, int terms);

}  // namespace quadrat::detail
