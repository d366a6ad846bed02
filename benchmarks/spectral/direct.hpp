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

/// A cube of modes, C-ordered, each axis from -K/2 to (K-1)/2; of real values from 0 to K/2 along the last axis.
struct mode_cube {
  int dimension;
  int modes;
  bool real;

  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] std::array<double, 3> at(std::size_t i) const;
  /// How often mode i counts in a sum of type 2: with its conjugate or alone.
  [[nodiscard]] double weight(std::size_t i) const;
};

/// sum over points j of values[j] exp(sign i k . x_j), in double precision; values are real (1 number each) or complex
/// (2).
template <typename T>
[[nodiscard]] std::complex<double> direct_type_1(const places<T>& points, const std::vector<T>& values, int parts,
                                                 const std::array<double, 3>& k, int sign);

/// sum over modes k of modes[k] exp(sign i k . x), in double precision; of real values its real part, with weights.
template <typename T>
[[nodiscard]] std::complex<double> direct_type_2(const mode_cube& cube, const std::vector<T>& modes,
                                                 const std::array<double, 3>& x, int sign);

/// Results of a transform, at some places of the whole array, and what they should be.
struct sampled_results {
  std::vector<std::complex<double>> found, expected;

  /// |found - expected| / |expected|, in the l2 norm. Throws disagreement where it is above three times the tolerance,
  /// and what the rounding of k . x may add.
  [[nodiscard]] double deviation(double tolerance, int modes) const;
};

}  // namespace quadrat::bench
