// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "hydro/lanczos.hpp"

namespace quadrat::detail {

namespace {

/// T^(1/2) e_1 for a small matrix T. Eigenvalues below 0, from rounding and truncation, count as
/// 0.
class tridiagonal_root {
 public:
  tridiagonal_root(std::span<const double> diagonal, std::span<const double> below)
      : size_(diagonal.size()),
        diagonal_(diagonal.begin(), diagonal.end()),
        beside_(size_, 0.0),
        vectors_(size_ * size_, 0.0) {
    for (std::size_t i = 0; i < size_; ++i) vectors_[i * size_ + i] = 1;
    for (std::size_t i = 0; i + 1 < size_; ++i) beside_[i] = below[i];
    for (std::size_t i = 0; i < size_; ++i) diagonalize(i);
  }

  [[nodiscard]] std::vector<double> times_first() const {
    std::vector<double> result(size_, 0.0);
    for (std::size_t k = 0; k < size_; ++k) {
      const double* const vector = vectors_.data() + k * size_;
      const double weight = std::sqrt(std::max(diagonal_[k], 0.0)) * vector[0];
      for (std::size_t i = 0; i < size_; ++i) result[i] += weight * vector[i];
    }
    return result;
  }

 private:
  /// The QL method with implicit shifts (Bowdler, Martin, Reinsch, Wilkinson 1968), until entry i is an eigenvalue.
  void diagonalize(std::size_t i) {
    constexpr int most_rounds = 60;
    for (int round = 0; round < most_rounds; ++round) {
      std::size_t last = i;
      for (; last + 1 < size_; ++last) {
        const double size = std::fabs(diagonal_[last]) + std::fabs(diagonal_[last + 1]);
        if (std::fabs(beside_[last]) <= std::numeric_limits<double>::epsilon() * size) break;
      }
      if (last == i) return;
      sweep(i, last);
    }
  }

  void sweep(std::size_t first, std::size_t last) {
    double g = (diagonal_[first + 1] - diagonal_[first]) / (2 * beside_[first]);
    g = diagonal_[last] - diagonal_[first] + beside_[first] / (g + std::copysign(std::hypot(g, 1.0), g));
    double sine = 1, cosine = 1, shift = 0;
    for (std::size_t k = last; k-- > first;) {
      const double f = sine * beside_[k], b = cosine * beside_[k];
      const double length = std::hypot(f, g);
      beside_[k + 1] = length;
      if (length == 0) {
        diagonal_[k + 1] -= shift;
        beside_[last] = 0;
        return;
      }
      sine = f / length;
      cosine = g / length;
      const double here = diagonal_[k + 1] - shift;
      const double r = (diagonal_[k] - here) * sine + 2 * cosine * b;
      shift = sine * r;
      diagonal_[k + 1] = here + shift;
      g = cosine * r - b;
      rotate(vectors_.data() + k * size_, vectors_.data() + (k + 1) * size_, cosine, sine);
    }
    diagonal_[first] -= shift;
    beside_[first] = g;
    beside_[last] = 0;
  }

  void rotate(double* low, double* high, double cosine, double sine) const {
    for (std::size_t i = 0; i < size_; ++i) {
      const double a = low[i], b = high[i];
      high[i] = sine * a + cosine * b;
      low[i] = cosine * a - sine * b;
    }
  }

  std::size_t size_;
  std::vector<double> diagonal_;
  std::vector<double> beside_;   // entry i: of i and i + 1
  std::vector<double> vectors_;  // one after the other
};

[[nodiscard]] double relative_change(const std::vector<double>& now, const std::vector<double>& before) {
  double change = 0, size = 0;
  for (std::size_t i = 0; i < now.size(); ++i) {
    const double difference = now[i] - (i < before.size() ? before[i] : 0.0);
    change += difference * difference;
    size += now[i] * now[i];
  }
  return size > 0 ? std::sqrt(change / size) : 0;
}

/// The factor by which changes of the result fall per iteration, from the last ones. It gives the remaining error.
class falling_changes {
 public:
  [[nodiscard]] double rest_after(double change, double iterations) {
    const double ratio = last_ > 0 ? std::clamp(std::pow(change / last_, 1 / iterations), 0.1, 0.98) : 0.98;
    // A single good step is often chance.
    const double slower = std::max(ratio, last_ratio_ > 0 ? std::sqrt(ratio * last_ratio_) : ratio);
    last_ = change;
    last_ratio_ = ratio;
    return change * slower / (1 - slower);
  }

 private:
  double last_ = 0;
  double last_ratio_ = 0;
};

}  // namespace

lanczos_result judge_lanczos(std::span<const double> diagonal, std::span<const double> lengths, double tolerance,
                             int looks) {
  lanczos_result result;
  int accurate = 0;
  falling_changes changes;
  for (std::size_t m = 1; m <= diagonal.size(); ++m) {
    const bool complete = !(lengths[m] > 1e-14 * std::fabs(diagonal[0]));
    // Longer bases are checked less often, because each check takes a time of m^3.
    const bool looked_at = m <= 24 || (m <= 48 && m % 2 == 0) || m % 4 == 0;
    if (!complete && !looked_at && m < diagonal.size()) continue;
    auto now = tridiagonal_root(diagonal.first(m), lengths.subspan(1)).times_first();
    const double change = m == 1 ? 1 : relative_change(now, result.coefficients);
    result.error = complete ? 0 : changes.rest_after(change, static_cast<double>(m) - result.iterations);
    result.iterations = static_cast<int>(m);
    result.coefficients = std::move(now);
    if (looked_at) accurate = m > 2 && result.error <= tolerance ? accurate + 1 : 0;
    if (complete || accurate >= looks) {
      result.converged = true;
      return result;
    }
  }
  return result;
}

}  // namespace quadrat::detail
