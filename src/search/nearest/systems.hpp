// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/memory_check.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/parallel/fault.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/search/nearest_neighbors.hpp"
#include "quadrat/search/neighbor_list.hpp"
#include "search/checks.hpp"
#include "search/nearest/each_system.hpp"
#include "search/nearest/order.hpp"
#include "search/nearest/rows.hpp"
#include "search/point_complaint.hpp"

/// Nearest neighbors in several systems. With a cutoff: the nearest entries of each row of a neighbor list, which
/// searches all systems at once.
namespace quadrat::detail {

/// Index: point. Copies a point and its system, and checks both.
template <typename T, int D>
struct keep_points_of_systems {
  points_view<T, D> points;
  const std::uint32_t* given;  ///< systems; nullptr: 0
  const lattice<T, D>* boxes;
  std::uint32_t box_count;
  vec<T, D>* kept;
  std::uint32_t* systems;
  fault_flag faults;

  QUADRAT_HD void operator()(std::size_t i) const {
    kept[i] = points[i];
    systems[i] = given == nullptr ? 0 : given[i];
    const bool exists = systems[i] < box_count;
    const fault_kind fault = exists ? nearest_fault(boxes[systems[i]], kept[i]) : fault_kind::key_range;
    if (fault != fault_kind::none) faults.raise(fault, i);
  }
};

/// Index: row of a list. Writes its nearest entries in order.
template <typename T, int D>
struct select_nearest {
  neighbor_list_view<T, D> list;
  particle_id* neighbors;
  T* squared_distances;
  vec<int, D>* shifts;  ///< nullptr: not requested
  std::size_t k;

  QUADRAT_HD void operator()(std::size_t row) const {
    const std::size_t first = row * k;
    const std::uint64_t end = list.offsets[row + 1] < list.capacity ? list.offsets[row + 1] : list.capacity;
    std::size_t found = 0;
    for (std::uint64_t entry = list.offsets[row]; entry < end; ++entry) {
      if (found == k && !before(entry, first + k - 1)) continue;
      if (found < k) ++found;
      std::size_t place = first + found - 1;
      for (; place > first && before(entry, place - 1); --place) move(place - 1, place);
      neighbors[place] = list.neighbors[entry];
      squared_distances[place] = list.squared_distances[entry];
      if (shifts != nullptr) shifts[place] = list.shifts[entry];
    }
    for (std::size_t place = first + found; place < first + k; ++place) {
      neighbors[place] = no_particle;
      squared_distances[place] = nearest_infinity<T>;
      if (shifts != nullptr) shifts[place] = {};
    }
  }

 private:
  /// Whether an entry of the list comes before the neighbor at a place.
  [[nodiscard]] QUADRAT_HD bool before(std::uint64_t entry, std::size_t place) const {
    const T squared = list.squared_distances[entry];
    if (squared != squared_distances[place]) return squared < squared_distances[place];
    if (list.neighbors[entry] != neighbors[place]) return list.neighbors[entry] < neighbors[place];
    for (int axis = 0; axis < D && shifts != nullptr; ++axis) {
      const int a = list.shifts[entry][axis], b = shifts[place][axis];
      if (a != b) return a < b;
    }
    return false;
  }
  QUADRAT_HD void move(std::size_t from, std::size_t to) const {
    neighbors[to] = neighbors[from];
    squared_distances[to] = squared_distances[from];
    if (shifts != nullptr) shifts[to] = shifts[from];
  }
};

template <typename T>
[[nodiscard]] neighbor_options<T> list_for_nearest(const nearest_options<T>& options) {
  neighbor_options<T> result;
  result.cutoff = options.cutoff;
  result.squared_distances = true;
  result.shifts = options.shifts;
  result.accept_outside = true;
  return result;
}

template <typename Context, typename T, int D>
class nearest_in_systems {
 public:
  nearest_in_systems(const Context& context, const std::vector<lattice<T, D>>& boxes, const nearest_options<T>& options)
      : context_(context), options_(options), boxes_(boxes), faults_(context) {
    if (std::isfinite(options.cutoff)) {
      list_.emplace(context, list_for_nearest(options));
    } else {
      each_.emplace(context, boxes, options);
      for (lattice<T, D>& shape : boxes_) shape = reduced(shape, true).shape;  // points are checked in these
    }
    boxes_there_ = to_device(context, boxes_);
  }

