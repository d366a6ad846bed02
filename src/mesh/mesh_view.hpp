// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cassert>
#include <cstddef>

#include "quadrat/core/error.hpp"
#include "quadrat/core/macros.hpp"

/// Meshes, boxes and spectra that carry their extents, so that code that computes a size differently cannot write
/// beyond what was allocated.
namespace quadrat::detail {

/// Numbers along three axes, the last one fastest. Builds without NDEBUG (the preset `debug`) check every index.
template <typename T>
struct mesh_view {
  T* numbers;
  std::size_t extent[3];

  [[nodiscard]] QUADRAT_HD std::size_t size() const { return extent[0] * extent[1] * extent[2]; }
  /// The element at a flat index.
  [[nodiscard]] QUADRAT_HD T& operator[](std::size_t i) const {
    assert(i < size());
    return numbers[i];
  }
  [[nodiscard]] QUADRAT_HD T& operator()(std::size_t i, std::size_t j, std::size_t k) const {
    assert(i < extent[0] && j < extent[1] && k < extent[2]);
    return numbers[(i * extent[1] + j) * extent[2] + k];
  }
};

template <typename T>
[[nodiscard]] mesh_view<const T> constant(const mesh_view<T>& view) {
  return {view.numbers, {view.extent[0], view.extent[1], view.extent[2]}};
}

/// Throws argument_error unless an array of `held` numbers is as large as the view.
template <typename T>
void require_whole(const mesh_view<T>& view, std::size_t held) {
  require(view.size() == held, "an array of ", held, " numbers was passed as a mesh of ", view.extent[0], " x ",
          view.extent[1], " x ", view.extent[2]);
}

/// Throws argument_error unless this many numbers along each axis are in the view.
template <typename T>
void require_inside(const mesh_view<T>& view, const std::size_t (&count)[3]) {
  for (int axis = 0; axis < 3; ++axis) {
    require(count[axis] <= view.extent[axis], count[axis], " numbers along axis ", axis, " do not fit in a mesh of ",
            view.extent[0], " x ", view.extent[1], " x ", view.extent[2]);
  }
}

}  // namespace quadrat::detail
