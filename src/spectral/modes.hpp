// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "mesh/mesh_view.hpp"
#include "quadrat/core/macros.hpp"

/// The stored modes, and their places in the transform of a mesh.
namespace quadrat::detail {

/// Three axes, the last one fastest. With fewer dimensions, the first axes have one mode. Modes of several systems
/// follow one another.
template <typename T>
struct mode_map {
  int modes[3];     ///< along each axis, with their negatives
  int stored[3];    ///< of these, the stored ones
  int extent[3];    ///< of the mesh
  std::size_t row;  ///< complex numbers of the transform along the last axis
  bool fft_order;
  bool real;           ///< along the last axis only modes from 0 on are stored
  const T* factor[3];  ///< by the modulus of a mode's index
  std::size_t systems = 1;
  std::size_t apart = 0;  ///< complex numbers from the transform of one system's mesh to the next

  [[nodiscard]] QUADRAT_HD std::size_t of_system() const {
    return static_cast<std::size_t>(stored[0]) * static_cast<std::size_t>(stored[1]) *
           static_cast<std::size_t>(stored[2]);
  }
  [[nodiscard]] QUADRAT_HD std::size_t size() const { return systems * of_system(); }
  /// Lines along the last axis of the transform of one system's mesh.
  [[nodiscard]] QUADRAT_HD std::size_t lines() const {
    return static_cast<std::size_t>(extent[0]) * static_cast<std::size_t>(extent[1]);
  }
  /// The transforms, pairs of real numbers, in an array of `held` of these. Throws argument_error if it is too
  /// small.
  template <typename Number>
  [[nodiscard]] mesh_view<Number> view(Number* transform, std::size_t held) const {
    const std::size_t used = (systems - 1) * apart + lines() * row;
    const mesh_view<Number> all{transform, {1, held / 2, 2}};
    require_inside(all, {1, used, 2});
    return all;
  }

  /// The mode at an index along an axis.
  [[nodiscard]] QUADRAT_HD int mode(int index, int axis) const {
    if (real && axis == 2) return index;
    if (!fft_order) return index - modes[axis] / 2;
    return index < (modes[axis] + 1) / 2 ? index : index - modes[axis];
  }

  struct place {
    std::size_t node;  ///< in the transform of the mesh
    T factor;
  };

  /// For a line of modes along the last axis: the place of its index 0, and the factors of the other
  /// axes.
  [[nodiscard]] QUADRAT_HD place line(std::size_t row_of_modes) const {
    const auto first = static_cast<std::size_t>(stored[0]), middle = static_cast<std::size_t>(stored[1]);
    const std::size_t system = systems > 1 ? row_of_modes / middle / first : 0;
    const std::size_t i = row_of_modes - system * middle * first;
    const int index[2] = {static_cast<int>(i / middle), static_cast<int>(i % middle)};
    place result{0, T(1)};
    for (int axis = 0; axis < 2; ++axis) {
      const int k = mode(index[axis], axis);
      result.factor *= factor[axis][k < 0 ? -k : k];
      result.node = result.node * static_cast<std::size_t>(extent[axis]) + static_cast<std::size_t>(home(k, axis));
    }
    result.node = result.node * row + system * apart;
    return result;
  }

  [[nodiscard]] QUADRAT_HD int home(int k, int axis) const { return k < 0 ? k + extent[axis] : k; }
  /// Whether this is the mode K/2 of an even number of modes of real values.
  [[nodiscard]] QUADRAT_HD bool is_last(int k) const { return real && 2 * k == modes[2]; }
};

/// Copies from the transform of the mesh to the stored modes.
template <typename T>
struct read_modes {
  mode_map<T> map;
  mesh_view<const T> transform;
  T* modes;
  bool conjugate;

  /// Stored mode `at`, at a place of the transform.
  QUADRAT_HD void move(std::size_t at, std::size_t node, T factor, bool /*last*/) const {
    modes[2 * at] = factor * transform[2 * node];
    const T imaginary = factor * transform[2 * node + 1];
    modes[2 * at + 1] = conjugate ? -imaginary : imaginary;
  }
};

/// Copies from the stored modes to the transform of the mesh, where modes of real values, except 0, count twice.
template <typename T>
struct write_modes {
  mode_map<T> map;
  const T* modes;
  mesh_view<T> transform;
  bool conjugate;

  QUADRAT_HD void move(std::size_t at, std::size_t node, T factor, bool last) const {
    const T weight = last ? T(0.5) * factor : factor;
    transform[2 * node] = weight * modes[2 * at];
    transform[2 * node + 1] = (conjugate ? -weight : weight) * modes[2 * at + 1];
  }
};

/// Index: line along the last axis of the transforms of real meshes, [system][line]. For last index 0, the modes at
/// k and -k each become the mean of one and the other's conjugate. The mesh is the same, but cuFFT needs such
/// pairs.
template <typename T>
struct pair_modes {
  mode_map<T> map;
  mesh_view<T> transform;

  QUADRAT_HD void operator()(std::size_t i) const {
    const std::size_t first = i / map.lines() * map.apart, line = i % map.lines();
    const auto planes = static_cast<std::size_t>(map.extent[0]), lines = static_cast<std::size_t>(map.extent[1]);
    const std::size_t a = line / lines, b = line % lines;
    const std::size_t other = (a == 0 ? 0 : planes - a) * lines + (b == 0 ? 0 : lines - b);
    if (other < line) return;
    T* const here = &transform[2 * (first + line * map.row)];
    T* const there = &transform[2 * (first + other * map.row)];
    const T real = T(0.5) * (here[0] + there[0]), imaginary = T(0.5) * (here[1] - there[1]);
    here[0] = there[0] = real;
    here[1] = imaginary;
    there[1] = -imaginary;
  }
};

}  // namespace quadrat::detail
