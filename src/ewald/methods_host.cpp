// SPDX-License-Identifier: BSD-3-Clause
#include "ewald/methods.hpp"

#include "core/method_choice.hpp"
#include "quadrat/ewald/electrostatics.hpp"

namespace quadrat {

std::span<const method_info> electrostatics_methods() { return detail::listed<detail::electrostatics_method_list>(); }

}  // namespace quadrat
