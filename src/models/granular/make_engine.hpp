// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <type_traits>

#include "core/built_backend.hpp"
#include "core/method_choice.hpp"
#include "models/granular/cells_engine.hpp"
#include "models/granular/methods.hpp"

namespace quadrat::detail {

template <typename Context, typename T>
std::unique_ptr<granular_engine<Context, T>> make_granular_engine(std::string_view name, const Context& context,
                                                                  const granular_setup<T>& setup) {
  constexpr bool cuda = std::is_same_v<Context, cuda_context>;
  const method_demand demand{"granular method", cuda, context.reproducibility()};
  require_method<granular_method_list>(demand, name);
  std::unique_ptr<granular_engine<Context, T>> engine;
  granular_method_list::with(demand.kind, name, [&](auto method) {
    using method_type = decltype(method);
    if constexpr (backend_is_built<Context> && runs_on<Context, method_type>) {
      engine = method_type::template make<Context, T>(context, setup);
    }
  });
  return engine;
}

}  // namespace quadrat::detail
