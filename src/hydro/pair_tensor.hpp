// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "quadrat/core/macros.hpp"
#include "quadrat/core/vec.hpp"

/// The tensor of Rotne, Prager and Yamakawa, split as by Fiore et al. (2017, arXiv 1611.09322). All mobilities are in
/// units of that of a free sphere, 1 / (6 pi eta a). A pair at distance r has across(r) (1 - rr) + along(r) rr, with r
/// the unit vector.
namespace quadrat::detail {

/// The share of modes with wave number k in the wave part, which the near part lacks (Hasimoto 1959).
[[nodiscard]] QUADRAT_HD inline double wave_share(double squared_ratio) {
  return (1 + squared_ratio) * std::exp(-squared_ratio);
}

/// The wave part of a pair in free space, which is smooth and even in r:
///     across(r) = 3 / pi integral of H(k) sinc(k a)^2 (j0(k r) - j1(k r) / (k r)) dk a,
///     along(r) - across(r) = 3 / pi integral of H(k) sinc(k a)^2 j2(k r) dk a,
/// by the trapezoidal rule, whose error is that of the near part at a distance of more than `digits` decay lengths.
class smooth_tensor {
 public:
  static constexpr long double digits = 7;  ///< exp(-digits^2) is 5e-22

  /// In units of the radius: the splitting, and the largest r.
  smooth_tensor(double splitting, double most_distance);

  struct values {
    long double across;
    long double bend;  ///< (along - across) / r^2
  };
  [[nodiscard]] values at(long double r) const;

  /// The near part of a pair: the whole tensor minus the wave part.
  struct pair {
    double across;
    double along;
  };
  [[nodiscard]] pair near_at(double r) const;

 private:
  static constexpr int most_nodes = 512;
  long double splitting_;
  long double spacing_;
  int count_ = 0;
  long double weight_[most_nodes] = {};
};

/// The near part in kernels: the law of free space minus two series in Chebyshev's polynomials of t = 2 (r / cutoff)^2
/// - 1, by Clenshaw's recurrence, because powers of t would cancel.
template <typename T>
struct near_tensor {
  static constexpr int most_terms = 64;

  T cutoff;
  T squared_cutoff;
  T scale;    ///< 2 / squared_cutoff
  T radius;   ///< of a sphere
  T contact;  ///< its diameter, squared
  T self;     ///< of a sphere with itself
  int terms;
  T across[most_terms];
  T bend[most_terms];

  /// The tensor is across + bend r r, with r the separation.
  struct values {
    T across;
    T bend;
  };
  [[nodiscard]] QUADRAT_HD values at(T squared_distance) const {
    const T t = squared_distance * scale - T(1);
    T smooth = T(0), smooth_bend = T(0), before = T(0), bend_before = T(0);
    for (int d = terms - 1; d > 0; --d) {
      const T here = across[d] + (2 * t * smooth - before), bend_here = bend[d] + (2 * t * smooth_bend - bend_before);
      before = smooth;
      bend_before = smooth_bend;
      smooth = here;
      smooth_bend = bend_here;
    }
    const values free = in_free_space(squared_distance);
    return {free.across - (across[0] + (t * smooth - before)), free.bend - (bend[0] + (t * smooth_bend - bend_before))};
  }

  [[nodiscard]] QUADRAT_HD values in_free_space(T squared_distance) const {
    const T r = std::sqrt(squared_distance);
    if (squared_distance < contact) {
      // The tensor of coincident spheres is isotropic, because their separation has no direction.
      const T x = r / radius;
      return {T(1) - T(9.0 / 32) * x, r > T(0) ? T(3.0 / 32) / (radius * r) : T(0)};
    }
    const T x = radius / r, cube = x * x * x;
    return {T(0.75) * x + T(0.5) * cube, (T(0.75) * x - T(1.5) * cube) / squared_distance};
  }
};

/// Uses the fewest terms with an error of at most `tolerance`, or the rounding of T. Throws argument_error if the
/// splitting needs too many.
template <typename T>
[[nodiscard]] near_tensor<T> make_near_tensor(double radius, double splitting, double cutoff, double tolerance);

}  // namespace quadrat::detail
