// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <exception>

#include "core/memory_check.hpp"
#include "core/reduced_lattice.hpp"
#include "quadrat/search/nearest_neighbors.hpp"
#include "search/nearest/box.hpp"
#include "search/nearest/cuda/rows.hpp"
#include "search/nearest/points.hpp"
#include "search/nearest/rows.hpp"

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

  void build(const points_view<T, D>& given);
  /// Of these queries, or, where there are none, of the points.
  void search(const points_view<T, D>* given, bool waits);
  void check();
  [[nodiscard]] std::size_t bytes() const;

  Context context;
  nearest_options<T> options;
  detail::reduced_lattice<T, D> box;  ///< that is searched
  detail::nearest_points<Context, T, D> points;
  bool built = false;
  bool searched = false;
  bool enqueued = false;  ///< the last search did not wait, and a graph may repeat it
  std::size_t rows = 0;
  std::size_t most_rows = 0, most_queries = 0;  ///< for which there is memory
  points_view<T, D> queries{};                  ///< of the last search, for messages
  std::exception_ptr failure;
  array<particle_id, Context> neighbors;
  array<T, Context> squared_distances;
  array<vec<int, D>, Context> shifts;

 private:
  void resize_results();
  [[nodiscard]] detail::nearest_search<T, D> row_search() const;
};

template <typename Context, typename T, int D>
void nearest_neighbors<Context, T, D>::implementation::build(const points_view<T, D>& given) {
  built = searched = enqueued = false;
  failure = nullptr;
  points.build(given);
  built = true;
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
  result.images = points.images();
  result.squared_cutoff = options.cutoff * options.cutoff;
  result.include_self = options.include_self;
  return result;
}

template <typename Context, typename T, int D>
void nearest_neighbors<Context, T, D>::implementation::search(const points_view<T, D>* given, bool waits) {
  searched = enqueued = false;
  failure = nullptr;
  if (given != nullptr) detail::require_points(*given, "queries");
  require(built, "there are no points yet, or the last build has failed; call build first");
  queries = given != nullptr ? *given : points_view<T, D>{};
  rows = given != nullptr ? given->count : points.tree().points;
  if (waits) {
    resize_results();
  } else {
    const std::size_t room = given != nullptr ? std::min(most_rows, most_queries) : most_rows;
    require(rows <= room, "there are ", rows, given != nullptr ? " queries" : " points",
            ", and search_async has memory for ", room, "; call search first, which makes room for more");
  }
  points.clear_faults();
  detail::nearest_search<T, D> what = row_search();
  what.sink = {neighbors.data(), squared_distances.data(), options.shifts ? shifts.data() : nullptr, points.boxes(),
               options.k};
  what.queries = queries;
  if (rows > 0 && given != nullptr) what.order = points.enqueue_query_order(queries);
  detail::find_nearest_rows(context, what, rows);
  if (options.shifts && box.changed) {
    for_each(context, "nearest.give_shifts", rows * options.k, detail::give_nearest_shifts<D>{box.map, shifts.data()});
  }
  searched = enqueued = true;
  if (!waits) return;
  most_rows = std::max(most_rows, rows);
  most_queries = std::max(most_queries, queries.count);
  check();
  enqueued = false;
}

template <typename Context, typename T, int D>
void nearest_neighbors<Context, T, D>::implementation::check() {
  if (enqueued) {
    const std::uint64_t fault = points.first_fault();
    searched = fault == ~std::uint64_t{0};
    failure = nullptr;
    if (!searched) {
      failure = std::make_exception_ptr(data_error(points.complaint(queries, "query ", fault >> 8), fault >> 8));
    }
  }
  if (failure != nullptr) std::rethrow_exception(failure);
}

template <typename Context, typename T, int D>
std::size_t nearest_neighbors<Context, T, D>::implementation::bytes() const {
  return points.bytes() + neighbors.bytes() + squared_distances.bytes() + shifts.bytes();
}

}  // namespace quadrat
