// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <cstddef>
#include <memory>
#include <string>

#include "quadrat/core/vec.hpp"
#include "quadrat/distributed/decomposition.hpp"
#include "spectral/fft/groups.hpp"
#include "spectral/transform.hpp"

namespace quadrat::detail {

/// A complex number as it is moved: nvcc has no std::complex on devices.
template <typename T>
struct alignas(2 * sizeof(T)) moved_number {
  T real, imaginary;
};

/// The mesh of a transform over ranks. Of real meshes the modes of the last axis that are not complex conjugates of
/// others are kept: half of them, and one.
struct transposed_mesh {
  vec<int, 3> points;
  bool real;

  [[nodiscard]] vec<int, 3> modes() const { return {points[0], points[1], real ? points[2] / 2 + 1 : points[2]}; }
};

/// Transforms of a mesh over ranks by transpositions, in an array of complex numbers that first holds the mesh, or the
/// modes of a real mesh along its last axis, in blocks [x][y][z], and in the end the modes as [y][z][x].
template <typename T>
class transposed_transform {
 public:
  using number = moved_number<T>;

  transposed_transform() = default;
  transposed_transform(const transposed_transform&) = delete;
  transposed_transform& operator=(const transposed_transform&) = delete;
  virtual ~transposed_transform() = default;

  /// What this rank has at the beginning and at the end, of modes.
  [[nodiscard]] virtual cell_block<3> first_block() const = 0;
  [[nodiscard]] virtual cell_block<3> last_block() const = 0;
  /// Numbers for which the array must have room.
  [[nodiscard]] virtual std::size_t room() const = 0;
  [[nodiscard]] virtual std::size_t bytes() const = 0;

  /// `real`: the mesh, if it is real, which is changed; otherwise it is in `data`.
  virtual void forward(T* real, number* data) = 0;
  virtual void inverse(number* data, T* real) = 0;
  /// From [y][z][x] to [x][y][z] or back, without transforming.
  virtual void to_natural(number* data) = 0;
  virtual void to_transposed(number* data) = 0;
};

/// Sums over all modes or mesh points of `count` meshes that follow one another.
template <typename Context, typename T>
[[nodiscard]] std::unique_ptr<mode_transform<T>> make_whole_transform(const Context& context, const vec<int, 3>& extent,
                                                                      int count, bool real,
                                                                      const std::string& library) {
  transform_shape shape{};
  std::size_t points = 1;
  for (int axis = 0; axis < 3; ++axis) {
    shape.extent[axis] = extent[axis];
    shape.band[axis] = all_of(extent[axis]);
    points *= static_cast<std::size_t>(extent[axis]);
  }
  if (real) shape.band[2] = all_of(extent[2] / 2 + 1);
  shape.real = real;
  shape.count = count;
  shape.apart = count > 1 ? points : 0;
  return make_mode_transform<T>(context, shape, library);
}

/// One of these: a mesh of real numbers into the array, or the array itself; from modes back.
template <typename T>
void transform_into(const std::unique_ptr<mode_transform<T>>& one, T* real, moved_number<T>* data) {
  if (one == nullptr) return;
  if (real != nullptr) {
    one->to_modes(real, reinterpret_cast<std::complex<T>*>(data), -1);
  } else {
    one->to_modes(&data->real, nullptr, -1);
  }
}
/// Of complex numbers, from one array into another: on CUDA.
template <typename T>
void transform_from(const std::unique_ptr<mode_transform<T>>& one, moved_number<T>* from, moved_number<T>* to,
                    int sign) {
  if (one != nullptr) one->to_modes(&from->real, reinterpret_cast<std::complex<T>*>(to), sign);
}
template <typename T>
void transform_back(const std::unique_ptr<mode_transform<T>>& one, moved_number<T>* data, T* real) {
  if (one == nullptr) return;
  if (real != nullptr) {
    one->to_mesh(reinterpret_cast<std::complex<T>*>(data), real, 1);
  } else {
    one->to_modes(&data->real, nullptr, 1);
  }
}

}  // namespace quadrat::detail
