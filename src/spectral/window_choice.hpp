// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <type_traits>
#include <vector>

#include "spectral/accuracy.hpp"
#include "spectral/checks.hpp"
#include "spectral/cost.hpp"
#include "tune/choice.hpp"

namespace quadrat::detail {

/// The windows that reach the tolerance on possible meshes; never empty. Throws argument_error.
template <typename T>
[[nodiscard]] std::vector<transform_window<T>> windows_of(const nufft_problem& problem, const nufft_options& options,
                                                          double tolerance) {
  auto windows =
      transform_windows<T>({options.window, problem.dimension, options.oversampling, checked_tolerance(tolerance),
                            [&](double oversampling) { return problem.mesh_ratio(oversampling); }});
  std::erase_if(windows, [&](const auto& window) { return !problem.fits(window.oversampling, window.window.width); });
  require(!windows.empty(), problem.too_large());
  return windows;
}

/// Expected transforms of points that are set once, for the choice of a method of spreading: sorting points by tile
/// pays off over several of them.
template <typename Context>
[[nodiscard]] constexpr double uses_of_points(int width) {
  return std::is_same_v<Context, cuda_context> && width > most_narrow_window ? 10 : 1;
}

/// The load of a transform of this many points with this window.
template <typename T, typename Context>
[[nodiscard]] transform_load load_of(const transform_window<T>& one, const nufft_problem& problem, double points,
                                     const Context& context) {
  transform_load load;
  load.cuda = std::is_same_v<Context, cuda_context>;
  load.single = sizeof(T) == 4;
  load.components = problem.real ? 1 : 2;
  load.dimension = problem.dimension;
  load.points = points;
  load.width = one.window.width;
  load.nodes = problem.meshes(one.oversampling, load.width).size();
  load.threads = choice_place_of(context).threads;
  return load;
}

/// The expected milliseconds of this transform.
template <typename T, typename Context>
[[nodiscard]] double expected_window_ms(const transform_window<T>& one, const nufft_problem& problem, double points,
                                        const Context& context) {
  const device_profile& profile = profile_of(context);
  transform_load load = load_of(one, problem, points, context);
  load.tiled = sorts_points(load, profile);
  return expected_transform_ms(load, profile);
}

/// The window with the least expected time.
template <typename T, typename Context>
[[nodiscard]] std::size_t fastest_window(const std::vector<transform_window<T>>& windows, const nufft_problem& problem,
                                         double points, const Context& context) {
  std::size_t chosen = 0;
  double least = 0;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const double cost = expected_window_ms(windows[i], problem, points, context);
    if (i > 0 && cost >= least) continue;
    least = cost;
    chosen = i;
  }
  return chosen;
}

}  // namespace quadrat::detail
