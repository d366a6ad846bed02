// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/points.hpp"
#include "harness/session.hpp"
#include "harness/stopwatch.hpp"
#include "mesh/plan_access.hpp"
#include "mesh/probe.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/mesh/methods.hpp"
#include "quadrat/mesh/spread_plan.hpp"

namespace quadrat::bench {

/// Points in the periodic cube [-1/2, 1/2)^3, in random memory order as N x 3, and values in [-1, 1), on the host and
/// in the memory of a context. For any n, the first n points are a problem of their own.
template <typename Context, typename T>
class spread_problem {
 public:
  spread_problem(const Context& context, std::vector<T> coordinates)
      : coordinates_(std::move(coordinates)),
        values_(random_points<T>(coordinates_.size() / 3, 1, 52)),
        points_(to_device(context, coordinates_)),
        device_values_(to_device(context, values_)) {}

  [[nodiscard]] std::size_t size() const { return coordinates_.size() / 3; }
  [[nodiscard]] points_view<T, 3> points(std::size_t count) const { return strided_points<3>(points_.data(), count); }
  /// At least two per point: real values use the first ones, complex values two at a time.
  [[nodiscard]] const T* values() const { return device_values_.data(); }
  [[nodiscard]] const std::vector<T>& coordinates_on_host() const { return coordinates_; }
  [[nodiscard]] const std::vector<T>& values_on_host() const { return values_; }

 private:
  std::vector<T> coordinates_, values_;
  array<T, Context> points_, device_values_;
};

/// Moves half of the points into a central cube with a hundredth of the volume. In memory they stay mixed with the
/// others.
template <typename T>
[[nodiscard]] std::vector<T> clustered_points(std::size_t n) {
  std::vector<T> points = random_points<T>(n, 0.5, 51);
  const double shrink = std::cbrt(0.01);
  for (std::size_t i = 0; i < n; ++i) {
    if (random_word(53, i) % 2 == 0) continue;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      points[3 * i + axis] = static_cast<T>(shrink * static_cast<double>(points[3 * i + axis]));
    }
  }
  return points;
}

/// Normally distributed around one place, with a standard deviation of 0.004.
template <typename T>
[[nodiscard]] std::vector<T> spot_of_points(std::size_t n) {
  constexpr double pi = 3.14159265358979323846;
  std::vector<T> points(3 * n);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double far = std::sqrt(-2 * std::log(1 - random_unit(54, i)));
    points[i] = static_cast<T>(0.1 + 0.004 * far * std::cos(2 * pi * random_unit(55, i)));
  }
  return points;
}

/// Uniform points; "clustered"; "spot"; on a "line" along the first axis; or "one_place", which all points share.
template <typename T>
[[nodiscard]] std::vector<T> points_with(std::size_t n, std::string_view distribution) {
  if (distribution == "clustered") return clustered_points<T>(n);
  if (distribution == "spot") return spot_of_points<T>(n);
  std::vector<T> points = random_points<T>(n, 0.5, 51);
  if (distribution == "line") {
    for (std::size_t i = 3; i < points.size(); ++i) points[i] = i % 3 == 0 ? points[i] : points[i % 3];
  }
  if (distribution == "one_place") {
    for (std::size_t i = 3; i < points.size(); ++i) points[i] = points[i % 3];
  }
  return points;
}

/// The problem with `n` points, made once for all operations.
template <typename Context, typename T>
[[nodiscard]] const spread_problem<Context, T>& make_problem(const session& s, const Context& context, std::size_t n,
                                                             std::string_view distribution) {
  using problem_type = spread_problem<Context, T>;
  const std::string key = message("mesh problem of ", sizeof(T), " bytes, ", n, " ", distribution);
  return *s.once<std::shared_ptr<problem_type>>(
      key, [&] { return std::make_shared<problem_type>(context, points_with<T>(n, distribution)); });
}

/// A probe and its values at the points of a problem.
template <typename T>
struct placed_probe {
  template <typename Context>
  placed_probe(const spread_problem<Context, T>& problem, int mesh, int order)
      : probe(mesh, order), at_points(probe.at_points(problem.coordinates_on_host())) {}

  mesh_probe probe;
  std::vector<double> at_points;
};

template <typename Context, typename T>
[[nodiscard]] const placed_probe<T>& make_probe(const session& s, const spread_problem<Context, T>& problem, int mesh,
                                                int order, std::string_view distribution) {
  const std::string key = message("mesh probe for ", sizeof(T), " bytes, ", problem.size(), " ", distribution,
                                  ", mesh ", mesh, ", order ", order);
  return *s.once<std::shared_ptr<placed_probe<T>>>(
      key, [&] { return std::make_shared<placed_probe<T>>(problem, mesh, order); });
}

template <typename Context, typename T>
[[nodiscard]] spread_plan<Context, T, 3> make_spread_plan(const Context& context, int mesh, int order,
                                                          const spread_options& options,
                                                          const detail::plan_details& details = {}) {
  const auto half = vec<T, 3>::filled(T(0.5));
  const auto domain = make_box(half * T(-1), half, vec<bool, 3>::filled(true));
  return detail::plan_access::make(context, domain, vec<int, 3>::filled(mesh), bspline_window<T>(order), options,
                                   details);
}

[[nodiscard]] constexpr std::size_t cube_of(int mesh) {
  const auto extent = static_cast<std::size_t>(mesh);
  return extent * extent * extent;
}

/// Spreads real values (1 component) or complex ones (2).
template <typename Context, typename T>
void spread_components(spread_plan<Context, T, 3>& plan, int components, const T* values, T* mesh) {
  if (components == 1) return plan.spread_async(values, mesh);
  plan.spread_async(reinterpret_cast<const std::complex<T>*>(values), reinterpret_cast<std::complex<T>*>(mesh));
}

/// Spreads once and compares with the probe. Returns the error of the check sums.
template <typename Context, typename T>
double check_spread(const Context& context, const spread_problem<Context, T>& problem, const placed_probe<T>& placed,
                    spread_plan<Context, T, 3>& plan, int components, array<T, Context>& mesh) {
  fill_bytes(context, mesh.data(), 0xff, mesh.bytes());  // NaN
  spread_components(plan, components, problem.values(), mesh.data());
  const std::vector<T> found = to_host(context, mesh);
  double deviation = 0;
  for (int c = 0; c < components; ++c) {
    const probe_sum expected =
        sum_over_points(problem.values_on_host(), components, c, placed.at_points, plan.point_count());
    const double sum = placed.probe.over_mesh(found, components, c);
    deviation = std::max(deviation, require_agreement(sum, expected, sizeof(T) == 4));
  }
  return deviation;
}

/// Times set_points, which waits, with memory already allocated.
template <typename Context, typename T>
[[nodiscard]] timing time_set_points(const Context& context, const spread_problem<Context, T>& problem,
                                     spread_plan<Context, T, 3>& plan, std::size_t n, const timing_plan& how) {
  plan.set_points(problem.points(n));
  stopwatch<Context> watch(context);
  return repeat(how, [&] {
    watch.start();
    plan.set_points(problem.points(n));
    return watch.stop_ms();
  });
}

/// The first keys of a row of the topic.
[[nodiscard]] row identify_mesh(std::string_view operation, std::string_view method, std::string_view precision,
                                std::size_t n, int mesh, int order, std::string_view distribution);

}  // namespace quadrat::bench
