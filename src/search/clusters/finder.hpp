// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "cells/ordered_pairs_build.hpp"
#include "core/point_checks.hpp"
#include "core/reduced_lattice.hpp"
#include "parallel/host_mirror.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/scan.hpp"
#include "quadrat/parallel/workspace.hpp"
#include "quadrat/search/cluster_finder.hpp"
#include "search/clusters/groups.hpp"
#include "search/clusters/labels.hpp"
#include "search/clusters/search.hpp"
#include "search/point_complaint.hpp"

namespace quadrat::detail {

/// What a cluster_finder is made of. Tests let it count its work.
template <typename Context, typename T, int D, typename Counts = no_cluster_counts>
class cluster_engine {
 public:
  cluster_engine(const Context& where, const lattice<T, D>& box, const cluster_options<T>& chosen,
                 const Counts& counting = {});

  void find(const points_view<T, D>& points);
  [[nodiscard]] cluster_view view() const;
  [[nodiscard]] cluster_members members();
  [[nodiscard]] const vec<T, D>* centers();
  [[nodiscard]] std::size_t bytes() const;

  Context context;
  cluster_options<T> options;
  lattice<T, D> given;
  lattice<T, D> shape;  ///< that is searched
  Counts counts;

 private:
  using search_type = cluster_search<T, D, Counts>;
  using forest_type = cluster_forest<Counts>;
  /// Words that the device writes and the host reads.
  enum word : std::size_t { fault_word, needed_word, parts_word, crowded_word, words };

  void place(const points_view<T, D>& points);
  [[nodiscard]] bool read_parts(const points_view<T, D>& points);
  void unite(std::size_t count);
  void label(std::size_t count);
  [[nodiscard]] forest_type forest() { return {parents.data(), counts}; }
  [[nodiscard]] search_type search();

  bool found = false;
  std::size_t point_count = 0;
  std::size_t part_count = 0;
  std::size_t cluster_count = 0;
  cluster_parts<T, D> parts{};
  box_tree<T, D> tree{};

