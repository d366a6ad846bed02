// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <span>
#include <string>
#include <vector>

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
#include "search/checks.hpp"
#include "search/clusters/catalog.hpp"
#include "search/clusters/groups.hpp"
#include "search/clusters/labels.hpp"
#include "search/clusters/search.hpp"
#include "search/point_complaint.hpp"

namespace quadrat::detail {

/// The implementation of cluster_finder. In tests it counts its work.
template <typename Context, typename T, int D, typename Counts = no_cluster_counts>
class cluster_engine {
 public:
  cluster_engine(const Context& where, const std::vector<lattice<T, D>>& boxes, const cluster_options<T>& chosen,
                 const Counts& counting = {});

  /// `system_of_point`: nullptr for one system.
  void find(const points_view<T, D>& points, const std::uint32_t* system_of_point = nullptr);
  void find_async(const points_view<T, D>& points, const std::uint32_t* system_of_point = nullptr);
  void reserve(std::size_t clusters);
  void check();
  [[nodiscard]] cluster_view view() const;
  [[nodiscard]] cluster_members members();
  [[nodiscard]] const vec<T, D>* centers();
  [[nodiscard]] cluster_catalog<T, D> catalog(const cluster_catalog_options<T, D>& wanted);
  [[nodiscard]] std::size_t bytes() const;

  Context context;
  cluster_options<T> options;
  std::vector<lattice<T, D>> given;
  std::vector<lattice<T, D>> shapes;  ///< the searched lattices
  Counts counts;

 protected:
  template <typename Systems>
  using search_type = cluster_search<T, D, Systems, Counts>;
  using forest_type = cluster_forest<Counts>;
  static constexpr bool cuda = std::is_same_v<Context, cuda_context>;

  void cut(std::size_t count);
  void cut_systems(std::size_t count);
  /// Calls `call` with one_cluster_system or cluster_systems.
  template <typename Call>
  void with_systems(const Call& call) const;
  void place(const points_view<T, D>& points, const std::uint32_t* system_of_point);
  template <typename Systems>
  void place_in(const Systems& systems, const points_view<T, D>& points);
  void read_parts(const points_view<T, D>& points);
  [[nodiscard]] std::string complaint(const points_view<T, D>& points, std::uint64_t fault) const;
  template <typename Body>
  void run(const char* name, std::size_t count, const Body& body, cluster_step step = cluster_step::always,
           bool of_parts = false);
  template <typename Body>
  void run_parts(const char* name, const Body& body, cluster_step step = cluster_step::always) {
    run(name, gated ? point_count : part_count, body, step, true);
  }
  template <typename Systems>
  void center(const Systems& systems, const cluster_view& all);
  template <typename Systems>
  void find_cores(const Systems& systems, std::size_t count);
  template <typename Systems>
  void unite(const Systems& systems, std::size_t count);
  template <typename Systems>
  void number(const Systems& systems, std::size_t count);
  template <typename Systems>
  void label(const Systems& systems, std::size_t count);
  void count_sizes(std::size_t count, std::size_t clusters);
  void read_words();
  [[nodiscard]] std::exception_ptr failure_of(const std::uint64_t* read) const;
  [[nodiscard]] forest_type forest() { return {parents.data(), counts}; }
  template <typename Systems>
  [[nodiscard]] search_type<Systems> search(const Systems& systems, cluster_step step);

  bool found = false;
  bool gated = false;     ///< the host does not know the words when it enqueues
  bool crowded = false;   ///< whether cells are crowded, if not gated
  bool enqueued = false;  ///< the device knows the outcome of the last call, which a graph may repeat
  std::size_t point_count = 0;
  std::size_t part_count = 0;
  std::size_t cluster_count = 0;
  std::size_t room = 0;                         ///< for clusters
  std::size_t reserved_points = 0;              ///< for which find_async has memory
  points_view<T, D> last{};                     ///< for messages
  std::exception_ptr failure;                   ///< of the last call
  std::array<std::uint64_t, 2> failed_words{};  ///< words from which `failure` was made
  bool several = false;                         ///< the last points had system numbers
  bool any_periodic = false;
  std::uint32_t bucket_count = 0;
  std::vector<cluster_parts<T, D>> parts;  ///< by system
  box_tree<T, D> tree{};

