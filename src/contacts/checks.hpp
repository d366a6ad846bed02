// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "core/method_choice.hpp"
#include "core/point_checks.hpp"
#include "quadrat/contacts/broad_phase.hpp"
#include "quadrat/contacts/contact_detector.hpp"
#include "quadrat/core/box.hpp"
#include "quadrat/core/vec.hpp"

/// Checks of arguments on the host. All throw argument_error.
namespace quadrat::detail {

void check_masks(const pair_masks& masks);
template <typename T>
void check_contact_options(const method_demand& demand, const contact_options<T>& options);
template <typename T>
void check_broad_phase_options(const method_demand& demand, const broad_phase_options<T>& options);
template <typename T>
void check_bodies(const bodies_view<T>& bodies, const contact_options<T>& options);
template <typename T>
void check_bounds(const bounds_view<T>& bounds);

/// The error of a search that does not wait and whose bodies touch this many bins.
[[nodiscard]] inline std::string too_many_entries_text(std::uint64_t entries) {
  return message("bodies touch ", entries,
                 " bins in total, more than there is room for since the last build; call build");
}

/// " is 3 long along the periodic axis 1, where the box is 5; ...", for the first such axis.
template <typename T>
[[nodiscard]] std::string too_long_text(const box<T, 3>& domain, const vec<T, 3>& half);

/// " at (1, 2, 3) lies 2e+09 boxes away along the periodic axis 1; ...", for the first such axis.
template <typename T>
[[nodiscard]] std::string too_far_text(const box<T, 3>& domain, const vec<T, 3>& center);

}  // namespace quadrat::detail
