// SPDX-License-Identifier: BSD-3-Clause
#include "hydro/pair_tensor.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numbers>
#include <vector>

#include "quadrat/core/error.hpp"
#include "spectral/chebyshev.hpp"

namespace quadrat::detail {

namespace {

constexpr long double pi_long = std::numbers::pi_v<long double>;

/// j0(x) - j1(x) / x, and j2(x) / x^2.
struct bessel_pair {
  long double across;
  long double bend;
};

[[nodiscard]] bessel_pair bessel_pair_at(long double x) {
  const long double square = x * x;
  if (x < 0.75L) {
    // Sums of (-x^2 / 2)^n / n! / (2 n + 1)!!, times 1 - 1 / (2 n + 3); and from (2 n + 5)!!.
    long double term = 1, across = 0, bend = 0;
    for (int n = 0; n < 12; ++n) {
      across += term * (2 * n + 2) / (2 * n + 3);
      bend += term / ((2 * n + 3) * (2 * n + 5));
      term *= -square / ((2 * n + 2) * (2 * n + 3));
    }
    return {across, bend};
  }
  const long double j0 = std::sin(x) / x, ratio = (j0 - std::cos(x)) / square;
  return {j0 - ratio, (3 * ratio - j0) / square};
}

[[nodiscard]] long double squared_sinc(long double x) {
  if (x < 1e-5L) return 1 - x * x / 3;
  const long double s = std::sin(x) / x;
  return s * s;
}

/// Series in Chebyshev's polynomials of t on [0, cutoff], in units of the radius.
struct tensor_series {
  std::vector<long double> across;
  std::vector<long double> bend;  // times cutoff^2
};

[[nodiscard]] tensor_series tensor_series_of(const smooth_tensor& smooth, double cutoff) {
  constexpr int count = 96;
  tensor_series series{std::vector<long double>(count, 0.0L), std::vector<long double>(count, 0.0L)};
  std::vector<long double> cosine(4 * static_cast<std::size_t>(count));  // of i pi / (2 count)
  for (std::size_t i = 0; i < cosine.size(); ++i) {
    cosine[i] = std::cos(pi_long * static_cast<long double>(i) / (2 * count));
  }
  for (int i = 0; i < count; ++i) {
    // The sample's t is the cosine of twice this angle.
    const auto sample = smooth.at(cutoff * std::cos(pi_long * (i + 0.5L) / (2 * count)));
    for (int d = 0; d < count; ++d) {
      const long double weight =
          (d == 0 ? 1.0L : 2.0L) / count * cosine[static_cast<std::size_t>((2 * i + 1) * d % (4 * count))];
      series.across[static_cast<std::size_t>(d)] += weight * sample.across;
      series.bend[static_cast<std::size_t>(d)] += weight * sample.bend * cutoff * cutoff;
    }
  }
  return series;
}

}  // namespace

smooth_tensor::smooth_tensor(double splitting, double most_distance) : splitting_(splitting) {
  spacing_ = 2 * pi_long / (2 + most_distance + digits / splitting_);
  const long double largest = 2 * digits * splitting_;
  require(largest / spacing_ < most_nodes - 1,
          "the splitting parameter times the cutoff is too large: ", splitting * most_distance);
  const int last = static_cast<int>(largest / spacing_);
  while (count_ <= last) {
    const long double k = static_cast<long double>(count_) * spacing_;
    const long double u = k * k / (4 * splitting_ * splitting_);
    const long double half = count_ == 0 ? 0.5L : 1.0L;
    weight_[count_++] = half * 3 / pi_long * spacing_ * (1 + u) * std::exp(-u) * squared_sinc(k);
  }
}

smooth_tensor::values smooth_tensor::at(long double r) const {
  values sum{0, 0};
  for (int n = 0; n < count_; ++n) {
    const long double k = static_cast<long double>(n) * spacing_;
    const bessel_pair here = bessel_pair_at(k * r);
    sum.across += weight_[n] * here.across;
    sum.bend += weight_[n] * here.bend * k * k;
  }
  return sum;
}

smooth_tensor::pair smooth_tensor::near_at(double r) const {
  const values smooth = at(r);
  const long double along = smooth.across + smooth.bend * r * r;
  if (r < 2)
    return {static_cast<double>(1 - 9.0L / 32 * r - smooth.across), static_cast<double>(1 - 3.0L / 16 * r - along)};
  const long double x = 1 / static_cast<long double>(r), cube = x * x * x;
  return {static_cast<double>(0.75L * x + 0.5L * cube - smooth.across), static_cast<double>(1.5L * x - cube - along)};
}

template <typename T>
near_tensor<T> make_near_tensor(double radius, double splitting, double cutoff, double tolerance) {
  const double reach = cutoff / radius;
  const smooth_tensor smooth(splitting * radius, reach);
  const tensor_series series = tensor_series_of(smooth, reach);
  const long double allowed = std::max(tolerance, 0.25 * static_cast<double>(std::numeric_limits<T>::epsilon()));
  const int terms = std::max(terms_within(series.across, allowed), terms_within(series.bend, allowed));
  require(terms <= near_tensor<T>::most_terms, "the splitting parameter is ", splitting, " with a cutoff of ", cutoff,
          ": the near part is below rounding long before the cutoff; a smaller cutoff or splitting serves");
  near_tensor<T> result{};
  result.cutoff = static_cast<T>(cutoff);
  result.squared_cutoff = static_cast<T>(cutoff * cutoff);
  result.scale = static_cast<T>(2 / (cutoff * cutoff));
  result.radius = static_cast<T>(radius);
  result.contact = static_cast<T>(4 * radius * radius);
  result.self = static_cast<T>(1 - smooth.at(0).across);
  result.terms = terms;
  for (int d = 0; d < terms; ++d) {
    const auto i = static_cast<std::size_t>(d);
    result.across[d] = static_cast<T>(series.across[i]);
    result.bend[d] = static_cast<T>(series.bend[i] / (static_cast<long double>(cutoff) * cutoff));
  }
  return result;
}

template near_tensor<float> make_near_tensor(double, double, double, double);
template near_tensor<double> make_near_tensor(double, double, double, double);

}  // namespace quadrat::detail