  array<std::uint64_t, Context> control;
  host_mirror<Context> mirror;
  ordered_pairs<Context, std::uint64_t> pairs;
  array<std::uint32_t, Context> cell_offsets;
  array<std::uint32_t, Context> before;  ///< parts before a slot; what unite_few has left; clusters before a point
  array<cluster_point<T, D>, Context> placed;
  array<std::uint32_t, Context> part_begins, parents, smallest, part_labels;
  array<bounding_box<T, D>, Context> boxes;
  array<std::int32_t, Context> labels;
  array<std::uint32_t, Context> sizes;
  workspace<Context> scratch;
  cluster_groups<Context, T, D> groups;
};

template <typename Context, typename T, int D, typename Counts>
cluster_engine<Context, T, D, Counts>::cluster_engine(const Context& where, const lattice<T, D>& box,
                                                      const cluster_options<T>& chosen, const Counts& counting)
    : context(where),
      options(chosen),
      given(box),
      shape(reduced(box, false).shape),
      counts(counting),
      control(where, words) {
  const T link = options.link;
  require(link > T(0) && std::isfinite(link), "the linking length is ", link, "; it must be positive and finite");
  require(link * link > T(0) && std::isfinite(link * link), "the linking length is ", link,
          "; its square must be positive and finite");
  require(options.min_points > 0,
          "min_points is 0; a core point has at least 1 point within the linking length, itself");
  for (int axis = 0; axis < D; ++axis) {
    const T half = shape.height(axis) / 2;
    require(!shape.periodic[axis] || link <= half, "the linking length ", link,
            " is more than half the periodic box along vector ", axis, " (height ", shape.height(axis), "); at most ",
            half, " is possible");
  }
}

/// Puts the points in the order of cells and parts.
template <typename Context, typename T, int D, typename Counts>
void cluster_engine<Context, T, D, Counts>::place(const points_view<T, D>& points) {
  const std::size_t count = points.count;
  parts = make_cluster_parts(make_cluster_cells(shape, options.link, options.accept_outside, count), options.link);
  const std::size_t cells = parts.cells.buckets;
  cell_offsets.resize_discarding(context, cells + 1);
  before.resize_discarding(context, count + 1);
  placed.resize_discarding(context, count);
  part_begins.resize_discarding(context, count + 1);
  parents.resize_discarding(context, count);
  fill_bytes(context, control.data(), 0, control.bytes());
  fill_bytes(context, control.data() + fault_word, 0xff, sizeof(std::uint64_t));
  fill_bytes(context, cell_offsets.data(), 0, (cells + 1) * sizeof(std::uint32_t));

  search_key<T, D> key{};
  key.search.points = points;
  key.accept_outside = options.accept_outside;
  key.faults = {control.data() + fault_word, control.data() + needed_word};
  const std::uint64_t keys = static_cast<std::uint64_t>(cells) << (parts.hash_bits + D * parts.place_bits);
  pairs.make(context, count, keys, cluster_key<T, D>{key, parts});
  for_each(context, "search.clusters.mark_parts", count,
           mark_parts<T, D>{parts, points, pairs.keys(), pairs.elements(), count, before.data(), cell_offsets.data(),
                            control.data() + crowded_word});
  exclusive_scan(context, cell_offsets.data(), cell_offsets.data(), cells + 1, scratch);
  exclusive_scan_with_total(context, before.data(), before.data(), count, scratch);
  for_each(context, "search.clusters.place_points", count,
           place_cluster_points<T, D>{parts, points, pairs.elements(), count, before.data(), placed.data(),
                                      part_begins.data(), parents.data(), control.data() + parts_word});
}

/// Reads back faults and the number of parts; returns whether cells are crowded.
template <typename Context, typename T, int D, typename Counts>
bool cluster_engine<Context, T, D, Counts>::read_parts(const points_view<T, D>& points) {
  const std::uint64_t* read = mirror.read(context, control.data(), words);
  part_count = read[parts_word];
  const bool crowded = read[crowded_word] != 0;
  if (read[fault_word] == ~std::uint64_t{0}) return crowded;
  const std::uint64_t i = read[fault_word] >> 8;
  throw data_error(point_complaint(context, given, points, "point ", i), i);
}

template <typename Context, typename T, int D, typename Counts>
typename cluster_engine<Context, T, D, Counts>::search_type cluster_engine<Context, T, D, Counts>::search() {
  const T squared_link = options.link * options.link;
  return {parts.cells, squared_link, cell_offsets.data(), placed.data(), part_begins.data(), tree, counts};
}

template <typename Context, typename T, int D, typename Counts>
void cluster_engine<Context, T, D, Counts>::unite(std::size_t count) {
  if (options.min_points > 1) {
    for_each(context, "search.clusters.find_core_points", count,
             find_core_points<search_type>{search(), options.min_points});
  }
  if (tree.levels > 0) {
    for_each(context, "search.clusters.unite_linked", count, unite_linked<search_type>{search(), forest()});
    return;
  }
  for_each(context, "search.clusters.unite_few", count, unite_few<search_type>{search(), forest(), before.data()});
  for_each(context, "search.clusters.flatten", part_count, flatten_forest<forest_type>{forest()});
  std::uint32_t* const largest = before.data() + count;
  for_each(context, "search.clusters.vote", 1, vote_for_root{parents.data(), part_count, largest});
  for_each(context, "search.clusters.unite_rest", count,
           unite_rest<search_type>{search(), forest(), before.data(), largest});
}

/// Numbers the clusters and labels the points.
template <typename Context, typename T, int D, typename Counts>
void cluster_engine<Context, T, D, Counts>::label(std::size_t count) {
  const cluster_chunks chunks = make_cluster_chunks(context, count);
  smallest.resize_discarding(context, part_count);
  part_labels.resize_discarding(context, part_count);
  labels.resize_discarding(context, count);
  fill_bytes(context, smallest.data(), 0xff, part_count * sizeof(std::uint32_t));
  for_each(context, "search.clusters.find_smallest", chunks.number(),
           find_smallest<search_type>{placed.data(), pairs.elements(), chunks, forest(), smallest.data()});
  fill_bytes(context, before.data(), 0, count * sizeof(std::uint32_t));
  for_each(context, "search.clusters.mark_first_points", part_count, mark_first_points{smallest.data(), before.data()});
  exclusive_scan_with_total(context, before.data(), before.data(), count, scratch);
  for_each(context, "search.clusters.label_parts", part_count,
           label_parts<forest_type>{forest(), smallest.data(), before.data(), part_labels.data()});
  for_each(context, "search.clusters.label_points", count,
           label_points<search_type>{search(), part_labels.data(), pairs.elements(), labels.data()});
  cluster_count = to_host(context, before.data() + count, 1)[0];
  sizes.resize_discarding(context, cluster_count);
  fill_bytes(context, sizes.data(), 0, cluster_count * sizeof(std::uint32_t));
  for_each(context, "search.clusters.count_sizes", chunks.number(),
           count_cluster_sizes{labels.data(), chunks, sizes.data()});
}

template <typename Context, typename T, int D, typename Counts>
void cluster_engine<Context, T, D, Counts>::find(const points_view<T, D>& points) {
  found = false;
  groups.clear();
  require_points(points, "points");
  point_count = points.count;
  cluster_count = 0;
  if (point_count > 0) {
    place(points);
    const bool crowded = read_parts(points);
    tree = crowded ? make_box_tree(context, placed.data(), point_count, boxes) : box_tree<T, D>{};
    unite(point_count);
    label(point_count);
    context.synchronize();
  }
  found = true;
}

template <typename Context, typename T, int D, typename Counts>
cluster_view cluster_engine<Context, T, D, Counts>::view() const {
  require(found, "there are no clusters: find has not been called, or its last call failed");
  return {point_count, labels.data(), cluster_count, sizes.data()};
}

template <typename Context, typename T, int D, typename Counts>
cluster_members cluster_engine<Context, T, D, Counts>::members() {
  groups.group(context, view());
  context.synchronize();
  return {cluster_count, groups.offsets(), groups.members()};
}

template <typename Context, typename T, int D, typename Counts>
const vec<T, D>* cluster_engine<Context, T, D, Counts>::centers() {
  groups.center(context, shape, given, view(), placed.data(), pairs.elements());
  context.synchronize();
  return groups.centers();
}

template <typename Context, typename T, int D, typename Counts>
std::size_t cluster_engine<Context, T, D, Counts>::bytes() const {
  return control.bytes() + pairs.bytes() + cell_offsets.bytes() + before.bytes() + placed.bytes() +
         part_begins.bytes() + parents.bytes() + smallest.bytes() + part_labels.bytes() + boxes.bytes() +
         labels.bytes() + sizes.bytes() + scratch.bytes() + groups.bytes();
}

}  // namespace quadrat::detail
