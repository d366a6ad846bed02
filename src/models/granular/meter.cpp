// SPDX-License-Identifier: BSD-3-Clause
#include "models/granular/meter.hpp"

#include "core/backend.hpp"
#include "models/granular/measure.hpp"
#include "quadrat/parallel/reduce.hpp"

namespace quadrat::detail {

template <typename Context, typename T>
granular_meter<Context, T>::granular_meter(const Context& context, const granular_setup<T>& setup)
    : setup_(setup), cells_(context, setup.space, {.fold_reach = setup.law.diameter}) {}

template <typename Context, typename T>
granular_statistics granular_meter<Context, T>::measure(const Context& context, const granular_parameters& parameters,
                                                        const vec<T, 3>* positions, const vec<T, 3>* velocities) {
  const points_view<T, 3> points = points_of(positions, setup_.count);
  cells_.reserve(setup_.count);
  cells_.build_async(points);
  using view_type = typename decltype(cells_)::view_type;
  const vec<double, 3> lower = cast<double>(setup_.space.domain.lower);
  const measure_grain<view_type, T> body{cells_.view(), points, velocities, setup_.law.diameter, lower};
  const granular_totals totals =
      reduce(context, "granular.measure", setup_.count, body, join_totals{}, granular_totals{}, scratch_);
  cells_.check();

  return statistics_of(totals, parameters, lower, setup_.count);
}

template class granular_meter<backend_context, float>;
template class granular_meter<backend_context, double>;

}  // namespace quadrat::detail
