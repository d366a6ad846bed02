// SPDX-License-Identifier: BSD-3-Clause
#include "papers/link.hpp"
#include "core/backend.hpp"
#include "core/method_choice.hpp"
#include "models/granular/cells_engine.hpp"
#include "models/granular/methods.hpp"

namespace quadrat::detail {

namespace {

template <typename Method, typename T>
void link_method() {
  paper_engine<Method, granular_engine_maker<backend_context, T>> = [](const backend_context& context,
                                                                       const granular_setup<T>& setup) {
    return std::unique_ptr<granular_engine<backend_context, T>>(
        std::make_unique<typename Method::template engine<backend_context, T>>(context, setup));
  };
}

}  // namespace

void link_granular_papers(const backend_context* /*backend*/) {
  granular_method_list::for_each([](auto method) {
    using method_type = decltype(method);
    if constexpr (of_papers<method_type> && runs_on<backend_context, method_type>) {
      link_method<method_type, float>();
      link_method<method_type, double>();
    }
  });
}

}  // namespace quadrat::detail
