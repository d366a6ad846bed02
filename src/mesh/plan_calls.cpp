// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/plan.hpp"

#include <algorithm>
#include <complex>
#include <memory>
#include <type_traits>

#include "core/backend.hpp"

namespace quadrat {

template <typename Context, typename T, int D>
spread_plan<Context, T, D>::spread_plan(const Context& context, const box<T, D>& domain, const vec<int, D>& mesh,
                                        int order, const spread_options& options)
    : spread_plan(context, domain, mesh, bspline_window<T>(order), options) {}
template <typename Context, typename T, int D>
spread_plan<Context, T, D>::spread_plan(const Context& context, const box<T, D>& domain, const vec<int, D>& mesh,
                                        const mesh_window<T>& window, const spread_options& options)
    : spread_plan(context, domain, mesh, window, options, {}) {}
template <typename Context, typename T, int D>
spread_plan<Context, T, D>::spread_plan(const Context& context, const box<T, D>& domain, const vec<int, D>& mesh,
                                        const mesh_window<T>& window, const spread_options& options,
                                        const detail::plan_details& details)
    : implementation_(std::make_unique<implementation>(context, domain, mesh, window, options, details)) {}

template <typename Context, typename T, int D>
void spread_plan<Context, T, D>::set_points(const points_view<T, D>& points) {
  set_points(points, nullptr);
}
template <typename Context, typename T, int D>
void spread_plan<Context, T, D>::set_points(const points_view<T, D>& points, const std::uint32_t* system_of_point) {
  implementation_->set_points(points, system_of_point);
}
template <typename Context, typename T, int D>
void spread_plan<Context, T, D>::set_points_async(const points_view<T, D>& points) {
  set_points_async(points, nullptr);
  if constexpr (std::is_same_v<Context, cpu_context>) check();
}
template <typename Context, typename T, int D>
void spread_plan<Context, T, D>::set_points_async(const points_view<T, D>& points,
                                                  const std::uint32_t* system_of_point) {
  implementation_->set_points_async(points, system_of_point);
}
template <typename Context, typename T, int D>
void spread_plan<Context, T, D>::check() {
  implementation_->check();
}

template <typename Context, typename T, int D>
void spread_plan<Context, T, D>::require_lengths(std::size_t of_points, std::string_view name, std::size_t of_mesh,
                                                 const mesh_call& call) const {
  const auto vectors = static_cast<std::size_t>(std::max(call.vectors, 0));
  require(of_points == vectors * point_count(), "there are ", of_points, " ", name, "; ", call.vectors, " vectors of ",
          point_count(), " are needed");
  require(of_mesh == vectors * mesh_size(), "there are ", of_mesh, " mesh values; ", call.vectors, " vectors of ",
          mesh_size(), " are needed");
}

// The layout comes first: it throws if no points are set, and then there may be no engine.
template <typename Context, typename T, int D>
void spread_plan<Context, T, D>::spread_async(const T* values, T* mesh, const mesh_call& call) {
  const auto layout = implementation_->layout(1, call, values, mesh);
  implementation_->spread(layout, values, mesh, call.accumulate);
}
template <typename Context, typename T, int D>
void spread_plan<Context, T, D>::spread_async(const std::complex<T>* values, std::complex<T>* mesh,
                                              const mesh_call& call) {
  const auto layout = implementation_->layout(2, call, values, mesh);
  implementation_->spread(layout, reinterpret_cast<const T*>(values), reinterpret_cast<T*>(mesh), call.accumulate);
}

template <typename Context, typename T, int D>
void spread_plan<Context, T, D>::interpolate_async(const T* mesh, T* values, const mesh_call& call) {
  const auto layout = implementation_->layout(1, call, values, mesh);
  implementation_->interpolate(layout, mesh, values, call.accumulate);
}
template <typename Context, typename T, int D>
void spread_plan<Context, T, D>::interpolate_async(const std::complex<T>* mesh, std::complex<T>* values,
                                                   const mesh_call& call) {
  const auto layout = implementation_->layout(2, call, values, mesh);
  implementation_->interpolate(layout, reinterpret_cast<const T*>(mesh), reinterpret_cast<T*>(values), call.accumulate);
}

template <typename Context, typename T, int D>
void spread_plan<Context, T, D>::interpolate_gradient_async(const T* mesh, T* gradients, const mesh_call& call) {
  const auto layout = implementation_->layout(1, call, gradients, mesh);
  implementation_->interpolate_gradient(layout, mesh, nullptr, gradients, call.accumulate);
}
template <typename Context, typename T, int D>
void spread_plan<Context, T, D>::interpolate_gradient_async(const std::complex<T>* mesh, std::complex<T>* gradients,
                                                            const mesh_call& call) {
  const auto layout = implementation_->layout(2, call, gradients, mesh);
  implementation_->interpolate_gradient(layout, reinterpret_cast<const T*>(mesh), nullptr,
                                        reinterpret_cast<T*>(gradients), call.accumulate);
}

template <typename Context, typename T, int D>
void spread_plan<Context, T, D>::interpolate_with_gradient_async(const T* mesh, T* values, T* gradients,
                                                                 const mesh_call& call) {
  const auto layout = implementation_->layout(1, call, values, mesh);
  require_pointer(gradients, implementation_->count, "gradients");
  implementation_->interpolate_gradient(layout, mesh, values, gradients, call.accumulate);
}
template <typename Context, typename T, int D>
void spread_plan<Context, T, D>::interpolate_with_gradient_async(const std::complex<T>* mesh, std::complex<T>* values,
                                                                 std::complex<T>* gradients, const mesh_call& call) {
  const auto layout = implementation_->layout(2, call, values, mesh);
  require_pointer(gradients, implementation_->count, "gradients");
  implementation_->interpolate_gradient(layout, reinterpret_cast<const T*>(mesh), reinterpret_cast<T*>(values),
                                        reinterpret_cast<T*>(gradients), call.accumulate);
}

template <typename Context, typename T, int D>
mesh_left_out spread_plan<Context, T, D>::left_out() const {
  require(implementation_->usable, "no points are set; call set_points first (and again where it failed)");
  require(!implementation_->unchecked, "set_points_async does not count what is left out; set_points does");
  return implementation_->left_out;
}
template <typename Context, typename T, int D>
const Context& spread_plan<Context, T, D>::context() const {
  return implementation_->context;
}
template <typename Context, typename T, int D>
std::size_t spread_plan<Context, T, D>::point_count() const {
  return implementation_->count;
}
template <typename Context, typename T, int D>
const mesh_window<T>& spread_plan<Context, T, D>::window() const {
  return implementation_->setup.window;
}
template <typename Context, typename T, int D>
std::size_t spread_plan<Context, T, D>::mesh_size() const {
  return implementation_->setup.shape.size();
}
template <typename Context, typename T, int D>
std::string_view spread_plan<Context, T, D>::method() const {
  return implementation_->method;
}
template <typename Context, typename T, int D>
std::string_view spread_plan<Context, T, D>::reason() const {
  return implementation_->reason();
}
template <typename Context, typename T, int D>
explanation spread_plan<Context, T, D>::explanation() const {
  const implementation& plan = *implementation_;
  quadrat::explanation result = detail::explain_spread_method(plan.choice.request, profile_of(plan.context));
  result.chosen = plan.method;
  result.reason = reason();
  result.changes = plan.tuner.changes();
  return result;
}
template <typename Context, typename T, int D>
std::size_t spread_plan<Context, T, D>::bytes() const {
  const implementation& plan = *implementation_;
  return plan.scratch.bytes() + (plan.engine != nullptr ? plan.engine->bytes() : 0);
}

template class spread_plan<backend_context, float, 1>;
template class spread_plan<backend_context, float, 2>;
template class spread_plan<backend_context, float, 3>;
template class spread_plan<backend_context, double, 1>;
template class spread_plan<backend_context, double, 2>;
template class spread_plan<backend_context, double, 3>;

}  // namespace quadrat
