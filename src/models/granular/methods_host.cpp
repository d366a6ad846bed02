// SPDX-License-Identifier: BSD-3-Clause
#include "models/granular/methods.hpp"

#include <array>
#include <cstddef>

#include "quadrat/models/granular.hpp"

namespace quadrat {

namespace {

using method_array = std::array<granular_method, detail::granular_method_list::size>;

[[nodiscard]] constexpr method_array described_methods() {
  method_array methods{};
  std::size_t next = 0;
  detail::granular_method_list::for_each([&](auto method) {
    using method_type = decltype(method);
    methods[next++] = {method_type::name, method_type::summary, method_type::on_cpu, method_type::on_cuda,
                       method_type::canonical};
  });
  return methods;
}

constexpr method_array methods = described_methods();

}  // namespace

std::span<const granular_method> granular_methods() { return methods; }

std::string_view granular_default_method(const cpu_context&) { return "counting"; }

std::string_view granular_default_method(const cuda_context& context) {
  return context.reproducibility() == determinism::canonical ? "counting" : "fused";
}

}  // namespace quadrat
