// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <exception>
#include <memory>
#include <vector>

#include "core/memory_check.hpp"
#include "core/reduced_lattice.hpp"
#include "quadrat/search/nearest_neighbors.hpp"
#include "search/nearest/box.hpp"
#include "search/nearest/cuda/rows.hpp"
#include "search/nearest/points.hpp"
#include "search/nearest/rows.hpp"
#include "search/nearest/systems.hpp"

namespace quadrat {

namespace detail {

/// Index: entry. Turns its shift into that of the caller's box.
template <int D>
struct give_nearest_shifts {
  shift_map<D> map;
  vec<int, D>* shifts;

  QUADRAT_HD void operator()(std::size_t entry) const { shifts[entry] = map.to_given(shifts[entry]); }
};

}  // namespace detail

/// The points, and the rows of the last search.
template <typename Context, typename T, int D>
struct nearest_neighbors<Context, T, D>::implementation {
  implementation(const Context& where, const lattice<T, D>& shape, const nearest_options<T>& chosen)
      : context(where),
        options(chosen),
        box(detail::reduced(shape, true)),
        points(where, detail::make_nearest_images(box.shape, chosen), chosen.shifts) {}

  /// For several systems, which `systems` searches.
  implementation(const Context& where, const std::vector<lattice<T, D>>& boxes, const nearest_options<T>& chosen)
      : context(where), options(chosen), box{}, points(where, {}, false) {
    detail::check_nearest_options(chosen);
    systems = std::make_unique<detail::nearest_in_systems<Context, T, D>>(where, boxes, chosen);
  }

  /// System numbers: for several systems only.
  void build(const points_view<T, D>& given, const std::uint32_t* system_of_point, bool waits);
  /// Searches for the neighbors of these queries or, if nullptr, of the points.
  void search(const points_view<T, D>* given, const std::uint32_t* system_of_query, bool waits);
  void check();
  [[nodiscard]] nearest_view<T, D> view() const;
  [[nodiscard]] std::size_t bytes() const;

  Context context;
  nearest_options<T> options;
  detail::reduced_lattice<T, D> box;  ///< the searched box
  detail::nearest_points<Context, T, D> points;
  std::unique_ptr<detail::nearest_in_systems<Context, T, D>> systems;
  bool built = false;
  bool asked = false;     ///< rows were requested since the last build
  bool searched = false;  ///< the rows exist
  bool enqueued = false;  ///< the device knows the faults of the last calls, which a graph may repeat
  std::size_t rows = 0;
  std::size_t most_rows = 0, most_queries = 0;  ///< for which there is memory
  points_view<T, D> last_points{}, queries{};   ///< of the last build and search, for messages
  std::exception_ptr failure;                   ///< of the last build or search
  detail::nearest_faults faults;                ///< faults from which `failure` was made
  array<particle_id, Context> neighbors;
  array<T, Context> squared_distances;
  array<vec<int, D>, Context> shifts;

 private:
  static constexpr const char* one_box = "systems are given, but only one box; make the search with a vector of boxes";
  static constexpr bool cuda = std::is_same_v<Context, cuda_context>;

