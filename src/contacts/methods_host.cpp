// SPDX-License-Identifier: BSD-3-Clause
#include "contacts/methods.hpp"

#include <array>
#include <cstddef>

#include "quadrat/contacts/methods.hpp"

namespace quadrat {

namespace {

[[nodiscard]] constexpr auto described_contact_methods() {
  std::array<contact_method, detail::contact_method_list::size> methods{};
  std::size_t next = 0;
  detail::contact_method_list::for_each([&](auto method) {
    using type = decltype(method);
    methods[next++] = {type::name, type::summary, type::pairs};
  });
  return methods;
}

constexpr auto methods = described_contact_methods();

}  // namespace

std::span<const contact_method> contact_methods() { return methods; }

}  // namespace quadrat
