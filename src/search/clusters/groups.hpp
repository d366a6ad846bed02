// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>

#include "cells/ordered_pairs_build.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/lattice.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/reduce.hpp"
#include "quadrat/parallel/scan.hpp"
#include "quadrat/parallel/workspace.hpp"
#include "quadrat/search/cluster_finder.hpp"
#include "search/clusters/parts.hpp"

/// The members of clusters, and their centers: sums over rows of members.
namespace quadrat::detail {

/// Sorts points by label; noise is last.
struct label_key {
  const std::int32_t* labels;
  std::uint32_t clusters;

  QUADRAT_HD std::uint32_t operator()(std::size_t i) const {
    return labels[i] == noise_label ? clusters : static_cast<std::uint32_t>(labels[i]);
  }
};

/// Index: slot. Positions in the caller's order.
template <typename T, int D>
struct restore_positions {
  const cluster_point<T, D>* placed;
  const particle_id* elements;
  vec<T, D>* positions;

  QUADRAT_HD void operator()(std::size_t k) const { positions[elements[k]] = placed[k].position; }
};

/// Members of clusters at places in their rows.
template <typename T, int D, typename Systems>
struct cluster_rows {
  Systems systems;
  const std::uint32_t* offsets;
  const particle_id* members;
  const std::uint32_t* labels;  ///< by place in `members`
  const vec<T, D>* positions;   ///< by point: wrapped

  /// The box of the point at a place.
  [[nodiscard]] QUADRAT_HD const lattice<T, D>& shape_at(std::size_t k) const {
    return systems.of_point(members[k]).cells.shape;
  }
  [[nodiscard]] QUADRAT_HD vec<double, D> fractions_at(std::size_t k) const {
    const lattice<T, D>& shape = shape_at(k);
    const vec<double, D> offset = cast<double>(positions[members[k]]) - cast<double>(shape.origin);
    vec<double, D> result{};
    for (int axis = 0; axis < D; ++axis) {
      result[axis] = shape.orthorhombic ? offset[axis] / static_cast<double>(shape.vectors[axis][axis])
                                        : dot(cast<double>(shape.inverse[axis]), offset);
    }
    return result;
  }
  /// The vector, in fractions, from the reference of the cluster to the nearest image of the member.
  [[nodiscard]] QUADRAT_HD vec<double, D> offset_at(std::size_t k, const vec<double, D>* references) const {
    const lattice<T, D>& shape = shape_at(k);
    vec<double, D> offset = fractions_at(k) - references[labels[k]];
    for (int axis = 0; axis < D; ++axis) offset[axis] -= shape.periodic[axis] ? std::rint(offset[axis]) : 0;
    return offset;
  }
};

/// Index: place in the rows. Maps each periodic axis to a circle, and stores the cosines of all axes, then the sines.
template <typename T, int D, typename Systems>
struct place_on_circles {
  cluster_rows<T, D, Systems> rows;
  vec<double, 2 * D>* sums;

  QUADRAT_HD void operator()(std::size_t k) const {
    const vec<double, D> fractions = rows.fractions_at(k);
    for (int axis = 0; axis < D; ++axis) {
      const double angle = 2 * std::numbers::pi * fractions[axis];
      sums[k][axis] = std::cos(angle);
      sums[k][D + axis] = std::sin(angle);
    }
  }
};

/// Index: cluster. The reference position of a cluster: the mean on the circle along periodic axes, the first member
/// along open ones.
template <typename T, int D, typename Systems>
struct choose_references {
  cluster_rows<T, D, Systems> rows;
  const vec<double, 2 * D>* sums;  ///< of the points on circles; not read if all axes are open
  vec<double, D>* references;

  QUADRAT_HD void operator()(std::size_t row) const {
    const std::size_t first = rows.offsets[row];
    const lattice<T, D>& shape = rows.shape_at(first);
    vec<double, D> reference = rows.fractions_at(first);
    for (int axis = 0; axis < D; ++axis) {
      if (!shape.periodic[axis]) continue;
      reference[axis] = std::atan2(sums[first][D + axis], sums[first][axis]) / (2 * std::numbers::pi);
    }
    references[row] = reference;
  }
};

/// Index: place in the rows. The vector from the reference to the nearest image of the member.
template <typename T, int D, typename Systems>
struct offset_from_references {
  cluster_rows<T, D, Systems> rows;
  const vec<double, D>* references;
  vec<double, 2 * D>* sums;

  QUADRAT_HD void operator()(std::size_t k) const {
    const vec<double, D> offset = rows.offset_at(k, references);
    for (int axis = 0; axis < D; ++axis) sums[k][axis] = offset[axis];
  }
};

/// Index: place in the rows. Joins `arity` values that are `stride` apart, in a fixed order; after the last pass the
/// first value of each row is that of all.
template <typename Value, typename Join>
struct join_members {
  static constexpr std::size_t arity = 8;

  const std::uint32_t* offsets;
  const std::uint32_t* labels;
  std::size_t stride;
  Value* values;
  Join join;

  QUADRAT_HD void operator()(std::size_t k) const {
    const std::size_t begin = offsets[labels[k]], end = offsets[labels[k] + 1];
    if ((k - begin) % (arity * stride) != 0) return;
    Value joined = values[k];
    for (std::size_t other = 1; other < arity && k + other * stride < end; ++other) {
      joined = join(joined, values[k + other * stride]);
    }
    values[k] = joined;
  }
};

/// Index: cluster. Also turns the references into the centers, in fractions of the searched box.
template <typename T, int D, typename Systems>
struct write_centers {
  cluster_rows<T, D, Systems> rows;
  vec<double, D>* references;
  const vec<double, 2 * D>* sums;
  const lattice<T, D>* boxes;    ///< by system, in which the centers are given
  const std::uint32_t* numbers;  ///< of systems, by point; nullptr: 0
  vec<T, D>* centers;

