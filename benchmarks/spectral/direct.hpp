// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <vector>

namespace quadrat::bench {

/// Points or targets in one to three dimensions, N x D.
template <typename T>
struct places {
  int dimension;
  std::vector<T> coordinates;

  [[nodiscard]] std::size_t size() const { return coordinates.size() / static_cast<std::size_t>(dimension); }
  /// With zeros beyond the dimension.
  [[nodiscard]] std::array<double, 3> at(std::size_t i) const {
    std::array<double, 3> place{};
    for (std::size_t d = 0; d < static_cast<std::size_t>(dimension); ++d) {
      place[d] = static_cast<double>(coordinates[i * static_cast<std::size_t>(dimension) + d]);
    }
    return place;
  }
};

/// A cube of modes, C-ordered, each axis from -K/2 to (K-1)/2; for real values the last axis from 0 to K/2.
struct mode_cube {
  int dimension;
  int modes;
  bool real;

  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] std::array<double, 3> at(std::size_t i) const;
  /// The weight of mode i in a sum of type 2: 2 if its conjugate is not stored, else 1.
  [[nodiscard]] double weight(std::size_t i) const;
};

/// sum over points j of values[j] exp(sign i k . x_j), in double precision. Values are real (1 number each) or complex
/// (2).
template <typename T>
[[nodiscard]] std::complex<double> direct_type_1(const places<T>& points, const std::vector<T>& values, int parts,
                                                 const std::array<double, 3>& k, int sign);

/// sum over modes k of modes[k] exp(sign i k . x), in double precision; for real values its real part, with weights.
template <typename T>
[[nodiscard]] std::complex<double> direct_type_2(const mode_cube& cube, const std::vector<T>& modes,
                                                 const std::array<double, 3>& x, int sign);

/// Results of a transform at some places of the whole array, and their exact values.
struct sampled_results {
  std::vector<std::complex<double>> found, expected;

  /// |found - expected| / |expected|, in the l2 norm. Throws disagreement if it exceeds three times the tolerance plus
  /// the possible rounding of k . x.
  [[nodiscard]] double deviation(double tolerance, int modes) const;
};

}  // namespace quadrat::bench
