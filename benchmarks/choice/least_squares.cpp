// SPDX-License-Identifier: BSD-3-Clause
#include "choice/least_squares.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace quadrat::bench {

namespace {

[[nodiscard]] std::vector<double> least_squares(const std::vector<std::vector<double>>& amounts,
                                                const std::vector<double>& times, const std::vector<double>& weights) {
  const std::size_t rows = amounts.size(), count = rows == 0 ? 0 : amounts.front().size();
  // Columns are scaled to length 1, so that units do not matter.
  std::vector<double> scale(count, 0.0), right(count, 0.0), x(count, 0.0);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t k = 0; k < count; ++k) scale[k] += weights[i] * std::pow(amounts[i][k] / times[i], 2);
  }
  for (double& one : scale) one = std::sqrt(one);
  std::vector<std::vector<double>> gram(count, std::vector<double>(count, 0.0));
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t k = 0; k < count; ++k) {
      if (scale[k] == 0) continue;
      const double a = amounts[i][k] / times[i] / scale[k];
      right[k] += weights[i] * a;
      for (std::size_t l = 0; l < count; ++l) {
        if (scale[l] > 0) gram[k][l] += weights[i] * a * amounts[i][l] / times[i] / scale[l];
      }
    }
  }
  constexpr int most_sweeps = 20000;
  for (int sweep = 0; sweep < most_sweeps; ++sweep) {
    double change = 0, size = 0;
    for (std::size_t k = 0; k < count; ++k) {
      if (scale[k] == 0) continue;
      double rest = right[k];
      for (std::size_t l = 0; l < count; ++l) rest -= l == k ? 0 : gram[k][l] * x[l];
      const double next = std::max(0.0, rest / gram[k][k]);
      change = std::max(change, std::fabs(next - x[k]));
      size = std::max(size, next);
      x[k] = next;
    }
    if (change <= 1e-10 * size) break;
  }
  for (std::size_t k = 0; k < count; ++k) x[k] = scale[k] > 0 ? x[k] / scale[k] : 0;
  return x;
}

}  // namespace

std::vector<double> fit_relative(const std::vector<std::vector<double>>& amounts, const std::vector<double>& times,
                                 const std::vector<double>& weights, bool interrupted) {
  std::vector<double> found = least_squares(amounts, times, weights);
  constexpr int rounds = 12;
  constexpr double usual = 0.2, most_too_low = 20;
  for (int round = 0; round < rounds; ++round) {
    std::vector<double> trusted = weights;
    for (std::size_t i = 0; i < amounts.size(); ++i) {
      double predicted = 0;
      for (std::size_t k = 0; k < found.size(); ++k) predicted += amounts[i][k] * found[k];
      // Half the time and twice the time are equally wrong.
      const double larger = std::max(1.0, predicted / times[i]);
      trusted[i] *= usual / std::max(usual, std::fabs(predicted / times[i] - 1) / larger) / (larger * larger);
      if (!interrupted)
        trusted[i] *= std::pow(std::clamp(times[i] / std::max(predicted, 1e-300), 1.0, most_too_low), 2);
    }
    found = least_squares(amounts, times, trusted);
  }
  return found;
}

}  // namespace quadrat::bench
