// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <type_traits>

#include "core/memory_check.hpp"
#include "core/reduced_lattice.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/scan.hpp"
#include "quadrat/search/cluster_pairs.hpp"
#include "search/motion.hpp"
#include "search/nearest/box.hpp"
#include "search/nearest/points.hpp"
#include "search/tiles/cuda/find.hpp"
#include "search/tiles/cuda/turns.hpp"
#include "search/tiles/places.hpp"
#include "search/tiles/search.hpp"

namespace quadrat {

namespace detail {

/// Throws argument_error for impossible options.
template <typename T>
void check_cluster_pair_options(const cluster_pair_options<T>& options) {
  const T cutoff = options.cutoff, skin = options.skin, reach = cutoff + skin;
  require(cutoff > T(0) && std::isfinite(cutoff), "the cutoff is ", cutoff, "; it must be positive and finite");
  require(skin >= T(0) && std::isfinite(skin), "the skin is ", skin, "; it must be finite and not negative");
  require(cutoff * cutoff > T(0) && std::isfinite(reach * reach), "the cutoff is ", cutoff, " and the skin ", skin,
          "; the squares of the cutoff and of their sum must be positive and finite");
}

/// The images within reach.
template <typename T, int D>
[[nodiscard]] nearest_images<T, D> images_in_reach(const lattice<T, D>& shape, const cluster_pair_options<T>& options) {
  check_cluster_pair_options(options);
  const T reach = options.cutoff + options.skin;
  const auto images = make_nearest_images(shape, nearest_options<T>{.k = most_nearest_neighbors, .cutoff = reach});
  for (int axis = 0; axis < D; ++axis) {
    if (!shape.periodic[axis]) continue;
    const int most = images.most[axis] - 1;
    require(reach <= static_cast<T>(most) * shape.height(axis), "the cutoff with the skin, ", reach,
            ", spans more than ", most, " periods of the box along vector ", axis, " (height ", shape.height(axis),
            "); take a larger box, or a neighbor_list");
  }
  return images;
}

}  // namespace detail

template <typename Context, typename T, int D>
struct cluster_pair_list<Context, T, D>::implementation {
  implementation(const Context& where, const lattice<T, D>& box, const cluster_pair_options<T>& chosen)
      : context(where),
        options(chosen),
        shape(detail::reduced(box, false).shape),
        points(where, detail::images_in_reach(shape, chosen), true),
        moved(where, moved_words) {
    detail::search_system<T, D> system{};
    system.shape = shape;
    systems = to_device(context, std::vector<detail::search_system<T, D>>{system});
  }

  void build(const points_view<T, D>& given);
  [[nodiscard]] bool follow(const points_view<T, D>& given);
  [[nodiscard]] cluster_pair_view<T, D> view() const;
  [[nodiscard]] detail::staged_turns turns() const { return {turn_offsets.data(), turn_words.data()}; }
  [[nodiscard]] detail::staged_places staged() const { return {turn_offsets.data(), places.data()}; }
  [[nodiscard]] std::size_t bytes() const;

  Context context;
  cluster_pair_options<T> options;
  lattice<T, D> shape;  ///< the searched lattice
  workspace<Context> scratch;
  bool built = false;
  std::uint64_t tile_count = 0;

 private:
  static constexpr bool cuda = std::is_same_v<Context, cuda_context>;
  enum moved_word : std::size_t { points_moved, points_turned, moved_words };

  [[nodiscard]] detail::tile_search<T, D> search() const;
  /// On a CPU.
  [[nodiscard]] detail::tile_masks<T, D> tile_masks() const {
    static const detail::pairs_of_groups<T, D> fastest = detail::pairs_of_groups_functions<T, D>().front();
    return {fastest, groups.data(), search().squared_reach};
  }
  [[nodiscard]] detail::neighbor_search<T, D> motion_search(const points_view<T, D>& given) const;
  void count_tiles();
  void fill_tiles();
  void fill_turns();
  void fill_places();

