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
  bool collects;  ///< tiles hold so few points that windows of the mesh collect them
  bool sparse;    ///< so few that interpolation takes points by themselves

  /// Numbers that `tile_shares` takes, for two channels.
  [[nodiscard]] std::size_t share_size() const {
    return most_units * static_cast<std::size_t>(grid.segment_reach() * tile_window * tile_window * grid.layers * 2);
  }
};

[[nodiscard]] tile_plan plan_tiles(const mesh_shape& shape, bool clip, std::size_t count);

}  // namespace quadrat::detail
