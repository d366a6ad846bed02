// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "ewald/domain.hpp"
#include "ewald/splitting.hpp"
#include "quadrat/core/macros.hpp"

/// Influence functions: the factor from each mode of the charges to that of the potential.
namespace quadrat::detail {

/// The Fourier transform of the long-range part, and its derivative by k^2. 1/r: 4 pi / k^2 times a function that falls
/// from 1 to 0: a Gaussian, or a polynomial of t = 2 (k / largest)^2 - 1 (prolate).
template <typename T>
struct long_range_modes {
  enum class kind { gaussian_coulomb, gaussian_dispersion, polynomial_coulomb } of;
  T at_zero;         ///< for the mode 0
  T alpha;           ///< Gaussian
  T largest_square;  ///< modes above are 0
  int terms;
  T value[split_polynomial<T>::most_terms];
  T slope[split_polynomial<T>::most_terms];  ///< derivative by k^2

  struct result {
    T value;
    T slope;
  };
  [[nodiscard]] QUADRAT_HD result at(T square) const {
    if (square == T(0)) return {at_zero, T(0)};
    if (!(square <= largest_square)) return {T(0), T(0)};
    return of == kind::gaussian_dispersion ? dispersion(square) : coulomb(square);
  }

 private:
  static constexpr T own_pi = T(3.14159265358979323846264338327950288L);

  [[nodiscard]] QUADRAT_HD result coulomb(T square) const {
    const T over = 4 * own_pi / square;
    if (of == kind::gaussian_coulomb) {
      const T rate = T(0.25) / (alpha * alpha);
      const T here = over * std::exp(-square * rate);
      return {here, -here * (T(1) / square + rate)};
    }
    const T t = 2 * square / largest_square - T(1);
    T sum = T(0), rise = T(0);
    for (int d = terms - 1; d >= 0; --d) {
      sum = sum * t + value[d];
      rise = rise * t + slope[d];
    }
    return {over * sum, over * (rise - sum / square)};
  }

  /// pi^(3/2) alpha^3 / 3 ((1 - 2 b^2) exp(-b^2) + 2 sqrt(pi) b^3 erfc(b)) with b = k / (2 alpha) (Essmann et al. 1995,
  /// equation 5.4); the derivative by b is that factor times -6 b (exp(-b^2) - sqrt(pi) b erfc(b)).
  [[nodiscard]] QUADRAT_HD result dispersion(T square) const {
    const T root = T(1.77245385090551602729816748334114518L);  // sqrt(pi)
    const T b = std::sqrt(square) / (2 * alpha);
    const T factor = own_pi * root * alpha * alpha * alpha / 3;
    const T fall = std::exp(-b * b), rest = root * b * std::erfc(b);
    const T slope_of_b = -6 * b * (fall - rest);
    return {factor * ((T(1) - 2 * b * b) * fall + 2 * b * b * rest), factor * slope_of_b / (8 * alpha * alpha * b)};
  }
};

template <typename T>
[[nodiscard]] long_range_modes<T> make_long_range_modes(const ewald_splitting& splitting);

/// The modes of all systems in the layout of a real transform: [system][extent 0][extent 1][row], of which each row
/// uses extent 2 / 2 + 1; and the factors that undo two spreadings, axis by axis.
template <typename T>
struct mesh_modes {
  const ewald_domain<T>* domains;
  int extent[3];
  std::size_t row;
  std::size_t apart;    ///< from one system to the next
  const T* factors[3];  ///< by the modulus of the mode
  long_range_modes<T> law;

  [[nodiscard]] QUADRAT_HD std::size_t begin_of(std::uint32_t system) const { return system * apart; }

  struct mode {
    vec<T, 3> wave;
    T value;   ///< of the influence function, without 1 / volume
    T slope;   ///< derivative by k^2
    T weight;  ///< modes that this one represents
    std::uint32_t system;
  };
  /// The mode of a number of the transform. Modes at half the extent of an even mesh have no sign, and are omitted.
  [[nodiscard]] QUADRAT_HD mode at(std::size_t index) const {
    const std::uint32_t system = system_at(index);
    int place[3];
    locate(index - system * apart, place);
    return of(system, place);
  }
  /// The mode at a place in the spectrum of a system.
  [[nodiscard]] QUADRAT_HD mode of(std::uint32_t system, const int (&place)[3]) const {
    mode result{{}, T(0), T(0), T(0), system};
    const vec<vec<T, 3>, 3>& waves = domains[result.system].waves;
    T factor = T(1);
    for (int axis = 0; axis < 3; ++axis) {
      const int n = extent[axis];
      const int number = place[axis] > n / 2 ? place[axis] - n : place[axis];
      if (2 * number == n || place[axis] >= n) return result;
      result.wave += static_cast<T>(number) * waves[axis];
      factor *= factors[axis][number < 0 ? -number : number];
    }
    if (place[2] > extent[2] / 2) return result;
    const auto here = law.at(squared_norm(result.wave));
    result.value = factor * here.value;
    result.slope = factor * here.slope;
    result.weight = place[2] == 0 ? T(1) : T(2);
    return result;
  }

