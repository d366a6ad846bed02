// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "quadrat/core/macros.hpp"
#include "quadrat/search/cluster_pairs.hpp"
#include "search/nearest/images.hpp"
#include "search/nearest/tree.hpp"
#include "search/search.hpp"
#include "search/tiles/pairs.hpp"

/// The search for tiles on a CPU, and the parts shared by both backends. It uses the tree of nearest neighbors, whose
/// leaves are the groups. Bounding boxes find the groups that may be near a row; the masks of their tiles then show
/// which have a pair.
namespace quadrat::detail {

static_assert(nearest_width == points_of_group);

/// A search, passed to kernels by value.
template <typename T, int D>
struct tile_search {
  nearest_tree<T, D> tree;
  nearest_images<T, D> images;
  T squared_reach;
  /// For bounding boxes, whose distances a GPU may round differently from those of points.
  T squared_reach_of_boxes;
  std::uint32_t* visits;  ///< for tests: of nodes and groups by each warp of a GPU; nullptr: not wanted
};

/// Finds the groups near one row. `sink(translation, group)` gets those whose box is near, always in the same order.
template <typename T, int D, typename Sink>
class tile_finder {
 public:
  QUADRAT_HD tile_finder(const tile_search<T, D>& search, std::size_t row, Sink& sink)
      : search_(search),
        first_(row * groups_of_row * points_of_group),
        last_(first_ + points_of_row < search.tree.points ? first_ + points_of_row : search.tree.points),
        sink_(sink) {
    low_ = high_ = position(first_);
    for (std::size_t place = first_ + 1; place < last_; ++place) {
      const vec<T, D> point = position(place);
      for (int axis = 0; axis < D; ++axis) {
        low_[axis] = point[axis] < low_[axis] ? point[axis] : low_[axis];
        high_[axis] = point[axis] > high_[axis] ? point[axis] : high_[axis];
      }
    }
  }

  QUADRAT_HD void find() { nearest_shells<T, D, tile_finder>(search_.images, low_, high_, *this).visit(); }

  /// The number of boxes near the row's box that were compared with its points.
  [[nodiscard]] QUADRAT_HD std::size_t visits() const { return visits_; }

  // For nearest_shells.
  [[nodiscard]] QUADRAT_HD bool in_reach(T squared) const { return squared <= search_.squared_reach_of_boxes; }
  QUADRAT_HD void find_in_image(const vec<int, D>& shift) {
    translation_ = search_.images.shape.translation(shift);
    walk();
  }

 private:
  [[nodiscard]] QUADRAT_HD vec<T, D> position(std::size_t place) const {
    return search_.tree.leaves[place / nearest_width].position(place % nearest_width);
  }

  /// Visits the leaves whose box is near that of the row.
  QUADRAT_HD void walk() {
    std::uint32_t pending[most_nearest_levels];  // children still to be visited, of the nodes above
    int level = search_.tree.levels - 1;
    std::size_t index = 0;
    std::uint32_t children = near_children(level, index);
    for (;;) {
      while (children == 0) {
        if (++level == search_.tree.levels) return;
        children = pending[level];
        index /= nearest_width;
      }
      const unsigned child = lowest_bit(children);
      children &= children - 1;
      ++visits_;
      if (level == 0) {
        sink_(translation_, static_cast<std::uint32_t>(index * nearest_width + child));
      } else if (next_to_box(first_, level, index, child) < last_) {
        pending[level] = children;
        --level;
        index = index * nearest_width + child;
        children = near_children(level, index);
      }
    }
  }

  [[nodiscard]] QUADRAT_HD std::uint32_t near_children(int level, std::size_t index) const {
    T squared[nearest_width];
    squared_distances_to(search_.tree.node(level, index), low_, high_, translation_, squared);
    std::uint32_t children = 0;
    QUADRAT_UNROLL
    for (unsigned child = 0; child < nearest_width; ++child) {
      children |= static_cast<std::uint32_t>(in_reach(squared[child])) << child;
    }
    return children;
  }

  /// The first point of the row, from a place on, that is near the box of a child. (The box of a row with a stray point
  /// is near everything.)
  [[nodiscard]] QUADRAT_HD std::size_t next_to_box(std::size_t place, int level, std::size_t node,
                                                   unsigned child) const {
    const nearest_node<T, D>& boxes = search_.tree.node(level, node);
    for (; place < last_; ++place) {
      const vec<T, D> from = position(place);
      if (in_reach(squared_distance_to(boxes, child, from, from, translation_))) break;
    }
    return place;
  }

