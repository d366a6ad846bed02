// SPDX-License-Identifier: BSD-3-Clause
#include "contacts/checks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "contacts/bodies/place.hpp"
#include "contacts/methods.hpp"
#include "core/automatic.hpp"
#include "core/number_text.hpp"
#include "quadrat/core/error.hpp"
#include "tune/autotuner.hpp"

namespace quadrat::detail {

void check_masks(const pair_masks& masks) {
  for (std::size_t g = 0; g < masks.size(); ++g) {
    for (std::size_t h = 0; h < g; ++h) {
      const bool forth = (masks[g] >> h & 1u) != 0, back = (masks[h] >> g & 1u) != 0;
      require(forth == back, "by the pair masks bodies of group ", forth ? g : h, " meet those of group ",
              forth ? h : g, ", but not the other way round; masks must be symmetric");
    }
  }
}

namespace {

template <typename T>
void check_common(const method_demand& demand, const std::string& method, const std::optional<box<T, 3>>& domain,
                  T bin_size, const pair_masks& masks) {
  if (!is_automatic(method)) require_method<contact_method_list>(demand, method);
  require(bin_size >= T(0) && std::isfinite(bin_size), "the bin size is ", bin_size,
          "; it must be positive and finite, or auto");
  check_masks(masks);
  if (!domain.has_value()) return;
  static_cast<void>(make_box_from_lengths(domain->lower, domain->length, domain->periodic));
}

/// Whether an axis of any domain is periodic.
template <typename T>
[[nodiscard]] bool any_periodic(const contact_options<T>& options, int axis) {
  const auto periodic = [axis](const box<T, 3>& domain) { return domain.periodic[axis]; };
  return (options.domain && periodic(*options.domain)) || std::ranges::any_of(options.domains, periodic);
}

template <typename T>
void check_planes(const bodies_view<T>& bodies, const contact_options<T>& options) {
  require(bodies.planes.size() <= max_count && bodies.size() + bodies.planes.size() <= max_count, "there are ",
          bodies.size(), " bodies and ", bodies.planes.size(), " planes; at most ", max_count,
          " are possible in total");
  for (std::size_t k = 0; k < bodies.planes.size(); ++k) {
    const plane<T>& wall = bodies.planes[k];
    const T excess = std::fabs(squared_norm(wall.normal) - T(1));
    require(excess <= 64 * std::numeric_limits<T>::epsilon(), "plane ", k, " has the normal ", vector_text(wall.normal),
            "; its length must be 1");
    require(std::isfinite(wall.offset), "plane ", k, " has the offset ", wall.offset, "; it must be finite");
    for (int axis = 0; axis < 3; ++axis) {
      require(!any_periodic(options, axis) || wall.normal[axis] == T(0), "plane ", k, " has the normal ",
              vector_text(wall.normal), ", which is not 0 along the periodic axis ", axis,
              "; the solid side of a wall cannot repeat there (leave the axis open)");
    }
    require(wall.group < 32, "plane ", k, " is of group ", wall.group, "; groups are below 32");
  }
}

}  // namespace

template <typename T>
void check_contact_options(const method_demand& demand, const contact_options<T>& options) {
  require_autotune(options.autotune, demand.level);
  check_common(demand, options.method, options.domain, options.bin_size, options.masks);
  require(!options.domain || options.domains.empty(), "one domain and those of ", options.domains.size(),
          " systems are given; one or the other is accepted");
  require(options.domains.size() <= most_systems, "there are ", options.domains.size(), " domains; at most ",
          most_systems, " are possible");
  for (const box<T, 3>& domain : options.domains) {
    static_cast<void>(make_box_from_lengths(domain.lower, domain.length, domain.periodic));
  }
}

template <typename T>
void check_broad_phase_options(const method_demand& demand, const broad_phase_options<T>& options) {
  check_common(demand, options.method, options.domain, options.bin_size, options.masks);
  if (is_automatic(options.method)) return;
  contact_method_list::with(demand.kind, options.method, [&](auto descriptor) {
    using method_type = decltype(descriptor);
    if constexpr (requires { method_type::limits; }) {
      require(method_type::serves({0, true}), "the ", demand.kind, " ", method_type::name, " ", method_type::limits);
    }
  });
}

template <typename T>
void check_bodies(const bodies_view<T>& bodies, const contact_options<T>& options) {
  require_points(bodies.centers, "centers");
  check_planes(bodies, options);
  if (bodies.size() == 0) return;
  require(options.domains.size() < 2 || bodies.system_of_body != nullptr, "there are ", options.domains.size(),
          " domains, but system_of_body is null; the system of each body is needed");
  require(bodies.shapes != nullptr || bodies.shape <= body_shape::box, "the shape of bodies has the number ",
          static_cast<int>(bodies.shape), "; there are ", body_shape_names.size());
  require(bodies.spheres() || bodies.sizes != nullptr,
          "bodies are not all spheres, but sizes is null; other shapes need a size of each body");
  if (bodies.sizes != nullptr || bodies.radii != nullptr) return;
  require(sizes_are_sound(body_shape::sphere, vec<T, 3>::filled(bodies.radius), T(1)), "the radius of spheres is ",
          bodies.radius, "; it must be from ", smallest_length<T>, " to ", largest_length<T>);
}

template <typename T>
void check_bounds(const bounds_view<T>& bounds) {
  require_points(bounds.lower, "lower corners");
  require_points(bounds.upper, "upper corners");
  require(bounds.lower.count == bounds.upper.count, "there are ", bounds.lower.count, " lower and ", bounds.upper.count,
          " upper corners; there must be as many of both");
}

template <typename T>
std::string too_long_text(const box<T, 3>& domain, const vec<T, 3>& half) {
  for (int axis = 0; axis < 3; ++axis) {
    if (!domain.periodic[axis] || 2 * half[axis] <= domain.length[axis] * T(0.5)) continue;
    return message(" is ", 2 * half[axis], " long along the periodic axis ", axis, ", where the box is ",
                   domain.length[axis], "; at most half of that is possible");
  }
  return " was too long for the periodic box";
}

template <typename T>
std::string too_far_text(const box<T, 3>& domain, const vec<T, 3>& center) {
  for (int axis = 0; axis < 3; ++axis) {
    const T away = std::fabs(domain.fraction(center, axis));
    if (!domain.periodic[axis] || away <= most_boxes_away<T>) continue;
    return message(" at ", vector_text(center), " lies ", away, " boxes away along the periodic axis ", axis,
                   "; at most ", number_text(most_boxes_away<T>), " are possible");
  }
  return " was too far from the periodic box";
}

template void check_contact_options(const method_demand&, const contact_options<float>&);
template void check_contact_options(const method_demand&, const contact_options<double>&);
template void check_broad_phase_options(const method_demand&, const broad_phase_options<float>&);
template void check_broad_phase_options(const method_demand&, const broad_phase_options<double>&);
template void check_bodies(const bodies_view<float>&, const contact_options<float>&);
template void check_bodies(const bodies_view<double>&, const contact_options<double>&);
template void check_bounds(const bounds_view<float>&);
template void check_bounds(const bounds_view<double>&);
template std::string too_long_text(const box<float, 3>&, const vec<float, 3>&);
template std::string too_long_text(const box<double, 3>&, const vec<double, 3>&);
template std::string too_far_text(const box<float, 3>&, const vec<float, 3>&);
template std::string too_far_text(const box<double, 3>&, const vec<double, 3>&);

}  // namespace quadrat::detail
