// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "mesh/tile_grid.hpp"

namespace quadrat::detail {

/// How so many points are put into tiles, and shared among warps.
struct tile_plan {
  tile_grid grid;
  std::uint32_t unit_points;  ///< most points of a unit
  std::size_t most_units;
};

[[nodiscard]] tile_plan plan_tiles(const mesh_shape& shape, bool clip, std::size_t count);

}  // namespace quadrat::detail
