// SPDX-License-Identifier: BSD-3-Clause
#include "contacts/levels/one_cell.hpp"

#include "cells/counting_build.hpp"
#include "contacts/bodies/gather.hpp"
#include "contacts/row_engine.hpp"
#include "core/backend.hpp"

namespace quadrat::detail {

template <typename Context, typename T>
void one_cell_engine<Context, T>::insert(const placed_bodies<Context, T>& bodies) {
  count_ = bodies.count;
  largest_ = bodies.control->data(search_control<Context>::largest_word);
  const cell_id cells = levels_.first_cell[levels_.count];
  buckets_.build(this->context(), count_, cells, level_key<T>{bodies.bodies, levels_}, bodies.control->faults());
  slots_.resize_discarding(this->context(), count_);
  const gather_placed<T> body{bodies.bodies, buckets_.view().elements, slots_.data()};
  for_each(this->context(), "contacts.gather", count_, body);
}

template class one_cell_engine<backend_context, float>;
template class one_cell_engine<backend_context, double>;

}  // namespace quadrat::detail
