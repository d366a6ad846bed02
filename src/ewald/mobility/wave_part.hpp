// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <cstddef>
#include <memory>

#include "ewald/mobility/choice.hpp"
#include "ewald/mobility/normals.hpp"
#include "ewald/mobility/place.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/spectral/nufft_plan.hpp"

/// The wave part: from forces to modes, multiplied by its share of the mobility, back to velocities. As type 2 is the
/// exact adjoint of type 1, it is symmetric and positive whatever the error of the transforms is.
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
  [[nodiscard]] QUADRAT_HD vec<T, 3> wave(const vec<int, 3>& mode) const {
    return make_vec<T, 3>([&](int axis) { return static_cast<T>(mode[axis]) * unit[axis]; });
  }
};

/// What is added to the modes: `amplitude` times random ones, whose covariance is their share of the mobility.
struct wave_noise {
  noise_words words{};
  double amplitude = 0;  ///< 0: none
};

template <typename Context, typename T>
class wave_part {
 public:
  wave_part(const Context& context, const mobility_choice& choice, const vec<double, 3>& box, double radius,
            std::size_t spheres, std::size_t most_bytes);

  /// Synchronizes the first time; then asynchronous, for as many. `places` stay where they are.
  void set_points(const sphere_vector<T>* places, std::size_t count);
  /// velocities = scale times the product with forces, or 0 without them, plus noise; both are three arrays by slot.
  /// Asynchronous.
  void compute(const T* forces, T scale, const wave_noise& noise, T* velocities);
  [[nodiscard]] std::size_t bytes() const;

 private:
  Context context_;
  bool direct_;
  stored_modes<T> modes_;
  T radius_;
  T decay_;   // 1 / (4 splitting^2)
  T weight_;  // 6 pi a / volume
  const sphere_vector<T>* places_ = nullptr;
  vec<T, 3> inverse_box_;
  std::size_t count_ = 0;
  bool placed_ = false;
  std::unique_ptr<nufft_plan<Context, T, 3>> plan_;
  array<std::complex<T>, Context> values_;
};

}  // namespace quadrat::detail
