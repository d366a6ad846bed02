// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include "contacts/levels/one_cell.hpp"
#include "core/paper_methods.hpp"

namespace quadrat::detail {

/// One level for bodies of all sizes (uniform-grid-atomics, section 1).
template <typename Context, typename T>
class loose_grid_engine final : public one_cell_engine<Context, T> {
 public:
  using one_cell_engine<Context, T>::one_cell_engine;

  [[nodiscard]] planned_bins<T> plan(const placed_bodies<Context, T>& bodies, const bin_options<T>& options) override;
};

struct loose_grid_method : contact_method_defaults, paper_method {
  static constexpr std::string_view name = "loose_grid";
  static constexpr std::string_view summary = "a body in the cell of its center, searching all cells in reach";
  static constexpr bool quadratic = true;  // like tight_grid
  template <typename Context, typename T>
  using engine = loose_grid_engine<Context, T>;
};

}  // namespace quadrat::detail
