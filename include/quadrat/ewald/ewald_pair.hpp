// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "quadrat/core/macros.hpp"

/// The short-range part of an Ewald sum pair by pair, for your own sums over neighbor lists, visitors and kernels.
namespace quadrat {

namespace detail {

/// The smooth part of a splitting as a polynomial of t = 2 (r / cutoff)^2 - 1, for r up to the cutoff and its
/// derivative by r^2. Horner's scheme, from the highest term down.
template <typename T>
struct split_polynomial {
  static constexpr int most_terms = 40;

  T cutoff;
  T squared_cutoff;
  T scale;  ///< 2 / squared_cutoff
  int terms;
  T value[most_terms];
  T slope[most_terms];  ///< derivative by r^2, with as many terms

  struct sums {
    T value;
    T slope;
  };
  /// For squared distances up to squared_cutoff.
  [[nodiscard]] QUADRAT_HD sums at(T squared_distance) const {
    const T t = squared_distance * scale - T(1);
    sums result{T(0), T(0)};
    for (int d = terms - 1; d >= 0; --d) {
      result.value = result.value * t + value[d];
      result.slope = result.slope * t + slope[d];
    }
    return result;
  }
};

/// A law of pairs, and its derivative by r^2: of 1/r and 1/r^6.
template <typename T>
struct law_value {
  T value;
  T slope;

  QUADRAT_HD law_value(bool coulomb, T squared_distance) {
    if (coulomb) {
      value = T(1) / std::sqrt(squared_distance);
      slope = T(-0.5) * value * value * value;
    } else {
      const T square = T(1) / squared_distance;
      value = square * square * square;
      slope = T(-3) * value * square;
    }
  }
};

}  // namespace detail

template <typename Context, typename T>
class electrostatics;

/// The short-range part of one pair, as electrostatics computes it over its cells: electrostatics::pair gives it.
/// Trivially copyable; works in kernels.
template <typename T>
class ewald_pair {
 public:
  struct term {
    T energy;
    T slope;  ///< derivative of the energy by the squared distance
  };
  [[nodiscard]] QUADRAT_HD T cutoff() const { return split_.cutoff; }
  /// For unit charges at a squared distance above 0; zeros from the cutoff on. With the separation r from i to j (its
  /// image), the force on i is 2 q_i q_j slope r, and the potential at i grows by q_j energy.
  [[nodiscard]] QUADRAT_HD term at(T squared_distance) const {
    if (!(squared_distance < split_.squared_cutoff)) return {T(0), T(0)};
    return difference(detail::law_value<T>(coulomb_, squared_distance), squared_distance);
  }
  /// The same of a scaled pair (scaled_pair); 0 excludes it, also at distance 0. From the cutoff on it is not zero: the
  /// long-range part has the whole pair.
  [[nodiscard]] QUADRAT_HD term at(T squared_distance, T scale) const {
    detail::law_value<T> law(coulomb_, squared_distance);
    const bool within = squared_distance < split_.squared_cutoff;
    const T factor = within ? scale : scale - T(1);
    law.value = factor == T(0) ? T(0) : factor * law.value;
    law.slope = factor == T(0) ? T(0) : factor * law.slope;
    return within ? difference(law, squared_distance) : term{constant_ * law.value, constant_ * law.slope};
  }

 private:
  /// A law without the smooth part.
  [[nodiscard]] QUADRAT_HD term difference(const detail::law_value<T>& law, T squared_distance) const {
    const auto smooth = split_.at(squared_distance);
    return {constant_ * (law.value - smooth.value), constant_ * (law.slope - smooth.slope)};
  }

  template <typename, typename>
  friend class electrostatics;
  ewald_pair(const detail::split_polynomial<T>& split, bool coulomb, T constant)
      : split_(split), coulomb_(coulomb), constant_(constant) {}

  detail::split_polynomial<T> split_;
  bool coulomb_;  // otherwise dispersion
  T constant_;    // k, of dispersion -k
};

}  // namespace quadrat
