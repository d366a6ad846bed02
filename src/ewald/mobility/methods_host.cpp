// SPDX-License-Identifier: BSD-3-Clause
#include "ewald/mobility/methods.hpp"

#include "core/method_choice.hpp"
#include "quadrat/ewald/mobility.hpp"

namespace quadrat {

std::span<const method_info> mobility_methods() { return detail::listed<detail::mobility_method_list>(); }

}  // namespace quadrat
