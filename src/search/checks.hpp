// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "quadrat/search/neighbor_list.hpp"

/// Checks of arguments on the host. All throw argument_error.
namespace quadrat::detail {

/// Of a search that takes each neighbor in its nearest image: the cutoff and its square are positive and finite, and it
/// is at most half the height of the reduced box along each periodic axis.
template <typename T, int D>
void check_cutoff(const lattice<T, D>& reduced, T cutoff);

/// The points, and a box for all of them or one for each system.
template <typename T, int D>
void check_systems(const points_view<T, D>& points, std::span<const lattice<T, D>> boxes,
                   const std::uint32_t* system_of_point);

template <typename T>
void check_neighbor_options(const neighbor_options<T>& options, bool cuda);

template <typename T, int D>
void check_neighbor_input(const neighbor_options<T>& options, const neighbor_input<T, D>& input);

/// The largest radius that a point or query can have.
template <typename T>
[[nodiscard]] T most_radius(const neighbor_options<T>& options) {
  return options.rule == cutoff_rule::sum_of_radii ? options.cutoff / 2 : options.cutoff;
}

/// The number of types of a square table.
template <typename T>
[[nodiscard]] std::uint32_t type_count(const neighbor_options<T>& options);

}  // namespace quadrat::detail
