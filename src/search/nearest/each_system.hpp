// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <type_traits>
#include <vector>

#include "core/reduced_lattice.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/sort.hpp"
#include "quadrat/search/nearest_neighbors.hpp"
#include "search/nearest/box.hpp"
#include "search/nearest/points.hpp"

/// Nearest neighbors in several systems without a cutoff. Each point is compared with all others of a small system; all
/// small systems are one launch. A large system has a tree of its own, which costs some launches.
namespace quadrat::detail {

/// On a CPU, comparing more takes longer than a walk through a tree; on a GPU, than the launches that make one.
template <typename Context>
inline constexpr std::uint32_t most_points_of_small_system = std::is_same_v<Context, cuda_context> ? 2048 : 128;

/// What is searched in a system: its images, without bounds, and how shifts are those of the caller's box.
template <typename T, int D>
struct system_images {
  nearest_images<T, D> images;
  shift_map<D> map;
};

/// Points or queries in the order of their systems.
template <typename T, int D>
struct rows_by_system {
  const std::uint32_t* systems;  ///< of each place, in order
  const std::uint32_t* order;    ///< the row at each place
  const vec<T, D>* at;           ///< as the caller gave them, by place
};

/// The points of all systems, as they are searched.
template <typename T, int D>
struct points_by_system {
  rows_by_system<T, D> rows;
  const std::uint32_t* offsets;  ///< place of the first point of each system, and the end
  const system_images<T, D>* images;
  const nearest_bounds<T, D>* bounds;  ///< of wrapped points, of each small system
  const vec<T, D>* wrapped;            ///< by place
  const vec<int, D>* boxes;            ///< by place, from there to the caller's position
  std::uint32_t small;                 ///< the most points of a small system

  [[nodiscard]] QUADRAT_HD bool is_small(std::uint32_t system) const {
    return offsets[system + 1] - offsets[system] <= small;
  }
};

/// Index: place. Copies a row to its place.
template <typename T, int D>
struct gather_rows_of_systems {
  points_view<T, D> from;
  const std::uint32_t* order;
  vec<T, D>* to;
  QUADRAT_HD void operator()(std::size_t place) const { to[place] = from[order[place]]; }
};

/// Index: system, and one more. The first place that has this system, or a later one.
struct first_of_system {
  const std::uint32_t* systems;  ///< in order
  std::size_t count;
  std::uint32_t* offsets;

  QUADRAT_HD void operator()(std::size_t system) const {
    std::size_t low = 0, high = count;
    while (low < high) {
      const std::size_t middle = low + (high - low) / 2;
      if (systems[middle] < system) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    offsets[system] = static_cast<std::uint32_t>(low);
  }
};

/// Index: place of a point.
template <typename T, int D>
struct wrap_points_of_systems {
  rows_by_system<T, D> rows;
  const system_images<T, D>* images;
  vec<T, D>* wrapped;
  vec<int, D>* boxes;
  QUADRAT_HD void operator()(std::size_t place) const {
    wrapped[place] = images[rows.systems[place]].images.shape.wrap(rows.at[place], boxes[place]);
  }
};

/// Index: system.
template <typename T, int D>
struct bound_small_systems {
  points_by_system<T, D> points;
  nearest_bounds<T, D>* bounds;
  QUADRAT_HD void operator()(std::size_t system) const {
    nearest_bounds<T, D> all = nearest_bounds<T, D>::none();
    const std::uint32_t first = points.offsets[system], last = points.offsets[system + 1];
    if (points.is_small(static_cast<std::uint32_t>(system))) {
      for (std::uint32_t place = first; place < last; ++place) all.add({points.wrapped[place], points.wrapped[place]});
    }
    bounds[system] = all;
  }
};

/// The destination of rows, and shifts as bits, which break ties.
template <typename T, int D>
struct rows_of_systems {
  particle_id* neighbors;
  T* squared_distances;
  vec<int, D>* shifts;  ///< nullptr: not requested
  std::uint32_t* packed;
  std::size_t k;
};

/// Finds one row among all points of a small system.
template <typename T, int D>
class row_of_small_system {
 public:
  QUADRAT_HD row_of_small_system(const points_by_system<T, D>& points, const rows_of_systems<T, D>& to,
                                 std::uint32_t system, std::size_t row, const vec<T, D>& from, particle_id self)
      : points_(points), to_(to), system_(system), first_(row * to.k), from_(from), self_(self) {}

