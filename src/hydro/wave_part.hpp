// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <complex>
#include <cstddef>
#include <memory>
#include <numbers>

#include "hydro/choice.hpp"
#include "hydro/normals.hpp"
#include "hydro/place.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/spectral/nufft_plan.hpp"

/// The wave part: from forces to modes, multiplied by its share of the mobility, back to velocities. Type 2 is the
/// exact adjoint of type 1, so the wave part is symmetric and positive whatever the error of the transforms.
namespace quadrat::detail {

/// The stored modes of real functions, [x][y][z], centered along x and y and from 0 along z; numbers of modes are odd.
template <typename T>
struct stored_modes {
  vec<int, 3> extent;  ///< stored along z: (extent + 1) / 2
  vec<T, 3> unit;      ///< 2 pi / length, by axis

  [[nodiscard]] QUADRAT_HD std::size_t count() const {
    return static_cast<std::size_t>(extent[0]) * static_cast<std::size_t>(extent[1]) *
           static_cast<std::size_t>((extent[2] + 1) / 2);
  }
  [[nodiscard]] QUADRAT_HD vec<int, 3> at(std::size_t index) const {
    const auto rows = static_cast<std::uint32_t>((extent[2] + 1) / 2), columns = static_cast<std::uint32_t>(extent[1]);
    const auto number = static_cast<std::uint32_t>(index);  // transforms have fewer than 2^31 modes
    return {static_cast<int>(number / rows / columns) - extent[0] / 2,
            static_cast<int>(number / rows % columns) - extent[1] / 2, static_cast<int>(number % rows)};
  }
  /// The number of a stored mode.
  [[nodiscard]] QUADRAT_HD std::size_t index_of(const vec<int, 3>& mode) const {
    const auto rows = static_cast<std::size_t>((extent[2] + 1) / 2), columns = static_cast<std::size_t>(extent[1]);
    return (static_cast<std::size_t>(mode[0] + extent[0] / 2) * columns +
            static_cast<std::size_t>(mode[1] + extent[1] / 2)) *
               rows +
           static_cast<std::size_t>(mode[2]);
  }
  [[nodiscard]] QUADRAT_HD vec<T, 3> wave(const vec<int, 3>& mode) const {
    return make_vec<T, 3>([&](int axis) { return static_cast<T>(mode[axis]) * unit[axis]; });
  }
};

/// The wave part of the mobility, by mode.
template <typename T>
struct wave_law {
  stored_modes<T> modes;
  T radius;
  T decay;   ///< 1 / (4 splitting^2)
  T weight;  ///< 6 pi a / volume

  /// H(k) sinc(k a)^2 / k^2; `inverse`: 1 / k^2, or 0 for the mean.
  [[nodiscard]] QUADRAT_HD T share(T square, T inverse) const {
    const T length = std::sqrt(square), x = length * radius;
    const T sinc = square == T(0) ? T(1) : std::sin(x) / x, u = square * decay;
    return weight * inverse * (T(1) + u) * std::exp(-u) * sinc * sinc;
  }
  /// Normal numbers of a stored mode, [axis], to be multiplied by the root of its share. For real data the modes at k
  /// and -k are conjugates. If both are stored, at z = 0, transforms take the real part of each. So two independent
  /// numbers with twice the variance suffice, and no mode needs its partner. There are no modes at the Nyquist
  /// frequency.
  [[nodiscard]] QUADRAT_HD vec<vec<T, 2>, 3> normals(const noise_words& words, std::size_t index) const {
    const philox_block first = words.of(1, index), second = words.of(2, index);
    return {normal_pair<T>(first.word[0], first.word[1]), normal_pair<T>(first.word[2], first.word[3]),
            normal_pair<T>(second.word[0], second.word[1])};
  }
  [[nodiscard]] QUADRAT_HD T noise_factor(T amplitude, T share, int z) const {
    return amplitude * std::sqrt(z == 0 ? share : T(0.5) * share);
  }
};

template <typename T>
[[nodiscard]] wave_law<T> make_wave_law(const mobility_parameters& parameters, const vec<double, 3>& box,
                                        double radius) {
  wave_law<T> law{};
  law.modes.extent = parameters.modes;
  double volume = 1;
  for (int axis = 0; axis < 3; ++axis) {
    law.modes.unit[axis] = static_cast<T>(2 * std::numbers::pi / box[axis]);
    volume *= box[axis];
  }
  law.radius = static_cast<T>(radius);
  law.decay = static_cast<T>(1 / (4 * parameters.splitting * parameters.splitting));
  law.weight = static_cast<T>(6 * std::numbers::pi * radius / volume);
  return law;
}

/// Noise added to the modes: `amplitude` times random modes whose covariance is their share of the mobility.
struct wave_noise {
  noise_words words{};
  double amplitude = 0;  ///< 0: none
};

template <typename Context, typename T>
class wave_part {
 public:
  wave_part(const Context& context, const mobility_choice& choice, const vec<double, 3>& box, double radius,
            std::size_t spheres, std::size_t most_bytes);

  /// Synchronizes the first time; then asynchronous for the same number. `places` must stay valid.
  void set_points(const sphere_vector<T>* places, std::size_t count);
  /// velocities = scale times the product with forces, or 0 without them, plus noise; both are three arrays by slot.
  /// Asynchronous.
  void compute(const T* forces, T scale, const wave_noise& noise, T* velocities);
  [[nodiscard]] std::size_t bytes() const;

 private:
  Context context_;
  bool direct_;
  wave_law<T> law_;
  const sphere_vector<T>* places_ = nullptr;
  vec<T, 3> inverse_box_;
  std::size_t count_ = 0;
  bool placed_ = false;
  std::unique_ptr<nufft_plan<Context, T, 3>> plan_;
  array<std::complex<T>, Context> values_;
};

}  // namespace quadrat::detail
