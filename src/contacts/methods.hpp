// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include "quadrat/core/method_list.hpp"

namespace quadrat::detail {

/// How pairs are looked for.
enum class pair_way { brute_force, bins, tight, levels };

namespace contact_search_methods {

struct brute_force {
  static constexpr std::string_view name = "brute_force";
  static constexpr std::string_view summary = "every pair, from the lower index (parallel-binning-collision, 5-11)";
  static constexpr bool pairs = true;
  static constexpr pair_way way = pair_way::brute_force;
};
struct bins {
  static constexpr std::string_view name = "bins";
  static constexpr std::string_view summary =
      "nine stages: bodies in all bins they touch, a thread a bin (parallel-binning-collision, 12-34)";
  static constexpr bool pairs = false;
  static constexpr pair_way way = pair_way::bins;
};
struct loose_grid {
  static constexpr std::string_view name = "loose_grid";
  static constexpr std::string_view summary = "a body in the cell of its center, looking into all cells in reach";
  static constexpr bool pairs = true;
  static constexpr pair_way way = pair_way::levels;  // of which there is one
};
struct tight_grid {
  static constexpr std::string_view name = "tight_grid";
  static constexpr std::string_view summary = "a body in every cell that its box touches; pairs by the 3-bit rule";
  static constexpr bool pairs = true;
  static constexpr pair_way way = pair_way::tight;
};
struct levels {
  static constexpr std::string_view name = "levels";
  static constexpr std::string_view summary = "grids of several sizes, a body in one cell of the one that fits it";
  static constexpr bool pairs = true;
  static constexpr pair_way way = pair_way::levels;
};

}  // namespace contact_search_methods

/// All methods of contacts. A new one is a line here, and a search in pair_search_*.hpp.
using contact_method_list =
    method_list<contact_search_methods::levels, contact_search_methods::loose_grid, contact_search_methods::tight_grid,
                contact_search_methods::bins, contact_search_methods::brute_force>;

}  // namespace quadrat::detail
