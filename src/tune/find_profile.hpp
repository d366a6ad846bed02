// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "quadrat/tune/device_profile.hpp"

namespace quadrat::detail {

/// Finds the profile for the level none: see profile_of, which keeps the result. Prints warnings.
[[nodiscard]] device_profile find_profile(const device_facts& device);

}  // namespace quadrat::detail
