// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <numbers>
#include <vector>

// Ewald sums by plain loops over pairs, images and modes, in double precision, to about 1e-14 of the largest terms.
// Sources: Essmann et al. 1995 (three periodic directions), de Leeuw and Perram 1979 (slabs: an exact sum over two
// directions, which shares nothing with a correction of the sum over three).

namespace quadrat::reference {

using vector3 = std::array<double, 3>;

[[nodiscard]] inline double dot3(const vector3& a, const vector3& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
[[nodiscard]] inline vector3 cross3(const vector3& a, const vector3& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

struct ewald_scaled_pair {
  std::size_t first, second;
  double scale;
};

struct ewald_system {
  bool dispersion = false;  ///< -c_i c_j / r^6 in place of q_i q_j / r
  std::array<vector3, 3> vectors{};
  std::vector<vector3> points{};
  std::vector<double> charges{};
  std::vector<ewald_scaled_pair> scaled_pairs{};  ///< the nearest image of each counts `scale` times

  /// Of either handedness; positive.
  [[nodiscard]] double volume() const { return std::fabs(dot3(vectors[0], cross3(vectors[1], vectors[2]))); }
  /// inverse[k] . vectors[l] is 1 for k = l, else 0.
  [[nodiscard]] std::array<vector3, 3> inverse() const {
    std::array<vector3, 3> result{};
    for (std::size_t k = 0; k < 3; ++k) {
      result[k] = cross3(vectors[(k + 1) % 3], vectors[(k + 2) % 3]);
      const double scale = 1 / dot3(result[k], vectors[k]);
      for (double& x : result[k]) x *= scale;
    }
    return result;
  }
  /// q^2 / d^2, or c^2 / d^7.
  [[nodiscard]] double reference_force() const {
    double squares = 0;
    for (const double q : charges) squares += q * q;
    const auto count = static_cast<double>(points.size());
    return squares / count / std::pow(std::cbrt(volume() / count), dispersion ? 7 : 2);
  }
};

struct ewald_result {
  double energy = 0;
  std::vector<double> potentials{};  ///< derivatives of the energy by the charges
  std::vector<vector3> forces{};
  std::array<double, 9> virial{};  ///< minus the derivative of the energy by a strain of cell and points (not of slabs)
};

/// A function of r^2 or k^2, and its derivative by it.
struct ewald_term {
  double value, slope;
};

/// The part of 1/r or -1/r^6 that is summed over pairs.
[[nodiscard]] inline ewald_term ewald_short_range(bool dispersion, double alpha, double square) {
  const double r = std::sqrt(square), u = alpha * alpha * square, gauss = std::exp(-u);
  if (dispersion) {
    const double sixth = square * square * square;
    return {-gauss * (1 + u + u * u / 2) / sixth, gauss * (3 + 3 * u + 1.5 * u * u + u * u * u / 2) / (sixth * square)};
  }
  const double value = std::erfc(alpha * r) / r;
  return {value, -(value + 2 * alpha / std::sqrt(std::numbers::pi) * gauss) / (2 * square)};
}

/// The transform of the other part, for k^2 > 0.
[[nodiscard]] inline ewald_term ewald_transform(bool dispersion, double alpha, double square) {
  const double b2 = square / (4 * alpha * alpha), b = std::sqrt(b2), pi = std::numbers::pi, gauss = std::exp(-b2);
  if (dispersion) {
    const double zero = -pi * std::sqrt(pi) * alpha * alpha * alpha / 3, tail = std::sqrt(pi) * std::erfc(b);
    return {zero * ((1 - 2 * b2) * gauss + 2 * b * b2 * tail), zero * 3 * (b * tail - gauss) / (4 * alpha * alpha)};
  }
  const double value = 4 * pi / square * gauss;
  return {value, -value * (1 / square + 1 / (4 * alpha * alpha))};
}

/// Adds the pair (i, j) at separation `d` (from j to i), counted `weight` times.
inline void ewald_add_pair(const ewald_system& it, std::size_t i, std::size_t j, const vector3& d, double weight,
                           const ewald_term& term, ewald_result& sum) {
  const double product = weight * it.charges[i] * it.charges[j];
  sum.energy += product * term.value;
  sum.potentials[i] += weight * it.charges[j] * term.value;
  sum.potentials[j] += weight * it.charges[i] * term.value;
  for (std::size_t a = 0; a < 3; ++a) {
    const double force = -2 * product * term.slope * d[a];
    sum.forces[i][a] += force;
    sum.forces[j][a] -= force;
    for (std::size_t b = 0; b < 3; ++b) sum.virial[3 * a + b] += force * d[b];
  }
}

/// Calls visit(separation) for all images, along the first `axes` vectors, of the separation `d` with squared lengths
/// below cutoff^2. Along the other vectors only d itself.
template <typename Visit>
void ewald_for_each_image(const ewald_system& it, vector3 d, double cutoff, std::size_t axes, const Visit& visit) {
  const auto inverse = it.inverse();
  std::array<int, 3> first{}, last{};
  for (std::size_t k = 0; k < axes; ++k) {
    const double here = dot3(inverse[k], d), reach = cutoff * std::sqrt(dot3(inverse[k], inverse[k]));
    first[k] = static_cast<int>(std::floor(-here - reach));
    last[k] = static_cast<int>(std::ceil(-here + reach));
  }
  for (int x = first[0]; x <= last[0]; ++x) {
    for (int y = first[1]; y <= last[1]; ++y) {
      for (int z = first[2]; z <= last[2]; ++z) {
        vector3 image{};
        for (std::size_t a = 0; a < 3; ++a) {
          image[a] = d[a] + x * it.vectors[0][a] + y * it.vectors[1][a] + z * it.vectors[2][a];
        }
        if (dot3(image, image) < cutoff * cutoff) visit(image);
      }
    }
  }
}

[[nodiscard]] inline vector3 ewald_separation(const ewald_system& it, std::size_t i, std::size_t j) {
  return {it.points[i][0] - it.points[j][0], it.points[i][1] - it.points[j][1], it.points[i][2] - it.points[j][2]};
}

inline void ewald_add_short_range(const ewald_system& it, double alpha, double cutoff, std::size_t axes,
                                  ewald_result& sum) {
  for (std::size_t i = 0; i < it.points.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      ewald_for_each_image(it, ewald_separation(it, i, j), cutoff, axes, [&](const vector3& d) {
        const double square = dot3(d, d);
        if (i == j && square == 0) return;
        ewald_add_pair(it, i, j, d, i == j ? 0.5 : 1, ewald_short_range(it.dispersion, alpha, square), sum);
      });
    }
  }
}

/// Scaled pairs: their nearest images, by the whole law.
inline void ewald_add_scaled_pairs(const ewald_system& it, std::size_t axes, ewald_result& sum) {
  for (const ewald_scaled_pair& pair : it.scaled_pairs) {
    double longest = 0;
    for (const vector3& v : it.vectors) longest += std::sqrt(dot3(v, v));
    vector3 nearest{};
    double least = HUGE_VAL;
    ewald_for_each_image(it, ewald_separation(it, pair.first, pair.second), longest, axes, [&](const vector3& d) {
      if (dot3(d, d) < least) nearest = d, least = dot3(d, d);
    });
    const double r = std::sqrt(least), sixth = least * least * least;
    const ewald_term law =
        it.dispersion ? ewald_term{-1 / sixth, 3 / (sixth * least)} : ewald_term{1 / r, -0.5 / (least * r)};
    ewald_add_pair(it, pair.first, pair.second, nearest, pair.scale - 1, law, sum);
  }
}

/// exp(2 pi i n s) for n = 0, ..., last and all points, s their fractions along an axis: [point][n].
[[nodiscard]] inline std::vector<std::vector<std::complex<double>>> ewald_phases(const ewald_system& it,
                                                                                 const vector3& inverse, int last) {
  std::vector<std::vector<std::complex<double>>> phases;
  for (const vector3& point : it.points) {
    const double s = dot3(inverse, point);
    phases.emplace_back();
    for (int n = 0; n <= last; ++n) {
      const double turns = n * (s - std::floor(s));
      phases.back().push_back(std::polar(1.0, 2 * std::numbers::pi * (turns - std::floor(turns))));
    }
  }
  return phases;
}

/// One mode and its opposite: phases[i] is exp(i k . r_i).
inline void ewald_add_mode(const ewald_system& it, const vector3& k, const ewald_term& g,
                           const std::vector<std::complex<double>>& phases, ewald_result& sum) {
  std::complex<double> s = 0;
  for (std::size_t i = 0; i < phases.size(); ++i) s += it.charges[i] * phases[i];
  const double volume = it.volume(), square = std::norm(s);
  sum.energy += g.value * square / volume;
  for (std::size_t i = 0; i < phases.size(); ++i) {
    const std::complex<double> turned = std::conj(phases[i]) * s;
    sum.potentials[i] += 2 / volume * g.value * turned.real();
    for (std::size_t a = 0; a < 3; ++a) {
      sum.forces[i][a] -= 2 / volume * g.value * it.charges[i] * k[a] * turned.imag();
    }
  }
  for (std::size_t a = 0; a < 3; ++a) {
    for (std::size_t b = 0; b < 3; ++b) {
      sum.virial[3 * a + b] += square / volume * ((a == b ? g.value : 0) + 2 * g.slope * k[a] * k[b]);
    }
  }
}

inline void ewald_add_modes(const ewald_system& it, double alpha, double largest, ewald_result& sum) {
  const auto inverse = it.inverse();
  std::array<int, 3> last{};
  std::array<std::vector<std::vector<std::complex<double>>>, 3> phase;
  for (std::size_t a = 0; a < 3; ++a) {
    last[a] = static_cast<int>(largest * std::sqrt(dot3(it.vectors[a], it.vectors[a])) / (2 * std::numbers::pi));
    phase[a] = ewald_phases(it, inverse[a], last[a]);
  }
  const auto factor = [&](std::size_t axis, std::size_t i, int n) {
    const auto value = phase[axis][i][static_cast<std::size_t>(std::abs(n))];
    return n < 0 ? std::conj(value) : value;
  };
  std::vector<std::complex<double>> phases(it.points.size());
  for (int x = 0; x <= last[0]; ++x) {
    for (int y = -last[1]; y <= last[1]; ++y) {
      for (int z = -last[2]; z <= last[2]; ++z) {
        if (x == 0 && (y < 0 || (y == 0 && z <= 0))) continue;  // the opposite mode is counted
        vector3 k{};
        for (std::size_t a = 0; a < 3; ++a) {
          k[a] = 2 * std::numbers::pi * (x * inverse[0][a] + y * inverse[1][a] + z * inverse[2][a]);
        }
        if (dot3(k, k) > largest * largest) continue;
        for (std::size_t i = 0; i < phases.size(); ++i) phases[i] = factor(0, i, x) * factor(1, i, y) * factor(2, i, z);
        ewald_add_mode(it, k, ewald_transform(it.dispersion, alpha, dot3(k, k)), phases, sum);
      }
    }
  }
}

/// Three periodic directions, conducting surroundings, a uniform background that balances a net charge.
[[nodiscard]] inline ewald_result ewald_sum(const ewald_system& it) {
  const std::size_t count = it.points.size();
  ewald_result sum;
  sum.potentials.resize(count);
  sum.forces.resize(count);
  if (count == 0) return sum;
  const double volume = it.volume(), pi = std::numbers::pi, digits = it.dispersion ? 6.6 : 6.1;
  // Modes and pairs then take about equal time.
  const double alpha = std::sqrt(pi) * std::pow(2.0 * static_cast<double>(count) / (volume * volume), 1.0 / 6);
  ewald_add_short_range(it, alpha, digits / alpha, 3, sum);
  ewald_add_modes(it, alpha, 2 * digits * alpha, sum);
  ewald_add_scaled_pairs(it, 3, sum);
  double total = 0;
  for (const double q : it.charges) total += q;
  // What stands for the mode 0, and each charge's interaction with itself.
  const double zero = it.dispersion ? -pi * std::sqrt(pi) * alpha * alpha * alpha / 3 : -pi / (alpha * alpha);
  const double self = it.dispersion ? -std::pow(alpha, 6) / 6 : 2 * alpha / std::sqrt(pi);
  sum.energy += zero * total * total / (2 * volume);
  for (std::size_t i = 0; i < count; ++i) {
    sum.energy -= 0.5 * self * it.charges[i] * it.charges[i];
    sum.potentials[i] += zero * total / volume - self * it.charges[i];
  }
  for (std::size_t a = 0; a < 3; ++a) sum.virial[4 * a] += zero * total * total / (2 * volume);
  return sum;
}

/// exp(h z) erfc(h / (2 alpha) + alpha z), where the first factor may overflow.
[[nodiscard]] inline double ewald_slab_factor(double h, double alpha, double z) {
  const double x = h / (2 * alpha) + alpha * z;
  if (x < 5) return std::exp(h * z) * std::erfc(x);
  double fraction = x;  // of Laplace
  for (int n = 60; n >= 1; --n) fraction = x + 0.5 * n / fraction;
  return std::exp(h * z - x * x) / (std::sqrt(std::numbers::pi) * fraction);
}

/// The smooth part of a slab at separation d: value and gradient. inverse[2] is the unit normal.
struct ewald_slab_term {
  double value;
  vector3 gradient;
};
[[nodiscard]] inline ewald_slab_term ewald_slab_pair(const std::array<vector3, 3>& inverse,
                                                     const std::array<int, 2>& last, double area, double alpha,
                                                     double largest, const vector3& d) {
  const double pi = std::numbers::pi;
  const vector3& normal = inverse[2];
  const double z = dot3(normal, d), spread = std::exp(-alpha * alpha * z * z) / (alpha * std::sqrt(pi));
  ewald_slab_term sum{-2 * pi / area * (z * std::erf(alpha * z) + spread), normal};
  for (double& x : sum.gradient) x *= -2 * pi / area * std::erf(alpha * z);
  for (int x = 0; x <= last[0]; ++x) {
    for (int y = -last[1]; y <= last[1]; ++y) {
      if (x == 0 && y <= 0) continue;  // the opposite mode is counted
      vector3 k{};
      for (std::size_t a = 0; a < 3; ++a) k[a] = 2 * pi * (x * inverse[0][a] + y * inverse[1][a]);
      const double h = std::sqrt(dot3(k, k)), angle = dot3(k, d), scale = 2 * pi / (area * h);
      if (h > largest) continue;
      const double above = ewald_slab_factor(h, alpha, z), below = ewald_slab_factor(h, alpha, -z);
      sum.value += scale * (above + below) * std::cos(angle);
      for (std::size_t a = 0; a < 3; ++a) {
        sum.gradient[a] +=
            scale * ((above - below) * h * std::cos(angle) * normal[a] - (above + below) * std::sin(angle) * k[a]);
      }
    }
  }
  return sum;
}

/// Periodic along the first two vectors only, without a background: a sheet of charges has the potential -2 pi |z| q /
/// A. Coulomb's law, no virial. N^2 times modes: for small systems.
[[nodiscard]] inline ewald_result ewald_slab_sum(const ewald_system& it) {
  const std::size_t count = it.points.size();
  const double pi = std::numbers::pi;
  ewald_result sum;
  sum.potentials.resize(count);
  sum.forces.resize(count);
  ewald_system flat = it;  // images are counted by the fractions of this cell: the third vector is the unit normal
  flat.vectors[2] = cross3(it.vectors[0], it.vectors[1]);
  const double area = std::sqrt(dot3(flat.vectors[2], flat.vectors[2]));
  for (double& x : flat.vectors[2]) x /= area;
  const auto inverse = flat.inverse();
  const double alpha = 3 / std::sqrt(area), digits = 6.1, largest = 2 * digits * alpha,
               self = 2 * alpha / std::sqrt(pi);
  ewald_add_short_range(flat, alpha, digits / alpha, 2, sum);
  ewald_add_scaled_pairs(flat, 2, sum);
  std::array<int, 2> last{};
  for (std::size_t a = 0; a < 2; ++a) {
    last[a] = static_cast<int>(largest * std::sqrt(dot3(it.vectors[a], it.vectors[a])) / (2 * pi));
  }
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      const auto term = ewald_slab_pair(inverse, last, area, alpha, largest, ewald_separation(it, i, j));
      const double weight = i == j ? 0.5 : 1, product = weight * it.charges[i] * it.charges[j];
      sum.energy += product * term.value;
      sum.potentials[i] += weight * it.charges[j] * term.value;
      sum.potentials[j] += weight * it.charges[i] * term.value;
      for (std::size_t a = 0; a < 3; ++a) {
        sum.forces[i][a] -= product * term.gradient[a];
        sum.forces[j][a] += product * term.gradient[a];
      }
    }
    sum.energy -= 0.5 * self * it.charges[i] * it.charges[i];
    sum.potentials[i] -= self * it.charges[i];
  }
  return sum;
}

}  // namespace quadrat::reference