  void build(const points_view<T, D>& points, const std::uint32_t* system_of_point, bool waits);
  /// The neighbors of these queries; nullptr: of the points.
  void search(const points_view<T, D>* queries, const std::uint32_t* system_of_query, bool waits);
  void check();

  [[nodiscard]] nearest_view<T, D> view() const;
  [[nodiscard]] std::size_t point_count() const { return built_ ? count_ : 0; }
  [[nodiscard]] std::size_t bytes() const {
    return boxes_there_.bytes() + points_.bytes() + queries_.bytes() + (list_ ? list_->bytes() : each_->bytes()) +
           neighbors_.bytes() + squared_distances_.bytes() + shifts_.bytes();
  }

 private:
  static constexpr bool cuda = std::is_same_v<Context, cuda_context>;
  static constexpr const char* waiting =
      "the nearest neighbors in several systems without a cutoff are found by calls that wait; give a finite cutoff";

  /// Points or queries with their systems.
  struct kept_rows {
    array<vec<T, D>, Context> at;
    array<std::uint32_t, Context> systems;
    [[nodiscard]] std::size_t bytes() const { return at.bytes() + systems.bytes(); }
  };

  void keep(const points_view<T, D>& points, const std::uint32_t* systems, kept_rows& to);
  void check_kept();
  void find_in_each(const points_view<T, D>* queries, const std::uint32_t* system_of_query);
  [[nodiscard]] neighbor_input<T, D> input_of(const points_view<T, D>* queries,
                                              const std::uint32_t* system_of_query) const;
  void resize_results();

