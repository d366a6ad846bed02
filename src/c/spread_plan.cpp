// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/mesh/spread_plan.hpp"

#include <complex>

#include "c/arrays.hpp"
#include "core/backend.hpp"

namespace quadrat::c {

/// The operation of a call.
enum class mesh_verb { spread, interpolate, gradient };

}  // namespace quadrat::c

struct quadrat_spread_plan : quadrat::c::handle {
  virtual void set_points(const quadrat_points* points, bool wait) = 0;
  virtual void check() = 0;
  virtual void run(quadrat::c::mesh_verb verb, const void* from, void* to, const quadrat_mesh_call& call,
                   bool wait) = 0;
};

namespace quadrat::c {

using spread_plan_handle = std::unique_ptr<quadrat_spread_plan>;
spread_plan_handle make_plan(const cpu_context& context, const quadrat_spread_options& options);
spread_plan_handle make_plan(const cuda_context& context, const quadrat_spread_options& options);

namespace {

[[nodiscard]] spread_options spread_options_of(const quadrat_spread_options& given) {
  spread_options result;
  for (int axis = 0; axis < given.dimension; ++axis) result.exact_lengths[axis] = given.domain.length[axis];
  result.method = text_of(given.method);
  result.autotune = given.autotune != 0;
  result.uses = or_default(given.uses, result.uses);
  result.clip = given.clip != 0;
  result.accept_outside = given.accept_outside != 0;
  if (given.both_ends != 0) result.ends = open_ends::both;
  return result;
}

template <int D>
[[nodiscard]] vec<int, D> extents_of(const int* extents) {
  vec<int, D> result{};
  for (int axis = 0; axis < D; ++axis) result[axis] = extents[axis];
  return result;
}

template <typename Context, typename T, int D>
class spread_plan_on final : public quadrat_spread_plan {
 public:
  spread_plan_on(const Context& context, const quadrat_spread_options& options)
      : context_(context),
        plan_(context, box_of<T, D>(options.domain), extents_of<D>(options.mesh), options.order,
              spread_options_of(options)) {}

  void set_points(const quadrat_points* points, bool wait) override {
    const auto places = points_at<T, D>(context_, points);
    wait ? plan_.set_points(places) : plan_.set_points_async(places);
    if (wait) context_.synchronize();  // the caller may free or change the points from here on
  }
  void check() override { plan_.check(); }

  void run(mesh_verb verb, const void* from, void* to, const quadrat_mesh_call& call, bool wait) override {
    const mesh_call how{or_default(call.vectors, 1), call.accumulate != 0};
    const std::size_t at_points = plan_.point_count(), on_mesh = plan_.mesh_size();
    const bool spreads = verb == mesh_verb::spread;
    const auto with_values = [&](auto value) {
      using V = decltype(value);
      execute(verb, array_of<V>(context_, from, spreads ? at_points : on_mesh, spreads ? "values" : "mesh"),
              results_in<V>(context_, to, spreads ? on_mesh : at_points,
                            spreads                          ? "mesh"
                            : verb == mesh_verb::interpolate ? "values"
                                                             : "gradients"),
              how);
    };
    call.complex_values != 0 ? with_values(std::complex<T>{}) : with_values(T{});
    if (wait) plan_.check();
  }
  [[nodiscard]] quadrat_info info() override { return info_of(plan_); }

 private:
  template <typename V>
  void execute(mesh_verb verb, const V* from, V* to, const mesh_call& how) {
    if (verb == mesh_verb::spread) return plan_.spread_async(from, to, how);
    if (verb == mesh_verb::interpolate) return plan_.interpolate_async(from, to, how);
    plan_.interpolate_gradient_async(from, to, how);
  }

  Context context_;
  spread_plan<Context, T, D> plan_;
};

}  // namespace

spread_plan_handle make_plan(const backend_context& context, const quadrat_spread_options& options) {
  return with_instance<1>(options.type, options.dimension, [&](auto t, auto d) -> spread_plan_handle {
    return std::make_unique<spread_plan_on<backend_context, decltype(t), d.value>>(context, options);
  });
}

#if QUADRAT_BACKEND_CPU

static int run_plan(quadrat_spread_plan* plan, mesh_verb verb, const void* from, void* to,
                    const quadrat_mesh_call* call, bool wait) {
  return with(plan, [&](auto& one) { one.run(verb, from, to, taken_or_default(call, "call"), wait); });
}

extern "C" {

int quadrat_spread_plan_create(quadrat_context* context, const quadrat_spread_options* options,
                               quadrat_spread_plan** plan) {
  return create(context, plan, [&](const auto& backend) {
    return make_plan(backend, taken(options, offsetof(quadrat_spread_options, clip), "options"));
  });
}
void quadrat_spread_plan_destroy(quadrat_spread_plan* plan) { destroy(plan); }
int quadrat_spread_plan_set_points(quadrat_spread_plan* plan, const quadrat_points* points) {
  return with(plan, [&](auto& one) { one.set_points(points, true); });
}
int quadrat_spread_plan_set_points_async(quadrat_spread_plan* plan, const quadrat_points* points) {
  return with(plan, [&](auto& one) { one.set_points(points, false); });
}
int quadrat_spread_plan_check(quadrat_spread_plan* plan) {
  return with(plan, [](auto& one) { one.check(); });
}
int quadrat_spread_plan_spread(quadrat_spread_plan* plan, const void* values, void* mesh,
                               const quadrat_mesh_call* call) {
  return run_plan(plan, mesh_verb::spread, values, mesh, call, true);
}
int quadrat_spread_plan_spread_async(quadrat_spread_plan* plan, const void* values, void* mesh,
                                     const quadrat_mesh_call* call) {
  return run_plan(plan, mesh_verb::spread, values, mesh, call, false);
}
int quadrat_spread_plan_interpolate(quadrat_spread_plan* plan, const void* mesh, void* values,
                                    const quadrat_mesh_call* call) {
  return run_plan(plan, mesh_verb::interpolate, mesh, values, call, true);
}
int quadrat_spread_plan_interpolate_async(quadrat_spread_plan* plan, const void* mesh, void* values,
                                          const quadrat_mesh_call* call) {
  return run_plan(plan, mesh_verb::interpolate, mesh, values, call, false);
}
int quadrat_spread_plan_interpolate_gradient(quadrat_spread_plan* plan, const void* mesh, void* gradients,
                                             const quadrat_mesh_call* call) {
  return run_plan(plan, mesh_verb::gradient, mesh, gradients, call, true);
}
int quadrat_spread_plan_interpolate_gradient_async(quadrat_spread_plan* plan, const void* mesh, void* gradients,
                                                   const quadrat_mesh_call* call) {
  return run_plan(plan, mesh_verb::gradient, mesh, gradients, call, false);
}
int quadrat_spread_plan_info(quadrat_spread_plan* plan, quadrat_info* to) { return info(plan, to); }

}  // extern "C"

#endif

}  // namespace quadrat::c