  array<lattice<T, D>, Context> boxes_there;        ///< the given ones
  array<cluster_parts<T, D>, Context> parts_there;  ///< of several systems, as the following
  array<std::uint32_t, Context> numbers, points_of_systems;
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
  cluster_catalogs<Context, T, D> catalogs;
};

template <typename Context, typename T, int D, typename Counts>
cluster_engine<Context, T, D, Counts>::cluster_engine(const Context& where, const std::vector<lattice<T, D>>& shaped,
                                                      const cluster_options<T>& chosen, const Counts& counting)
    : context(where),
      options(chosen),
      given(shaped),
      counts(counting),
      boxes_there(to_device(where, shaped)),
      control(where, cluster_words::count) {
  require(!given.empty(), "there is no box; one is needed, or one for each system");
  for (const lattice<T, D>& box : given) {
    shapes.push_back(reduced(box, false).shape);
    check_cutoff(shapes.back(), options.cutoff);
    for (int axis = 0; axis < D; ++axis) any_periodic = any_periodic || box.periodic[axis];
  }
  require(options.min_points > 0, "min_points is 0; a core point has at least 1 point within the cutoff, itself");
}

/// Cuts the boxes into cells and parts for a number of points.
template <typename Context, typename T, int D, typename Counts>
void cluster_engine<Context, T, D, Counts>::cut(std::size_t count) {
  if (several) return cut_systems(count);
  const auto cells = make_cluster_cells(shapes.front(), options.cutoff, options.accept_outside, count);
  bucket_count = cells.buckets;
  parts.assign(1, make_cluster_parts(cells, options.cutoff, bucket_count, cells.table > 0 ? hash_bits_of_tables : 0));
}

/// The same for several systems: waits for the number of points of each.
template <typename Context, typename T, int D, typename Counts>
void cluster_engine<Context, T, D, Counts>::cut_systems(std::size_t count) {
  const std::size_t systems = shapes.size();
  points_of_systems.resize_discarding(context, systems);
  fill_bytes(context, points_of_systems.data(), 0, systems * sizeof(std::uint32_t));
  for_each(context, "search.clusters.count_system_points", count,
           count_system_points{numbers.data(), points_of_systems.data(), static_cast<std::uint32_t>(systems)});
  parts = make_parts_of_systems(shapes, to_host(context, points_of_systems.data(), systems), options.cutoff,
                                options.accept_outside);
  bucket_count = parts.back().cells.first_bucket + parts.back().cells.buckets;
  parts_there.resize_discarding(context, systems);
  copy_bytes(context, parts.data(), parts_there.data(), systems * sizeof(cluster_parts<T, D>));
}

template <typename Context, typename T, int D, typename Counts>
template <typename Call>
void cluster_engine<Context, T, D, Counts>::with_systems(const Call& call) const {
  if (several) {
    call(cluster_systems<T, D>{parts_there.data(), static_cast<std::uint32_t>(shapes.size()), numbers.data(),
                               pairs.elements()});
  } else {
    call(one_cluster_system<T, D>{parts.front()});
  }
}

/// Sorts the points by cell and part.
template <typename Context, typename T, int D, typename Counts>
void cluster_engine<Context, T, D, Counts>::place(const points_view<T, D>& points,
                                                  const std::uint32_t* system_of_point) {
  const std::size_t count = points.count;
  if (several) {
    numbers.resize_discarding(context, count);
    copy_bytes(context, system_of_point, numbers.data(), count * sizeof(std::uint32_t));
  }
  if (!gated || !several) cut(count);  // enqueued systems keep the cells of the last `find`
  cell_offsets.resize_discarding(context, std::size_t{bucket_count} + 1);
  before.resize_discarding(context, count + 1);
  placed.resize_discarding(context, count);
  part_begins.resize_discarding(context, count + 1);
  parents.resize_discarding(context, count);
  fill_bytes(context, control.data(), 0, control.bytes());
  fill_bytes(context, control.data() + cluster_words::fault, 0xff, sizeof(std::uint64_t));
  fill_bytes(context, cell_offsets.data(), 0, (std::size_t{bucket_count} + 1) * sizeof(std::uint32_t));
  with_systems([&](const auto& systems) { place_in(systems, points); });
}

template <typename Context, typename T, int D, typename Counts>
template <typename Systems>
void cluster_engine<Context, T, D, Counts>::place_in(const Systems& systems, const points_view<T, D>& points) {
  const std::size_t count = points.count;
  search_key<T, D> key{};
  key.search.points = points;
  key.accept_outside = options.accept_outside;
  key.faults = {control.data() + cluster_words::fault, control.data() + cluster_words::needed};
  const cluster_parts<T, D>& form = parts.front();
  const std::uint64_t keys = std::uint64_t{bucket_count} << (form.hash_bits + D * form.place_bits);
  pairs.make(context, count, keys, cluster_key<T, D, Systems>{key, systems});
  // Only now is there an order.
  with_systems([&](const auto& ordered) {
    using systems_type = std::decay_t<decltype(ordered)>;
    for_each(context, "search.clusters.mark_parts", count,
             mark_parts<T, D, systems_type>{ordered, points, pairs.keys(), pairs.elements(), count, before.data(),
                                            cell_offsets.data(), control.data() + cluster_words::crowded});
    exclusive_scan(context, cell_offsets.data(), cell_offsets.data(), std::size_t{bucket_count} + 1, scratch);
    exclusive_scan_with_total(context, before.data(), before.data(), count, scratch);
    for_each(context, "search.clusters.place_points", count,
             place_cluster_points<T, D, systems_type>{ordered, points, pairs.elements(), count, before.data(),
                                                      placed.data(), part_begins.data(), parents.data(),
                                                      control.data() + cluster_words::parts});
  });
}

/// Reads back faults, the number of parts and whether cells are crowded.
template <typename Context, typename T, int D, typename Counts>
void cluster_engine<Context, T, D, Counts>::read_parts(const points_view<T, D>& points) {
  const std::uint64_t* read = mirror.read(context, control.data(), cluster_words::count);
  part_count = read[cluster_words::parts];
  crowded = read[cluster_words::crowded] != 0;
  if (read[cluster_words::fault] == ~std::uint64_t{0}) return;
  throw data_error(complaint(points, read[cluster_words::fault]), read[cluster_words::fault] >> 8);
}

/// The message about the first invalid point, or its system. Synchronizes.
template <typename Context, typename T, int D, typename Counts>
std::string cluster_engine<Context, T, D, Counts>::complaint(const points_view<T, D>& points,
                                                             std::uint64_t fault) const {
  const std::size_t i = fault >> 8;
  const std::uint32_t system = several ? to_host(context, numbers.data() + i, 1)[0] : 0;
  if (static_cast<fault_kind>(fault & 0xff) == fault_kind::key_range) {
    return message("point ", i, " belongs to system ", system, "; there are ", given.size());
  }
  return point_complaint(context, given[system], points, "point ", i);
}

template <typename Context, typename T, int D, typename Counts>
template <typename Systems>
auto cluster_engine<Context, T, D, Counts>::search(const Systems& systems, cluster_step step) -> search_type<Systems> {
  const T squared_cutoff = options.cutoff * options.cutoff;
  return {systems,       squared_cutoff,     cell_offsets.data(),
          placed.data(), part_begins.data(), step == cluster_step::if_crowded ? tree : box_tree<T, D>{},
          counts};
}

/// Runs one step if it applies to these cells (crowded or sparse).
template <typename Context, typename T, int D, typename Counts>
template <typename Body>
void cluster_engine<Context, T, D, Counts>::run(const char* name, std::size_t count, const Body& body,
                                                cluster_step step, bool of_parts) {
  if (gated) {
    for_each(context, name, count, gated_step<Body>{body, control.data(), step, of_parts});
  } else if (step == cluster_step::always || crowded == (step == cluster_step::if_crowded)) {
    for_each(context, name, count, body);
  }
}

template <typename Context, typename T, int D, typename Counts>
template <typename Systems>
void cluster_engine<Context, T, D, Counts>::find_cores(const Systems& systems, std::size_t count) {
  if (options.min_points == 1) return;
  for (const cluster_step step : {cluster_step::if_crowded, cluster_step::if_sparse}) {
    run("search.clusters.find_core_points", count,
        find_core_points<search_type<Systems>>{search(systems, step), options.min_points}, step);
  }
}

template <typename Context, typename T, int D, typename Counts>
template <typename Systems>
void cluster_engine<Context, T, D, Counts>::unite(const Systems& systems, std::size_t count) {
  using step_search = search_type<Systems>;
  constexpr auto if_crowded = cluster_step::if_crowded, if_sparse = cluster_step::if_sparse;
  run("search.clusters.unite_linked", count, unite_linked<step_search>{search(systems, if_crowded), forest()},
      if_crowded);
  run("search.clusters.unite_few", count, unite_few<step_search>{search(systems, if_sparse), forest(), before.data()},
      if_sparse);
  run_parts("search.clusters.flatten", flatten_forest<forest_type>{forest()}, if_sparse);
  std::uint32_t* const largest = before.data() + count;
  run("search.clusters.vote", 1, vote_for_root{parents.data(), control.data() + cluster_words::parts, largest},
      if_sparse);
  run("search.clusters.unite_rest", count,
      unite_rest<step_search>{search(systems, if_sparse), forest(), before.data(), largest}, if_sparse);
}

/// Labels the parts by their core points. `before` then has the number of clusters whose first core point is before a
/// point, and at its end that of all.
template <typename Context, typename T, int D, typename Counts>
template <typename Systems>
void cluster_engine<Context, T, D, Counts>::number(const Systems& /*systems*/, std::size_t count) {
  using step_search = search_type<Systems>;
  const cluster_chunks chunks = make_cluster_chunks(context, count);
  const std::size_t most_parts = gated ? count : part_count;
  smallest.resize_discarding(context, most_parts);
  part_labels.resize_discarding(context, most_parts);
  fill_bytes(context, smallest.data(), 0xff, most_parts * sizeof(std::uint32_t));
  run("search.clusters.find_smallest", chunks.number(),
      find_smallest<step_search>{placed.data(), pairs.elements(), chunks, forest(), smallest.data()});
  fill_bytes(context, before.data(), 0, count * sizeof(std::uint32_t));
  run_parts("search.clusters.mark_first_points", mark_first_points{smallest.data(), before.data()});
  exclusive_scan_with_total(context, before.data(), before.data(), count, scratch);
  run_parts("search.clusters.label_parts",
            label_parts<forest_type>{forest(), smallest.data(), before.data(), part_labels.data()});
}

/// Labels the points by the parts.
template <typename Context, typename T, int D, typename Counts>
template <typename Systems>
void cluster_engine<Context, T, D, Counts>::label(const Systems& systems, std::size_t count) {
  using step_search = search_type<Systems>;
  labels.resize_discarding(context, count);
  for (const cluster_step step : {cluster_step::if_crowded, cluster_step::if_sparse}) {
    run("search.clusters.label_points", count,
        label_points<step_search>{search(systems, step), part_labels.data(), pairs.elements(), labels.data()}, step);
  }
}

template <typename Context, typename T, int D, typename Counts>
void cluster_engine<Context, T, D, Counts>::count_sizes(std::size_t count, std::size_t clusters) {
  const cluster_chunks chunks = make_cluster_chunks(context, count);
  fill_bytes(context, sizes.data(), 0, clusters * sizeof(std::uint32_t));
  run("search.clusters.count_sizes", chunks.number(),
      count_cluster_sizes{labels.data(), chunks, sizes.data(), static_cast<std::uint32_t>(clusters)});
}

template <typename Context, typename T, int D, typename Counts>
void cluster_engine<Context, T, D, Counts>::find(const points_view<T, D>& points,
                                                 const std::uint32_t* system_of_point) {
  found = gated = enqueued = false;
  failure = nullptr;
  groups.clear();
  try {
    check_systems(points, std::span<const lattice<T, D>>(given), system_of_point);
    several = system_of_point != nullptr;
    point_count = points.count;
    cluster_count = 0;
    if (point_count > 0) {
      place(points, system_of_point);
      read_parts(points);
      tree = crowded ? make_box_tree(context, placed.data(), point_count, boxes) : box_tree<T, D>{};
      with_systems([&](const auto& systems) {
        find_cores(systems, point_count);
        unite(systems, point_count);
        number(systems, point_count);
        label(systems, point_count);
      });
      cluster_count = to_host(context, before.data() + point_count, 1)[0];
      room = std::max(room, cluster_count);
      sizes.resize_discarding(context, room);
      count_sizes(point_count, cluster_count);
      context.synchronize();
    }
  } catch (...) {
    failure = std::current_exception();
    throw;
  }
  found = true;
}

template <typename Context, typename T, int D, typename Counts>
void cluster_engine<Context, T, D, Counts>::reserve(std::size_t clusters) {
  require(point_count > 0, "there have been no points; call find first");
  if (enqueued) read_words();
  enqueued = false;
  if (clusters > room) {
    found = false;
    sizes.resize_discarding(context, clusters);
    room = clusters;
  }
  smallest.resize_discarding(context, point_count);
  part_labels.resize_discarding(context, point_count);
  static_cast<void>(make_box_tree<Context, T, D>(context, nullptr, point_count, boxes));
  reserved_points = point_count;
}

template <typename Context, typename T, int D, typename Counts>
void cluster_engine<Context, T, D, Counts>::find_async(const points_view<T, D>& points,
                                                       const std::uint32_t* system_of_point) {
  check_systems(points, std::span<const lattice<T, D>>(given), system_of_point);
  require(points.count == point_count && points.count == reserved_points, "there are ", points.count,
          " points, but find and reserve have made room for ", reserved_points, " and the last call had ", point_count,
          "; call find, then reserve");
  require(several == (system_of_point != nullptr), "find was called ", several ? "with" : "without",
          " systems, so find_async needs the same; call find, then reserve");
  last = points;
  found = false;
  failure = nullptr;
  gated = true;
  place(points, system_of_point);
  tree = make_box_tree(context, placed.data(), point_count, boxes);
  with_systems([&](const auto& systems) {
    find_cores(systems, point_count);
    unite(systems, point_count);
    number(systems, point_count);
    label(systems, point_count);
  });
  copy_bytes(context, before.data() + point_count, control.data() + cluster_words::clusters, sizeof(std::uint32_t));
  count_sizes(point_count, room);
  enqueued = true;
  if constexpr (!cuda) check();
}

template <typename Context, typename T, int D, typename Counts>
std::exception_ptr cluster_engine<Context, T, D, Counts>::failure_of(const std::uint64_t* read) const {
  const std::uint64_t fault = read[cluster_words::fault], clusters = read[cluster_words::clusters];
  if (fault != ~std::uint64_t{0}) {
    return std::make_exception_ptr(data_error(complaint(last, fault), fault >> 8));
  }
  if (clusters <= room) return nullptr;
  return std::make_exception_ptr(overflow_error(
      message("there are ", clusters, " clusters, and room for ", room, "; call find or reserve"), clusters));
}

/// Reads the outcome of the last asynchronous call, or of its last replay in a graph, from the device.
template <typename Context, typename T, int D, typename Counts>
void cluster_engine<Context, T, D, Counts>::read_words() {
  std::array<std::uint64_t, cluster_words::count> read{};
  std::copy_n(mirror.read(context, control.data(), read.size()), read.size(), read.begin());
  const std::array<std::uint64_t, 2> seen{read[cluster_words::fault], read[cluster_words::clusters]};
  groups.clear();
  // The message is made once, because the caller may have freed the points by the next check.
  if (failure == nullptr || seen != failed_words) failure = failure_of(read.data());
  failed_words = seen;
  found = failure == nullptr;
  cluster_count = seen[1];
}

template <typename Context, typename T, int D, typename Counts>
void cluster_engine<Context, T, D, Counts>::check() {
  if (enqueued) read_words();
  if (failure != nullptr) std::rethrow_exception(failure);
}

template <typename Context, typename T, int D, typename Counts>
cluster_view cluster_engine<Context, T, D, Counts>::view() const {
  require(found, "there are no clusters: find has not been called, or its last call failed or has not been checked");
  return {point_count, labels.data(), cluster_count, sizes.data()};
}

template <typename Context, typename T, int D, typename Counts>
cluster_members cluster_engine<Context, T, D, Counts>::members() {
  groups.group(context, view());
  context.synchronize();
  return {cluster_count, groups.offsets(), groups.members()};
}

template <typename Context, typename T, int D, typename Counts>
template <typename Systems>
void cluster_engine<Context, T, D, Counts>::center(const Systems& systems, const cluster_view& all) {
  groups.center(context, systems, any_periodic, boxes_there.data(), several ? numbers.data() : nullptr, all,
                placed.data(), pairs.elements());
}

template <typename Context, typename T, int D, typename Counts>
const vec<T, D>* cluster_engine<Context, T, D, Counts>::centers() {
  const cluster_view clusters = view();
  if (point_count > 0) {
    with_systems([&](const auto& systems) { center(systems, clusters); });
  }
  context.synchronize();
  return groups.centers();
}

template <typename Context, typename T, int D, typename Counts>
cluster_catalog<T, D> cluster_engine<Context, T, D, Counts>::catalog(const cluster_catalog_options<T, D>& wanted) {
  const cluster_view all = view();
  if (wanted.velocities.count > 0) {
    require_points(wanted.velocities, "velocities");
    require(wanted.velocities.count == all.points, "there are ", wanted.velocities.count, " velocities and ",
            all.points, " points; each point needs one");
  }
  require(wanted.potentials == nullptr || wanted.densities == nullptr,
          "there are potentials and densities; one of them chooses the central members");
  cluster_catalog<T, D> made{};
  if (point_count > 0) {
    with_systems([&](const auto& systems) {
      center(systems, all);
      made = catalogs.make(context, groups, systems, all, wanted);
    });
  }
  context.synchronize();
  return made;
}

template <typename Context, typename T, int D, typename Counts>
std::size_t cluster_engine<Context, T, D, Counts>::bytes() const {
  return boxes_there.bytes() + parts_there.bytes() + numbers.bytes() + points_of_systems.bytes() + control.bytes() +
         pairs.bytes() + cell_offsets.bytes() + before.bytes() + placed.bytes() + part_begins.bytes() +
         parents.bytes() + smallest.bytes() + part_labels.bytes() + boxes.bytes() + labels.bytes() + sizes.bytes() +
         scratch.bytes() + groups.bytes() + catalogs.bytes();
}

}  // namespace quadrat::detail
