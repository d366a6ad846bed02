// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "mesh/shape.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"

/// Tiles group nearby points by the first mesh points of their footprints. All footprints of a tile lie in its patch of
/// 8 mesh points along the first and second axis and 8 times `layers` along the last, or, for planar tiles, in a patch
/// of 16 x 16 along the last two axes. Patches that collect points are exempt.
namespace quadrat::detail {

inline constexpr int tile_patch = 8;
/// Mesh points of the patch of a planar tile along an axis, and in all.
inline constexpr int planar_patch = 16;
inline constexpr int planar_size = planar_patch * planar_patch;

struct tile_grid {
  mesh_shape shape;
  int layers;
  bool planar;       ///< tiles of one or two dimensions; a segment is one tile
  int edge[3];       ///< first mesh points of a tile along an axis
  int origin[3];     ///< first mesh point of the first tile
  int tiles[3];      ///< number of tiles; along the first axis, in whole segments
  int segment;       ///< tiles of a segment: consecutive along the first axis, processed by one warp one after another
  int segments;      ///< along the first axis
  int inverse_edge;  ///< 2^16 / edge[0], rounded up: replaces division of offsets within a segment
  /// Slices of consecutive points. A tile stores its slices one after another, as separate tiles. The results of one
  /// slice stay in the second-level cache until their sectors are complete. More than one slice only if a segment is
  /// one tile.
  int slices;
  std::uint32_t slice_points;

  /// The tile of its segment that contains an offset from the segment's first mesh point.
  [[nodiscard]] QUADRAT_HD int tile_in_segment(int offset) const { return offset * inverse_edge >> 16; }

  /// The number of possible first mesh points of footprints; includes those beyond the ends of an open axis if they may
  /// be clipped.
  [[nodiscard]] QUADRAT_HD int starts(int axis) const {
    return shape.extent[axis] + (origin[axis] < 0 ? shape.width[axis] + 1 : 0);
  }
  /// Mesh points of a tile's patch that footprints reach.
  [[nodiscard]] QUADRAT_HD int reach(int axis) const { return edge[axis] + shape.width[axis] - 1; }
  /// The same along the first axis for all tiles of a segment.
  [[nodiscard]] QUADRAT_HD int segment_reach() const { return segment * edge[0] + shape.width[0] - 1; }
  [[nodiscard]] QUADRAT_HD std::size_t segment_count() const {
    return static_cast<std::size_t>(tiles[1]) * static_cast<std::size_t>(tiles[2]) * static_cast<std::size_t>(segments);
  }
  /// The number of tiles of a segment, counting each slice as a tile.
  [[nodiscard]] QUADRAT_HD std::size_t segment_tiles() const {
    return static_cast<std::size_t>(segment) * static_cast<std::size_t>(slices);
  }
  [[nodiscard]] QUADRAT_HD std::size_t tile_count() const { return segment_count() * segment_tiles(); }
};

/// A point in the order of tiles. Along each axis: in the lower bits its place between mesh points, as a fraction from
/// 0 to 1; in the upper six bits the offset of its first mesh point from that of its tile (along the first axis, of its
/// segment).
template <typename T>
struct tile_record;
template <>
struct alignas(16) tile_record<float> {
  using word = std::uint32_t;
  static constexpr int fraction_bits = 26;
  word place[3];
  particle_id id;
};
template <>
struct alignas(32) tile_record<double> {
  using word = std::uint64_t;
  static constexpr int fraction_bits = 58;
  word place[3];
  particle_id id;
};

inline constexpr int most_tile_offset = 63;

/// The place for mesh_window, from -1/2 to 1/2.
template <typename T>
[[nodiscard]] QUADRAT_HD T place_of(typename tile_record<T>::word packed) {
  using word = typename tile_record<T>::word;
  using signed_word = std::make_signed_t<word>;
  constexpr int bits = tile_record<T>::fraction_bits;
  constexpr word half = word{1} << (bits - 1);
  const auto centered = static_cast<signed_word>((packed & (2 * half - 1)) - half);
  return static_cast<T>(centered) * (T(0.5) / static_cast<T>(half));
}

template <typename T>
[[nodiscard]] QUADRAT_HD int offset_of(typename tile_record<T>::word packed) {
  return static_cast<int>(packed >> tile_record<T>::fraction_bits);
}

/// A point's tile and record.
template <typename T>
struct tiled_point {
  std::uint32_t tile;
  tile_record<T> record;
};

/// The work of one warp: points [first, last) of a segment.
struct tile_unit {
  std::uint32_t first;
  std::uint32_t last;
  std::uint32_t segment;
};

}  // namespace quadrat::detail
