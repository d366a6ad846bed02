// SPDX-License-Identifier: BSD-3-Clause
#include "contacts/papers/loose/engine.hpp"

#include <utility>

#include "contacts/bin_choice.hpp"
#include "core/backend.hpp"

namespace quadrat::detail {

template <typename Context, typename T>
planned_bins<T> loose_grid_engine<Context, T>::plan(const placed_bodies<Context, T>& bodies,
                                                    const bin_options<T>& options) {
  bin_choice<T> choice = choose_loose_bins(bodies.domain, *bodies.sizes, options.size);
  level_grids<T>& levels = this->levels_;
  levels = {};
  levels.count = 1;
  levels.domain = bodies.domain;
  levels.cells[0] = all_cells(choice.space);
  levels.widest[0] = bodies.sizes->largest;
  levels.first_cell[1] = static_cast<cell_id>(choice.space.size());
  return {choice.edge, std::move(choice.reason), levels.widest[0]};
}

template class loose_grid_engine<backend_context, float>;
template class loose_grid_engine<backend_context, double>;

}  // namespace quadrat::detail
