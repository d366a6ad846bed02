// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <numbers>
#include <vector>

#include "reference/spread.hpp"

// Power spectra by plain sums over mesh points, mode by mode over the whole sphere, and by sums over the points without
// a mesh.

namespace quadrat::reference {

struct spectrum_set {
  std::vector<std::array<long double, 3>> points;
  std::vector<long double> weights;
};

struct spectrum_problem {
  mesh_problem mesh;  ///< periodic, with the order's window; its points are those of the sets
  int order;
  bool interlaced;
  bool compensated;
  int line_of_sight;
  std::vector<int> multipoles;
  std::vector<double> edges;

  [[nodiscard]] double wave_number(int n, int axis) const {
    return 2 * std::numbers::pi * n / static_cast<double>(mesh.length[static_cast<std::size_t>(axis)]);
  }
  [[nodiscard]] int extent(int axis) const { return mesh.extent[static_cast<std::size_t>(axis)]; }
};

using mode_index = std::array<int, 3>;

/// sum over points of weight exp(-i k (x - lower))
[[nodiscard]] inline std::complex<double> direct_mode(const spectrum_problem& it, const spectrum_set& set,
                                                      const mode_index& n) {
  std::complex<double> sum;
  for (std::size_t i = 0; i < set.points.size(); ++i) {
    double phase = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (n[axis] == 0) continue;
      const auto x = static_cast<double>((set.points[i][axis] - it.mesh.lower[axis]) / it.mesh.length[axis]);
      phase += 2 * std::numbers::pi * n[axis] * x;
    }
    sum += static_cast<double>(set.weights[i]) * std::polar(1.0, -phase);
  }
  return sum;
}

/// The transform of the spread set at a mode; of an interlaced one the mean of the two meshes.
[[nodiscard]] inline std::complex<double> mesh_mode(const spectrum_problem& it,
                                                    const std::vector<weighted_sums>& meshes, const mode_index& n) {
  std::complex<double> sum;
  for (std::size_t shifted = 0; shifted < meshes.size(); ++shifted) {
    std::size_t node = 0;
    for (int x = 0; x < it.extent(0); ++x) {
      for (int y = 0; y < it.extent(1); ++y) {
        for (int z = 0; z < it.extent(2); ++z, ++node) {
          const int at[3] = {x, y, z};
          double turns = 0;
          for (int axis = 0; axis < 3; ++axis) {
            turns +=
                n[static_cast<std::size_t>(axis)] * (at[axis] - 0.5 * static_cast<double>(shifted)) / it.extent(axis);
          }
          sum += static_cast<double>(meshes[shifted].value[node]) * std::polar(1.0, -2 * std::numbers::pi * turns);
        }
      }
    }
  }
  return sum / static_cast<double>(meshes.size());
}

/// What the window does to the power along an axis: of interlaced meshes sinc^2p, otherwise equation 20 of Jing (2005).
[[nodiscard]] inline double window_power(const spectrum_problem& it, int n, int axis) {
  const double half = std::numbers::pi * n / it.extent(axis), s = std::pow(std::sin(half), 2);
  if (it.interlaced) return n == 0 ? 1 : std::pow(std::sin(half) / half, 2 * it.order);
  switch (it.order) {
    case 1:
      return 1;
    case 2:
      return 1 - 2.0 / 3 * s;
    case 3:
      return 1 - s + 2.0 / 15 * s * s;
    default:
      return 1 - 4.0 / 3 * s + 2.0 / 5 * s * s - 4.0 / 315 * s * s * s;
  }
}

[[nodiscard]] inline std::vector<weighted_sums> spread_set(const spectrum_problem& it, const spectrum_set& set) {
  std::vector<weighted_sums> meshes;
  for (int shifted = 0; shifted < (it.interlaced ? 2 : 1); ++shifted) {
    mesh_problem mesh = it.mesh;
    mesh.points = set.points;
    for (std::size_t axis = 0; axis < 3; ++axis)
      mesh.lower[axis] -= shifted * mesh.length[axis] / (2 * mesh.extent[axis]);
    meshes.push_back(spread(mesh, set.weights, 1, 1));
  }
  return meshes;
}