  void forget_result();
  [[nodiscard]] std::exception_ptr failure_of(const detail::nearest_faults& found) const;
  void resize_results();
  [[nodiscard]] detail::nearest_search<T, D> row_search() const;
};

template <typename Context, typename T, int D>
void nearest_neighbors<Context, T, D>::implementation::forget_result() {
  asked = searched = enqueued = false;
  failure = nullptr;
  faults = {};
}

template <typename Context, typename T, int D>
void nearest_neighbors<Context, T, D>::implementation::build(const points_view<T, D>& given,
                                                             const std::uint32_t* system_of_point, bool waits) {
  if (systems) return systems->build(given, system_of_point, waits);
  require(system_of_point == nullptr, one_box);
  if (waits) {
    built = false;
    forget_result();
    try {
      points.build(given);
    } catch (...) {
      failure = std::current_exception();
      throw;
    }
  } else {
    points.build_async(given);
    forget_result();
  }
  last_points = given;
  built = enqueued = true;
  if (!waits && !cuda) check();
}

template <typename Context, typename T, int D>
void nearest_neighbors<Context, T, D>::implementation::resize_results() {
  const std::size_t entries = rows * options.k;
  const std::size_t entry = sizeof(particle_id) + sizeof(T) + (options.shifts ? sizeof(vec<int, D>) : 0);
  detail::require_memory(context.memory(), message("a search with ", rows, " rows of ", options.k, " neighbors"),
                         entries * entry, neighbors.bytes() + squared_distances.bytes() + shifts.bytes(),
                         "Search for fewer queries at a time");
  neighbors.resize_discarding(context, entries);
  squared_distances.resize_discarding(context, entries);
  if (options.shifts) shifts.resize_discarding(context, entries);
}

template <typename Context, typename T, int D>
detail::nearest_search<T, D> nearest_neighbors<Context, T, D>::implementation::row_search() const {
  detail::nearest_search<T, D> result{};
  result.tree = points.tree();
  result.images = detail::images_for(points.images(), points.tree().points, options.k);
  result.squared_cutoff = options.cutoff * options.cutoff;
  result.include_self = options.include_self;
  return result;
}

template <typename Context, typename T, int D>
void nearest_neighbors<Context, T, D>::implementation::search(const points_view<T, D>* given,
                                                              const std::uint32_t* system_of_query, bool waits) {
  if (systems) return systems->search(given, system_of_query, waits);
  require(system_of_query == nullptr, one_box);
  if (given != nullptr) detail::require_points(*given, "queries");
  require(built, "there are no points yet, or the last build has failed; call build first");
  const std::size_t wanted = given != nullptr ? given->count : points.tree().points;
  const std::size_t room = given != nullptr ? std::min(most_rows, most_queries) : most_rows;
  require(waits || wanted <= room, "there are ", wanted, given != nullptr ? " queries" : " points",
          ", and search_async has memory for ", room, "; call search first, which makes room for more");
  forget_result();
  queries = given != nullptr ? *given : points_view<T, D>{};
  rows = wanted;
  if (waits) resize_results();
  points.forget_queries();
  detail::nearest_search<T, D> what = row_search();
  what.sink = {neighbors.data(), squared_distances.data(), options.shifts ? shifts.data() : nullptr, points.boxes(),
               options.k};
  what.queries = queries;
  if (rows > 0 && given != nullptr) what.order = points.enqueue_query_order(queries);
  detail::find_nearest_rows(context, what, rows);
  if (options.shifts && box.changed) {
    for_each(context, "nearest.give_shifts", rows * options.k, detail::give_nearest_shifts<D>{box.map, shifts.data()});
  }
  asked = searched = enqueued = true;
  if (waits) {
    most_rows = std::max(most_rows, rows);
    most_queries = std::max(most_queries, queries.count);
  }
  if (waits || !cuda) check();
}

template <typename Context, typename T, int D>
std::exception_ptr nearest_neighbors<Context, T, D>::implementation::failure_of(
    const detail::nearest_faults& found) const {
  const bool of_point = found.point != detail::nearest_faults{}.point;
  if (!of_point && found == detail::nearest_faults{}) return nullptr;
  const std::size_t i = (of_point ? found.point : found.query) >> 8;
  return std::make_exception_ptr(
      data_error(points.complaint(of_point ? last_points : queries, of_point ? "point " : "query ", i), i));
}

template <typename Context, typename T, int D>
void nearest_neighbors<Context, T, D>::implementation::check() {
  if (enqueued) {
    const detail::nearest_faults found = points.first_faults();
    // The message is made once, because the caller may have freed the arrays by the next check.
    if (!(found == faults)) failure = failure_of(found);
    faults = found;
    built = found.point == detail::nearest_faults{}.point;
    searched = asked && failure == nullptr;
  }
  if (failure != nullptr) std::rethrow_exception(failure);
}

template <typename Context, typename T, int D>
nearest_view<T, D> nearest_neighbors<Context, T, D>::implementation::view() const {
  require(searched, "there is no result: nothing has been searched since the last build, or the search has failed");
  return {rows, options.k, neighbors.data(), squared_distances.data(), options.shifts ? shifts.data() : nullptr};
}

template <typename Context, typename T, int D>
std::size_t nearest_neighbors<Context, T, D>::implementation::bytes() const {
  return points.bytes() + neighbors.bytes() + squared_distances.bytes() + shifts.bytes();
}

}  // namespace quadrat
