// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "mesh/mesh_shape.hpp"
#include "quadrat/core/context.hpp"

/// Boxes of mesh points that share the points whose footprints begin in them, and their colors. Host only.
namespace quadrat::detail {

/// One axis, cut into tiles of 2^shift first mesh points. The last one takes a rest that is shorter than what a
/// footprint reaches over its tile, so that a footprint touches its own tile and the next one only.
struct tile_axis {
  int low;  ///< the first mesh point of a footprint lies in [low, low + span)
  int span;
  int width;
  int shift;
  int tiles;
  bool periodic;

  [[nodiscard]] int tile_of(int first) const { return std::min((first - low) >> shift, tiles - 1); }
  [[nodiscard]] int begin(int tile) const { return low + (tile << shift); }
  [[nodiscard]] int size(int tile) const { return tile + 1 < tiles ? 1 << shift : span - (tile << shift); }
  [[nodiscard]] int most_size() const { return std::max(size(0), size(tiles - 1)); }
  /// Tiles of one color do not touch each other's mesh points: every other tile, and where an odd number of them closes
  /// a circle, a third color for the last.
  [[nodiscard]] int color(int tile) const {
    return periodic && tiles % 2 == 1 && tiles > 1 && tile == tiles - 1 ? 2 : tile % 2;
  }
};

[[nodiscard]] inline tile_axis make_tile_axis(const mesh_shape& shape, int axis, int shift) {
  // Along an open axis a footprint may begin anywhere from -width to extent.
  const int width = shape.width[axis];
  const int low = shape.periodic[axis] ? 0 : -width;
  const int span = shape.periodic[axis] ? shape.extent[axis] : shape.extent[axis] + width + 1;
  while ((1 << shift) < width - 1) ++shift;
  const int whole = span >> shift;
  const int rest = span - (whole << shift);
  const int tiles = std::max(1, whole + (rest > 0 && rest >= width - 1 ? 1 : 0));
  return {low, span, width, shift, tiles, shape.periodic[axis]};
}

struct mesh_tiles {
  tile_axis axis[3];

  [[nodiscard]] std::size_t count() const {
    return static_cast<std::size_t>(axis[0].tiles) * static_cast<std::size_t>(axis[1].tiles) *
           static_cast<std::size_t>(axis[2].tiles);
  }
  [[nodiscard]] std::uint32_t tile_of(const int* first) const {
    const auto number = [&](int a) { return static_cast<std::uint32_t>(axis[a].tile_of(first[a])); };
    return (number(0) * static_cast<std::uint32_t>(axis[1].tiles) + number(1)) *
               static_cast<std::uint32_t>(axis[2].tiles) +
           number(2);
  }
  /// The tile's number along each axis.
  void split(std::uint32_t tile, int* along) const {
    const auto y = static_cast<std::uint32_t>(axis[1].tiles), z = static_cast<std::uint32_t>(axis[2].tiles);
    along[0] = static_cast<int>(tile / (y * z));
    along[1] = static_cast<int>(tile / z % y);
    along[2] = static_cast<int>(tile % z);
  }
  [[nodiscard]] int color(std::uint32_t tile) const {
    int along[3];
    split(tile, along);
    return (axis[0].color(along[0]) * 3 + axis[1].color(along[1])) * 3 + axis[2].color(along[2]);
  }
};

/// The tiles by color: stages that follow one another, within which tiles can be worked on side by side without two
/// adding to one mesh point (particle-mesh-spreading, section 2, "Multicoloring approach"). The order of additions to a
/// mesh point is that of the stages, for any number of threads.
struct tile_stages {
  std::vector<std::uint32_t> tiles;
  std::vector<std::size_t> begin;  ///< of each stage in `tiles`, and the end

  explicit tile_stages(const mesh_tiles& grid) {
    std::vector<std::uint32_t> by_color[27];
    for (std::uint32_t tile = 0; tile < grid.count(); ++tile) {
      by_color[static_cast<std::size_t>(grid.color(tile))].push_back(tile);
    }
    for (const auto& stage : by_color) {
      if (stage.empty()) continue;
      begin.push_back(tiles.size());
      tiles.insert(tiles.end(), stage.begin(), stage.end());
    }
    begin.push_back(tiles.size());
  }
};

/// Calls body(tile) for each, stage by stage; finished on return.
template <typename Body>
void for_each_tile(const cpu_context& context, const tile_stages& stages, const Body& body) {
#pragma omp parallel num_threads(context.threads())
  for (std::size_t stage = 0; stage + 1 < stages.begin.size(); ++stage) {
    const auto first = static_cast<std::int64_t>(stages.begin[stage]);
    const auto last = static_cast<std::int64_t>(stages.begin[stage + 1]);
#pragma omp for schedule(dynamic, 1)
    for (std::int64_t i = first; i < last; ++i) body(stages.tiles[static_cast<std::size_t>(i)]);
  }
}

}  // namespace quadrat::detail
