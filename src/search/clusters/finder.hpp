// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "cells/ordered_pairs_build.hpp"
#include "core/point_checks.hpp"
#include "parallel/host_mirror.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/scan.hpp"
#include "quadrat/parallel/workspace.hpp"
#include "quadrat/search/cluster_finder.hpp"
#include "search/cells.hpp"
#include "search/clusters/search.hpp"
#include "search/point_complaint.hpp"

namespace quadrat {

template <typename Context, typename T, int D>
struct cluster_finder<Context, T, D>::implementation {
  implementation(const Context& where, const cluster_options<T>& chosen, const lattice<T, D>& box);

  void find(const points_view<T, D>& points);
  [[nodiscard]] cluster_view view() const;
  [[nodiscard]] std::size_t bytes() const;

  Context context;
  cluster_options<T> options;
  lattice<T, D> shape;

 private:
  /// Words that the device writes and the host reads.
  enum word : std::size_t { fault_word, needed_word, parts_word, crowded_word, words };

  void place(const points_view<T, D>& points);
  [[nodiscard]] bool read_parts(const points_view<T, D>& points);
  void unite(std::size_t count);
  void label(std::size_t count);
  [[nodiscard]] detail::cluster_forest forest() { return detail::cluster_forest{parents.data()}; }
  [[nodiscard]] detail::cluster_search<T, D> search();

  bool found = false;
  std::size_t point_count = 0;
  std::size_t part_count = 0;
  std::size_t cluster_count = 0;
  detail::cluster_parts<T, D> parts{};
  detail::box_tree<T, D> tree{};