  QUADRAT_HD void find() {
    nearest_images<T, D> images = points_.images[system_].images;
    images.bounds = points_.bounds + system_;
    shape_ = &points_.images[system_].images.shape;
    nearest_shells<T, D, row_of_small_system>(images, from_, from_, *this).visit();
  }
  /// Shifts in the caller's box. `boxes`: from the wrapped to the caller's position of the row.
  QUADRAT_HD void finish(const vec<int, D>& boxes) const {
    for (std::size_t entry = first_; entry < first_ + to_.k; ++entry) {
      const bool found = entry < first_ + found_;
      const std::uint32_t place = found ? to_.neighbors[entry] : 0;
      to_.neighbors[entry] = found ? points_.rows.order[place] : no_particle;
      if (!found) to_.squared_distances[entry] = nearest_infinity<T>;
      if (to_.shifts == nullptr) continue;
      to_.shifts[entry] = {};
      if (!found) continue;
      const vec<int, D> shift = (unpacked_shift<D>(to_.packed[entry]) + boxes) - points_.boxes[place];
      to_.shifts[entry] = points_.images[system_].map.to_given(shift);
    }
  }

  // For nearest_shells. Places are in the order of indices, so that they break ties like them.
  [[nodiscard]] QUADRAT_HD bool in_reach(T squared) const {
    return found_ < to_.k ? squared < nearest_infinity<T> : squared <= to_.squared_distances[first_ + to_.k - 1];
  }
  QUADRAT_HD void find_in_image(const vec<int, D>& shift) {
    const vec<T, D> translation = image_translation(*shape_, shift);
    const std::uint32_t packed = packed_shift(shift), last = points_.offsets[system_ + 1];
    const bool home = shift == vec<int, D>{};
    for (std::uint32_t place = points_.offsets[system_]; place < last; ++place) {
      if (home && points_.rows.order[place] == self_) continue;
      const vec<T, D>& to = points_.wrapped[place];
      add(squared_separation(
              make_vec<T, D>([&](int axis) { return image_offset(from_[axis], to[axis], translation[axis]); })),
          place, packed);
    }
  }

 private:
  QUADRAT_HD void add(T squared, std::uint32_t place, std::uint32_t packed) {
    if (!(squared < nearest_infinity<T>)) return;
    if (found_ == to_.k && !before(squared, place, packed, first_ + to_.k - 1)) return;
    if (found_ < to_.k) ++found_;
    std::size_t entry = first_ + found_ - 1;
    for (; entry > first_ && before(squared, place, packed, entry - 1); --entry) {
      to_.squared_distances[entry] = to_.squared_distances[entry - 1];
      to_.neighbors[entry] = to_.neighbors[entry - 1];
      to_.packed[entry] = to_.packed[entry - 1];
    }
    to_.squared_distances[entry] = squared;
    to_.neighbors[entry] = place;
    to_.packed[entry] = packed;
  }
  [[nodiscard]] QUADRAT_HD bool before(T squared, std::uint32_t place, std::uint32_t packed, std::size_t entry) const {
    if (squared != to_.squared_distances[entry]) return squared < to_.squared_distances[entry];
    if (place != to_.neighbors[entry]) return place < to_.neighbors[entry];
    return packed < to_.packed[entry];
  }

  const points_by_system<T, D>& points_;
  const rows_of_systems<T, D>& to_;
  std::uint32_t system_;
  std::size_t first_;
  vec<T, D> from_;
  particle_id self_;
  const lattice<T, D>* shape_ = nullptr;
  std::size_t found_ = 0;
};

/// Index: place of a row. Rows of large systems are left out.
template <typename T, int D>
struct find_rows_of_small_systems {
  points_by_system<T, D> points;
  rows_by_system<T, D> rows;
  rows_of_systems<T, D> to;
  bool selves_apart;  ///< rows are the points, which are not their own neighbors

