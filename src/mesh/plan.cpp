// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/plan.hpp"

#include <algorithm>
#include <memory>
#include <type_traits>

#include "core/backend.hpp"
#include "core/built_backend.hpp"
#include "core/memory_check.hpp"
#include "core/point_checks.hpp"
#include "mesh/left_out.hpp"
#include "mesh/methods.hpp"
#include "quadrat/parallel/reduce.hpp"

namespace quadrat {

/// The load for which a method is chosen. Points are sampled for the first choice, and again when their number changes,
/// because numbers alone do not show clusters. If runs must be repeatable, points are sampled only where that takes a
/// small part of the expected time.
template <typename Context, typename T, int D>
detail::spread_request detail::plan_state<Context, T, D>::request_for(const points_view<T, D>& points) {
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
  if (plain.times.size() == 1 || points.count == 0) return request;
  if (level == determinism::none) {
    if (request.take_sample_of(sampled)) return request;
  } else if (!detail::worth_sampling(cuda, plain.times[0].milliseconds / detail::samples_of_points, true)) {
    return request;
  }
  workspace<Context> memory;  // temporary: not counted in the method's bytes
  detail::sample_for(request, context, points, domain, extents, memory);
  sampled = request;
  return request;
}

/// Makes the engine of the requested method, or chooses one for these points. A method chosen for the same number of
/// points is kept.
template <typename Context, typename T, int D>
void detail::plan_state<Context, T, D>::choose(const points_view<T, D>& points) {
  const auto count_now = static_cast<double>(points.count);
  if (engine != nullptr && (chosen_for == points.count || tuner.covers(count_now))) {
    chosen_for = points.count;
    return;
  }
  if (chooses()) {
    choice = detail::choose_spread_method(request_for(points), profile_of(context));
  } else {
    constexpr bool cuda = std::is_same_v<Context, cuda_context>;
    choice = {setup.options.method, {}, detail::request_of(cuda, context.reproducibility(), setup, points.count)};
  }
  chosen_for = points.count;
  reason_text.clear();
  use_method(choice.method);
  if (setup.options.autotune && chooses()) tuner.begin(choice.times, count_now, setup.options.uses);
}

/// Makes the engine of a method if it changes. Drops the previous engine first, so that two never hold
/// memory.
template <typename Context, typename T, int D>
void detail::plan_state<Context, T, D>::use_method(std::string_view name) {
  if (engine != nullptr && name == method) return;
  engine.reset();
  method = {};
  detail::spread_method_list::with(detail::spread_method_kind, name, [&](auto record) {
    using record_type = decltype(record);
    if constexpr (detail::backend_is_built<Context> && detail::runs_on<Context, record_type>) {
      if constexpr (detail::of_papers<record_type>) {
        engine = detail::paper_engine<record_type, detail::spread_engine_maker<Context, T>>(context, setup);
      } else {
        engine = std::make_unique<typename record_type::template engine<Context, T>>(context, setup);
      }
    }
    method = record_type::name;
    sets_points_async = detail::does_set_points_async<record_type>(choice.request);
  });
}

/// The advice for a method that needs more memory than there is.
template <typename Context, typename T, int D>
std::string detail::plan_state<Context, T, D>::advice(std::size_t needed, std::size_t points) const {
  const std::size_t least = points * sizeof(detail::placed_point<T>);
  return needed > least ? message("The method particle needs ", least, " bytes") : "No method needs much less";
}

/// For const functions, which several threads may call at once.
template <typename Context, typename T, int D>
std::string_view detail::plan_state<Context, T, D>::reason() {
  const std::lock_guard guard(reason_lock);
  if (reason_text.empty() && !choice.method.empty()) reason_text = choice.reason();
  return reason_text;
}

template <typename Context, typename T, int D>
detail::point_placement<T> detail::plan_state<Context, T, D>::placement(const points_view<T, D>& points,
                                                                        const std::uint32_t* system_of_point) {
  detail::point_placement<T> placement{};
  for (int d = 0; d < D; ++d) {
    const int axis = d + setup.shape.first_axis;
    placement.axis[axis] =
        detail::make_mesh_axis(domain, d, one.extent[axis], one.width[axis], setup.options, setup.details.part.axis[d]);
    placement.component[axis] = points.component[d];
  }
  placement.stride = points.stride;
  placement.count = points.count;
  placement.accept_outside = setup.options.accept_outside;
  placement.clip = setup.options.clip;
  placement.faults = faults.flag();
  placement.system = system_of_point;
  placement.systems = static_cast<std::uint32_t>(setup.details.stack.systems);
  placement.stacked_axis = setup.shape.first_axis;
  placement.system_spacing = setup.details.stack.spacing;
  return placement;
}

template <typename Context, typename T, int D>
void detail::plan_state<Context, T, D>::count_left_out(const detail::point_placement<T>& placement) {
  left_out = {};
  if (domain.periodic == vec<bool, D>::filled(true) || (!placement.clip && !placement.accept_outside)) return;
  const vec<std::uint64_t, 3> sums =
      reduce_sum(context, "mesh.left_out", count, detail::left_out_of_point<T>{placement}, scratch);
  left_out = {sums[0], sums[1], sums[2]};
}

template <typename Context, typename T, int D>
void detail::plan_state<Context, T, D>::require_input(const points_view<T, D>& points,
                                                      const std::uint32_t* system_of_point) const {
  detail::require_points(points, "points");
  const int systems = setup.details.stack.systems;
  require(systems > 1 || system_of_point == nullptr, "system_of_point was given, but the plan is for one system");
  if (systems > 1) require_pointer(system_of_point, points.count, "system_of_point");
}

template <typename Context, typename T, int D>
void detail::plan_state<Context, T, D>::set_points(const points_view<T, D>& points,
                                                   const std::uint32_t* system_of_point) {
  usable = unchecked = false;
  room.reset();
  require_input(points, system_of_point);
  choose(points);
  if (tuner.active()) {
    tuner.turn(context, static_cast<double>(points.count), [&](std::string_view name) {
      use_method(name);
      place(points, system_of_point);
    });
  } else {
    place(points, system_of_point);
  }
  room = points.count;
  usable = true;
}

/// Hands the points to the engine. Waits.
template <typename Context, typename T, int D>
void detail::plan_state<Context, T, D>::place(const points_view<T, D>& points, const std::uint32_t* system_of_point) {
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
}

template <typename Context, typename T, int D>
void detail::plan_state<Context, T, D>::set_points_async(const points_view<T, D>& points,
                                                         const std::uint32_t* system_of_point) {
  require_input(points, system_of_point);
  require(room.has_value(),
          "set_points has not been called, or has failed; set_points_async works in "
          "the memory that it makes");
  require(points.count <= *room, "there are ", points.count, " points, but the last set_points had ", *room,
          "; set_points_async works in the memory of that call");
  if (!sets_points_async) detail::refuse_points_async(method, choice.request);
  tuner.stop();  // the memory is that of the last set_points
  const bool failed = unchecked && !usable;
  usable = false;
  if (failed) faults.clear(context);
  count = points.count;
  engine->set_points_async(placement(points, system_of_point));
  usable = unchecked = true;
}

template <typename Context, typename T, int D>
void detail::plan_state<Context, T, D>::check() {
  if (!unchecked) return context.synchronize();
  const fault_report fault = faults.read(context);
  if (fault.kind == fault_kind::none) return;
  usable = false;
  throw data_error(detail::late_point_complaint(fault.index, fault.kind, setup.details.stack), fault.index);
}

/// The message about an invalid point, with the accepted values.
template <typename Context, typename T, int D>
std::string detail::plan_state<Context, T, D>::complaint(const points_view<T, D>& points,
                                                         const std::uint32_t* system_of_point,
                                                         const fault_report& fault) const {
  const std::size_t i = fault.index;
  if (fault.kind == fault_kind::key_range) {
    return message("point ", i, " is of system ", to_host(context, system_of_point + i, 1)[0], "; there are ",
                   setup.details.stack.systems, ", numbered from 0");
  }
  const vec<T, D> point = detail::point_to_host(context, points, i);
  return detail::point_complaint(domain, one, setup.options, setup.details, i, point, fault.kind);
}

template <typename Context, typename T, int D>
detail::value_layout detail::plan_state<Context, T, D>::layout(int components, const mesh_call& call,
                                                               const void* values, const void* mesh) {
  require(usable, "no points are set; call set_points first (and again where it failed)");
  require(call.vectors >= 1, "there are ", call.vectors, " value vectors; at least 1 is needed");
  require_pointer(values, count, "values");
  require_pointer(mesh, setup.shape.size(), "mesh values");
  return {count, setup.shape.size(), components, call.vectors};
}

template <typename Context, typename T, int D>
void detail::plan_state<Context, T, D>::interpolate_gradient(const detail::value_layout& layout, const T* mesh,
                                                             T* values, T* gradients, bool accumulate) {
  const vec<T, 3> scale = detail::gradient_scale(domain, one, setup.options.ends);
  tuner.use(context,
            [&] { engine->interpolate_gradient(layout, mesh, scale.component, values, gradients, accumulate); });
}

template struct detail::plan_state<backend_context, float, 1>;
template struct detail::plan_state<backend_context, float, 2>;
template struct detail::plan_state<backend_context, float, 3>;
template struct detail::plan_state<backend_context, double, 1>;
template struct detail::plan_state<backend_context, double, 2>;
template struct detail::plan_state<backend_context, double, 3>;

}  // namespace quadrat