  const tile_search<T, D>& search_;
  std::size_t first_;
  std::size_t last_;
  Sink& sink_;
  vec<T, D> low_{}, high_{};
  vec<T, D> translation_{};  // of the image that is being searched
  std::size_t visits_ = 0;
};

/// The masks of the tiles of rows.
template <typename T, int D>
struct tile_masks {
  pairs_of_groups<T, D> pairs;
  const point_group<T, D>* groups;
  T squared_reach;

  /// The word of the tile for group number `own`.
  [[nodiscard]] std::uint64_t word(std::size_t own, const vec<T, D>& translation, std::size_t group) const {
    constexpr std::uint64_t selves = 0x8040201008040201;
    const std::uint64_t bits = pairs(groups[own], groups[group], translation, squared_reach);
    // Only the home image has no translation.
    return own == group && translation == vec<T, D>{} ? bits & ~selves : bits;
  }
};

/// Index: place. Every 32nd place does one row. With one index per point, small sets also use all threads.
template <typename T, int D>
struct count_tiles {
  tile_search<T, D> search;
  tile_masks<T, D> masks;
  std::uint32_t* counts;

  void operator()(std::size_t i) const {
    if (i % points_of_row != 0) return;
    const std::size_t row = i / points_of_row;
    std::uint32_t count = 0;
    const auto add = [&](const vec<T, D>& translation, std::uint32_t group) {
      bool any = false;
      for (std::size_t k = 0; k < groups_of_row && !any; ++k) {
        any = masks.word(groups_of_row * row + k, translation, group) != 0;
      }
      count += any ? 1 : 0;
    };
    tile_finder<T, D, decltype(add)>(search, row, add).find();
    counts[row] = count;
  }
};

/// The same.
template <typename T, int D>
struct fill_tiles {
  tile_search<T, D> search;
  tile_masks<T, D> masks;
  const std::uint64_t* offsets;
  pair_tile<T, D>* tiles;
  std::uint64_t* words;  ///< groups_of_row a tile

  void operator()(std::size_t i) const {
    if (i % points_of_row != 0) return;
    const std::size_t row = i / points_of_row;
    std::uint64_t tile = offsets[row];
    const auto add = [&](const vec<T, D>& translation, std::uint32_t group) {
      std::uint64_t found[groups_of_row], any = 0;
      for (std::size_t k = 0; k < groups_of_row; ++k) {
        found[k] = masks.word(groups_of_row * row + k, translation, group);
        any |= found[k];
      }
      if (any == 0) return;
      tiles[tile] = {translation, group};
      for (std::size_t k = 0; k < groups_of_row; ++k) words[groups_of_row * tile + k] = found[k];
      ++tile;
    };
    tile_finder<T, D, decltype(add)>(search, row, add).find();
  }
};

/// Index: place, those unused at the end included.
template <typename T, int D>
struct fill_groups {
  nearest_tree<T, D> tree;
  point_group<T, D>* groups;

  QUADRAT_HD void operator()(std::size_t place) const {
    const std::size_t b = place % points_of_group;
    point_group<T, D>& group = groups[place / points_of_group];
    const bool used = place < tree.points;
    group.id[b] = used ? tree.leaves[place / points_of_group].id[b] : no_particle;
    for (int axis = 0; axis < D; ++axis) {
      group.at[axis][b] = used ? tree.leaves[place / points_of_group].at[axis][b] : nearest_infinity<T>;
    }
  }
};

/// Index: place. Moves the points to their present positions, in the image nearest to that of the build.
template <typename T, int D>
struct move_groups {
  points_view<T, D> points;
  lattice<T, D> shape;
  const vec<int, D>* homes;  ///< of each point, from the position of the build to that in the box; nullptr: none
  const vec<int, D>* boxes;  ///< by point: from the image nearest to the build's position to the present position
  point_group<T, D>* groups;

  QUADRAT_HD void operator()(std::size_t place) const {
    const std::size_t b = place % points_of_group;
    point_group<T, D>& group = groups[place / points_of_group];
    const particle_id id = group.id[b];
    vec<T, D> position = points[id];
    if (homes != nullptr) position -= shape.translation(homes[id] + boxes[id]);
    for (int axis = 0; axis < D; ++axis) group.at[axis][b] = position[axis];
  }
};

}  // namespace quadrat::detail
