// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "quadrat/tune/device_profile.hpp"

namespace quadrat::detail {

/// The profile that counts at the level none: see profile_of, which keeps the result. Warns.
[[nodiscard]] device_profile find_profile(const device_facts& device);

}  // namespace quadrat::detail
