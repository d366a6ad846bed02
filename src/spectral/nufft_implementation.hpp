// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <limits>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/automatic.hpp"
#include "mesh/checks.hpp"
#include "mesh/plan_access.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/mesh/spread_plan.hpp"
#include "quadrat/spectral/nufft_plan.hpp"
#include "spectral/accuracy.hpp"
#include "spectral/checks.hpp"
#include "spectral/cost.hpp"
#include "spectral/modes.hpp"
#include "spectral/stack.hpp"
#include "spectral/transform.hpp"
#include "spectral/window_choice.hpp"
#include "tune/choice.hpp"

/// The members of a nufft_plan, and their setup.
namespace quadrat {

template <typename Context, typename T, int D>
struct nufft_plan<Context, T, D>::implementation {
  implementation(const Context& where, const vec<int, D>& modes, double tolerance, const nufft_options& wanted)
      : context(where), options(wanted), problem(detail::nufft_problem_of(modes, wanted)) {
    windows = detail::windows_of<T>(problem, wanted, tolerance);
    for (const auto& window : windows) detail::require_spread_method(wanted.method, where, window.window.width);
    detail::require_fft_library<T>(wanted.fft, where);
    choose(static_cast<double>(problem.stored_size()));
  }

  [[nodiscard]] const detail::transform_window<T>& window() const { return windows[chosen]; }
  [[nodiscard]] bool real() const { return options.values == nufft_values::real; }
  [[nodiscard]] std::string_view method_of_few() const;
  [[nodiscard]] detail::stacked_meshes meshes() const {
    return problem.meshes(window().oversampling, window().window.width);
  }
  void choose(double points);
  [[nodiscard]] quadrat::explanation explanation() const;
  void build();
  void allow(std::size_t bytes) const;
  void make_spreading(const detail::stacked_meshes& all, std::size_t own);
  void set_points(const points_view<T, D>& points, const std::uint32_t* system_of_point);
  void set_points_async(const points_view<T, D>& points, const std::uint32_t* system_of_point);
  [[nodiscard]] detail::mode_map<T> map() const;
  [[nodiscard]] detail::mesh_ends ends() const;
  /// Numbers of the array that holds the transform of the mesh.
  [[nodiscard]] std::size_t held() const { return real() ? 2 * spectrum.size() : mesh.size(); }
  void require_usable(const nufft_call& call, nufft_values kind, const void* values) const;
  [[nodiscard]] int checked_sign(const nufft_call& call, nufft_values kind, int usual, const void* values,
                                 const void* modes) const;
  void spread_one(const T* values, T* to);
  void interpolate_one(T* from, T* values);
  void type_1(const T* values, T* modes, const nufft_call& call, int sign);
  void type_2(const T* modes, T* values, const nufft_call& call, int sign);
  void spread(const T* values, T* to, const nufft_call& call, nufft_values kind);
  void interpolate(const T* from, T* values, const nufft_call& call, nufft_values kind);