  array<std::uint64_t, Context> control;
  detail::host_mirror<Context> mirror;
  detail::ordered_pairs<Context, std::uint64_t> pairs;
  array<std::uint32_t, Context> cell_offsets;
  array<std::uint32_t, Context> before;  ///< parts before a slot; what unite_few has left; clusters before a point
  array<detail::cluster_point<T, D>, Context> placed;
  array<std::uint32_t, Context> part_begins, parents, smallest, part_labels;
  array<detail::bounding_box<T, D>, Context> boxes;
  array<std::int32_t, Context> labels;
  array<std::uint32_t, Context> sizes;
  workspace<Context> scratch;
};

template <typename Context, typename T, int D>
cluster_finder<Context, T, D>::implementation::implementation(const Context& where, const cluster_options<T>& chosen,
                                                              const lattice<T, D>& box)
    : context(where), options(chosen), shape(box), control(where, words) {
  const T link = options.link;
  require(link > T(0) && std::isfinite(link), "the linking length is ", link, "; it must be positive and finite");
  require(link * link > T(0) && std::isfinite(link * link), "the linking length is ", link,
          "; its square must be positive and finite");
  require(options.min_points > 0,
          "min_points is 0; a core point has at least 1 point within the linking length, itself");
  for (int axis = 0; axis < D; ++axis) {
    const T half = shape.height(axis) / 2;
    require(!shape.periodic[axis] || link <= half, "the linking length ", link,
            " is more than half the periodic box along axis ", axis, " (length ", shape.height(axis), "); at most ",
            half, " is possible");
  }
}

/// Puts the points in the order of cells and parts.
template <typename Context, typename T, int D>
void cluster_finder<Context, T, D>::implementation::place(const points_view<T, D>& points) {
  const std::size_t count = points.count;
  const detail::cells_request<T, D> wanted{vec<T, D>::filled(options.link), options.link,
                                           detail::most_cells(count, options.accept_outside), options.accept_outside};
  const auto systems = detail::make_search_systems(std::span<const lattice<T, D>>(&shape, 1), wanted);
  const std::size_t cells = detail::cell_count(systems);
  parts = detail::make_cluster_parts(systems.front(), options.link);
  cell_offsets.resize_discarding(context, cells + 1);
  before.resize_discarding(context, count + 1);
  placed.resize_discarding(context, count);
  part_begins.resize_discarding(context, count + 1);
  parents.resize_discarding(context, count);
  fill_bytes(context, control.data(), 0, control.bytes());
  fill_bytes(context, control.data() + fault_word, 0xff, sizeof(std::uint64_t));
  fill_bytes(context, cell_offsets.data(), 0, (cells + 1) * sizeof(std::uint32_t));

  detail::search_key<T, D> key{};
  key.search.points = points;
  key.accept_outside = options.accept_outside;
  key.faults = {control.data() + fault_word, control.data() + needed_word};
  const std::uint64_t keys = static_cast<std::uint64_t>(cells) << (parts.part_bits + parts.fine_bits);
  pairs.make(context, count, keys, detail::cluster_key<T, D>{key, parts});
  for_each(context, "search.clusters.mark_parts", count,
           detail::mark_parts<T, D>{parts, points, pairs.keys(), pairs.elements(), count, before.data(),
                                    cell_offsets.data(), control.data() + crowded_word});
  exclusive_scan(context, cell_offsets.data(), cell_offsets.data(), cells + 1, scratch);
  exclusive_scan_with_total(context, before.data(), before.data(), count, scratch);
  for_each(context, "search.clusters.place_points", count,
           detail::place_cluster_points<T, D>{parts, points, pairs.elements(), count, before.data(), placed.data(),
                                              part_begins.data(), parents.data(), control.data() + parts_word});
}

/// Reads back faults and the number of parts; returns whether cells are crowded.
template <typename Context, typename T, int D>
bool cluster_finder<Context, T, D>::implementation::read_parts(const points_view<T, D>& points) {
  const std::uint64_t* read = mirror.read(context, control.data(), words);
  part_count = read[parts_word];
  const bool crowded = read[crowded_word] != 0;
  if (read[fault_word] == ~std::uint64_t{0}) return crowded;
  const std::uint64_t i = read[fault_word] >> 8;
  throw data_error(detail::point_complaint(context, shape, points, "point ", i), i);
}

template <typename Context, typename T, int D>
detail::cluster_search<T, D> cluster_finder<Context, T, D>::implementation::search() {
  const T squared_link = options.link * options.link;
  return {parts.system, options.link, squared_link, cell_offsets.data(), placed.data(), part_begins.data(), tree};
}

template <typename Context, typename T, int D>
void cluster_finder<Context, T, D>::implementation::unite(std::size_t count) {
  if (options.min_points > 1) {
    for_each(context, "search.clusters.find_core_points", count,
             detail::find_core_points<T, D>{search(), options.min_points});
  }
  if (tree.levels > 0) {
    for_each(context, "search.clusters.unite_linked", count, detail::unite_linked<T, D>{search(), forest()});
    return;
  }
  for_each(context, "search.clusters.unite_few", count, detail::unite_few<T, D>{search(), forest(), before.data()});
  for_each(context, "search.clusters.flatten", part_count, detail::flatten_forest{forest()});
  std::uint32_t* const largest = before.data() + count;
  for_each(context, "search.clusters.vote", 1, detail::vote_for_root{parents.data(), part_count, largest});
  for_each(context, "search.clusters.unite_rest", count,
           detail::unite_rest<T, D>{search(), forest(), before.data(), largest});
}

/// Numbers the clusters and labels the points.
template <typename Context, typename T, int D>
void cluster_finder<Context, T, D>::implementation::label(std::size_t count) {
  const detail::cluster_chunks chunks = detail::make_cluster_chunks(context, count);
  smallest.resize_discarding(context, part_count);
  part_labels.resize_discarding(context, part_count);
  labels.resize_discarding(context, count);
  fill_bytes(context, smallest.data(), 0xff, part_count * sizeof(std::uint32_t));
  for_each(context, "search.clusters.find_smallest", chunks.number(),
           detail::find_smallest<T, D>{placed.data(), pairs.elements(), chunks, forest(), smallest.data()});
  fill_bytes(context, before.data(), 0, count * sizeof(std::uint32_t));
  for_each(context, "search.clusters.mark_first_points", part_count,
           detail::mark_first_points{smallest.data(), before.data()});
  exclusive_scan_with_total(context, before.data(), before.data(), count, scratch);
  for_each(context, "search.clusters.label_parts", part_count,
           detail::label_parts{forest(), smallest.data(), before.data(), part_labels.data()});
  for_each(context, "search.clusters.label_points", count,
           detail::label_points<T, D>{search(), part_labels.data(), pairs.elements(), labels.data()});
  cluster_count = to_host(context, before.data() + count, 1)[0];
  sizes.resize_discarding(context, cluster_count);
  fill_bytes(context, sizes.data(), 0, cluster_count * sizeof(std::uint32_t));
  for_each(context, "search.clusters.count_sizes", chunks.number(),
           detail::count_cluster_sizes{labels.data(), chunks, sizes.data()});
}

template <typename Context, typename T, int D>
void cluster_finder<Context, T, D>::implementation::find(const points_view<T, D>& points) {
  found = false;
  detail::require_points(points, "points");
  point_count = points.count;
  cluster_count = 0;
  if (point_count > 0) {
    place(points);
    const bool crowded = read_parts(points);
    tree = crowded ? detail::make_box_tree(context, placed.data(), point_count, boxes) : detail::box_tree<T, D>{};
    unite(point_count);
    label(point_count);
    context.synchronize();
  }
  found = true;
}

template <typename Context, typename T, int D>
cluster_view cluster_finder<Context, T, D>::implementation::view() const {
  require(found, "there are no clusters: find has not been called, or its last call failed");
  return {point_count, labels.data(), cluster_count, sizes.data()};
}

template <typename Context, typename T, int D>
std::size_t cluster_finder<Context, T, D>::implementation::bytes() const {
  return control.bytes() + pairs.bytes() + cell_offsets.bytes() + before.bytes() + placed.bytes() +
         part_begins.bytes() + parents.bytes() + smallest.bytes() + part_labels.bytes() + boxes.bytes() +
         labels.bytes() + sizes.bytes() + scratch.bytes();
}

}  // namespace quadrat