struct spectrum_result {
  std::vector<double> modes, k, power;
};

/// Calls f(n) for all modes, of a mode at half an extent the positive one.
template <typename F>
void for_each_mode(const spectrum_problem& it, F&& f) {
  const auto first = [&](int axis) { return -((it.extent(axis) - 1) / 2); };
  for (int x = first(0); x <= it.extent(0) / 2; ++x) {
    for (int y = first(1); y <= it.extent(1) / 2; ++y) {
      for (int z = first(2); z <= it.extent(2) / 2; ++z) f(mode_index{x, y, z});
    }
  }
}

/// Means over bins of power(n), the real part of F_1 F_2*. Without a factor.
template <typename Power>
[[nodiscard]] spectrum_result bin_power(const spectrum_problem& it, const Power& power) {
  const std::size_t bins = it.edges.size() - 1;
  spectrum_result result{std::vector<double>(bins), std::vector<double>(bins),
                         std::vector<double>(bins * it.multipoles.size())};
  for_each_mode(it, [&](const mode_index& n) {
    double square = 0;
    for (int axis = 0; axis < 3; ++axis) square += std::pow(it.wave_number(n[static_cast<std::size_t>(axis)], axis), 2);
    const double k = std::sqrt(square);
    for (std::size_t bin = 0; bin < bins; ++bin) {
      if (k < it.edges[bin] * (1 - 1e-12) || k >= it.edges[bin + 1] * (1 - 1e-12)) continue;
      ++result.modes[bin];
      result.k[bin] += k;
      if (k == 0) continue;
      const double mu = it.wave_number(n[static_cast<std::size_t>(it.line_of_sight)], it.line_of_sight) / k;
      const double value = power(n);
      for (std::size_t m = 0; m < it.multipoles.size(); ++m) {
        const auto degree = static_cast<unsigned>(it.multipoles[m]);
        result.power[m * bins + bin] += (2 * degree + 1) * std::legendre(degree, mu) * value;
      }
    }
  });
  for (std::size_t bin = 0; bin < bins; ++bin) {
    result.k[bin] /= result.modes[bin];
    for (std::size_t m = 0; m < it.multipoles.size(); ++m) result.power[m * bins + bin] /= result.modes[bin];
  }
  return result;
}

/// By a mesh. Modes below 0 along the last axis are the conjugates of those above.
[[nodiscard]] inline spectrum_result mesh_spectrum(const spectrum_problem& it, const spectrum_set& a,
                                                   const spectrum_set& b) {
  const auto first = spread_set(it, a), second = spread_set(it, b);
  const auto last = static_cast<std::size_t>(it.mesh.dimension - 1);
  return bin_power(it, [&](mode_index n) {
    if (n[last] < 0) {
      for (std::size_t axis = 0; axis < 3; ++axis) {
        if (2 * n[axis] != it.mesh.extent[axis]) n[axis] = -n[axis];
      }
    }
    double factor = 1;
    for (int axis = 0; axis < it.mesh.dimension && it.compensated; ++axis) {
      factor /= window_power(it, n[static_cast<std::size_t>(axis)], axis);
    }
    return factor * (mesh_mode(it, first, n) * std::conj(mesh_mode(it, second, n))).real();
  });
}

/// Without a mesh.
[[nodiscard]] inline spectrum_result direct_spectrum(const spectrum_problem& it, const spectrum_set& a,
                                                     const spectrum_set& b) {
  return bin_power(
      it, [&](const mode_index& n) { return (direct_mode(it, a, n) * std::conj(direct_mode(it, b, n))).real(); });
}

}  // namespace quadrat::reference
