// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "quadrat/search/tile_selection.hpp"

namespace quadrat::detail {

/// The variants that this CPU can run, fastest first. All give the same bits.
template <typename T, int D>
[[nodiscard]] std::vector<select_tiles<T, D>> tile_selections();

template <typename T, int D>
[[nodiscard]] select_tiles<T, D> fastest_tile_selection();

}  // namespace quadrat::detail
