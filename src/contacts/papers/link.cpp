// SPDX-License-Identifier: BSD-3-Clause
#include "papers/link.hpp"
#include "contacts/methods.hpp"
#include "core/backend.hpp"
#include "core/method_choice.hpp"

namespace quadrat::detail {

namespace {

template <typename Method, typename T>
void link_method() {
  paper_engine<Method, contact_engine_maker<backend_context, T>> = [](const backend_context& context) {
    return std::unique_ptr<contact_engine<backend_context, T>>(
        std::make_unique<typename Method::template engine<backend_context, T>>(context));
  };
}

}  // namespace

void link_contact_papers(const backend_context* /*backend*/) {
  contact_method_list::for_each([](auto method) {
    using method_type = decltype(method);
    if constexpr (of_papers<method_type> && runs_on<backend_context, method_type>) {
      link_method<method_type, float>();
      link_method<method_type, double>();
    }
  });
}

}  // namespace quadrat::detail
