// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "models/granular/cells_engine.hpp"
#include "models/granular/methods.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::detail {

template <typename Context, typename T>
std::unique_ptr<granular_engine<Context, T>> make_granular_engine(std::string_view name, const Context& context,
                                                                  const granular_setup<T>& setup) {
  constexpr bool cuda = std::is_same_v<Context, cuda_context>;
  std::unique_ptr<granular_engine<Context, T>> engine;
  granular_method_list::with("granular method", name, [&](auto method) {
    using method_type = decltype(method);
    require(method_type::canonical || context.reproducibility() != determinism::canonical, "the granular method ", name,
            " does not have the level canonical of determinism; the cell lists (sorted, counting, ...) have it");
    if constexpr (cuda ? method_type::on_cuda : method_type::on_cpu) {
      engine = method_type::template make<Context, T>(context, setup);
    } else {
      throw argument_error(message("the granular method ", name, " does not run on ", cuda ? "CUDA" : "the CPU"));
    }
  });
  return engine;
}

}  // namespace quadrat::detail
