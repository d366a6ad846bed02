// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/cells/methods.hpp"

#include "core/method_choice.hpp"

namespace quadrat {

std::span<const method_info> cell_lists() { return detail::listed<cell_list_methods>(); }

}  // namespace quadrat
