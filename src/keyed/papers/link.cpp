// SPDX-License-Identifier: BSD-3-Clause
#include "papers/link.hpp"
#include "core/backend.hpp"
#include "core/method_choice.hpp"
#include "keyed/methods.hpp"

namespace quadrat::detail {

void link_keyed_papers(const backend_context* /*backend*/) {
  key_method_list::for_each([](auto method) {
    using method_type = decltype(method);
    if constexpr (of_papers<method_type> && runs_on<backend_context, method_type>) {
      paper_engine<method_type, key_engine_maker<backend_context>> = [](const backend_context& context,
                                                                        const key_setup& setup) {
        return std::unique_ptr<key_engine<backend_context>>(
            std::make_unique<typename method_type::template engine<backend_context>>(context, setup));
      };
    }
  });
}

}  // namespace quadrat::detail