  QUADRAT_HD void operator()(std::size_t place) const {
    const std::uint32_t row = rows.order[place], system = rows.systems[place];
    if (!points.is_small(system)) return;
    vec<int, D> boxes{};
    const vec<T, D> from = points.images[system].images.shape.wrap(rows.at[place], boxes);
    row_of_small_system<T, D> result(points, to, system, row, from, selves_apart ? row : no_particle);
    result.find();
    result.finish(boxes);
  }
};

/// Index: entry of the rows of a large system.
template <typename T, int D>
struct take_rows_of_system {
  nearest_view<T, D> from;
  const std::uint32_t* order_of_rows;    ///< of this system
  const std::uint32_t* order_of_points;  ///< of this system
  rows_of_systems<T, D> to;

  QUADRAT_HD void operator()(std::size_t i) const {
    const std::size_t entry = order_of_rows[i / to.k] * to.k + i % to.k;
    const particle_id own = from.neighbors[i];
    to.neighbors[entry] = own == no_particle ? no_particle : order_of_points[own];
    to.squared_distances[entry] = from.squared_distances[i];
    if (to.shifts != nullptr) to.shifts[entry] = from.shifts[i];
  }
};

/// Searches that wait.
template <typename Context, typename T, int D>
class nearest_in_each_system {
 public:
  nearest_in_each_system(const Context& context, const std::vector<lattice<T, D>>& boxes,
                         const nearest_options<T>& options)
      : context_(context), options_(options), boxes_(boxes) {
    std::vector<system_images<T, D>> all;
    for (const lattice<T, D>& shape : boxes) {
      const reduced_lattice<T, D> box = reduced(shape, true);
      all.push_back({make_nearest_images(box.shape, options), box.changed ? box.map : shift_map<D>::none()});
    }
    images_ = to_device(context, all);
  }

  /// Valid points, and their systems, which must stay.
  void build(const points_view<T, D>& points, const std::uint32_t* systems);
  /// For valid queries with their systems; nullptr: the points.
  void search(const points_view<T, D>* queries, const std::uint32_t* systems, particle_id* neighbors,
              T* squared_distances, vec<int, D>* shifts);
  [[nodiscard]] std::size_t bytes() const;

 private:
  static constexpr std::uint32_t small = most_points_of_small_system<Context>;

  /// Rows in the order of their systems, and where each system begins.
  struct ordered_rows {
    nearest_pairs<Context, std::uint32_t> pairs;
    array<vec<T, D>, Context> at;
    array<std::uint32_t, Context> offsets;
    std::vector<std::uint32_t> begins;  ///< the same on the host
    rows_by_system<T, D> rows{};
    std::size_t count = 0;
  };

  void put_in_order(const points_view<T, D>& given, const std::uint32_t* systems, ordered_rows& to);
  void build_large_systems();
  [[nodiscard]] points_by_system<T, D> all() const {
    return {points_.rows,    points_.offsets.data(),  images_.data(), bounds_.data(),
            wrapped_.data(), boxes_of_points_.data(), small};
  }

