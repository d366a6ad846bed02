// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "mesh/shape.hpp"
#include "quadrat/core/context.hpp"

/// Tiles: boxes of mesh points that own the points whose footprints begin in them; and their colors. Host only.
namespace quadrat::detail {

/// One axis, cut into tiles of 2^shift first mesh points. The last one absorbs a remainder shorter than a footprint's
/// reach beyond its tile, so that a footprint touches only its own tile and the next one.
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
  /// Tiles of one color do not touch each other's mesh points: colors alternate, and the last of an odd number of
  /// periodic tiles has a third color.
  [[nodiscard]] int color(int tile) const {
    return periodic && tiles % 2 == 1 && tiles > 1 && tile == tiles - 1 ? 2 : tile % 2;
  }
  /// The tile `step` steps further on; -1 beyond an open end.
  [[nodiscard]] int beside(int tile, int step) const {
    const int there = tile + step;
    if (there >= 0 && there < tiles) return there;
    return periodic ? (there + tiles) % tiles : -1;
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
    return join(axis[0].tile_of(first[0]), axis[1].tile_of(first[1]), axis[2].tile_of(first[2]));
  }
  [[nodiscard]] std::uint32_t join(int x, int y, int z) const {
    const auto ny = static_cast<std::uint32_t>(axis[1].tiles), nz = static_cast<std::uint32_t>(axis[2].tiles);
    return (static_cast<std::uint32_t>(x) * ny + static_cast<std::uint32_t>(y)) * nz + static_cast<std::uint32_t>(z);
  }
  /// Splits a tile's number into its index along each axis.
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

/// Tiles in two dimensions. A tile's rows pass through the buffer, so long tiles cost nothing if there are enough
/// tiles.
[[nodiscard]] inline mesh_tiles make_tall_tiles(const mesh_shape& shape) {
  constexpr std::size_t enough = 128;
  mesh_tiles tiles{};
  for (int shift = 8; shift >= 5; --shift) {
    tiles = {{make_tile_axis(shape, 0, 0), make_tile_axis(shape, 1, shift), make_tile_axis(shape, 2, 6)}};
    if (tiles.count() >= enough) return tiles;
  }
  return {{tiles.axis[0], tiles.axis[1], make_tile_axis(shape, 2, 5)}};
}

/// Sizes of tiles, as powers of 2: along axis 0 size costs little (a tile's planes pass through the buffer); along the
/// other two the buffer for a spline of order 6 with complex values must nearly fit into a level-one cache of 32 KB.
/// For wide footprints only one plane must fit, because their reach beyond a small tile is many times the tile. Values
/// have 4 bytes, or 8.
[[nodiscard]] inline mesh_tiles make_cpu_tiles(const mesh_shape& shape, std::size_t value_bytes) {
  const int shifts[3][3] = {{5, value_bytes == 8 ? 3 : 4, 4}, {0, 5, 5}, {0, 0, 10}};
  constexpr std::size_t worth_sharing = 512;
  if (shape.first_axis == 1) return make_tall_tiles(shape);
  const int* shift = shifts[shape.first_axis];
  const auto tiles = [&](int more) {
    return mesh_tiles{{make_tile_axis(shape, 0, shift[0]), make_tile_axis(shape, 1, shift[1] + more),
                       make_tile_axis(shape, 2, shift[2] + more)}};
  };
  const mesh_tiles large = tiles(1);
  const bool wide = shape.first_axis == 0 && shape.width[2] >= 8;
  return wide && large.count() >= worth_sharing ? large : tiles(0);
}

/// The tiles by color: successive stages, within which no two tiles add to the same mesh point, so they can be
/// processed in parallel (particle-mesh-spreading, section 2, "Multicoloring approach"). A tile waits only for those
/// neighbors that belong to an earlier stage, not for the whole stage. The order of additions to a mesh point is still
/// that of the stages, for any number of threads.
class tile_stages {
 public:
  explicit tile_stages(const mesh_tiles& grid) : grid_(grid), done_(grid.count()) {
    std::vector<std::uint32_t> by_color[27];
    for (std::uint32_t tile = 0; tile < grid.count(); ++tile) {
      by_color[static_cast<std::size_t>(grid.color(tile))].push_back(tile);
    }
    for (const auto& stage : by_color) tiles_.insert(tiles_.end(), stage.begin(), stage.end());
  }

  /// Calls body(tile) for each that is_used(tile); finished on return. One call at a time.
  template <typename Used, typename Body>
  void for_each(const cpu_context& context, const Used& is_used, const Body& body) {
    const std::uint32_t round = ++round_;
    std::atomic<std::size_t> next{0};
#pragma omp parallel num_threads(context.threads())
    for (std::size_t i = next.fetch_add(1); i < tiles_.size(); i = next.fetch_add(1)) {
      if (is_used(tiles_[i])) {
        // No deadlock: the tiles it waits for have been taken by threads that do not need this one.
        wait_for_neighbors(tiles_[i], round);
        body(tiles_[i]);
      }
      done_[tiles_[i]].store(round, std::memory_order_release);
    }
  }

 private:
  void wait_for_neighbors(std::uint32_t tile, std::uint32_t round) const {
    const int color = grid_.color(tile);
    int along[3];
    grid_.split(tile, along);
    for (int step = 0; step < 27; ++step) {
      const int x = grid_.axis[0].beside(along[0], step / 9 - 1);
      const int y = grid_.axis[1].beside(along[1], step / 3 % 3 - 1);
      const int z = grid_.axis[2].beside(along[2], step % 3 - 1);
      if (x < 0 || y < 0 || z < 0) continue;
      const std::uint32_t neighbor = grid_.join(x, y, z);
      if (grid_.color(neighbor) >= color) continue;
      while (done_[neighbor].load(std::memory_order_acquire) != round) std::this_thread::yield();
    }
  }

  mesh_tiles grid_;
  std::vector<std::uint32_t> tiles_;              ///< by stage
  std::vector<std::atomic<std::uint32_t>> done_;  ///< the round in which a tile was last done
  std::uint32_t round_ = 0;
};

}  // namespace quadrat::detail
