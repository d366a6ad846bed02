// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mesh/cost.hpp"

namespace quadrat::detail {

/// The cost of spreading by the tiles of the CPU, where the mesh is as long along all axes and periodic.
[[nodiscard]] method_cost cpu_tiles_cost(const spread_request& request);

}  // namespace quadrat::detail
