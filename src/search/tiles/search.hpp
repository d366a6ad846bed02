// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "quadrat/core/macros.hpp"
#include "quadrat/search/cluster_pairs.hpp"
#include "search/nearest/images.hpp"
#include "search/nearest/tree.hpp"
#include "search/search.hpp"

/// The search for tiles on a CPU, and what belongs to it on both backends, over the tree of the nearest neighbors: a
/// leaf is a group. The groups that may be near a row are found by bounding boxes, and those without a pair are then
/// left out by distances.
namespace quadrat::detail {

static_assert(nearest_width == points_of_group);

/// A search, passed to kernels by value.
template <typename T, int D>
struct tile_search {
  nearest_tree<T, D> tree;
  nearest_images<T, D> images;
  T squared_reach;
  /// For bounding boxes: on a GPU their distances may be rounded otherwise than those of points.
  T squared_reach_of_boxes;
  std::uint32_t* visits;  ///< for tests: of nodes and groups by each warp of a GPU; nullptr: not wanted
};

/// Finds the tiles of one row. `sink(translation, group)` gets them, always in the same order.
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

  /// How many boxes near that of the row have been compared with its points.
  [[nodiscard]] QUADRAT_HD std::size_t visits() const { return visits_; }

  // For nearest_shells.
  [[nodiscard]] QUADRAT_HD bool in_reach(T squared) const { return squared <= search_.squared_reach_of_boxes; }
  QUADRAT_HD void find_in_image(const vec<int, D>& shift) {
    home_ = shift == vec<int, D>{};
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
        if (has_pair(index, child)) sink_(translation_, static_cast<std::uint32_t>(index * nearest_width + child));
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

  /// The first point of the row, from a place on, that is near the box of a child: a row with a stray point has a box
  /// that is near everything.
  [[nodiscard]] QUADRAT_HD std::size_t next_to_box(std::size_t place, int level, std::size_t node,
                                                   unsigned child) const {
    const nearest_node<T, D>& boxes = search_.tree.node(level, node);
    for (; place < last_; ++place) {
      const vec<T, D> from = position(place);
      if (in_reach(squared_distance_to(boxes, child, from, from, translation_))) break;
    }
    return place;
  }

  /// Whether any point of the row is near enough to any point of a child of a node of level 0.
  [[nodiscard]] QUADRAT_HD bool has_pair(std::size_t node, unsigned child) const {
    const std::size_t leaf = node * nearest_width + child;
    for (std::size_t place = next_to_box(first_, 0, node, child); place < last_;
         place = next_to_box(place + 1, 0, node, child)) {
      const vec<T, D> from = position(place);
      const std::size_t own = home_ && place / nearest_width == leaf ? place % nearest_width : nearest_width;
      for (std::size_t b = 0; b < nearest_width; ++b) {
        const vec<T, D> to = search_.tree.leaves[leaf].position(b);
        const T squared = squared_norm(neighbor_search<T, D>::separation(from, to, translation_));
        if (squared < search_.squared_reach && b != own) return true;
      }
    }
    return false;
  }

  const tile_search<T, D>& search_;
  std::size_t first_;
  std::size_t last_;
  Sink& sink_;
  vec<T, D> low_{}, high_{};
  vec<T, D> translation_{};  // of the image that is being searched
  bool home_ = true;
  std::size_t visits_ = 0;
};

/// Index: place. Does the row of each 32nd place: with one index a point, small sets use all threads, too.
template <typename T, int D>
struct count_tiles {
  tile_search<T, D> search;
  std::uint32_t* counts;

  void operator()(std::size_t i) const {
    if (i % points_of_row != 0) return;
    std::uint32_t count = 0;
    const auto add = [&](const vec<T, D>&, std::uint32_t) { ++count; };
    tile_finder<T, D, decltype(add)>(search, i / points_of_row, add).find();
    counts[i / points_of_row] = count;
  }
};

/// The same.
template <typename T, int D>
struct fill_tiles {
  tile_search<T, D> search;
  const std::uint64_t* offsets;
  pair_tile<T, D>* tiles;

  void operator()(std::size_t i) const {
    if (i % points_of_row != 0) return;
    pair_tile<T, D>* next = tiles + offsets[i / points_of_row];
    const auto add = [&](const vec<T, D>& translation, std::uint32_t group) { *next++ = {translation, group}; };
    tile_finder<T, D, decltype(add)>(search, i / points_of_row, add).find();
  }
};

/// Index: place of the order, those unused at the end included. Writes its byte of the masks of each tile of its row,
/// so that the writes of a row are contiguous.
template <typename T, int D>
struct mask_tiles {
  tile_search<T, D> search;
  const point_group<T, D>* groups;
  const std::uint64_t* offsets;
  const pair_tile<T, D>* tiles;
  std::uint8_t* masks;

  QUADRAT_HD void operator()(std::size_t place) const {
    const std::size_t row = place / points_of_row, number = place / points_of_group, a = place % points_of_group;
    const vec<T, D> from = groups[number].position(a);
    const bool used = groups[number].id[a] != no_particle;
    for (std::uint64_t t = offsets[row]; t < offsets[row + 1]; ++t) {
      const pair_tile<T, D> tile = tiles[t];
      const point_group<T, D>& group = groups[tile.group];
      std::uint32_t bits = 0;
      QUADRAT_UNROLL
      for (unsigned b = 0; b < points_of_group; ++b) {
        const T squared = squared_norm(neighbor_search<T, D>::separation(from, group.position(b), tile.translation));
        bits |= static_cast<std::uint32_t>(squared < search.squared_reach) << b;
      }
      // Of all images only the home one has no translation.
      if (tile.group == number && tile.translation == vec<T, D>{}) bits &= ~(1u << a);
      masks[points_of_row * t + place % points_of_row] = static_cast<std::uint8_t>(used ? bits : 0u);
    }
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

/// Index: place. Moves the points to where they are now, in the image next to that of the build.
template <typename T, int D>
struct move_groups {
  points_view<T, D> points;
  lattice<T, D> shape;
  const vec<int, D>* homes;  ///< of each point, from the position of the build to that in the box; nullptr: none
  const vec<int, D>* boxes;  ///< of each point, from the position next to that of the build to the present one
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
