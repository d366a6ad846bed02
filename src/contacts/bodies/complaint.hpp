// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "contacts/bodies/place.hpp"
#include "contacts/checks.hpp"
#include "core/number_text.hpp"
#include "quadrat/contacts/shapes.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"

/// Messages about bodies that a search found to be invalid.
namespace quadrat::detail {

/// Body i on the host. The view points into this object.
template <typename T>
struct body_on_host {
  vec<T, 3> center{};
  body_shape shape = body_shape::sphere;
  vec<T, 3> size{};
  quaternion<T> orientation = quaternion<T>::identity();
  std::uint32_t group = 0;
  std::uint32_t system = 0;

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
  if (bodies.system_of_body != nullptr) result.system = to_host(context, bodies.system_of_body + i, 1)[0];
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

}  // namespace quadrat::detail
