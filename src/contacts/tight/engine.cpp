// SPDX-License-Identifier: BSD-3-Clause
#include "contacts/tight/engine.hpp"

#include <utility>

#include "contacts/bin_choice.hpp"
#include "contacts/row_engine.hpp"
#include "core/backend.hpp"

namespace quadrat::detail {

template <typename Context, typename T>
planned_bins<T> tight_grid_engine<Context, T>::plan(const placed_bodies<Context, T>& bodies,
                                                    const bin_options<T>& options) {
  bin_choice<T> choice = choose_touched_bins(bodies.domain, *bodies.sizes, options.size, tight_grid_weights);
  space_ = choice.space;
  edge_ = choice.edge;
  return {choice.edge, std::move(choice.reason)};
}

template <typename Context, typename T>
void tight_grid_engine<Context, T>::insert(const placed_bodies<Context, T>& bodies) {
  placed_ = bodies.bodies;
  touched_.find(this->context(), bodies, space_, edge_);
  const device_count& entries = touched_.entries_M();
  masks_.resize_discarding(this->context(), entries.most);
  const make_tight_mask<T> body{space_,        placed_,      touched_.bin_of_B(), touched_.body_of_B(),
                                entries.value, masks_.data()};
  for_each(this->context(), "contacts.masks", entries.most, body);
}

template <typename Context, typename T>
tight_search<T> tight_grid_engine<Context, T>::search() const {
  unsigned open_axes = 0;
  for (int axis = 0; axis < 3; ++axis) open_axes |= space_.domain.periodic[axis] ? 0u : 1u << axis;
  return {
      space_,    placed_,        touched_.bin_of_B(), touched_.body_of_B(), masks_.data(), touched_.entries_M().value,
      open_axes, open_axes != 7u};
}

template class tight_grid_engine<backend_context, float>;
template class tight_grid_engine<backend_context, double>;

}  // namespace quadrat::detail
