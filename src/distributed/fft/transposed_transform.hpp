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

/// A complex number for moving: device code under nvcc has no std::complex.
template <typename T>
struct alignas(2 * sizeof(T)) moved_number {
  T real, imaginary;
};

/// The mesh of a transform over ranks. For a real mesh, only modes of the last axis that are not complex conjugates of
/// others are kept: about half of them.
struct transposed_mesh {
  vec<int, 3> points;
  bool real;

  [[nodiscard]] vec<int, 3> modes() const { return {points[0], points[1], real ? points[2] / 2 + 1 : points[2]}; }
};

/// Transforms of a mesh over ranks by transpositions, in one array of complex numbers. The array first holds blocks
/// [x][y][z] of the mesh, or of a real mesh's modes along its last axis. In the end it holds the modes as [y][z][x].
template <typename T>
class transposed_transform {
 public:
  using number = moved_number<T>;

  transposed_transform() = default;
  transposed_transform(const transposed_transform&) = delete;
  transposed_transform& operator=(const transposed_transform&) = delete;
  virtual ~transposed_transform() = default;

  /// This rank's block at the beginning and at the end, in modes.
  [[nodiscard]] virtual cell_block<3> first_block() const = 0;
  [[nodiscard]] virtual cell_block<3> last_block() const = 0;
  /// Complex numbers that the array must have room for.
  [[nodiscard]] virtual std::size_t room() const = 0;
  [[nodiscard]] virtual std::size_t bytes() const = 0;

  /// `real`: a real mesh, which is overwritten; nullptr: the mesh is complex and in `data`.
  virtual void forward(T* real, number* data) = 0;
  virtual void inverse(number* data, T* real) = 0;
  /// Changes the order from [y][z][x] to [x][y][z] or back, without transforming.
  virtual void to_natural(number* data) = 0;
  virtual void to_transposed(number* data) = 0;
};

/// Transforms all modes or mesh points of `count` consecutive meshes.
template <typename Context, typename T>
[[nodiscard]] std::unique_ptr<mode_transform<T>> make_whole_transform(const Context& context, const vec<int, 3>& given,
                                                                      int count, bool real,
                                                                      const std::string& library) {
  // Lines are faster along the last axis.
  const vec<int, 3> extent = given[2] == 1 && !real ? vec<int, 3>{1, given[0], given[1]} : given;
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

/// Transforms a real mesh into the array, or the array in place. transform_back does the reverse.
template <typename T>
void transform_into(const std::unique_ptr<mode_transform<T>>& one, T* real, moved_number<T>* data) {
  if (one == nullptr) return;
  if (real != nullptr) {
    one->to_modes(real, reinterpret_cast<std::complex<T>*>(data), -1);
  } else {
    one->to_modes(&data->real, nullptr, -1);
  }
}
/// Transforms complex numbers from one array into another. On CUDA only.
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
