// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/mesh/spread_plan.hpp"

#include <algorithm>
#include <mutex>
#include <optional>

#include "core/backend.hpp"
#include "core/built_backend.hpp"
#include "core/memory_check.hpp"
#include "core/point_checks.hpp"
#include "mesh/checks.hpp"
#include "mesh/choice.hpp"
#include "mesh/engine.hpp"
#include "mesh/left_out.hpp"
#include "mesh/methods.hpp"
#include "parallel/capture.hpp"
#include "quadrat/parallel/fault.hpp"
#include "quadrat/parallel/reduce.hpp"
#include "quadrat/parallel/workspace.hpp"

namespace quadrat {

template <typename Context, typename T, int D>
struct spread_plan<Context, T, D>::implementation {
  implementation(const Context& where, const box<T, D>& box, const vec<int, D>& mesh, const mesh_window<T>& window,
                 const spread_options& options)
      : context(where),
        domain(box),
        one(detail::make_shape(domain, mesh, window)),
        extents(mesh),
        setup{detail::stacked(one, options.stack), window, options},
        faults(where) {
    detail::check_spread_options(options);
    detail::require_spread_method(options.method, context, window.width);
  }

  void set_points(const points_view<T, D>& points, const std::uint32_t* system_of_point);
  void set_points_asynchronously(const points_view<T, D>& points, const std::uint32_t* system_of_point);
  void check();
  void choose(const points_view<T, D>& points);
  [[nodiscard]] std::string advice(std::size_t needed, std::size_t points) const;
  [[nodiscard]] detail::spread_request request_for(const points_view<T, D>& points);
  [[nodiscard]] bool choice_holds(std::size_t points);
  [[nodiscard]] std::string_view reason();
  void count_left_out(const detail::point_placement<T>& placement);
  void require_input(const points_view<T, D>& points, const std::uint32_t* system_of_point) const;
  [[nodiscard]] detail::point_placement<T> placement(const points_view<T, D>& points,
                                                     const std::uint32_t* system_of_point);
  [[nodiscard]] std::string complaint(const points_view<T, D>& points, const std::uint32_t* system_of_point,
                                      const fault_report& fault) const;
  void interpolate_gradient(const detail::value_layout& layout, const T* mesh, T* values, T* gradients,
                            bool accumulate);
  [[nodiscard]] detail::value_layout layout(int components, const mesh_call& call, const void* values,
                                            const void* mesh);

