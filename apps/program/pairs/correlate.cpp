// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "program/pairs/count.hpp"
#include "quadrat/search/pair_correlation.hpp"

namespace quadrat::program {
namespace {

/// A region that is left out, or none.
using left_out = std::optional<std::size_t>;

/// Sums of the products of weights, or counts.
std::vector<double> numbers_in(const pair_counts_result& found, left_out region) {
  const std::size_t bins = found.counts.size();
  std::vector<double> numbers(found.counts.begin(), found.counts.end());
  if (!found.weights.empty()) numbers = found.weights;
  for (std::size_t k = 0; k < bins && region; ++k) {
    const std::size_t at = *region * bins + k;
    numbers[k] -= found.weights.empty() ? static_cast<double>(found.region_counts[at]) : found.region_weights[at];
  }
  return numbers;
}
double weight_of(const counted_set& set, left_out region) {
  return set.weight - (region ? set.region_weights[*region] : 0);
}

double volume_of(const search_box& box) {
  const auto& v = box.vectors;
  return std::fabs(v[0][0] * (v[1][1] * v[2][2] - v[1][2] * v[2][1]) -
                   v[0][1] * (v[1][0] * v[2][2] - v[1][2] * v[2][0]) +
                   v[0][2] * (v[1][0] * v[2][1] - v[1][1] * v[2][0]));
}

std::vector<double> pairs_of_uniform(const pairs_run& run) {
  const double volume = volume_of(*run.box), total = run.data.weight;
  if (run.others) return uniform_pairs(run.options, volume, total * run.others->weight, 0);
  const double mean = total / static_cast<double>(std::max<std::size_t>(run.data.particles.size(), 1));
  return uniform_pairs(run.options, volume, total * (total - mean), run.data.squares);
}

std::vector<double> correlation_of(const pairs_run& run, left_out region) {
  const std::vector<double> data = numbers_in(run.pairs, region);
  if (run.estimator == "uniform") {
    const std::vector<double> uniform = pairs_of_uniform(run);
    return natural_correlation({data, {}, {}, uniform});
  }
  const std::vector<double> randoms = numbers_in(*run.random_pairs, region);
  const double weight = weight_of(*run.randoms, region);
  correlation_pairs pairs{data,
                          {},
                          {},
                          randoms,
                          weight / weight_of(run.data, region),
                          weight / weight_of(run.others ? *run.others : run.data, region)};
  if (run.estimator == "natural") return natural_correlation(pairs);
  const std::vector<double> of_data = numbers_in(*run.data_randoms, region);
  const std::vector<double> of_others = run.other_randoms ? numbers_in(*run.other_randoms, region) : of_data;
  pairs.data_randoms = of_data;
  pairs.second_randoms = of_others;
  return landy_szalay_correlation(pairs);
}

/// Errors from the estimates that leave out one region each.
void find_errors(pairs_run& run) {
  const std::size_t regions = run.options.regions, bins = run.correlation.size();
  std::vector<double> estimates, projected;
  for (std::size_t region = 0; region < regions; ++region) {
    const std::vector<double> one = correlation_of(run, region);
    estimates.insert(estimates.end(), one.begin(), one.end());
    if (run.projected.empty()) continue;
    const std::vector<double> sums = projected_correlation(one, run.options.second_edges);
    projected.insert(projected.end(), sums.begin(), sums.end());
  }
  for (std::size_t bin = 0; bin < bins; ++bin) {
    std::vector<double> of_bin;
    for (std::size_t k = bin; k < estimates.size(); k += bins) of_bin.push_back(estimates[k]);
    run.errors.push_back(std::sqrt(jackknife_covariance(of_bin, regions)[0]));
  }
  run.covariance = jackknife_covariance(projected.empty() ? estimates : projected, regions);
}

}  // namespace

void correlate(pairs_run& run) {
  run.correlation = correlation_of(run, {});
  if (run.options.coordinates == pair_coordinates::rp_pi) {
    run.projected = projected_correlation(run.correlation, run.options.second_edges);
  }
  if (run.options.regions > 0) find_errors(run);
}

}  // namespace quadrat::program
