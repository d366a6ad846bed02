// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "quadrat/search/pair_counts.hpp"

/// Correlation functions from pair counts, on the host. Numbers of pairs are counts, or sums of the products of
/// weights, by bin.
namespace quadrat {

/// The pairs of data (D) and of random points (R) in the same region. Of one set of data and one of random points,
/// first and second are the same.
struct correlation_pairs {
  std::span<const double> data;            ///< D1 D2
  std::span<const double> data_randoms;    ///< D1 R2
  std::span<const double> second_randoms;  ///< D2 R1
  std::span<const double> randoms;         ///< R1 R2
  double first_ratio = 1;                  ///< the number of R1 over that of D1, or of the sums of their weights
  double second_ratio = 1;                 ///< the same of R2 and D2
};

/// D1 D2 / R1 R2 - 1, by bin; other pairs are not read. NaN where there are no random pairs. Throws argument_error for
/// numbers of bins that differ.
[[nodiscard]] std::vector<double> natural_correlation(const correlation_pairs& pairs);

/// (D1 D2 - D1 R2 - D2 R1 + R1 R2) / R1 R2, the estimator of Landy and Szalay (1993), by bin. NaN where there are no
/// random pairs. Throws argument_error for numbers of bins that differ.
[[nodiscard]] std::vector<double> landy_szalay_correlation(const correlation_pairs& pairs);

/// The pairs of uniform points in a periodic box of that volume, as `pair_counts` counts them: R1 R2 for
/// `natural_correlation`. `pairs`: ordered pairs of different points in the box, or the sum of their products of
/// weights. `own`: the number of points, or the sum of the squares of weights, of a set counted with itself; 0 between
/// two sets. Throws argument_error for theta.
[[nodiscard]] std::vector<double> uniform_pairs(const pair_counts_options& options, double volume, double pairs,
                                                double own);

/// w_p, by bin of r_p: twice the sum over pi of the correlation times the width of the bin of pi. Throws argument_error
/// unless there are whole rows of bins.
[[nodiscard]] std::vector<double> projected_correlation(std::span<const double> correlation,
                                                        std::span<const double> pi_edges);

/// The covariance of an estimate, [bin][bin], from those that leave out the points of one region each, `estimates`
/// [region][bin]: (n - 1) / n times the sum over n regions of the products of the differences from their mean. Throws
/// argument_error for fewer than 2 regions, and unless there are whole rows of bins.
[[nodiscard]] std::vector<double> jackknife_covariance(std::span<const double> estimates, std::size_t regions);

}  // namespace quadrat
