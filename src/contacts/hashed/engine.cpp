// SPDX-License-Identifier: BSD-3-Clause
#include "contacts/hashed/engine.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "cells/counting_build.hpp"
#include "contacts/levels/plan.hpp"
#include "contacts/row_engine.hpp"
#include "core/backend.hpp"

namespace quadrat::detail {

/// The levels of bodies in heaps: those that plan_levels chooses for a domain much larger than its bodies. In thinner
/// systems they cost hardly more.
template <typename Context, typename T>
planned_bins<T> hashed_engine<Context, T>::plan(const placed_bodies<Context, T>& bodies, const bin_options<T>&) {
  const T side = T(16) * std::cbrt(static_cast<T>(bodies.count)) * std::max(bodies.sizes->largest, least_extent<T>);
  const box<T, 3> wide{{}, vec<T, 3>::filled(side), {}};
  const level_grids<T> planned = plan_levels(wide, *bodies.sizes, T(0)).grids;
  search_.levels.count = planned.count;
  std::copy_n(planned.widest, planned.count, search_.levels.widest);
  return {T(0), message(planned.count, planned.count == 1 ? " level" : " levels"), planned.widest[planned.count - 1]};
}

template <typename Context, typename T>
void hashed_engine<Context, T>::insert(const placed_bodies<Context, T>& bodies) {
  const Context& context = this->context();
  const std::size_t buckets = std::bit_ceil(std::max(bodies.count, std::size_t{cell_buckets::least}));
  search_.domains = bodies.domains;
  search_.buckets = {static_cast<std::uint32_t>(buckets - 1)};
  search_.count = static_cast<std::uint32_t>(bodies.count);
  search_.largest = bodies.control->data(search_control<Context>::largest_word);
  buckets_.build(context, bodies.count, buckets,
                 hashed_key<T>{bodies.bodies, search_.levels, search_.domains, search_.buckets},
                 bodies.control->faults());
  slots_.resize_discarding(context, bodies.count);
  names_.resize_discarding(context, bodies.count);
  search_.offsets = buckets_.view().offsets;
  search_.slots = slots_.data();
  search_.names = names_.data();
  for_each(context, "contacts.gather", bodies.count,
           gather_named<T>{bodies.bodies, buckets_.view().elements, search_.levels, search_.domains, slots_.data(),
                           names_.data()});
}

template class hashed_engine<backend_context, float>;
template class hashed_engine<backend_context, double>;

}  // namespace quadrat::detail
