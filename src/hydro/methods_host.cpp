// SPDX-License-Identifier: BSD-3-Clause
#include "hydro/methods.hpp"

#include "core/method_choice.hpp"
#include "quadrat/hydro/mobility.hpp"

namespace quadrat {

std::span<const method_info> mobility_methods() { return detail::listed<detail::mobility_method_list>(); }

}  // namespace quadrat
