// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <type_traits>

#include "quadrat/core/box.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/mesh/spread_plan.hpp"

namespace quadrat {

/// A plan for spreading and interpolating with cardinal B-splines of that order: `make_spread_plan(context, box,
/// {64, 64, 64}, 6)`. The context, the precision and the dimension are those of the arguments. Throws what the
/// constructor of spread_plan throws.
template <typename Context, typename T, int D>
[[nodiscard]] spread_plan<Context, T, D> make_spread_plan(const Context& context, const box<T, D>& domain,
                                                          const vec<int, D>& mesh, int order,
                                                          const spread_options& options = {}) {
  return {context, domain, mesh, order, options};
}

/// With a window given by the caller.
template <typename Context, typename T, int D>
[[nodiscard]] spread_plan<Context, T, D> make_spread_plan(const Context& context, const box<T, D>& domain,
                                                          const vec<int, D>& mesh,
                                                          const mesh_window<std::type_identity_t<T>>& window,
                                                          const spread_options& options = {}) {
  return {context, domain, mesh, window, options};
}

}  // namespace quadrat