  QUADRAT_HD void operator()(std::size_t row) const {
    const std::size_t first = rows.offsets[row];
    const auto size = static_cast<double>(rows.offsets[row + 1] - first);
    const lattice<T, D>& shape = rows.shape_at(first);
    vec<double, D> center = cast<double>(shape.origin);
    for (int axis = 0; axis < D; ++axis) {
      references[row][axis] += sums[first][axis] / size;
      center += references[row][axis] * cast<double>(shape.vectors[axis]);
    }
    const lattice<T, D>& box = boxes[numbers == nullptr ? 0 : numbers[rows.members[first]]];
    vec<int, D> turns{};
    centers[row] = box.wrap(cast<T>(center), turns);
  }
};

/// Members and centers of the clusters found last.
template <typename Context, typename T, int D>
class cluster_groups {
 public:
  void clear() { grouped_ = centered_ = false; }
  /// Asynchronous, like center().
  void group(const Context& context, const cluster_view& found);
  /// `systems`: the boxes that were searched. `boxes`: those for centers, in the memory of the context; they have the
  /// same periodic images. `numbers`: the system of each point; nullptr: there is one.
  template <typename Systems>
  void center(const Context& context, const Systems& systems, bool any_periodic, const lattice<T, D>* boxes,
              const std::uint32_t* numbers, const cluster_view& found, const cluster_point<T, D>* placed,
              const particle_id* elements);

  [[nodiscard]] const std::uint32_t* offsets() const { return offsets_.data(); }
  [[nodiscard]] const particle_id* members() const { return pairs_.elements(); }
  [[nodiscard]] const vec<T, D>* centers() const { return centers_.data(); }
  /// After center().
  template <typename Systems>
  [[nodiscard]] cluster_rows<T, D, Systems> rows_in(const Systems& systems) const {
    return {systems, offsets_.data(), members(), pairs_.keys(), positions_.data()};
  }
  [[nodiscard]] const vec<double, D>* center_fractions() const { return references_.data(); }
  [[nodiscard]] std::size_t member_count() const { return member_count_; }
  /// Memory of the sums, one for each member.
  [[nodiscard]] vec<double, 2 * D>* sums() { return sums_.data(); }
  /// Joins the values of the members of each cluster at the first place in its row.
  template <typename Value, typename Join>
  void join(const Context& context, Value* values, const Join& join);
  [[nodiscard]] std::size_t bytes() const {
    return pairs_.bytes() + offsets_.bytes() + positions_.bytes() + sums_.bytes() + references_.bytes() +
           centers_.bytes() + scratch_.bytes();
  }

 private:
  bool grouped_ = false, centered_ = false;
  std::size_t member_count_ = 0;
  ordered_pairs<Context, std::uint32_t> pairs_;
  array<std::uint32_t, Context> offsets_;
  array<vec<T, D>, Context> positions_;
  array<vec<double, 2 * D>, Context> sums_;
  array<vec<double, D>, Context> references_;
  array<vec<T, D>, Context> centers_;
  workspace<Context> scratch_;
};

template <typename Context, typename T, int D>
void cluster_groups<Context, T, D>::group(const Context& context, const cluster_view& found) {
  if (grouped_) return;
  const auto clusters = static_cast<std::uint32_t>(found.clusters);
  offsets_.resize_discarding(context, found.clusters + 1);
  exclusive_scan_with_total(context, found.sizes, offsets_.data(), found.clusters, scratch_);
  pairs_.make(context, found.points, found.clusters + 1, label_key{found.labels, clusters});
  member_count_ = to_host(context, offsets_.data() + found.clusters, 1)[0];
  grouped_ = true;
}

template <typename Context, typename T, int D>
template <typename Value, typename Join>
void cluster_groups<Context, T, D>::join(const Context& context, Value* values, const Join& join) {
  using body = join_members<Value, Join>;
  for (std::size_t stride = 1; stride < member_count_; stride *= body::arity) {
    for_each(context, "search.clusters.join_members", member_count_,
             body{offsets_.data(), pairs_.keys(), stride, values, join});
  }
}

template <typename Context, typename T, int D>
template <typename Systems>
void cluster_groups<Context, T, D>::center(const Context& context, const Systems& systems, bool any_periodic,
                                           const lattice<T, D>* boxes, const std::uint32_t* numbers,
                                           const cluster_view& found, const cluster_point<T, D>* placed,
                                           const particle_id* elements) {
  if (centered_) return;
  group(context, found);
  positions_.resize_discarding(context, found.points);
  sums_.resize_discarding(context, member_count_);
  references_.resize_discarding(context, found.clusters);
  centers_.resize_discarding(context, found.clusters);
  for_each(context, "search.clusters.restore_positions", found.points,
           restore_positions<T, D>{placed, elements, positions_.data()});
  const cluster_rows<T, D, Systems> rows = rows_in(systems);
  if (any_periodic) {
    for_each(context, "search.clusters.place_on_circles", member_count_,
             place_on_circles<T, D, Systems>{rows, sums_.data()});
    join(context, sums_.data(), plus_operation{});
  }
  for_each(context, "search.clusters.references", found.clusters,
           choose_references<T, D, Systems>{rows, sums_.data(), references_.data()});
  for_each(context, "search.clusters.offsets", member_count_,
           offset_from_references<T, D, Systems>{rows, references_.data(), sums_.data()});
  join(context, sums_.data(), plus_operation{});
  for_each(context, "search.clusters.centers", found.clusters,
           write_centers<T, D, Systems>{rows, references_.data(), sums_.data(), boxes, numbers, centers_.data()});
  centered_ = true;
}

}  // namespace quadrat::detail
