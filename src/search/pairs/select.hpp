// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "quadrat/search/listed_pairs.hpp"

namespace quadrat::detail {

/// The fastest selection that this CPU can run; nullptr if that is the one in visit_list.hpp.
template <typename T, int D>
[[nodiscard]] select_pairs_function<T, D> fastest_selection();

}  // namespace quadrat::detail
