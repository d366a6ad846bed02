// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/spectral/nufft_target_plan.hpp"

#include <cmath>
#include <numbers>

#include "core/backend.hpp"
#include "core/point_checks.hpp"
#include "mesh/checks.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/mesh/spread_plan.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/reduce.hpp"
#include "quadrat/parallel/workspace.hpp"
#include "spectral/checks.hpp"
#include "spectral/targets.hpp"
#include "spectral/transform.hpp"

namespace quadrat {

namespace {

/// Index: point. Its coordinate along an axis.
template <typename T>
struct coordinate_of {
  const T* component;
  std::size_t stride;

  QUADRAT_HD T operator()(std::size_t i) const { return component[i * stride]; }
};

/// Index: point. exp(i center . x), for the center of the targets.
template <typename T, int D>
struct turn_point {
  points_view<T, D> points;
  vec<double, D> center;
  T* turns;

  QUADRAT_HD void operator()(std::size_t i) const {
    double angle = 0;
    for (int d = 0; d < D; ++d) angle += center[d] * static_cast<double>(points.component[d][i * points.stride]);
    turns[2 * i] = static_cast<T>(std::cos(angle));
    turns[2 * i + 1] = static_cast<T>(std::sin(angle));
  }
};

/// Index: target. exp(i (s - its center) . center of the points), divided by the transforms of the window.
template <typename T, int D>
struct turn_target {
  points_view<T, D> targets;
  vec<double, D> center, middle, spacing;
  detail::inverse_transform inverse;
  T* turns;

  QUADRAT_HD void operator()(std::size_t i) const {
    double angle = 0, factor = 1;
    for (int d = 0; d < D; ++d) {
      const double s = static_cast<double>(targets.component[d][i * targets.stride]) - center[d];
      angle += s * middle[d];
      factor *= inverse(s * spacing[d] * (0.5 / std::numbers::pi));
    }
    turns[2 * i] = static_cast<T>(factor * std::cos(angle));
    turns[2 * i + 1] = static_cast<T>(factor * std::sin(angle));
  }
};

/// Index: point or target. to[i] = from[i] turns[i], or its conjugate.
template <typename T>
struct multiply_turns {
  const T* from;
  const T* turns;
  T* to;
  T sign;

  QUADRAT_HD void operator()(std::size_t i) const {
    const T re = turns[2 * i], im = sign * turns[2 * i + 1];
    const T a = from[2 * i], b = from[2 * i + 1];
    to[2 * i] = a * re - b * im;
    to[2 * i + 1] = a * im + b * re;
  }
};

/// data_error about a target instead of a point.
template <typename Call>
void about_targets(const Call& call) {
  try {
    call();
  } catch (const data_error& problem) {
    if (!problem.index()) throw;
    throw data_error(message("targets: ", problem.what()), *problem.index());
  }
}

}  // namespace

template <typename Context, typename T, int D>
struct nufft_target_plan<Context, T, D>::implementation {
  implementation(const Context& where, double tolerance, const nufft_target_options& wanted)
      : context(where), options(wanted), accuracy(detail::target_accuracy_of<T>(tolerance, D)) {
    detail::require_spread_method(wanted.method, where, accuracy.outer.window.width);
    detail::require_spread_method(wanted.method, where, accuracy.inner_width);
    detail::require_fft_library<T>(wanted.fft, where);
  }

  [[nodiscard]] detail::interval extent_of(const points_view<T, D>& points, int axis);
  void set_points(const points_view<T, D>& points, const points_view<T, D>& targets);
  void place(const points_view<T, D>& points, const points_view<T, D>& targets);
  void set_plans(const points_view<T, D>& points, const points_view<T, D>& targets);
  [[nodiscard]] std::size_t left_of_most(std::size_t taken) const;
  void turn(const points_view<T, D>& points, const points_view<T, D>& targets);
  [[nodiscard]] int checked_sign(const nufft_call& call, const void* values, const void* results) const;
  void multiply(const std::complex<T>* from, const array<std::complex<T>, Context>& turns, int sign,
                std::complex<T>* to);