  Context context;
  box<T, D> domain;
  detail::mesh_shape one;  ///< of one system
  vec<int, D> extents;
  detail::spread_setup<T> setup;
  fault_state<Context> faults;
  std::unique_ptr<detail::spread_engine<Context, T>> engine;
  std::string_view method;
  detail::spread_choice choice;
  std::size_t chosen_for = 0;  ///< the number of points of the choice
  double unseen_ms = 0;        ///< expected for the points of the choice, if they were not sampled
  double unseen_work_ms = 0;   ///< of all such points so far
  std::string reason_text;     ///< of the choice; made when it is asked for
  std::mutex reason_lock;
  std::size_t count = 0;
  std::optional<std::size_t> room;  ///< points of the last set_points, if it succeeded
  mesh_left_out left_out;
  workspace<Context> scratch;
  bool usable = false;
  bool unchecked = false;  ///< faults may have been raised since set_points
  bool captured = false;   ///< a graph may have the engine's work
};

/// The load that a method is chosen for. Points are sampled where that takes little of the time that is expected
/// without, for these points or for all since the plan was made: a choice by numbers alone may miss what clusters do.
template <typename Context, typename T, int D>
detail::spread_request spread_plan<Context, T, D>::implementation::request_for(const points_view<T, D>& points) {
  constexpr bool cuda = std::is_same_v<Context, cuda_context>;
  const determinism level = context.reproducibility();
  int threads = 1;
  if constexpr (!cuda) threads = level == determinism::none ? context.threads() : detail::usual_threads;
  detail::spread_request request = detail::request_of(cuda, level, setup, points.count, threads);
  if (setup.options.most_bytes > 0) {
    request.free_bytes = static_cast<double>(setup.options.most_bytes);
  } else if (level == determinism::none) {
    request.free_bytes = static_cast<double>(context.memory().available_bytes());
  }
  const detail::spread_choice plain = detail::choose_spread_method(request, profile_of(context));
  if (plain.times.size() == 1) return request;
  unseen_ms = plain.times[0].milliseconds;
  if (detail::worth_sampling(cuda, std::max(unseen_ms, unseen_work_ms), level != determinism::none)) {
    workspace<Context> memory;  // not kept: it is not among the bytes that the method needs
    detail::sample_for(request, context, points, domain, extents, memory);
    unseen_ms = unseen_work_ms = 0;
  }
  return request;
}

/// Whether a method that was chosen for as many points stays: until there has been work that is worth a sample, if
/// these were not sampled. Where runs must be repeatable the first points decide, and a captured graph works in the
/// memory of the method.
template <typename Context, typename T, int D>
bool spread_plan<Context, T, D>::implementation::choice_holds(std::size_t points) {
  if (engine == nullptr || chosen_for != points) return false;
  constexpr bool cuda = std::is_same_v<Context, cuda_context>;
  if (captured || unseen_ms == 0 || context.reproducibility() != determinism::none) return true;
  unseen_work_ms += unseen_ms;
  return !detail::worth_sampling(cuda, unseen_work_ms);
}

/// Makes the engine of the requested method, or of the one that suits these points.
template <typename Context, typename T, int D>
void spread_plan<Context, T, D>::implementation::choose(const points_view<T, D>& points) {
  if (choice_holds(points.count)) return;
  const std::string& asked = setup.options.method;
  if (asked.empty() || asked == "auto") {
    choice = detail::choose_spread_method(request_for(points), profile_of(context));
  } else {
    constexpr bool cuda = std::is_same_v<Context, cuda_context>;
    choice = {asked, {}, detail::request_of(cuda, context.reproducibility(), setup, points.count)};
  }
  chosen_for = points.count;
  reason_text.clear();
  if (engine != nullptr && method == choice.method) return;
  engine.reset();
  detail::spread_method_list::with(detail::spread_method_kind, choice.method, [&](auto tag) {
    using tag_type = decltype(tag);
    method = tag_type::name;
    if constexpr (detail::backend_is_built<Context> &&
                  (std::is_same_v<Context, cpu_context> ? tag_type::on_cpu : tag_type::on_cuda)) {
      engine = std::make_unique<typename tag_type::template engine<Context, T>>(context, setup);
    }
  });
}

/// What to do where a method needs more bytes than there are.
template <typename Context, typename T, int D>
std::string spread_plan<Context, T, D>::implementation::advice(std::size_t needed, std::size_t points) const {
  const std::size_t least = points * sizeof(detail::placed_point<T>);
  return needed > least ? message("The method particle needs ", least, " bytes") : "No method needs much less";
}

/// For const functions, which several threads may call at once.
template <typename Context, typename T, int D>
std::string_view spread_plan<Context, T, D>::implementation::reason() {
  const std::lock_guard guard(reason_lock);
  if (reason_text.empty() && !choice.method.empty()) reason_text = choice.reason();
  return reason_text;
}

template <typename Context, typename T, int D>
detail::point_placement<T> spread_plan<Context, T, D>::implementation::placement(const points_view<T, D>& points,
                                                                                 const std::uint32_t* system_of_point) {
  detail::point_placement<T> placement{};
  for (int d = 0; d < D; ++d) {
    const int axis = d + setup.shape.first_axis;
    placement.axis[axis] =
        detail::make_mesh_axis(domain, d, one.extent[axis], one.width[axis], setup.options.exact_lengths[d]);
    placement.component[axis] = points.component[d];
  }
  placement.stride = points.stride;
  placement.count = points.count;
  placement.refuse_outside = setup.options.outside == outside_points::refuse;
  placement.refuse_beyond = setup.options.beyond == points_beyond::refuse;
  placement.clip = setup.options.edges == open_footprints::clip;
  placement.faults = faults.flag();
  placement.system = system_of_point;
  placement.systems = static_cast<std::uint32_t>(setup.options.stack.systems);
  placement.stacked_axis = setup.shape.first_axis;
  placement.system_spacing = setup.options.stack.spacing;
  return placement;
}

template <typename Context, typename T, int D>
void spread_plan<Context, T, D>::implementation::count_left_out(const detail::point_placement<T>& placement) {
  left_out = {};
  if (domain.periodic == vec<bool, D>::filled(true) || (!placement.clip && placement.refuse_beyond)) return;
  const vec<std::uint64_t, 3> sums =
      reduce_sum(context, "mesh.left_out", count, detail::left_out_of_point<T>{placement}, scratch);
  left_out = {sums[0], sums[1], sums[2]};
}

template <typename Context, typename T, int D>
void spread_plan<Context, T, D>::implementation::require_input(const points_view<T, D>& points,
                                                               const std::uint32_t* system_of_point) const {
  detail::require_points(points, "points");
  const int systems = setup.options.stack.systems;
  require(systems > 1 || system_of_point == nullptr, "system_of_point was given, but the plan is for one system");
  if (systems > 1) require_pointer(system_of_point, points.count, "system_of_point");
}

template <typename Context, typename T, int D>
void spread_plan<Context, T, D>::implementation::set_points(const points_view<T, D>& points,
                                                            const std::uint32_t* system_of_point) {
  usable = unchecked = false;
  room.reset();
  require_input(points, system_of_point);
  choose(points);
  const std::size_t needed = engine->bytes_needed(points.count);
  detail::require_memory(context.memory(), {method, "points", needed, engine->bytes(), advice(needed, points.count)},
                         setup.options.most_bytes);
  count = points.count;
  faults.clear(context);
  const detail::point_placement<T> placed = placement(points, system_of_point);
  engine->set_points(placed);
  const fault_report fault = faults.read(context);
  if (fault.kind != fault_kind::none) throw data_error(complaint(points, system_of_point, fault), fault.index);
  count_left_out(placed);
  room = points.count;
  usable = true;
}

template <typename Context, typename T, int D>
void spread_plan<Context, T, D>::implementation::set_points_asynchronously(const points_view<T, D>& points,
                                                                           const std::uint32_t* system_of_point) {
  require_input(points, system_of_point);
  require(room.has_value(),
          "set_points has not been called, or has failed; it finds the memory that "
          "set_points_asynchronously works in");
  require(points.count <= *room, "there are ", points.count, " points, but the last set_points had ", *room,
          "; set_points_asynchronously works in the memory of that call");
  require(engine->can_set_points_asynchronously(), "the method ", method,
          " has to know where points are before it can store them, here at least; call set_points, or use particle or "
          "tiles");
  captured = captured || detail::is_capturing(context);
  const bool failed = unchecked && !usable;
  usable = false;
  if (failed) faults.clear(context);
  count = points.count;
  engine->set_points_asynchronously(placement(points, system_of_point));
  usable = unchecked = true;
}

template <typename Context, typename T, int D>
void spread_plan<Context, T, D>::implementation::check() {
  if (!unchecked) return;
  const fault_report fault = faults.read(context);
  if (fault.kind == fault_kind::none) return;
  usable = false;
  throw data_error(detail::late_point_complaint(fault.index, fault.kind, setup.options.stack), fault.index);
}

/// What is wrong with a point, and what would be accepted.
template <typename Context, typename T, int D>
std::string spread_plan<Context, T, D>::implementation::complaint(const points_view<T, D>& points,
                                                                  const std::uint32_t* system_of_point,
                                                                  const fault_report& fault) const {
  const std::size_t i = fault.index;
  if (fault.kind == fault_kind::key_range) {
    return message("point ", i, " is of system ", to_host(context, system_of_point + i, 1)[0], "; there are ",
                   setup.options.stack.systems, ", numbered from 0");
  }
  const vec<T, D> point = detail::point_to_host(context, points, i);
  return detail::point_complaint(domain, one, setup.options, i, point, fault.kind);
}

template <typename Context, typename T, int D>
detail::value_layout spread_plan<Context, T, D>::implementation::layout(int components, const mesh_call& call,
                                                                        const void* values, const void* mesh) {
  require(usable, "no points are set; call set_points first (and again where it failed)");
  require(call.vectors >= 1, "there are ", call.vectors, " value vectors; at least 1 is needed");
  require_pointer(values, count, "values");
  require_pointer(mesh, setup.shape.size(), "mesh values");
  captured = captured || detail::is_capturing(context);
  return {count, setup.shape.size(), components, call.vectors};
}

template <typename Context, typename T, int D>
void spread_plan<Context, T, D>::implementation::interpolate_gradient(const detail::value_layout& layout, const T* mesh,
                                                                      T* values, T* gradients, bool accumulate) {
  const vec<T, 3> scale = detail::gradient_scale(domain, one);
  engine->interpolate_gradient(layout, mesh, scale.component, values, gradients, accumulate);
}

template <typename Context, typename T, int D>
spread_plan<Context, T, D>::spread_plan(const Context& context, const box<T, D>& domain, const vec<int, D>& mesh,
                                        int order, const spread_options& options)
    : spread_plan(context, domain, mesh, bspline_window<T>(order), options) {}
template <typename Context, typename T, int D>
spread_plan<Context, T, D>::spread_plan(const Context& context, const box<T, D>& domain, const vec<int, D>& mesh,
                                        const mesh_window<T>& window, const spread_options& options)
    : implementation_(std::make_unique<implementation>(context, domain, mesh, window, options)) {}
template <typename Context, typename T, int D>
spread_plan<Context, T, D>::spread_plan(spread_plan&&) noexcept = default;
template <typename Context, typename T, int D>
spread_plan<Context, T, D>& spread_plan<Context, T, D>::operator=(spread_plan&&) noexcept = default;
template <typename Context, typename T, int D>
spread_plan<Context, T, D>::~spread_plan() = default;

template <typename Context, typename T, int D>
void spread_plan<Context, T, D>::set_points(const points_view<T, D>& points, const std::uint32_t* system_of_point) {
  implementation_->set_points(points, system_of_point);
}
template <typename Context, typename T, int D>
void spread_plan<Context, T, D>::set_points_asynchronously(const points_view<T, D>& points,
                                                           const std::uint32_t* system_of_point) {
  implementation_->set_points_asynchronously(points, system_of_point);
}
template <typename Context, typename T, int D>
void spread_plan<Context, T, D>::check() {
  implementation_->check();
}

// The layout comes first: it throws if no points are set, and then there may be no engine.
template <typename Context, typename T, int D>
void spread_plan<Context, T, D>::spread(const T* values, T* mesh, const mesh_call& call) {
  const auto layout = implementation_->layout(1, call, values, mesh);
  implementation_->engine->spread(layout, values, mesh, call.accumulate);
}
template <typename Context, typename T, int D>
void spread_plan<Context, T, D>::spread(const std::complex<T>* values, std::complex<T>* mesh, const mesh_call& call) {
  const auto layout = implementation_->layout(2, call, values, mesh);
  implementation_->engine->spread(layout, reinterpret_cast<const T*>(values), reinterpret_cast<T*>(mesh),
                                  call.accumulate);
}

template <typename Context, typename T, int D>
void spread_plan<Context, T, D>::interpolate(const T* mesh, T* values, const mesh_call& call) {
  const auto layout = implementation_->layout(1, call, values, mesh);
  implementation_->engine->interpolate(layout, mesh, values, call.accumulate);
}
template <typename Context, typename T, int D>
void spread_plan<Context, T, D>::interpolate(const std::complex<T>* mesh, std::complex<T>* values,
                                             const mesh_call& call) {
  const auto layout = implementation_->layout(2, call, values, mesh);
  implementation_->engine->interpolate(layout, reinterpret_cast<const T*>(mesh), reinterpret_cast<T*>(values),
                                       call.accumulate);
}

template <typename Context, typename T, int D>
void spread_plan<Context, T, D>::interpolate_gradient(const T* mesh, T* gradients, const mesh_call& call) {
  const auto layout = implementation_->layout(1, call, gradients, mesh);
  implementation_->interpolate_gradient(layout, mesh, nullptr, gradients, call.accumulate);
}
template <typename Context, typename T, int D>
void spread_plan<Context, T, D>::interpolate_gradient(const std::complex<T>* mesh, std::complex<T>* gradients,
                                                      const mesh_call& call) {
  const auto layout = implementation_->layout(2, call, gradients, mesh);
  implementation_->interpolate_gradient(layout, reinterpret_cast<const T*>(mesh), nullptr,
                                        reinterpret_cast<T*>(gradients), call.accumulate);
}

template <typename Context, typename T, int D>
void spread_plan<Context, T, D>::interpolate_with_gradient(const T* mesh, T* values, T* gradients,
                                                           const mesh_call& call) {
  const auto layout = implementation_->layout(1, call, values, mesh);
  require_pointer(gradients, implementation_->count, "gradients");
  implementation_->interpolate_gradient(layout, mesh, values, gradients, call.accumulate);
}
template <typename Context, typename T, int D>
void spread_plan<Context, T, D>::interpolate_with_gradient(const std::complex<T>* mesh, std::complex<T>* values,
                                                           std::complex<T>* gradients, const mesh_call& call) {
  const auto layout = implementation_->layout(2, call, values, mesh);
  require_pointer(gradients, implementation_->count, "gradients");
  implementation_->interpolate_gradient(layout, reinterpret_cast<const T*>(mesh), reinterpret_cast<T*>(values),
                                        reinterpret_cast<T*>(gradients), call.accumulate);
}

template <typename Context, typename T, int D>
mesh_left_out spread_plan<Context, T, D>::left_out() const {
  require(implementation_->usable, "no points are set; call set_points first (and again where it failed)");
  require(!implementation_->unchecked, "set_points_asynchronously does not count what is left out; set_points does");
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
  result.chosen = plan.choice.method;
  result.reason = reason();
  return result;
}
template <typename Context, typename T, int D>
std::size_t spread_plan<Context, T, D>::bytes() const {
  const implementation& plan = *implementation_;
  return plan.scratch.bytes() + (plan.engine == nullptr ? 0 : plan.engine->bytes());
}

template class spread_plan<backend_context, float, 1>;
template class spread_plan<backend_context, float, 2>;
template class spread_plan<backend_context, float, 3>;
template class spread_plan<backend_context, double, 1>;
template class spread_plan<backend_context, double, 2>;
template class spread_plan<backend_context, double, 3>;

}  // namespace quadrat