  /// Multiplies a number of the transform (`pair`: its two parts) by the influence function. Mode 0 is constant and is
  /// taken off the mesh: with a net charge, windows whose sum is not exactly 1 everywhere (prolate ones) would turn it
  /// into forces.
  QUADRAT_HD void weigh(const mode& here, bool zero, T* pair, T* zero_potential) const {
    const T inverse_volume = domains[here.system].inverse_volume;
    if (zero) {
      // One of the two factors is that of the interpolation.
      const T window = std::sqrt(factors[0][0] * factors[1][0] * factors[2][0]);
      *zero_potential = window * law.at_zero * inverse_volume * pair[0];
      pair[0] = pair[1] = T(0);
      return;
    }
    const T factor = here.value * inverse_volume;
    pair[0] *= factor;
    pair[1] *= factor;
  }

  /// The contribution of a number of the transform to the virial, for k = 1.
  [[nodiscard]] QUADRAT_HD vec<double, 6> virial_of(const mode& here, const T* pair) const {
    vec<double, 6> virial{};
    if (here.weight == T(0)) return virial;
    const double re = static_cast<double>(pair[0]), im = static_cast<double>(pair[1]);
    const double square = static_cast<double>(here.weight * domains[here.system].inverse_volume) * (re * re + im * im);
    int k = 0;
    for (int a = 0; a < 3; ++a) {
      for (int b = a; b < 3; ++b) {
        const double isotropic = a == b ? 0.5 * static_cast<double>(here.value) : 0;
        virial[k++] = square * (isotropic + static_cast<double>(here.slope * here.wave[a] * here.wave[b]));
      }
    }
    return virial;
  }

 private:
  [[nodiscard]] QUADRAT_HD std::uint32_t system_at(std::size_t index) const {
    return index < apart || apart == 0 ? 0 : static_cast<std::uint32_t>(index / apart);
  }
  /// 32-bit divisions are much faster than 64-bit ones.
  QUADRAT_HD void locate(std::size_t in, int (&place)[3]) const {
    if (in < 0xffffffffu) {
      locate_by(static_cast<std::uint32_t>(in), place);
    } else {
      locate_by(in, place);
    }
  }
  template <typename Index>
  QUADRAT_HD void locate_by(Index in, int (&place)[3]) const {
    const auto length = static_cast<Index>(row), rows = static_cast<Index>(extent[1]);
    const Index line = in / length;
    place[0] = static_cast<int>(line / rows);
    place[1] = static_cast<int>(line % rows);
    place[2] = static_cast<int>(in - line * length);
  }
};

/// Index: a number of the transform.
template <typename T>
struct multiply_by_influence {
  mesh_modes<T> modes;
  T* spectrum;         ///< pairs
  T* zero_potentials;  ///< by system: the potential of the mode 0

  QUADRAT_HD void operator()(std::size_t index) const {
    const auto mode = modes.at(index);
    const bool zero = index == modes.begin_of(mode.system);
    modes.weigh(mode, zero, spectrum + 2 * index, zero_potentials + mode.system);
  }
};

/// The same for the mode at a place in the spectrum of one system.
template <typename T>
struct weigh_by_influence {
  mesh_modes<T> modes;
  T* zero_potential;

  QUADRAT_HD void operator()(const int (&place)[3], T* pair) const {
    modes.weigh(modes.of(0, place), place[0] == 0 && place[1] == 0 && place[2] == 0, pair, zero_potential);
  }
};

/// A number of the transform's part of the virial, for k = 1.
template <typename T>
struct virial_of_mode {
  mesh_modes<T> modes;
  const T* spectrum;

  QUADRAT_HD vec<double, 6> operator()(std::size_t index) const {
    return modes.virial_of(modes.at(index), spectrum + 2 * index);
  }
};

}  // namespace quadrat::detail