  Context context;
  nufft_target_options options;
  detail::target_accuracy<T> accuracy;
  detail::target_axis axes[D] = {};
  std::unique_ptr<spread_plan<Context, T, D>> spreading;
  std::unique_ptr<nufft_plan<Context, T, D>> inner;  ///< from the mesh, as modes, to the targets
  array<std::complex<T>, Context> mesh, turned, point_turns, target_turns;
  workspace<Context> scratch;
  std::size_t points_set = 0, targets_set = 0;
  std::size_t own_bytes = 0;  ///< of the arrays
  bool usable = false;
};

/// Of the finite coordinates: those that are not are reported when points are placed.
template <typename Context, typename T, int D>
detail::interval nufft_target_plan<Context, T, D>::implementation::extent_of(const points_view<T, D>& points,
                                                                             int axis) {
  if (points.count == 0) return {0, 0};
  const coordinate_of<T> coordinate{points.component[axis], points.stride};
  const T low = reduce_minimum(context, "spectral.least", points.count, coordinate, scratch);
  const T high = reduce_maximum(context, "spectral.greatest", points.count, coordinate, scratch);
  if (!std::isfinite(low) || !std::isfinite(high)) return {0, 0};
  return {static_cast<double>(low), static_cast<double>(high)};
}

template <typename Context, typename T, int D>
void nufft_target_plan<Context, T, D>::implementation::place(const points_view<T, D>& points,
                                                             const points_view<T, D>& targets) {
  spreading.reset();
  inner.reset();
  if (options.most_bytes != 0) {
    for (auto* numbers : {&mesh, &turned, &point_turns, &target_turns}) *numbers = array<std::complex<T>, Context>();
  }
  double size = 1;
  for (int d = 0; d < D; ++d) {
    axes[d] = detail::target_axis_of<T>(accuracy, extent_of(points, d), extent_of(targets, d), d);
    size *= axes[d].nodes;
  }
  own_bytes = (static_cast<std::size_t>(size) + points.count + targets.count + std::max(points.count, targets.count)) *
              sizeof(std::complex<T>);
  detail::require_target_memory(context.memory(), size, own_bytes,
                                mesh.bytes() + turned.bytes() + point_turns.bytes() + target_turns.bytes(),
                                options.most_bytes);
}

/// What is allowed besides the arrays and the bytes that are taken, at least 1; 0 for whatever is free.
template <typename Context, typename T, int D>
std::size_t nufft_target_plan<Context, T, D>::implementation::left_of_most(std::size_t taken) const {
  if (options.most_bytes == 0) return 0;
  return options.most_bytes > own_bytes + taken ? options.most_bytes - own_bytes - taken : 1;
}

/// Makes the plans and sets their points.
template <typename Context, typename T, int D>
void nufft_target_plan<Context, T, D>::implementation::set_plans(const points_view<T, D>& points,
                                                                 const points_view<T, D>& targets) {
  spread_options how;
  how.most_bytes = left_of_most(0);
  how.method = options.method;
  nufft_options inner_how;
  inner_how.oversampling = accuracy.inner_oversampling;
  inner_how.method = options.method;
  inner_how.fft = options.fft;
  box<T, D> domain{};
  vec<int, D> nodes{};
  std::size_t size = 1;
  for (int d = 0; d < D; ++d) {
    nodes[d] = axes[d].nodes;
    size *= static_cast<std::size_t>(nodes[d]);
    how.exact_lengths[d] = axes[d].nodes * axes[d].spacing;
    domain.lower[d] = static_cast<T>(axes[d].lower);
    domain.length[d] = static_cast<T>(how.exact_lengths[d]);
    domain.periodic[d] = true;
    inner_how.period[d] = 2 * std::numbers::pi / axes[d].spacing;
    inner_how.origin[d] = axes[d].target_center;
  }
  spreading = std::make_unique<spread_plan<Context, T, D>>(context, domain, nodes, accuracy.outer.window, how);
  spreading->set_points(points);
  inner_how.most_bytes = left_of_most(spreading->bytes());
  inner = std::make_unique<nufft_plan<Context, T, D>>(context, nodes, accuracy.inner_tolerance, inner_how);
  about_targets([&] { inner->set_points(targets); });
  mesh.resize_discarding(context, size);
}

template <typename Context, typename T, int D>
void nufft_target_plan<Context, T, D>::implementation::turn(const points_view<T, D>& points,
                                                            const points_view<T, D>& targets) {
  turned.resize_discarding(context, std::max(points.count, targets.count));
  point_turns.resize_discarding(context, points.count);
  target_turns.resize_discarding(context, targets.count);
  const auto of_axes = [&](double detail::target_axis::*member) {
    return make_vec<double, D>([&](int d) { return axes[d].*member; });
  };
  const auto center = of_axes(&detail::target_axis::target_center);
  for_each(context, "spectral.turn_points", points.count,
           turn_point<T, D>{points, center, reinterpret_cast<T*>(point_turns.data())});
  for_each(
      context, "spectral.turn_targets", targets.count,
      turn_target<T, D>{targets, center, of_axes(&detail::target_axis::middle), of_axes(&detail::target_axis::spacing),
                        accuracy.inverse, reinterpret_cast<T*>(target_turns.data())});
}

template <typename Context, typename T, int D>
void nufft_target_plan<Context, T, D>::implementation::set_points(const points_view<T, D>& points,
                                                                  const points_view<T, D>& targets) {
  usable = false;
  detail::require_points(points, "points");
  detail::require_points(targets, "targets");
  place(points, targets);
  set_plans(points, targets);
  turn(points, targets);
  context.synchronize();  // the caller may free the points
  points_set = points.count;
  targets_set = targets.count;
  usable = true;
}

template <typename Context, typename T, int D>
int nufft_target_plan<Context, T, D>::implementation::checked_sign(const nufft_call& call, const void* values,
                                                                   const void* results) const {
  require(usable, "no points are set; call set_points first (and again where it failed)");
  require_pointer(values, points_set, "values");
  require_pointer(results, targets_set, "results");
  return detail::checked_sign(call, 1);
}

/// For all points or all targets.
template <typename Context, typename T, int D>
void nufft_target_plan<Context, T, D>::implementation::multiply(const std::complex<T>* from,
                                                                const array<std::complex<T>, Context>& turns, int sign,
                                                                std::complex<T>* to) {
  for_each(context, "spectral.turn", turns.size(),
           multiply_turns<T>{reinterpret_cast<const T*>(from), reinterpret_cast<const T*>(turns.data()),
                             reinterpret_cast<T*>(to), static_cast<T>(sign)});
}

template <typename Context, typename T, int D>
nufft_target_plan<Context, T, D>::nufft_target_plan(const Context& context, double tolerance,
                                                    const nufft_target_options& options)
    : implementation_(std::make_unique<implementation>(context, tolerance, options)) {}
template <typename Context, typename T, int D>
nufft_target_plan<Context, T, D>::nufft_target_plan(nufft_target_plan&&) noexcept = default;
template <typename Context, typename T, int D>
nufft_target_plan<Context, T, D>& nufft_target_plan<Context, T, D>::operator=(nufft_target_plan&&) noexcept = default;
template <typename Context, typename T, int D>
nufft_target_plan<Context, T, D>::~nufft_target_plan() = default;

template <typename Context, typename T, int D>
void nufft_target_plan<Context, T, D>::set_points(const points_view<T, D>& points, const points_view<T, D>& targets) {
  implementation_->set_points(points, targets);
}

template <typename Context, typename T, int D>
void nufft_target_plan<Context, T, D>::type_3(const std::complex<T>* values, std::complex<T>* results,
                                              const nufft_call& call) {
  implementation& plan = *implementation_;
  const int sign = plan.checked_sign(call, values, results);
  for (std::size_t v = 0; v < static_cast<std::size_t>(call.vectors); ++v) {
    std::complex<T>* const to = results + v * plan.targets_set;
    plan.multiply(values + v * plan.points_set, plan.point_turns, sign, plan.turned.data());
    plan.spreading->spread(plan.turned.data(), plan.mesh.data());
    plan.inner->type_2(plan.mesh.data(), to, {1, sign});
    plan.multiply(to, plan.target_turns, sign, to);
  }
}

template <typename Context, typename T, int D>
void nufft_target_plan<Context, T, D>::type_3_adjoint(const std::complex<T>* results, std::complex<T>* values,
                                                      const nufft_call& call) {
  implementation& plan = *implementation_;
  const int sign = plan.checked_sign(call, values, results);
  for (std::size_t v = 0; v < static_cast<std::size_t>(call.vectors); ++v) {
    std::complex<T>* const to = values + v * plan.points_set;
    plan.multiply(results + v * plan.targets_set, plan.target_turns, -sign, plan.turned.data());
    plan.inner->type_1(plan.turned.data(), plan.mesh.data(), {1, -sign});
    plan.spreading->interpolate(plan.mesh.data(), to);
    plan.multiply(to, plan.point_turns, -sign, to);
  }
}

template <typename Context, typename T, int D>
std::size_t nufft_target_plan<Context, T, D>::point_count() const {
  return implementation_->usable ? implementation_->points_set : 0;
}
template <typename Context, typename T, int D>
std::size_t nufft_target_plan<Context, T, D>::target_count() const {
  return implementation_->usable ? implementation_->targets_set : 0;
}
template <typename Context, typename T, int D>
double nufft_target_plan<Context, T, D>::error_bound() const {
  return implementation_->accuracy.error;
}
template <typename Context, typename T, int D>
int nufft_target_plan<Context, T, D>::width() const {
  return implementation_->accuracy.outer.window.width;
}
template <typename Context, typename T, int D>
std::string_view nufft_target_plan<Context, T, D>::method() const {
  const auto& spreading = implementation_->spreading;
  return spreading == nullptr ? std::string_view() : spreading->method();
}
template <typename Context, typename T, int D>
vec<int, D> nufft_target_plan<Context, T, D>::mesh() const {
  return make_vec<int, D>([&](int d) { return implementation_->axes[d].nodes; });
}
template <typename Context, typename T, int D>
std::size_t nufft_target_plan<Context, T, D>::bytes() const {
  const implementation& plan = *implementation_;
  std::size_t bytes = plan.scratch.bytes() + plan.mesh.bytes() + plan.turned.bytes() + plan.point_turns.bytes() +
                      plan.target_turns.bytes();
  if (plan.spreading != nullptr) bytes += plan.spreading->bytes();
  if (plan.inner != nullptr) bytes += plan.inner->bytes();
  return bytes;
}

template class nufft_target_plan<backend_context, float, 1>;
template class nufft_target_plan<backend_context, float, 2>;
template class nufft_target_plan<backend_context, float, 3>;
template class nufft_target_plan<backend_context, double, 1>;
template class nufft_target_plan<backend_context, double, 2>;
template class nufft_target_plan<backend_context, double, 3>;

}  // namespace quadrat