  Context context_;
  nearest_options<T> options_;
  std::vector<lattice<T, D>> boxes_;
  array<lattice<T, D>, Context> boxes_there_;
  fault_state<Context> faults_;
  std::optional<neighbor_list<Context, T, D>> list_;
  std::optional<nearest_in_each_system<Context, T, D>> each_;  ///< without a cutoff
  bool built_ = false;
  bool asked_ = false;     // rows were requested since the last build
  bool searched_ = false;  // the rows exist
  std::size_t count_ = 0;
  std::size_t rows_ = 0;
  kept_rows points_, queries_;
  bool of_queries_ = false;  // the last that were kept
  array<particle_id, Context> neighbors_;
  array<T, Context> squared_distances_;
  array<vec<int, D>, Context> shifts_;
};

template <typename Context, typename T, int D>
void nearest_in_systems<Context, T, D>::build(const points_view<T, D>& points, const std::uint32_t* system_of_point,
                                              bool waits) {
  check_systems(points, std::span<const lattice<T, D>>(boxes_), system_of_point);
  require(waits || list_, waiting);
  require(waits || points.count <= points_.at.size(), "there are ", points.count,
          " points, and build_async has memory for ", points_.at.size(),
          "; call build first, which makes room for more");
  built_ = asked_ = searched_ = false;
  count_ = points.count;
  if (waits) {
    points_.at.resize_discarding(context_, count_);
    points_.systems.resize_discarding(context_, count_);
  }
  keep(points, system_of_point, points_);
  if (waits || !cuda) check_kept();
  if (each_) each_->build(points_of(points_.at.data(), count_), points_.systems.data());
  built_ = true;
}

template <typename Context, typename T, int D>
void nearest_in_systems<Context, T, D>::keep(const points_view<T, D>& points, const std::uint32_t* systems,
                                             kept_rows& to) {
  of_queries_ = &to == &queries_;
  faults_.clear(context_);
  for_each(context_, "nearest.keep_points", points.count,
           keep_points_of_systems<T, D>{points, systems, boxes_there_.data(), static_cast<std::uint32_t>(boxes_.size()),
                                        to.at.data(), to.systems.data(), faults_.flag()});
}

/// Throws data_error for the first invalid row of the last that were kept. Synchronizes.
template <typename Context, typename T, int D>
void nearest_in_systems<Context, T, D>::check_kept() {
  const fault_report found = faults_.read(context_);
  if (found.kind == fault_kind::none) return;
  const kept_rows& rows = of_queries_ ? queries_ : points_;
  const char* const what = of_queries_ ? "query " : "point ";
  built_ = built_ && of_queries_;
  searched_ = false;
  const std::size_t i = found.index;
  const std::uint32_t system = to_host(context_, rows.systems.data() + i, 1)[0];
  if (found.kind == fault_kind::key_range) {
    throw data_error(message(what, i, " belongs to system ", system, "; there are ", boxes_.size()), i);
  }
  throw data_error(point_complaint(context_, boxes_[system], points_of(rows.at.data(), rows.at.size()), what, i), i);
}

template <typename Context, typename T, int D>
void nearest_in_systems<Context, T, D>::resize_results() {
  const std::size_t entries = rows_ * options_.k;
  const std::size_t entry = sizeof(particle_id) + sizeof(T) + (options_.shifts ? sizeof(vec<int, D>) : 0);
  require_memory(context_.memory(), message("a search with ", rows_, " rows of ", options_.k, " neighbors"),
                 entries * entry, neighbors_.bytes() + squared_distances_.bytes() + shifts_.bytes(),
                 "Search for fewer queries at a time");
  neighbors_.resize_discarding(context_, entries);
  squared_distances_.resize_discarding(context_, entries);
  if (options_.shifts) shifts_.resize_discarding(context_, entries);
}

template <typename Context, typename T, int D>
neighbor_input<T, D> nearest_in_systems<Context, T, D>::input_of(const points_view<T, D>* queries,
                                                                 const std::uint32_t* system_of_query) const {
  neighbor_input<T, D> input;
  input.points = points_of(points_.at.data(), count_);
  input.boxes = boxes_;
  input.system_of_point = points_.systems.data();
  if (queries != nullptr) {
    input.queries = *queries;
    input.system_of_query = system_of_query;
  } else if (options_.include_self) {
    input.queries = input.points;
    input.system_of_query = input.system_of_point;
  }
  return input;
}

template <typename Context, typename T, int D>
void nearest_in_systems<Context, T, D>::search(const points_view<T, D>* queries, const std::uint32_t* system_of_query,
                                               bool waits) {
  require(built_, "there are no points yet, or the last build has failed; call build first");
  const std::size_t wanted = queries != nullptr ? queries->count : count_;
  require(waits || list_, waiting);
  require(waits || wanted * options_.k <= neighbors_.size(), "there are ", wanted,
          " rows, and search_async has memory for ", neighbors_.size() / options_.k,
          "; call search first, which makes room for more");
  asked_ = true;
  searched_ = false;
  if (each_) {
    rows_ = wanted;
    find_in_each(queries, system_of_query);
    searched_ = true;
    return context_.synchronize();
  }
  const neighbor_input<T, D> input = input_of(queries, system_of_query);
  if (waits) {
    list_->build(input);
    rows_ = wanted;
    resize_results();
  } else {
    list_->build_async(input);
    rows_ = wanted;
  }
  for_each(context_, "nearest.select", rows_,
           select_nearest<T, D>{list_->view(), neighbors_.data(), squared_distances_.data(),
                                options_.shifts ? shifts_.data() : nullptr, options_.k});
  searched_ = true;
  if (waits) context_.synchronize();
}

template <typename Context, typename T, int D>
void nearest_in_systems<Context, T, D>::find_in_each(const points_view<T, D>* queries,
                                                     const std::uint32_t* system_of_query) {
  points_view<T, D> kept{};
  faults_.clear(context_);
  of_queries_ = false;
  if (queries != nullptr) {
    check_systems(*queries, std::span<const lattice<T, D>>(boxes_), system_of_query);
    queries_.at.resize_discarding(context_, rows_);
    queries_.systems.resize_discarding(context_, rows_);
    keep(*queries, system_of_query, queries_);
    check_kept();
    kept = points_of(queries_.at.data(), rows_);
  }
  resize_results();
  each_->search(queries != nullptr ? &kept : nullptr, queries_.systems.data(), neighbors_.data(),
                squared_distances_.data(), options_.shifts ? shifts_.data() : nullptr);
}

template <typename Context, typename T, int D>
void nearest_in_systems<Context, T, D>::check() {
  check_kept();
  if (!asked_ || each_) return;
  searched_ = false;
  list_->check();
  searched_ = true;
}

template <typename Context, typename T, int D>
nearest_view<T, D> nearest_in_systems<Context, T, D>::view() const {
  require(searched_, "there is no result: nothing has been searched since the last build, or the search has failed");
  return {rows_, options_.k, neighbors_.data(), squared_distances_.data(), options_.shifts ? shifts_.data() : nullptr};
}

}  // namespace quadrat::detail