  Context context_;
  nearest_options<T> options_;
  std::vector<lattice<T, D>> boxes_;
  array<system_images<T, D>, Context> images_;
  ordered_rows points_, queries_;
  array<vec<T, D>, Context> wrapped_;
  array<vec<int, D>, Context> boxes_of_points_;
  array<nearest_bounds<T, D>, Context> bounds_;
  array<std::uint32_t, Context> packed_;
  workspace<Context> scratch_;
  std::map<std::size_t, nearest_neighbors<Context, T, D>> large_;  ///< by system
};

template <typename Context, typename T, int D>
void nearest_in_each_system<Context, T, D>::put_in_order(const points_view<T, D>& given, const std::uint32_t* systems,
                                                         ordered_rows& to) {
  to.count = given.count;
  to.pairs.resize(context_, to.count);
  to.at.resize_discarding(context_, to.count);
  to.offsets.resize_discarding(context_, boxes_.size() + 1);
  copy_bytes(context_, systems, to.pairs.keys[0].data(), to.count * sizeof(std::uint32_t));
  const int bits = key_bits_for(boxes_.size());
  const int copy = sort_pairs(context_, to.pairs.buffers(), to.count, bits, scratch_, sort_values::index);
  to.rows = {to.pairs.keys[copy].data(), to.pairs.values[copy].data(), to.at.data()};
  for_each(context_, "nearest.gather", to.count, gather_rows_of_systems<T, D>{given, to.rows.order, to.at.data()});
  for_each(context_, "nearest.offsets", boxes_.size() + 1,
           first_of_system{to.rows.systems, to.count, to.offsets.data()});
  to.begins = to_host(context_, to.offsets);
}

template <typename Context, typename T, int D>
void nearest_in_each_system<Context, T, D>::build(const points_view<T, D>& points, const std::uint32_t* systems) {
  put_in_order(points, systems, points_);
  wrapped_.resize_discarding(context_, points_.count);
  boxes_of_points_.resize_discarding(context_, points_.count);
  bounds_.resize_discarding(context_, boxes_.size());
  for_each(context_, "nearest.wrap", points_.count,
           wrap_points_of_systems<T, D>{points_.rows, images_.data(), wrapped_.data(), boxes_of_points_.data()});
  for_each(context_, "nearest.bounds", boxes_.size(), bound_small_systems<T, D>{all(), bounds_.data()});
  build_large_systems();
}

template <typename Context, typename T, int D>
void nearest_in_each_system<Context, T, D>::build_large_systems() {
  const auto size_of = [&](std::size_t system) { return points_.begins[system + 1] - points_.begins[system]; };
  std::erase_if(large_, [&](const auto& one) { return size_of(one.first) <= small; });
  for (std::size_t system = 0; system < boxes_.size(); ++system) {
    if (size_of(system) <= small) continue;
    auto& own = large_.try_emplace(system, context_, boxes_[system], options_).first->second;
    own.build(points_of(points_.at.data() + points_.begins[system], size_of(system)));
  }
}

template <typename Context, typename T, int D>
void nearest_in_each_system<Context, T, D>::search(const points_view<T, D>* queries, const std::uint32_t* systems,
                                                   particle_id* neighbors, T* squared_distances, vec<int, D>* shifts) {
  if (queries != nullptr) put_in_order(*queries, systems, queries_);
  const ordered_rows& rows = queries != nullptr ? queries_ : points_;
  packed_.resize_discarding(context_, rows.count * options_.k);
  const rows_of_systems<T, D> to{neighbors, squared_distances, shifts, packed_.data(), options_.k};
  for_each(context_, "nearest.small_systems", rows.count,
           find_rows_of_small_systems<T, D>{all(), rows.rows, to, queries == nullptr && !options_.include_self});
  for (auto& [system, own] : large_) {
    const std::size_t first = rows.begins[system], count = rows.begins[system + 1] - first;
    if (count == 0) continue;
    queries != nullptr ? own.search(points_of(rows.rows.at + first, count)) : own.search();
    for_each(context_, "nearest.take_rows", count * options_.k,
             take_rows_of_system<T, D>{own.view(), rows.rows.order + first, points_.rows.order + points_.begins[system],
                                       to});
  }
}

template <typename Context, typename T, int D>
std::size_t nearest_in_each_system<Context, T, D>::bytes() const {
  std::size_t sum = images_.bytes() + wrapped_.bytes() + boxes_of_points_.bytes() + bounds_.bytes() + packed_.bytes() +
                    scratch_.bytes();
  for (const ordered_rows* rows : {&points_, &queries_}) {
    sum += rows->pairs.bytes() + rows->at.bytes() + rows->offsets.bytes();
  }
  for (const auto& [system, own] : large_) sum += own.bytes();
  return sum;
}

}  // namespace quadrat::detail
