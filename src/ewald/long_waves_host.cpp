// SPDX-License-Identifier: BSD-3-Clause
#include "ewald/long_waves.hpp"

#include <algorithm>
#include <complex>
#include <cstddef>
#include <numbers>
#include <utility>
#include <vector>

namespace quadrat::detail {

namespace {

using complex_values = std::vector<std::complex<double>>;

/// exp(2 pi i n (b + 1/2) / boxes) for the modes n = first, ..., last and all boxes b: [n][b].
struct axis_waves_of_boxes {
  int first, last;
  int boxes;
  complex_values phases;

  axis_waves_of_boxes(int from, int to, int count) : first(from), last(to), boxes(count) {
    for (int n = first; n <= last; ++n) {
      for (int b = 0; b < boxes; ++b) phases.push_back(std::polar(1.0, 2 * std::numbers::pi * n * (b + 0.5) / boxes));
    }
  }
  [[nodiscard]] std::size_t modes() const { return static_cast<std::size_t>(last - first) + 1; }
  [[nodiscard]] std::size_t places() const { return static_cast<std::size_t>(boxes); }

  /// From boxes to modes, along the middle index of values[before][box][after].
  [[nodiscard]] complex_values to_modes(const complex_values& values, std::size_t after) const {
    return contracted(values, modes(), places(), after,
                      [&](std::size_t n, std::size_t b) { return std::conj(phases[n * places() + b]); });
  }
  [[nodiscard]] complex_values to_boxes(const complex_values& values, std::size_t after) const {
    return contracted(values, places(), modes(), after,
                      [&](std::size_t b, std::size_t n) { return phases[n * places() + b]; });
  }

 private:
  template <typename Phase>
  [[nodiscard]] static complex_values contracted(const complex_values& values, std::size_t rows, std::size_t columns,
                                                 std::size_t after, const Phase& phase) {
    const std::size_t before = values.size() / (columns * after);
    complex_values result(before * rows * after);
    for (std::size_t i = 0; i < before; ++i) {
      for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t column = 0; column < columns; ++column) {
          const std::complex<double> factor = phase(row, column);
          const std::complex<double>* const from = &values[(i * columns + column) * after];
          std::complex<double>* const to = &result[(i * rows + row) * after];
          for (std::size_t k = 0; k < after; ++k) to[k] += factor * from[k];
        }
      }
    }
    return result;
  }
};

}  // namespace

double long_wave_excess(const vec<vec<double, 3>, 3>& vectors, const vec<int, 3>& boxes,
                        std::span<const double> charges, std::span<const double> squares) {
  const auto most = [&](int axis) { return std::min(most_long_wave, (boxes[axis] - 1) / 2); };
  // Of opposite modes the one with a positive number along the last axis.
  const axis_waves_of_boxes x(-most(0), most(0), boxes[0]), y(-most(1), most(1), boxes[1]), z(0, most(2), boxes[2]);
  complex_values modes(charges.begin(), charges.end());
  modes = x.to_modes(y.to_modes(z.to_modes(modes, 1), z.modes()), y.modes() * z.modes());
  const double volume = dot(vectors[0], cross(vectors[1], vectors[2]));
  double random = 0;  // of the mean square, for a sum of squares of 1
  std::size_t index = 0;
  for (int i = x.first; i <= x.last; ++i) {
    for (int j = y.first; j <= y.last; ++j) {
      for (int k = z.first; k <= z.last; ++k, ++index) {
        const vec<double, 3> wave =
            1 / volume *
            (i * cross(vectors[1], vectors[2]) + j * cross(vectors[2], vectors[0]) + k * cross(vectors[0], vectors[1]));
        const double square = squared_norm(wave), both = k > 0 ? 2 : 1;
        modes[index] *= square > 0 ? both / square : 0;
        random += square > 0 ? both / (square * square) : 0;
      }
    }
  }
  const complex_values potentials = z.to_boxes(y.to_boxes(x.to_boxes(modes, y.modes() * z.modes()), z.modes()), 1);
  double sum = 0, all = 0;
  for (std::size_t b = 0; b < squares.size(); ++b) {
    sum += squares[b] * potentials[b].real() * potentials[b].real();
    all += squares[b];
  }
  return random > 0 && all > 0 ? sum / (all * all * random) : 1;
}

}  // namespace quadrat::detail
