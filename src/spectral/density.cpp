// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/spectral/density.hpp"

#include <cmath>

#include "core/backend.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/reduce.hpp"
#include "quadrat/parallel/workspace.hpp"
#include "spectral/fill_ones.hpp"

namespace quadrat {

namespace {

/// The weight after an iteration. A point that reaches no mesh point gets weight 0.
template <typename T>
struct next_weight {
  const T* weights;
  const T* reached;
  QUADRAT_HD T at(std::size_t i) const { return reached[i] > T(0) ? weights[i] / reached[i] : T(0); }
};

/// Index: point. The modulus of the change, and the new weight.
template <typename T>
struct weight_change {
  next_weight<T> next;
  QUADRAT_HD vec<double, 2> operator()(std::size_t i) const {
    const auto before = static_cast<double>(next.weights[i]), after = static_cast<double>(next.at(i));
    return {std::fabs(after - before), after};
  }
};

/// Index: point.
template <typename T>
struct replace_weight {
  next_weight<T> next;
  T* weights;
  QUADRAT_HD void operator()(std::size_t i) const { weights[i] = next.at(i); }
};

template <typename T>
struct scale_weight {
  T* weights;
  T factor;
  QUADRAT_HD void operator()(std::size_t i) const { weights[i] *= factor; }
};

}  // namespace

template <typename Context, typename T, int D>
density_result density_weights(spread_plan<Context, T, D>& plan, T* weights, const density_options& options) {
  require(options.iterations >= 1, "there are ", options.iterations, " iterations; at least 1 is needed");
  require(options.tolerance >= 0, "the tolerance is ", options.tolerance, "; 0 or more is possible");
  const Context& context = plan.context();
  const std::size_t count = plan.point_count();
  require_pointer(weights, count, "weights");
  array<T, Context> mesh(context, plan.mesh_size()), reached(context, count);
  workspace<Context> scratch;
  for_each(context, "spectral.first_weights", count, detail::fill_ones<T>{weights});
  density_result result;
  const next_weight<T> next{weights, reached.data()};
  do {
    plan.spread_async(weights, mesh.data());
    plan.interpolate_async(mesh.data(), reached.data());
    const vec<double, 2> sums = reduce_sum(context, "spectral.weight_change", count, weight_change<T>{next}, scratch);
    for_each(context, "spectral.weights", count, replace_weight<T>{next, weights});
    result = {result.iterations + 1, sums[1] > 0 ? sums[0] / sums[1] : 0};
  } while (result.iterations < options.iterations && result.change > options.tolerance);
  // Weights of density r per mesh unit give r times the window's integral on the mesh, and r times its square after
  // interpolation, which the iteration brings to 1.
  const double integral = plan.window().transform(0, 1);
  const double factor = std::pow(integral, 2 * D) / static_cast<double>(plan.mesh_size());
  for_each(context, "spectral.scale_weights", count, scale_weight<T>{weights, static_cast<T>(factor)});
  plan.check();
  return result;
}

template density_result density_weights(spread_plan<backend_context, float, 1>&, float*, const density_options&);
template density_result density_weights(spread_plan<backend_context, float, 2>&, float*, const density_options&);
template density_result density_weights(spread_plan<backend_context, float, 3>&, float*, const density_options&);
template density_result density_weights(spread_plan<backend_context, double, 1>&, double*, const density_options&);
template density_result density_weights(spread_plan<backend_context, double, 2>&, double*, const density_options&);
template density_result density_weights(spread_plan<backend_context, double, 3>&, double*, const density_options&);

}  // namespace quadrat
