// SPDX-License-Identifier: BSD-3-Clause
#include "contacts/brute_force/engine.hpp"

#include "contacts/row_passes.hpp"
#include "core/backend.hpp"

namespace quadrat::detail {

template <typename Context, typename T>
planned_bins<T> brute_force_engine<Context, T>::plan(const placed_bodies<T>& /*bodies*/,
                                                     const bin_options<T>& /*options*/) {
  return {T(0), "no bins"};
}

template <typename Context, typename T>
void brute_force_engine<Context, T>::insert(const placed_bodies<T>& bodies) {
  search_ = {bodies.bodies, bodies.count};
}

template <typename Context, typename T>
void brute_force_engine<Context, T>::count(const any_family<T>& family, std::uint32_t* counts,
                                           count_limit& limit) const {
  count_rows(this->context(), "contacts.count", rows(), search_, family, counts, limit);
}

template <typename Context, typename T>
void brute_force_engine<Context, T>::fill(const any_family<T>& family, const contact_sink<T>& sink,
                                          const std::uint64_t* offsets) const {
  fill_rows(this->context(), "contacts.fill", rows(), search_, family, sink, offsets);
}

template class brute_force_engine<backend_context, float>;
template class brute_force_engine<backend_context, double>;

}  // namespace quadrat::detail
