// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "quadrat/core/array.hpp"
#include "quadrat/core/views.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/reduce.hpp"
#include "quadrat/parallel/sort.hpp"
#include "quadrat/parallel/workspace.hpp"
#include "quadrat/search/cluster_finder.hpp"
#include "search/clusters/groups.hpp"

/// Catalogs of clusters: reductions over rows of members, of which the chosen rows are written.
namespace quadrat::detail {

/// Index: cluster. Clusters that are left out have the largest keys.
struct order_key {
  const std::uint32_t* sizes;
  std::uint32_t least;
  bool by_size;
  std::uint32_t* keys;

  QUADRAT_HD void operator()(std::size_t label) const {
    keys[label] = by_size ? ~sizes[label] : (sizes[label] < least ? 1u : 0u);
  }
};

struct is_large_enough {
  const std::uint32_t* sizes;
  std::uint32_t least;

  QUADRAT_HD std::uint32_t operator()(std::size_t label) const { return sizes[label] < least ? 0u : 1u; }
};

/// A member that may be the central one: that of the least value.
struct central_candidate {
  double value;
  particle_id point;
};

struct choose_central {
  QUADRAT_HD central_candidate operator()(const central_candidate& a, const central_candidate& b) const {
    if (b.value < a.value) return b;
    return a.value != a.value && b.value == b.value ? b : a;
  }
};

/// Index: place in the rows. Values of the members.
template <typename T, int D, typename Systems>
struct member_values {
  cluster_rows<T, D, Systems> rows;
  const vec<double, D>* centers;  ///< in fractions
  points_view<T, D> velocities;

  /// From the center of the cluster to the member.
  [[nodiscard]] QUADRAT_HD vec<double, D> arm(std::size_t k) const {
    const vec<double, D> offset = rows.offset_at(k, centers);
    vec<double, D> result{};
    for (int axis = 0; axis < D; ++axis) result += offset[axis] * cast<double>(rows.shape_at(k).vectors[axis]);
    return result;
  }
};

template <typename T, int D, typename Systems>
struct write_candidates {
  member_values<T, D, Systems> members;
  const T* potentials;
  const T* densities;
  central_candidate* candidates;

  QUADRAT_HD void operator()(std::size_t k) const {
    const particle_id point = members.rows.members[k];
    double value = 0;
    if (potentials != nullptr) {
      value = static_cast<double>(potentials[point]);
    } else if (densities != nullptr) {
      value = -static_cast<double>(densities[point]);
    } else {
      value = squared_norm(members.arm(k));
    }
    candidates[k] = {value, point};
  }
};

template <typename T, int D, typename Systems>
struct write_velocities {
  member_values<T, D, Systems> members;
  vec<double, 2 * D>* sums;

  QUADRAT_HD void operator()(std::size_t k) const {
    const vec<T, D> velocity = members.velocities[members.rows.members[k]];
    for (int axis = 0; axis < D; ++axis) sums[k][axis] = static_cast<double>(velocity[axis]);
  }
};

/// The products of two components, of the upper triangle row by row.
template <typename T, int D, typename Systems>
struct write_products {
  member_values<T, D, Systems> members;
  vec<double, 2 * D>* sums;

  QUADRAT_HD void operator()(std::size_t k) const {
    const vec<double, D> arm = members.arm(k);
    int at = 0;
    for (int a = 0; a < D; ++a) {
      for (int b = a; b < D; ++b) sums[k][at++] = arm[a] * arm[b];
    }
  }
};

/// Index: row of the catalog.
template <typename T, int D>
struct write_group {
  const std::uint32_t* order;
  const std::uint32_t* sizes;
  const std::uint32_t* offsets;
  const vec<T, D>* centers;
  const central_candidate* candidates;
  cluster_group<T, D>* groups;

  QUADRAT_HD void operator()(std::size_t row) const {
    const std::uint32_t label = order[row];
    groups[row] = {
        static_cast<std::int32_t>(label), sizes[label], candidates[offsets[label]].point, centers[label], {}, {}};
  }
};

template <typename T, int D>
struct write_group_velocity {
  const std::uint32_t* offsets;
  const vec<double, 2 * D>* sums;
  cluster_group<T, D>* groups;

  QUADRAT_HD void operator()(std::size_t row) const {
    cluster_group<T, D>& group = groups[row];
    const vec<double, 2 * D>& sum = sums[offsets[group.label]];
    for (int axis = 0; axis < D; ++axis) group.velocity[axis] = static_cast<T>(sum[axis] / group.size);
  }
};

template <typename T, int D>
struct write_group_inertia {
  const std::uint32_t* offsets;
  const vec<double, 2 * D>* sums;
  cluster_group<T, D>* groups;

  QUADRAT_HD void operator()(std::size_t row) const {
    cluster_group<T, D>& group = groups[row];
    const vec<double, 2 * D>& sum = sums[offsets[group.label]];
    double squares = 0;
    int at = 0;
    for (int a = 0; a < D; at += D - a, ++a) squares += sum[at];
    at = 0;
    for (int a = 0; a < D; ++a) {
      for (int b = a; b < D; ++b) {
        const double product = sum[at++];
        group.inertia[a][b] = group.inertia[b][a] = static_cast<T>(a == b ? squares - product : -product);
      }
    }
  }
};

/// Index: place in the order.
struct write_row_of_label {
  const std::uint32_t* order;
  std::size_t count;
  std::int32_t* rows;