  Context context;
  nufft_options options;
  detail::nufft_problem problem;
  std::vector<detail::transform_window<T>> windows;
  std::size_t chosen = 0;
  double chosen_for = 0;  ///< points
  // If the allowed bytes were too few: for at least this many points, only windows from this one on are tried.
  std::size_t least_chosen = 0;
  double refused_for = std::numeric_limits<double>::infinity();
  std::size_t built = 0;  ///< 1 + index of the window for which the members below are built; 0: none
  std::string_view built_method;
  std::unique_ptr<spread_plan<Context, T, D>> spreading;
  std::unique_ptr<detail::mode_transform<T>> transform;
  array<T, Context> factors;  ///< 1 / transform of the window, axis by axis
  array<T, Context> mesh;
  array<std::complex<T>, Context> spectrum;
  bool usable = false;
};

template <typename Context, typename T, int D>
void nufft_plan<Context, T, D>::implementation::choose(double points) {
  if (points == chosen_for) return;
  chosen_for = points;
  chosen = detail::fastest_window(windows, problem, points, context);
  if (points >= refused_for) chosen = std::max(chosen, least_chosen);
}

template <typename Context, typename T, int D>
explanation nufft_plan<Context, T, D>::implementation::explanation() const {
  const auto name_of = [](const auto& one) {
    return message("oversampling ", one.oversampling, ", width ", one.window.width);
  };
  quadrat::explanation why;
  why.what = "mesh and window of the transform";
  why.chosen = name_of(window());
  why.reason = options.oversampling != 0   ? "asked for"
               : chosen_for >= refused_for ? "the least expected time within the bytes that are allowed"
                                           : "the least expected time of a transform";
  for (const auto& one : windows) {
    why.candidates.push_back({name_of(one), detail::expected_window_ms(one, problem, chosen_for, context), 0, ""});
  }
  std::ranges::stable_sort(why.candidates, {}, &candidate::milliseconds);
  why.load = {{"points", chosen_for},
              {"modes", static_cast<double>(problem.stored_size())},
              {"mesh_points", meshes().size()},
              {"error_bound", window().error}};
  why.profile = profile_of(context).origin;
  return why;
}

/// Everything that depends on the window and the mesh.
template <typename Context, typename T, int D>
void nufft_plan<Context, T, D>::implementation::build() {
  if (built == chosen + 1 && built_method == method_of_few()) return;
  built = 0;
  spreading.reset();
  transform.reset();
  mesh = array<T, Context>();
  spectrum = array<std::complex<T>, Context>();
  const auto all = meshes();
  const auto numbers = static_cast<std::size_t>(all.size()) * (real() ? 1 : 2);
  allow(numbers * sizeof(T));
  auto shape = problem.transform(all.one);
  shape.count = all.stack.systems;
  shape.apart = all.apart();
  transform = detail::make_mode_transform<T>(context, shape, options.fft);
  std::vector<T> host;
  for (int axis = 0; axis < 3; ++axis) {
    const auto values = window().window.transforms(problem.modes[axis] / 2 + 1, all.one.axis[axis]);
    for (const double value : values) host.push_back(axis < 3 - D ? T(1) : static_cast<T>(1 / value));
  }
  const std::size_t own = host.size() * sizeof(T) + numbers * sizeof(T) +
                          transform->spectrum_size() * sizeof(std::complex<T>) + transform->bytes();
  allow(own);
  factors = to_device(context, host);
  mesh = array<T, Context>(context, numbers);
  spectrum = array<std::complex<T>, Context>(context, transform->spectrum_size());
  make_spreading(all, own);
  built = chosen + 1;
  built_method = method_of_few();
}

template <typename Context, typename T, int D>
void nufft_plan<Context, T, D>::implementation::allow(std::size_t bytes) const {
  require(options.most_bytes == 0 || bytes < options.most_bytes, "a mesh of ", meshes().size(), " points needs ", bytes,
          " bytes with its transform; ", options.most_bytes, " are allowed (a smaller oversampling needs less)");
}

/// The method that spreads few points under a wide window on GPUs, if the caller names none; empty: the usual choice.
template <typename Context, typename T, int D>
std::string_view nufft_plan<Context, T, D>::implementation::method_of_few() const {
  const bool chooses = detail::is_automatic(options.method) && options.most_bytes == 0;
  const determinism level = context.reproducibility();
  if (!chooses || level == determinism::canonical) return {};
  const detail::few_points_method method =
      detail::few_points_method_of(detail::load_of(window(), problem, chosen_for, context));
  if (method == detail::few_points_method::none) return {};
  if (method == detail::few_points_method::threads && level == determinism::none) return "particle_threads";
  return D == 3 ? "tiles" : "";
}

/// `own`: bytes of all except spreading.
template <typename Context, typename T, int D>
void nufft_plan<Context, T, D>::implementation::make_spreading(const detail::stacked_meshes& all, std::size_t own) {
  spread_options how;
  how.method = options.method;
  how.most_bytes = options.most_bytes == 0 ? 0 : options.most_bytes - own;
  how.uses = detail::uses_of_points<Context>(window().window.width);
  if (!method_of_few().empty()) how.method = method_of_few();
  box<T, D> domain{};
  vec<int, D> nodes{};
  for (int d = 0; d < D; ++d) {
    how.exact_lengths[d] = problem.period[d];
    domain.length[d] = static_cast<T>(problem.period[d]);
    domain.lower[d] = static_cast<T>(options.origin[d]);
    domain.periodic[d] = true;
    nodes[d] = all.one.axis[3 - D + d];
  }
  spreading = std::make_unique<spread_plan<Context, T, D>>(
      detail::plan_access::make(context, domain, nodes, window().window, how, {all.stack}));
}

template <typename Context, typename T, int D>
void nufft_plan<Context, T, D>::implementation::set_points(const points_view<T, D>& points,
                                                           const std::uint32_t* system_of_point) {
  usable = false;
  choose(static_cast<double>(points.count));
  for (;;) {
    try {
      build();
      detail::plan_access::set_points(*spreading, points, system_of_point);
      break;
    } catch (const argument_error&) {
      // Windows are in the order of their oversampling, the largest first.
      if (options.most_bytes == 0 || chosen + 1 >= windows.size()) throw;
      least_chosen = ++chosen;
      refused_for = static_cast<double>(points.count);
    }
  }
  usable = true;
}

template <typename Context, typename T, int D>
void nufft_plan<Context, T, D>::implementation::set_points_async(const points_view<T, D>& points,
                                                                 const std::uint32_t* system_of_point) {
  require(usable,
          "set_points has not been called, or has failed; set_points_async works in the memory that "
          "it makes");
  detail::plan_access::set_points_async(*spreading, points, system_of_point);
}

template <typename Context, typename T, int D>
detail::mesh_ends nufft_plan<Context, T, D>::implementation::ends() const {
  const auto all = meshes();
  return {static_cast<std::size_t>(all.stack.systems), all.along(), static_cast<std::size_t>(all.stack.spacing),
          all.layer() * (real() ? 1 : 2)};
}

template <typename Context, typename T, int D>
detail::mode_map<T> nufft_plan<Context, T, D>::implementation::map() const {
  detail::mode_map<T> map{};
  const auto all = meshes();
  const T* factor = factors.data();
  for (int axis = 0; axis < 3; ++axis) {
    map.modes[axis] = problem.modes[axis];
    map.stored[axis] = problem.stored(axis);
    map.extent[axis] = all.one.axis[axis];
    map.factor[axis] = factor;
    factor += problem.modes[axis] / 2 + 1;
  }
  map.row = transform->spectrum_row();
  map.fft_order = options.order == mode_order::fft;
  map.real = real();
  map.systems = static_cast<std::size_t>(all.stack.systems);
  map.apart = held() / 2 / map.systems;
  return map;
}

}  // namespace quadrat
