// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>

#include "quadrat/core/error.hpp"
#include "quadrat/search/pair_correlation.hpp"

namespace quadrat {

namespace {

void require_bins(std::span<const double> pairs, const char* name, std::size_t bins) {
  require(pairs.size() == bins, "there are ", pairs.size(), " bins of ", name, " and ", bins,
          " of randoms; equal numbers are needed");
}

/// excess(bin) / randoms, by bin.
template <typename Excess>
[[nodiscard]] std::vector<double> over_randoms(std::span<const double> randoms, Excess&& excess) {
  std::vector<double> result;
  for (std::size_t k = 0; k < randoms.size(); ++k) {
    result.push_back(randoms[k] > 0 ? excess(k) / randoms[k] : std::numeric_limits<double>::quiet_NaN());
  }
  return result;
}

}  // namespace

std::vector<double> natural_correlation(const correlation_pairs& pairs) {
  require_bins(pairs.data, "data", pairs.randoms.size());
  const double ratio = pairs.first_ratio * pairs.second_ratio;
  return over_randoms(pairs.randoms, [&](std::size_t k) { return ratio * pairs.data[k] - pairs.randoms[k]; });
}

std::vector<double> landy_szalay_correlation(const correlation_pairs& pairs) {
  require_bins(pairs.data, "data", pairs.randoms.size());
  require_bins(pairs.data_randoms, "data_randoms", pairs.randoms.size());
  require_bins(pairs.second_randoms, "second_randoms", pairs.randoms.size());
  return over_randoms(pairs.randoms, [&](std::size_t k) {
    return pairs.first_ratio * pairs.second_ratio * pairs.data[k] - pairs.first_ratio * pairs.data_randoms[k] -
           pairs.second_ratio * pairs.second_randoms[k] + pairs.randoms[k];
  });
}

std::vector<double> uniform_pairs(const pair_counts_options& options, double volume, double pairs, double own) {
  const pair_coordinates kind = options.coordinates;
  require(kind != pair_coordinates::theta, "pairs of uniform points are known by r, rp_pi and s_mu; not by theta");
  const std::vector<double> whole{0, 1};
  const std::vector<double>& second = options.second_edges.empty() ? whole : options.second_edges;
  const bool across = kind == pair_coordinates::rp_pi;
  const double power = across ? 2 : 3, ball = across ? 2 * std::numbers::pi : 4 * std::numbers::pi / 3;
  std::vector<double> result;
  for (std::size_t k = 0; k + 1 < options.edges.size(); ++k) {
    const double shell = ball * (std::pow(options.edges[k + 1], power) - std::pow(options.edges[k], power));
    for (std::size_t j = 0; j + 1 < second.size(); ++j) {
      const bool holds_own = options.edges[k] == 0 && second[j] == 0;
      result.push_back(pairs / volume * shell * (second[j + 1] - second[j]) + (holds_own ? own : 0));
    }
  }
  return result;
}

std::vector<double> projected_correlation(std::span<const double> correlation, std::span<const double> pi_edges) {
  require(pi_edges.size() >= 2, "there are ", pi_edges.size(), " edges of pi; at least 2 are needed");
  const std::size_t depths = pi_edges.size() - 1;
  require(correlation.size() % depths == 0, "there are ", correlation.size(), " bins; rows of ", depths,
          " bins of pi are needed");
  std::vector<double> result(correlation.size() / depths);
  for (std::size_t k = 0; k < correlation.size(); ++k) {
    result[k / depths] += 2 * correlation[k] * (pi_edges[k % depths + 1] - pi_edges[k % depths]);
  }
  return result;
}

std::vector<double> jackknife_covariance(std::span<const double> estimates, std::size_t regions) {
  require(regions >= 2, "there are ", regions, " regions; a jackknife needs at least 2");
  require(estimates.size() % regions == 0, "there are ", estimates.size(), " estimates; whole rows for ", regions,
          " regions are needed");
  const std::size_t bins = estimates.size() / regions;
  const auto n = static_cast<double>(regions);
  std::vector<double> means(bins), result(bins * bins);
  for (std::size_t k = 0; k < estimates.size(); ++k) means[k % bins] += estimates[k] / n;
  for (std::size_t row = 0; row < estimates.size(); row += bins) {
    for (std::size_t a = 0; a < bins; ++a) {
      const double difference = (n - 1) / n * (estimates[row + a] - means[a]);
      for (std::size_t b = 0; b < bins; ++b) result[a * bins + b] += difference * (estimates[row + b] - means[b]);
    }
  }
  return result;
}

}  // namespace quadrat