  QUADRAT_HD void operator()(std::size_t at) const {
    rows[order[at]] = at < count ? static_cast<std::int32_t>(at) : noise_label;
  }
};

/// Index: point.
struct write_row_of_point {
  const std::int32_t* labels;
  const std::int32_t* rows_of_labels;
  std::int32_t* rows;

  QUADRAT_HD void operator()(std::size_t i) const {
    rows[i] = labels[i] == noise_label ? noise_label : rows_of_labels[labels[i]];
  }
};

/// The catalog made last.
template <typename Context, typename T, int D>
class cluster_catalogs {
 public:
  /// `groups` have their centers, in these systems. Asynchronous.
  template <typename Systems>
  [[nodiscard]] cluster_catalog<T, D> make(const Context& context, cluster_groups<Context, T, D>& groups,
                                           const Systems& systems, const cluster_view& found,
                                           const cluster_catalog_options<T, D>& wanted);
  [[nodiscard]] std::size_t bytes() const {
    return keys_.bytes() + order_.bytes() + rows_of_labels_.bytes() + rows_.bytes() + candidates_.bytes() +
           groups_.bytes() + scratch_.bytes();
  }

 private:
  [[nodiscard]] std::size_t choose(const Context& context, const cluster_view& found,
                                   const cluster_catalog_options<T, D>& wanted);

  array<std::uint32_t, Context> keys_, order_;  ///< order: labels, those of the catalog first
  array<std::int32_t, Context> rows_of_labels_, rows_;
  array<central_candidate, Context> candidates_;
  array<cluster_group<T, D>, Context> groups_;
  workspace<Context> scratch_;
};

/// Puts the labels in order. Returns the number of those that are wanted.
template <typename Context, typename T, int D>
std::size_t cluster_catalogs<Context, T, D>::choose(const Context& context, const cluster_view& found,
                                                    const cluster_catalog_options<T, D>& wanted) {
  keys_.resize_discarding(context, found.clusters);
  order_.resize_discarding(context, found.clusters);
  rows_of_labels_.resize_discarding(context, found.clusters);
  rows_.resize_discarding(context, found.points);
  for_each(context, "search.clusters.order_keys", found.clusters,
           order_key{found.sizes, wanted.least_size, wanted.by_size, keys_.data()});
  sort_pairs(context, keys_.data(), order_.data(), found.clusters, wanted.by_size ? 32 : 1, scratch_,
             sort_values::index);
  const std::size_t count = reduce_sum(context, "search.clusters.count_groups", found.clusters,
                                       is_large_enough{found.sizes, wanted.least_size}, scratch_);
  for_each(context, "search.clusters.rows_of_labels", found.clusters,
           write_row_of_label{order_.data(), count, rows_of_labels_.data()});
  for_each(context, "search.clusters.rows_of_points", found.points,
           write_row_of_point{found.labels, rows_of_labels_.data(), rows_.data()});
  return count;
}

template <typename Context, typename T, int D>
template <typename Systems>
cluster_catalog<T, D> cluster_catalogs<Context, T, D>::make(const Context& context,
                                                            cluster_groups<Context, T, D>& groups,
                                                            const Systems& systems, const cluster_view& found,
                                                            const cluster_catalog_options<T, D>& wanted) {
  const std::size_t count = choose(context, found, wanted), members = groups.member_count();
  const member_values<T, D, Systems> values{groups.rows_in(systems), groups.center_fractions(), wanted.velocities};
  candidates_.resize_discarding(context, members);
  groups_.resize_discarding(context, count);
  for_each(context, "search.clusters.candidates", members,
           write_candidates<T, D, Systems>{values, wanted.potentials, wanted.densities, candidates_.data()});
  groups.join(context, candidates_.data(), choose_central{});
  for_each(context, "search.clusters.groups", count,
           write_group<T, D>{order_.data(), found.sizes, groups.offsets(), groups.centers(), candidates_.data(),
                             groups_.data()});
  if (wanted.velocities.count > 0) {
    for_each(context, "search.clusters.velocities", members, write_velocities<T, D, Systems>{values, groups.sums()});
    groups.join(context, groups.sums(), plus_operation{});
    for_each(context, "search.clusters.group_velocities", count,
             write_group_velocity<T, D>{groups.offsets(), groups.sums(), groups_.data()});
  }
  for_each(context, "search.clusters.products", members, write_products<T, D, Systems>{values, groups.sums()});
  groups.join(context, groups.sums(), plus_operation{});
  for_each(context, "search.clusters.group_inertia", count,
           write_group_inertia<T, D>{groups.offsets(), groups.sums(), groups_.data()});
  return {count, groups_.data(), found.points, rows_.data()};
}

}  // namespace quadrat::detail
