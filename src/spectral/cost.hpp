// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include "quadrat/tune/device_profile.hpp"
#include "tune/cost.hpp"

/// The cost of non-uniform Fourier transforms for a mesh and a window. Host only.
namespace quadrat::detail {

/// The problem for which a window is chosen.
struct transform_load {
  bool cuda = false;
  bool single = true;
  int components = 2;  ///< of a mesh value: 1 or 2
  int dimension = 3;
  double points = 0;
  double nodes = 0;  ///< mesh points
  int width = 0;
  int threads = 1;     ///< of a CPU
  bool tiled = false;  ///< a GPU is expected to sort points by tile: see sorts_points
};

/// GPUs use other methods to spread and to interpolate with windows wider than this.
inline constexpr int most_narrow_window = 8;

inline constexpr std::string_view transform_module = "nufft", transform_cost_name = "transform";

/// Whether a GPU that chooses how to spread such a load would sort its points by tile: by the profile's times of
/// spreading, for points of unknown distribution.
[[nodiscard]] bool sorts_points(const transform_load& load, const device_profile& profile);

/// The method by which GPUs spread few points under a window wider than most_narrow_window, if the caller names none.
/// The choice among all methods covers narrow windows only.
enum class few_points_method {
  none,     ///< use that choice
  threads,  ///< particle_threads
  tiles
};
[[nodiscard]] few_points_method few_points_method_of(const transform_load& load);

/// The terms of one transform: points spread onto the mesh or interpolated from it, and the fast transform. Constants:
/// "nufft.transform.*" in a device profile. Windows wider than 8 mesh points have separate constants ("broad").
[[nodiscard]] method_cost transform_cost(const transform_load& load);
/// Milliseconds, by a profile.
[[nodiscard]] double expected_transform_ms(const transform_load& load, const device_profile& profile);

}  // namespace quadrat::detail
