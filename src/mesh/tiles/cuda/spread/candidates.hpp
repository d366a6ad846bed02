// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "mesh/tiles/cuda/grid.hpp"
#include "quadrat/core/macros.hpp"

/// For spread/collect.cuh: the candidate points of a patch of the mesh, and the division of a crowded patch among
/// warps.
namespace quadrat::detail {

/// The tiles along an axis whose footprints may reach the patch that begins at mesh point `begin`: one run of tiles per
/// image of a periodic axis.
class tile_span {
 public:
  struct run {
    int first, count;
    int shift;  ///< of the image, in mesh points
  };

  QUADRAT_HD tile_span(const tile_grid& grid, int axis, int begin)
      : low_(begin - grid.shape.width[axis] + 1 - grid.origin[axis]),
        high_(begin + tile_patch - 1 - grid.origin[axis]),
        edge_(grid.edge[axis]),
        extent_(grid.shape.periodic[axis] ? grid.shape.extent[axis] : 0),
        last_((extent_ > 0 ? extent_ : grid.tiles[axis] * edge_) - 1) {
    if (extent_ > 0 && low_ < 0) first_image_ = -((extent_ - 1 - low_) / extent_);
    if (extent_ > 0) images_ = high_ / extent_ - first_image_ + 1;
    for (int image = 0; image < images_; ++image) total_ += of_image(image).count;
  }
  [[nodiscard]] QUADRAT_HD int images() const { return images_; }
  [[nodiscard]] QUADRAT_HD run of_image(int image) const {
    const int shift = (first_image_ + image) * extent_;
    const int low = low_ - shift, high = high_ - shift;
    const int from = (low > 0 ? low : 0) / edge_, to = (high < last_ ? high : last_) / edge_;
    return {from, to < from ? 0 : to - from + 1, shift};
  }
  /// Tiles of all images.
  [[nodiscard]] QUADRAT_HD int total() const { return total_; }
  /// Tile k of them, as a run of one.
  [[nodiscard]] QUADRAT_HD run tile(int k) const {
    for (int image = 0;; ++image) {
      const run own = of_image(image);
      if (k < own.count) return {own.first + k, 1, own.shift};
      k -= own.count;
    }
  }

 private:
  int low_, high_;  // first mesh points of footprints that reach the patch
  int edge_, extent_, last_;
  int first_image_ = 0, images_ = 1, total_ = 0;
};

/// The patches of a mesh, 8 mesh points along each axis.
struct tile_mesh_patches {
  int count[3];

  QUADRAT_HD explicit tile_mesh_patches(const mesh_shape& shape)
      : count{(shape.extent[0] + tile_patch - 1) / tile_patch, (shape.extent[1] + tile_patch - 1) / tile_patch,
              (shape.extent[2] + tile_patch - 1) / tile_patch} {}
  [[nodiscard]] QUADRAT_HD std::size_t total() const {
    return static_cast<std::size_t>(count[0]) * static_cast<std::size_t>(count[1]) * static_cast<std::size_t>(count[2]);
  }
  /// The first mesh point of a patch.
  QUADRAT_HD void locate(std::uint32_t patch, int (&begin)[3]) const {
    const auto second = static_cast<std::uint32_t>(count[1]), last = static_cast<std::uint32_t>(count[2]);
    begin[0] = static_cast<int>(patch / last / second) * tile_patch;
    begin[1] = static_cast<int>(patch / last % second) * tile_patch;
    begin[2] = static_cast<int>(patch % last) * tile_patch;
  }
};

/// Points of adjacent tiles of a row: a run of slots.
struct tile_run {
  std::uint32_t first, length;
  int from;     ///< the smallest first mesh point along the first axis
  int base[3];  ///< origin of the offsets in records
};

/// The candidates of a patch: the points of all tiles whose footprints may reach it, in runs. Each image of a point is
/// in a different run.
class tile_candidates {
 public:
  QUADRAT_HD tile_candidates(const tile_grid& grid, const std::uint32_t* offsets, const int (&begin)[3])
      : grid_(grid),
        offsets_(offsets),
        first_(grid, 0, begin[0]),
        second_(grid, 1, begin[1]),
        last_(grid, 2, begin[2]) {}

  [[nodiscard]] QUADRAT_HD int runs() const { return second_.total() * last_.total() * first_.images(); }
  [[nodiscard]] QUADRAT_HD tile_run run(int number) const {
    const int row = number / first_.images(), rank = row / last_.total();
    return of_tiles(first_.of_image(number - row * first_.images()), second_.tile(rank),
                    last_.tile(row - rank * last_.total()));
  }
  /// The number of candidates.
  [[nodiscard]] QUADRAT_HD std::uint64_t points() const {
    std::uint64_t sum = 0;
    for (int number = 0; number < runs(); ++number) sum += run(number).length;
    return sum;
  }

 private:
  [[nodiscard]] QUADRAT_HD tile_run of_tiles(const tile_span::run& first, const tile_span::run& second,
                                             const tile_span::run& last) const {
    if (first.count == 0) return {};
    const std::uint32_t number = static_cast<std::uint32_t>(second.first * grid_.tiles[2] + last.first) *
                                     static_cast<std::uint32_t>(grid_.segments * grid_.segment) +
                                 static_cast<std::uint32_t>(first.first);
    const std::uint32_t begins = offsets_[number];
    const int origin = grid_.origin[0] + first.shift;
    return {begins,
            offsets_[number + static_cast<std::uint32_t>(first.count)] - begins,
            origin + first.first * grid_.edge[0],
            {origin + first.first / grid_.segment * grid_.segment * grid_.edge[0],
             grid_.origin[1] + second.first * grid_.edge[1] + second.shift,
             grid_.origin[2] + last.first * grid_.edge[2] + last.shift}};
  }

  const tile_grid& grid_;
  const std::uint32_t* offsets_;
  tile_span first_, second_, last_;
};

/// The candidates [first, last) of a patch, counted through its runs: the share of one warp.
struct candidate_share {
  std::uint64_t first, last;

  QUADRAT_HD candidate_share(std::uint32_t number, std::uint32_t length)
      : first(std::uint64_t{number} * length), last(first + length) {}
  [[nodiscard]] QUADRAT_HD std::uint32_t size() const { return static_cast<std::uint32_t>(last - first); }
  /// The part of a run that is in the share; `before`: candidates in the runs before it.
  [[nodiscard]] QUADRAT_HD tile_run part_of(const tile_run& run, std::uint64_t before) const {
    const std::uint64_t end = before + run.length;
    const std::uint64_t from = before > first ? before : first, until = end < last ? end : last;
    tile_run part = run;
    part.first += static_cast<std::uint32_t>(from - before);
    part.length = from < until ? static_cast<std::uint32_t>(until - from) : 0;
    return part;
  }
};

/// The limits by which crowded patches are divided.
struct tile_crowd_limits {
  std::uint32_t share;        ///< most candidates of a warp
  std::uint32_t most_extras;  ///< shares after the first ones of their patches, in all

  [[nodiscard]] QUADRAT_HD std::uint32_t shares(std::uint64_t candidates) const {
    return static_cast<std::uint32_t>((candidates + share - 1) / share);
  }
};

/// A patch with several shares: its extra ones, after the first, are `count` from number `first`.
struct tile_crowd {
  std::uint32_t patch, first, count;
};

}  // namespace quadrat::detail
