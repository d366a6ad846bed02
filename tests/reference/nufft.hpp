// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <numbers>
#include <vector>

// Non-uniform Fourier transforms by direct sums, with angles in long double. Positions and periods are taken as exact.

namespace quadrat::reference {

/// Modes of three axes, C-ordered; the first axes have one mode where there are fewer dimensions.
struct nufft_problem {
  std::array<std::vector<int>, 3> modes;  ///< along each axis, in their order
  std::array<long double, 3> period{1, 1, 1};
  std::vector<std::array<long double, 3>> points;

  [[nodiscard]] std::size_t mode_count() const { return modes[0].size() * modes[1].size() * modes[2].size(); }
  [[nodiscard]] std::array<int, 3> mode(std::size_t i) const {
    const std::size_t last = modes[2].size(), middle = modes[1].size();
    return {modes[0][i / last / middle], modes[1][i / last % middle], modes[2][i % last]};
  }
  /// exp(sign i k . x)
  [[nodiscard]] std::complex<double> factor(const std::array<int, 3>& k, std::size_t point, int sign) const {
    long double turns = 0;
    for (std::size_t a = 0; a < 3; ++a) {
      const long double here = k[a] * (points[point][a] / period[a]);
      turns += here - std::floor(here);
    }
    const long double angle = 2 * std::numbers::pi_v<long double> * (turns - std::floor(turns));
    return {static_cast<double>(std::cos(angle)), sign * static_cast<double>(std::sin(angle))};
  }
};

/// -K/2, ... or 0, 1, ..., as numpy.fft.fftfreq has them; or 0, ..., K/2.
[[nodiscard]] inline std::vector<int> centered_modes(int count) {
  std::vector<int> modes;
  for (int i = 0; i < count; ++i) modes.push_back(i - count / 2);
  return modes;
}
[[nodiscard]] inline std::vector<int> fft_modes(int count) {
  std::vector<int> modes;
  for (int k = 0; k <= (count - 1) / 2; ++k) modes.push_back(k);
  for (int k = -(count / 2); k < 0; ++k) modes.push_back(k);
  return modes;
}
[[nodiscard]] inline std::vector<int> half_modes(int count) {
  std::vector<int> modes;
  for (int k = 0; k <= count / 2; ++k) modes.push_back(k);
  return modes;
}

[[nodiscard]] inline std::vector<std::complex<double>> nufft_1(const nufft_problem& it,
                                                               const std::vector<std::complex<double>>& values,
                                                               int sign) {
  std::vector<std::complex<double>> modes(it.mode_count());
  for (std::size_t i = 0; i < modes.size(); ++i) {
    for (std::size_t j = 0; j < it.points.size(); ++j) modes[i] += values[j] * it.factor(it.mode(i), j, sign);
  }
  return modes;
}

[[nodiscard]] inline std::vector<std::complex<double>> nufft_2(const nufft_problem& it,
                                                               const std::vector<std::complex<double>>& modes,
                                                               int sign) {
  std::vector<std::complex<double>> values(it.points.size());
  for (std::size_t j = 0; j < values.size(); ++j) {
    for (std::size_t i = 0; i < modes.size(); ++i) values[j] += modes[i] * it.factor(it.mode(i), j, sign);
  }
  return values;
}

/// Of half of the modes, 0 to K/2 along the last axis, with those at -k, which are their conjugates.
[[nodiscard]] inline std::vector<double> nufft_2_real(const nufft_problem& it,
                                                      const std::vector<std::complex<double>>& modes, int count_last,
                                                      int sign) {
  std::vector<double> values(it.points.size());
  for (std::size_t j = 0; j < values.size(); ++j) {
    for (std::size_t i = 0; i < modes.size(); ++i) {
      const std::array<int, 3> k = it.mode(i);
      const double times = k[2] == 0 || 2 * k[2] == count_last ? 1 : 2;
      values[j] += times * (modes[i] * it.factor(k, j, sign)).real();
    }
  }
  return values;
}

/// A^H W A for a transform A of type 2 with that sign.
[[nodiscard]] inline std::vector<std::complex<double>> normal_operator(const nufft_problem& it,
                                                                       const std::vector<std::complex<double>>& modes,
                                                                       const std::vector<double>& weights, int sign) {
  auto values = nufft_2(it, modes, sign);
  for (std::size_t j = 0; j < values.size(); ++j) values[j] *= weights[j];
  return nufft_1(it, values, -sign);
}

}  // namespace quadrat::reference
