// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "contacts/bodies/complaint.hpp"
#include "contacts/checks.hpp"
#include "contacts/detector.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat {

template <typename Context, typename T>
void contact_detector<Context, T>::implementation::require_built() const {
  require(state != stage::empty, "nothing has been built yet; call build first");
  require(state != stage::failed, "the last build has failed; build again before using the contacts");
}

/// A build that does not wait allocates nothing, and copies nothing from the host.
template <typename Context, typename T>
void contact_detector<Context, T>::implementation::require_memory_for(const bodies_view<T>& given) const {
  require(prepared, "build_async works in the memory of the last build, and there was none, or it failed; call build");
  require(given.size() == arrays.count, "there are ", given.size(), " bodies, but the last build had ", arrays.count,
          "; build_async works in the memory of that build: call build");
  require(detail::arrays_of(given) == arrays,
          "the bodies have another shape or other arrays (shapes, radii, sizes, orientations, groups, ids, systems) "
          "than those of "
          "the last build; build_async works in the memory of that build: call build");
  require(task.has_planes(given.planes), "the planes are not those of the last build; call build");
}

template <typename Context, typename T>
void contact_detector<Context, T>::implementation::check() {
  if (state != stage::enqueued) return;
  // A replayed graph may have searched again since the last check.
  size = search.control().read()[detail::search_control<Context>::contacts_word];
  if (search.control().failed()) fail();
}

template <typename Context, typename T>
data_error contact_detector<Context, T>::implementation::complaint(std::size_t place) const {
  const detail::body_on_host<T> found = detail::bring_body(context, task.bodies(), place);
  const std::size_t i = by_id.body_at(place);
  const std::size_t systems = options.domains.empty() ? detail::most_systems : options.domains.size();
  if (found.system >= systems) {
    return {message("body ", i, " is of system ", found.system, "; systems are below ", systems), i};
  }
  const box<T, 3> own = options.domains.empty() ? domain() : options.domains[found.system];
  const detail::body_fault fault = detail::place_body<T>{found.view(), {own}}.fault_of(0);
  return {message("body ", i, detail::complaint_about(found, fault, own)), i};
}

/// Throws the error recorded in the words of a search.
template <typename Context, typename T>
void contact_detector<Context, T>::implementation::fail() {
  using control = detail::search_control<Context>;
  const std::uint64_t* words = search.control().last_read();
  const std::uint64_t number = words[control::fault_word] >> 8, needed = words[control::needed_word];
  if (number < detail::id_fault_base) throw complaint(number % detail::misfit_fault_base);
  if (number < detail::room_fault_base) throw by_id.complaint(last, number - detail::id_fault_base);
  if (number - detail::room_fault_base == control::contacts_word) {
    throw overflow_error(message("there are ", needed, " contacts, and room for ", task.records().size(),
                                 "; call build, or reserve(", needed, ")"),
                         needed);
  }
  if (number - detail::room_fault_base == control::pairs_word) {
    throw overflow_error(message("the boxes of bodies overlap in ", needed, " pairs, and there is room for ",
                                 task.room_of_pairs(), "; call build, or reserve(", needed, ")"),
                         needed);
  }
  throw overflow_error(detail::too_many_entries_text(needed), needed);
}

}  // namespace quadrat
