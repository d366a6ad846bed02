// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "search/clusters/finder.hpp"

/// The steps of a cluster finder on a rank, which has some of all points: own ones first, then ghosts within the
/// cutoff. Between the steps ranks exchange what they have found. A fragment is a cluster of the points of one rank.
namespace quadrat::detail {

/// Index: slot. Reads which points are core points.
template <typename Point>
struct read_core_points {
  const Point* points;
  const particle_id* elements;
  std::uint32_t* cores;  ///< by point: 1 or 0

  QUADRAT_HD void operator()(std::size_t k) const { cores[elements[k]] = points[k].is_core() ? 1 : 0; }
};

/// Index: slot. Says which points are core points.
template <typename Point>
struct set_core_points {
  const std::uint32_t* cores;
  const particle_id* elements;
  Point* points;

  QUADRAT_HD void operator()(std::size_t k) const {
    points[k].part_and_core = points[k].part() | (cores[elements[k]] != 0 ? 0 : Point::not_core);
  }
};

/// Index: slot. The fragment of each core point, and no_particle for others.
template <typename Point>
struct read_fragments {
  const Point* points;
  const particle_id* elements;
  const std::uint32_t* part_labels;
  std::uint32_t* fragments;  ///< by point

  QUADRAT_HD void operator()(std::size_t k) const {
    fragments[elements[k]] = points[k].is_core() ? part_labels[points[k].part()] : no_particle;
  }
};

/// Index: part. Replaces fragments by their places in an order.
struct order_parts {
  const std::uint32_t* order;
  std::uint32_t* part_labels;

  QUADRAT_HD void operator()(std::size_t part) const {
    if (part_labels[part] != no_particle) part_labels[part] = order[part_labels[part]];
  }
};

template <typename Context, typename T, int D>
class fragment_finder : public cluster_engine<Context, T, D> {
 public:
  using cluster_engine<Context, T, D>::cluster_engine;

  /// Which points are core points: right for own ones. Waits. Throws as cluster_finder::find.
  void find_core_points(const points_view<T, D>& points, std::uint32_t* cores);
  /// Unites core points. Fragments are numbered by their first core point. Does not wait.
  void find_fragments(const std::uint32_t* cores, std::uint32_t* fragments);
  /// The number of fragments whose first core point is before a point. Waits.
  [[nodiscard]] std::size_t fragments_before(std::size_t point) const;
  /// By point: the least order[fragment] of the core points that it is linked to, or of its own; noise_label if there
  /// are none. `order`: nullptr: fragments are in order. Does not wait. After find_fragments.
  [[nodiscard]] const std::int32_t* label_by(const std::uint32_t* order);
  using cluster_engine<Context, T, D>::context;
  using cluster_engine<Context, T, D>::options;

 private:
  using base = cluster_engine<Context, T, D>;
};

template <typename Context, typename T, int D>
void fragment_finder<Context, T, D>::find_core_points(const points_view<T, D>& points, std::uint32_t* cores) {
  this->several = this->gated = false;
  this->point_count = points.count;
  if (points.count == 0) return;
  this->place(points, nullptr);
  this->read_parts(points);
  this->tree =
      this->crowded ? make_box_tree(context, this->placed.data(), points.count, this->boxes) : box_tree<T, D>{};
  this->with_systems([&](const auto& systems) { this->find_cores(systems, points.count); });
  for_each(context, "search.clusters.read_core_points", points.count,
           read_core_points<cluster_point<T, D>>{this->placed.data(), this->pairs.elements(), cores});
}

template <typename Context, typename T, int D>
void fragment_finder<Context, T, D>::find_fragments(const std::uint32_t* cores, std::uint32_t* fragments) {
  const std::size_t count = this->point_count;
  if (count == 0) return;
  for_each(context, "search.clusters.set_core_points", count,
           set_core_points<cluster_point<T, D>>{cores, this->pairs.elements(), this->placed.data()});
  this->with_systems([&](const auto& systems) {
    this->unite(systems, count);
    this->number(systems, count);
  });
  for_each(context, "search.clusters.read_fragments", count,
           read_fragments<cluster_point<T, D>>{this->placed.data(), this->pairs.elements(), this->part_labels.data(),
                                               fragments});
}

template <typename Context, typename T, int D>
std::size_t fragment_finder<Context, T, D>::fragments_before(std::size_t point) const {
  return this->point_count == 0 ? 0 : to_host(context, this->before.data() + point, 1)[0];
}

template <typename Context, typename T, int D>
const std::int32_t* fragment_finder<Context, T, D>::label_by(const std::uint32_t* order) {
  if (this->point_count == 0) return nullptr;
  if (order != nullptr) this->run_parts("search.clusters.order_parts", order_parts{order, this->part_labels.data()});
  this->with_systems([&](const auto& systems) { this->label(systems, this->point_count); });
  return this->labels.data();
}

}  // namespace quadrat::detail
