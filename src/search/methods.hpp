// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include "quadrat/core/method_list.hpp"
#include "search/levels/engine.hpp"
#include "search/masks/engine.hpp"
#include "search/sweeps/engine.hpp"
#include "search/walk/engine.hpp"

namespace quadrat::detail {

/// All methods of neighbor lists, in display order. To add a method, write a header with its engine and descriptor,
/// and add a line here.
using neighbor_method_list =
    method_list<neighbor_search_methods::default_order, neighbor_search_methods::strips,
                neighbor_search_methods::modular, neighbor_search_methods::hybrid, neighbor_search_methods::brute_force,
                neighbor_search_methods::levels, neighbor_search_methods::masks, neighbor_search_methods::warps,
                neighbor_search_methods::sweeps>;

/// Whether the named method serves a request on a device that it runs on. Throws argument_error for an unknown name.
[[nodiscard]] bool method_serves(std::string_view method, const neighbor_request& request);

}  // namespace quadrat::detail
