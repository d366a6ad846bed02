// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "contacts/checks.hpp"
#include "contacts/detector.hpp"
#include "core/number_text.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat {

namespace detail {

/// Body i on the host. The view points into this object.
template <typename T>
struct body_on_host {
  vec<T, 3> center{};
  body_shape shape = body_shape::sphere;
  vec<T, 3> size{};
  quaternion<T> orientation = quaternion<T>::identity();
  std::uint32_t group = 0;

  [[nodiscard]] bodies_view<T> view() const {
    bodies_view<T> result;
    result.centers = points_of(&center, 1);
    result.shape = shape;
    result.sizes = &size;
    result.orientations = &orientation;
    result.groups = &group;
    return result;
  }
};

template <typename Context, typename T>
[[nodiscard]] body_on_host<T> bring_body(const Context& context, const bodies_view<T>& bodies, std::size_t i) {
  body_on_host<T> result;
  result.center = detail::point_to_host(context, bodies.centers, i);
  result.shape = bodies.shapes != nullptr ? to_host(context, bodies.shapes + i, 1)[0] : bodies.shape;
  if (bodies.sizes != nullptr) {
    result.size = to_host(context, bodies.sizes + i, 1)[0];
  } else {
    const T radius = bodies.radii != nullptr ? to_host(context, bodies.radii + i, 1)[0] : bodies.radius;
    result.size = vec<T, 3>::filled(radius);
  }
  if (bodies.orientations != nullptr) result.orientation = to_host(context, bodies.orientations + i, 1)[0];
  if (bodies.groups != nullptr) result.group = to_host(context, bodies.groups + i, 1)[0];
  return result;
}

template <typename T>
[[nodiscard]] std::string ellipsoid_limit() {
  return message(", the longest at most ", most_slender<T>, " times the shortest");
}

/// The message about an invalid body, with the accepted values.
template <typename T>
[[nodiscard]] std::string complaint_about(const body_on_host<T>& found, body_fault fault, const box<T, 3>& domain) {
  const auto& q = found.orientation;
  switch (fault) {
    case body_fault::center:
      return " at " + vector_text(found.center) + " has a coordinate that is not finite";
    case body_fault::too_far:
      return too_far_text(domain, found.center);
    case body_fault::shape:
      return message(" has a shape of number ", static_cast<int>(found.shape), "; there are ", body_shape_names.size());
    case body_fault::size:
      return message(", of shape ", body_shape_names[static_cast<std::size_t>(found.shape)], ", has ",
                     found.shape == body_shape::sphere ? "radius " + number_text(found.size[0])
                                                       : "size " + vector_text(found.size),
                     "; sizes must be from ", smallest_length<T>, " to ", largest_length<T>,
                     found.shape == body_shape::ellipsoid ? ellipsoid_limit<T>() : "");
    case body_fault::orientation:
      return message(" has the orientation (", number_text(q.w), ", ", number_text(q.x), ", ", number_text(q.y), ", ",
                     number_text(q.z), "); it must be finite and not 0");
    case body_fault::group:
      return message(" is of group ", found.group, "; groups are below 32");
    case body_fault::too_long:
      return too_long_text(domain, half_extents(found.view()[0]));
    default:
      return " does not fit the bins of the last build, in which build_async works; call build";
  }
}

}  // namespace detail

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
  require(
      detail::arrays_of(given) == arrays,
      "the bodies have another shape or other arrays (shapes, radii, sizes, orientations, groups, ids) than those of "
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
  const detail::body_fault fault = detail::place_body<T>{found.view(), domain()}.fault_of(0);
  return {message("body ", i, detail::complaint_about(found, fault, domain())), i};
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
