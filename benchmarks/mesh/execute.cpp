// SPDX-License-Identifier: BSD-3-Clause
#include <type_traits>

#include "mesh/operations.hpp"
#include "mesh/problem.hpp"

namespace quadrat::bench {

row identify_mesh(std::string_view operation, std::string_view method, std::string_view precision, std::size_t n,
                  int mesh, int order, std::string_view distribution) {
  return {{"op", operation}, {"method", method}, {"precision", precision}, {"dim", 3},
          {"n", n},          {"mesh", mesh},     {"order", order},         {"distribution", distribution}};
}

namespace {

/// One row to measure.
struct execution {
  std::string_view operation;
  std::string method;
  std::size_t n;
  int mesh;
  int order = 6;
  int components = 1;
  determinism level = determinism::none;
  std::string_view distribution = "uniform";
  bool reads_spread = false;  ///< interpolates from the mesh onto which the points' own values were spread
  double uniform_ms = 0;      ///< time with as many uniform points, for comparison; 0: none
};

template <typename T>
[[nodiscard]] row identity_of(const execution& what) {
  row identity = identify_mesh(what.operation, what.method, std::is_same_v<T, float> ? "float" : "double", what.n,
                               what.mesh, what.order, what.distribution);
  if (what.operation != "set_points") identity["value"] = what.components == 1 ? "real" : "complex";
  if (what.level != determinism::none) identity["determinism"] = "run_to_run";
  if (what.reads_spread) identity["reads"] = "spread";
  return identity;
}

/// On the CPU a sample may take seconds.
timing_plan execution_plan(const session& s) {
  timing_plan plan = s.plan();
  if (!s.on_cuda()) plan.least = 5;
  return plan;
}

template <typename Context, typename T>
timing execute_spread(const session& s, const Context& context, const spread_problem<Context, T>& problem,
                      const placed_probe<T>& placed, const execution& what, spread_plan<Context, T, 3>& plan,
                      double& deviation) {
  array<T, Context> mesh(context, plan.mesh_size() * static_cast<std::size_t>(what.components));
  deviation = check_spread(context, problem, placed, plan, what.components, mesh);
  return time_repeated(context, execution_plan(s),
                       [&] { spread_components(plan, what.components, problem.values(), mesh.data()); });
}

/// Sets the points and spreads, like a simulation step with moved points.
template <typename T>
timing time_set_and_spread(const session& s, const cpu_context& context, const spread_problem<cpu_context, T>& problem,
                           const execution& what, spread_plan<cpu_context, T, 3>& plan) {
  array<T, cpu_context> mesh(context, plan.mesh_size() * static_cast<std::size_t>(what.components));
  stopwatch<cpu_context> watch(context);
  return repeat(execution_plan(s), [&] {
    watch.start();
    plan.set_points(problem.points(what.n));
    spread_components(plan, what.components, problem.values(), mesh.data());
    return watch.stop_ms();
  });
}

/// The mesh to interpolate from: that of the probe, or that of the points' own values.
template <typename Context, typename T>
array<T, Context> mesh_to_read(const Context& context, const spread_problem<Context, T>& problem,
                               const placed_probe<T>& placed, const execution& what, spread_plan<Context, T, 3>& plan) {
  if (!what.reads_spread) return to_device(context, placed.probe.template on_mesh<T>(what.components));
  array<T, Context> mesh(context, plan.mesh_size() * static_cast<std::size_t>(what.components));
  spread_components(plan, what.components, problem.values(), mesh.data());
  return mesh;
}

/// Checks interpolation from the points' own mesh: since spreading and interpolation are adjoint, the sum must equal
/// the sum of squares over the mesh.
template <typename T>
double check_own_mesh(const std::vector<T>& found, const std::vector<T>& values, const std::vector<T>& mesh,
                      int components, std::size_t n) {
  double deviation = 0;
  for (int c = 0; c < components; ++c) {
    std::vector<double> of_points(n);
    for (std::size_t i = 0; i < n; ++i)
      of_points[i] = values[i * static_cast<std::size_t>(components) + static_cast<std::size_t>(c)];
    double squares = 0;
    for (std::size_t k = static_cast<std::size_t>(c); k < mesh.size(); k += static_cast<std::size_t>(components)) {
      squares += static_cast<double>(mesh[k]) * static_cast<double>(mesh[k]);
    }
    const probe_sum sum = sum_over_points(found, components, c, of_points, n);
    deviation = std::max(deviation, require_agreement(squares, sum, sizeof(T) == 4));
  }
  return deviation;
}

/// Compares interpolated values with the probe: number `part` of the `parts` numbers per point.
template <typename T>
double check_interpolated(const std::vector<T>& found, const std::vector<T>& values, const std::vector<double>& g,
                          int parts, int part, int component, std::size_t n) {
  std::vector<double> weight(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(n));
  const double found_sum = sum_over_points(found, parts, part, weight, n).sum;
  probe_sum expected = sum_over_points(weight, 1, 0, g, n);
  const double scale = component == 0 ? 1 : 0.5;
  return require_agreement(found_sum, {scale * expected.sum, scale * expected.norm}, sizeof(T) == 4);
}

template <typename Context, typename T>
timing execute_interpolate(const session& s, const Context& context, const spread_problem<Context, T>& problem,
                           const placed_probe<T>& placed, const execution& what, spread_plan<Context, T, 3>& plan,
                           double& deviation) {
  const array<T, Context> mesh = mesh_to_read(context, problem, placed, what, plan);
  array<T, Context> values(context, what.n * static_cast<std::size_t>(what.components));
  const auto work = [&] {
    if (what.components == 1) return plan.interpolate_async(mesh.data(), values.data());
    plan.interpolate_async(reinterpret_cast<const std::complex<T>*>(mesh.data()),
                           reinterpret_cast<std::complex<T>*>(values.data()));
  };
  work();
  const std::vector<T> found = to_host(context, values);
  if (what.reads_spread) {
    deviation = check_own_mesh(found, problem.values_on_host(), to_host(context, mesh), what.components, what.n);
  }
  for (int c = 0; c < what.components && !what.reads_spread; ++c) {
    deviation = std::max(deviation, check_interpolated(found, problem.values_on_host(), placed.at_points,
                                                       what.components, c, c, what.n));
  }
  return time_repeated(context, execution_plan(s), work);
}

template <typename Context, typename T>
timing execute_gradient(const session& s, const Context& context, const spread_problem<Context, T>& problem,
                        const placed_probe<T>& placed, const execution& what, spread_plan<Context, T, 3>& plan,
                        double& deviation) {
  const array<T, Context> mesh = mesh_to_read(context, problem, placed, what, plan);
  const std::size_t count = what.n * static_cast<std::size_t>(what.components);
  const bool with_values = what.operation == "interpolate_with_gradient";
  array<T, Context> gradients(context, 3 * count), values(context, with_values ? count : 0);
  const auto run = [&](const auto* from, auto* to, auto* slopes) {
    if (with_values) return plan.interpolate_with_gradient_async(from, to, slopes);
    plan.interpolate_gradient_async(from, slopes);
  };
  const auto work = [&] {
    if (what.components == 1) return run(mesh.data(), values.data(), gradients.data());
    run(reinterpret_cast<const std::complex<T>*>(mesh.data()), reinterpret_cast<std::complex<T>*>(values.data()),
        reinterpret_cast<std::complex<T>*>(gradients.data()));
  };
  work();
  const std::vector<T> found = to_host(context, gradients);
  // Only rows that read the probe check gradients.
  for (int axis = 0; axis < 3 && !what.reads_spread; ++axis) {
    const std::vector<double> g = placed.probe.at_points(problem.coordinates_on_host(), axis);
    for (int c = 0; c < what.components; ++c) {
      deviation = std::max(deviation, check_interpolated(found, problem.values_on_host(), g, 3 * what.components,
                                                         axis * what.components + c, c, what.n));
    }
  }
  return time_repeated(context, execution_plan(s), work);
}

template <typename Context, typename T>
timing execute(const session& s, const Context& context, const spread_problem<Context, T>& problem,
               const execution& what, spread_plan<Context, T, 3>& plan, double& deviation) {
  if (what.operation == "set_points") return time_set_points(context, problem, plan, what.n, execution_plan(s));
  const placed_probe<T>& placed = make_probe(s, problem, what.mesh, what.order, what.distribution);
  if (what.operation == "spread") return execute_spread(s, context, problem, placed, what, plan, deviation);
  if (what.operation == "interpolate") return execute_interpolate(s, context, problem, placed, what, plan, deviation);
  return execute_gradient(s, context, problem, placed, what, plan, deviation);
}

/// Returns the median, or 0 if the row could not be measured.
template <typename T, typename Context>
double time_execution(const session& s, const Context& context, std::size_t most, const execution& what) {
  double median = 0;
  s.attempt(identity_of<T>(what), [&](row& out) {
    const auto& problem = make_problem<Context, T>(s, context, most, what.distribution);
    const auto run_on = [&](const Context& chosen) {
      spread_options options;
      options.method = what.method;
      auto plan = make_spread_plan<Context, T>(chosen, what.mesh, what.order, options);
      plan.set_points(problem.points(what.n));
      double deviation = 0;
      const timing measured = execute(s, chosen, problem, what, plan, deviation);
      if (what.method == "auto") out["chosen"] = std::string(plan.method());
      if (std::is_same_v<Context, cuda_context>) out["graph"] = what.operation != "set_points";
      if (what.uniform_ms > 0) out["over_uniform"] = measured.median_ms / what.uniform_ms;
      add_timing(out, measured, "points_per_s", static_cast<double>(what.n));
      if constexpr (std::is_same_v<Context, cpu_context>) {
        if (what.operation == "spread") {
          out["set_and_execute_ms"] = time_set_and_spread<T>(s, chosen, problem, what, plan).median_ms;
        }
      }
      if (what.operation != "set_points") out["deviation"] = deviation;
      out["bytes"] = plan.bytes();
      median = measured.median_ms;
    };
    run_on(what.level == determinism::none ? context : make_context<Context>(s, what.level));
  });
  return median;
}

/// "tiles", or the automatic choice if it does not exist; with --method the named methods.
std::vector<std::string> methods_to_execute(const session& s, determinism level) {
  std::vector<std::string> names = s.asked().methods;
  if (names.empty() && level != determinism::none) names = {"tiles", "single_mesh"};
  std::erase_if(names, [&](const std::string& name) {
    const auto methods = spread_methods();
    const auto found = std::ranges::find(methods, name, &spread_method::name);
    if (found == methods.end()) return name != "auto" || level != determinism::none;
    const bool here = s.on_cuda() ? found->on_cuda : found->on_cpu;
    return !here || found->wrong_results || static_cast<int>(found->reproducible) < static_cast<int>(level);
  });
  if (!s.asked().methods.empty() || level != determinism::none) return names;
  const auto methods = spread_methods();
  const bool tiles = std::ranges::any_of(methods, [&](const spread_method& method) {
    return method.name == "tiles" && (s.on_cuda() ? method.on_cuda : method.on_cpu);
  });
  return {tiles ? "tiles" : "auto"};
}

/// The sizes to measure on this device, quick or full.
struct execution_sizes {
  std::vector<int> meshes;
  std::vector<std::size_t> counts;
  int usual_mesh;  ///< for rows outside the table of meshes and counts; these use the most points
};

execution_sizes sizes_for(const session& s) {
  if (!s.full()) return {{32}, {10'000}, 32};
  if (!s.on_cuda()) return {{64, 128}, {100'000, 1'000'000}, 128};
  return {{64, 128, 256}, {100'000, 1'000'000, 10'000'000}, 128};
}

/// Double precision, other orders, clustered points, and few points on a large mesh, all at one place.
template <typename Context>
void time_variants(const session& s, const Context& context, const execution& base, const execution_sizes& sizes) {
  const std::size_t most = sizes.counts.back();
  const auto with = [&](const auto& change) {
    execution what = base;
    change(what);
    return what;
  };
  if (base.operation != "set_points" || !s.on_cuda()) time_execution<double>(s, context, most, base);
  if (base.operation != "set_points" && !s.on_cuda()) {
    time_execution<double>(s, context, most, with([](execution& what) { what.components = 2; }));
  }
  for (const int order : {4, 8}) {
    time_execution<float>(s, context, most, with([&](execution& what) { what.order = order; }));
  }
  time_execution<float>(s, context, most, with([](execution& what) { what.distribution = "clustered"; }));
  time_execution<float>(s, context, most, with([&](execution& what) {
                          what.distribution = "one_place";
                          what.mesh = sizes.meshes.back();
                          what.n = sizes.counts[sizes.counts.size() / 2];
                        }));
}

template <typename Context>
void execute_all(const session& s, const Context& context, std::string_view operation) {
  const execution_sizes sizes = sizes_for(s);
  const std::size_t most = sizes.counts.back();
  const bool values = operation != "set_points";
  for (const std::string& method : methods_to_execute(s, determinism::none)) {
    const execution base{operation, method, most, sizes.usual_mesh};
    double usual = 0;
    for (const int mesh : sizes.meshes) {
      for (const std::size_t n : sizes.counts) {
        for (const int components : {1, 2}) {
          if (components == 2 && !values) continue;
          const double median = time_execution<float>(s, context, most, {operation, method, n, mesh, 6, components});
          if (components == 1 && mesh == base.mesh && n == most) usual = median;
        }
      }
    }
    time_variants(s, context, base, sizes);
    if (usual > 0) s.out().add_noise(identity_of<float>(base), usual, time_execution<float>(s, context, most, base));
  }
  if (operation != "spread" && operation != "set_points") return;
  for (const std::string& method : methods_to_execute(s, determinism::run_to_run)) {
    execution what{operation, method, most, sizes.usual_mesh};
    what.level = determinism::run_to_run;
    time_execution<float>(s, context, most, what);
  }
}

/// One operation with uniform points, and with crowded ones.
template <typename T, typename Context>
void time_crowds(const session& s, const Context& context, execution what) {
  const std::size_t most = what.n;
  what.uniform_ms = time_execution<T>(s, context, most, what);
  for (const std::string_view distribution : {"line", "spot", "one_place"}) {
    what.distribution = distribution;
    what.reads_spread = false;
    time_execution<T>(s, context, most, what);
    what.reads_spread = what.operation != "spread" && what.operation != "set_points";
    if (what.reads_spread) time_execution<T>(s, context, most, what);
  }
}

template <typename Context>
void crowds_of_all(const session& s, const Context& context) {
  const std::size_t n = s.full() ? 3'000'000 : 10'000;
  for (const std::string& method : methods_to_execute(s, determinism::none)) {
    for (const std::string_view operation : {"set_points", "spread", "interpolate", "interpolate_gradient"}) {
      const execution what{operation, method, n, s.full() ? 128 : 32};
      execution pairs = what;
      pairs.components = 2;
      time_crowds<float>(s, context, what);
      time_crowds<double>(s, context, what);
      if (operation == "set_points") continue;
      time_crowds<float>(s, context, pairs);
      time_crowds<double>(s, context, pairs);
    }
  }
}

void run_execution(const session& s, std::string_view operation) {
  with_context(s, [&](const auto& context) { execute_all(s, context, operation); });
}

}  // namespace

void run_spread(const session& s) { run_execution(s, "spread"); }
void run_interpolate(const session& s) { run_execution(s, "interpolate"); }
void run_interpolate_gradient(const session& s) { run_execution(s, "interpolate_gradient"); }
void run_interpolate_with_gradient(const session& s) { run_execution(s, "interpolate_with_gradient"); }
void run_set_points(const session& s) { run_execution(s, "set_points"); }
void run_crowds(const session& s) {
  with_context(s, [&](const auto& context) { crowds_of_all(s, context); });
}

}  // namespace quadrat::bench