  std::size_t point_count = 0;
  std::size_t rows = 0;
  detail::nearest_points<Context, T, D> points;
  detail::remembered_points<Context, T, D> remembered;
  array<detail::search_system<T, D>, Context> systems;  ///< one, for the motion
  array<std::uint64_t, Context> moved;
  detail::host_mirror<Context> mirror;
  array<point_group<T, D>, Context> groups;
  array<std::uint32_t, Context> counts;
  array<std::uint64_t, Context> offsets;
  array<pair_tile<T, D>, Context> tiles;
  array<std::uint64_t, Context> masks;
  array<std::uint64_t, Context> turn_offsets;  ///< on a GPU; on a CPU of the numbers of `places`
  array<std::uint32_t, Context> turn_words;    ///< on a GPU
  array<std::uint16_t, Context> places;        ///< on a CPU
};

template <typename Context, typename T, int D>
detail::tile_search<T, D> cluster_pair_list<Context, T, D>::implementation::search() const {
  constexpr T margin = sizeof(T) == 4 ? T(2e-6) : T(4e-15);
  const T reach = options.cutoff + options.skin;
  return {points.tree(), points.images(), reach * reach, reach * reach * (T(1) + margin), nullptr};
}

/// The arguments of remember_points and find_movers.
template <typename Context, typename T, int D>
detail::neighbor_search<T, D> cluster_pair_list<Context, T, D>::implementation::motion_search(
    const points_view<T, D>& given) const {
  detail::neighbor_search<T, D> result{};
  result.points = given;
  result.systems = systems.data();
  result.system_count = 1;
  result.reach = options.cutoff + options.skin;
  result.skin = options.skin;
  return result;
}

template <typename Context, typename T, int D>
void cluster_pair_list<Context, T, D>::implementation::count_tiles() {
  counts.resize_discarding(context, rows);
  offsets.resize_discarding(context, rows + 1);
  if constexpr (cuda) {
    detail::enqueue_tile_counts(context, search(), rows, counts.data());
  } else {
    for_each(context, "search.count_tiles", rows * points_of_row,
             detail::count_tiles<T, D>{search(), tile_masks(), counts.data()});
  }
  exclusive_scan_with_total(context, counts.data(), offsets.data(), rows, scratch);
  tile_count = to_host(context, offsets.data() + rows, 1)[0];
}

template <typename Context, typename T, int D>
void cluster_pair_list<Context, T, D>::implementation::fill_tiles() {
  constexpr std::size_t bytes_of_tile = sizeof(pair_tile<T, D>) + groups_of_row * sizeof(std::uint64_t);
  detail::require_memory(context.memory(), message("a list of ", tile_count, " tiles of 32 x 8 pairs"),
                         tile_count * bytes_of_tile, tiles.bytes() + masks.bytes(), "Take a smaller cutoff");
  tiles.resize_discarding(context, tile_count);
  masks.resize_discarding(context, groups_of_row * tile_count);
  if constexpr (cuda) {
    auto* const bytes = reinterpret_cast<std::uint8_t*>(masks.data());
    detail::enqueue_tiles(context, search(), rows, {offsets.data(), tiles.data(), bytes});
  } else {
    for_each(context, "search.fill_tiles", rows * points_of_row,
             detail::fill_tiles<T, D>{search(), tile_masks(), offsets.data(), tiles.data(), masks.data()});
  }
}

template <typename Context, typename T, int D>
void cluster_pair_list<Context, T, D>::implementation::fill_turns() {
  if constexpr (cuda) {
    turn_offsets.resize_discarding(context, rows + 1);
    const detail::masked_rows masked{rows, offsets.data(), reinterpret_cast<const std::uint8_t*>(masks.data())};
    detail::enqueue_turn_counts(context, masked, counts.data());
    exclusive_scan_with_total(context, counts.data(), turn_offsets.data(), rows, scratch);
    const std::uint64_t words = points_of_row * to_host(context, turn_offsets.data() + rows, 1)[0];
    detail::require_memory(context.memory(), message("the pairs of a list of ", tile_count, " tiles of 32 x 8 pairs"),
                           words * sizeof(std::uint32_t), turn_words.bytes(), "Take a smaller cutoff");
    turn_words.resize_discarding(context, words);
    detail::enqueue_turns(context, masked, turn_offsets.data(), turn_words.data());
  }
}

template <typename Context, typename T, int D>
void cluster_pair_list<Context, T, D>::implementation::fill_places() {
  if constexpr (!cuda) {
    turn_offsets.resize_discarding(context, rows + 1);
    const detail::row_masks row_masks{rows, offsets.data(), masks.data()};
    for_each(context, "search.count_places", rows * points_of_row, detail::count_places{row_masks, counts.data()});
    exclusive_scan_with_total(context, counts.data(), turn_offsets.data(), rows, scratch);
    const std::uint64_t numbers = turn_offsets.data()[rows] + detail::numbers_beyond;
    detail::require_memory(context.memory(), message("the pairs of a list of ", tile_count, " tiles of 32 x 8 pairs"),
                           numbers * sizeof(std::uint16_t), places.bytes(), "Take a smaller cutoff");
    places.resize_discarding(context, numbers);
    std::fill_n(places.data() + turn_offsets.data()[rows], detail::numbers_beyond, std::uint16_t{0});
    for_each(context, "search.fill_places", rows * points_of_row,
             detail::fill_places{row_masks, turn_offsets.data(), places.data()});
  }
}

template <typename Context, typename T, int D>
void cluster_pair_list<Context, T, D>::implementation::build(const points_view<T, D>& given) {
  built = false;
  points.build(given);
  point_count = given.count;
  rows = (point_count + points_of_row - 1) / points_of_row;
  groups.resize_discarding(context, rows * groups_of_row);
  for_each(context, "search.fill_groups", rows * points_of_row,
           detail::fill_groups<T, D>{points.tree(), groups.data()});
  count_tiles();
  fill_tiles();
  fill_turns();
  fill_places();
  if (options.skin > T(0)) {
    remembered.resize(context, point_count, true);
    for_each(context, "search.remember", point_count,
             detail::remember_points<T, D>{motion_search(given), remembered.memory(true)});
  }
  context.synchronize();
  built = true;
}

/// Moves the points of the list, or returns false if it must be rebuilt.
template <typename Context, typename T, int D>
bool cluster_pair_list<Context, T, D>::implementation::follow(const points_view<T, D>& given) {
  require(options.skin > T(0), "update needs a skin; set options.skin, or call build");
  const bool was_built = built;
  built = false;  // until the list is updated to these points
  detail::require_points(given, "points");
  if (!was_built || given.count != point_count) return false;
  fill_bytes(context, moved.data(), 0, moved.bytes());
  const detail::search_key<T, D> key{motion_search(given), true, {}};
  for_each(context, "search.find_movers", point_count,
           detail::find_movers<T, D>{key, remembered.memory(true), moved.data() + points_moved,
                                     moved.data() + points_turned});
  if (mirror.read(context, moved.data(), moved_words)[points_moved] != 0) return false;
  for_each(context, "search.move_groups", point_count,
           detail::move_groups<T, D>{given, shape, points.boxes(), remembered.boxes.data(), groups.data()});
  context.synchronize();
  built = true;
  return true;
}

template <typename Context, typename T, int D>
cluster_pair_view<T, D> cluster_pair_list<Context, T, D>::implementation::view() const {
  require(built, "there are no cluster pairs: build has not been called, or the last build failed");
  return {point_count, rows, groups.data(), offsets.data(), tiles.data(), masks.data(), options.cutoff};
}

template <typename Context, typename T, int D>
std::size_t cluster_pair_list<Context, T, D>::implementation::bytes() const {
  return points.bytes() + remembered.bytes() + systems.bytes() + moved.bytes() + groups.bytes() + counts.bytes() +
         offsets.bytes() + tiles.bytes() + masks.bytes() + turn_offsets.bytes() + turn_words.bytes() + places.bytes() +
         scratch.bytes();
}

}  // namespace quadrat
