// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <new>

#include "quadrat/core/error.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/reduce.hpp"
#include "quadrat/parallel/scan.hpp"
#include "search/checks.hpp"
#include "search/list.hpp"
#include "search/rings.hpp"
#include "search/sort.hpp"

namespace quadrat {

/// The parameters of engines and kernels; cells and their points belong to the engine.
template <typename Context, typename T, int D>
detail::neighbor_search<T, D> neighbor_list<Context, T, D>::implementation::search(const neighbor_input<T, D>& input) {
  detail::neighbor_search<T, D> result{};
  result.points = input.points;
  result.own_queries = input.queries.has_value();
  result.queries = input.queries.value_or(points_view<T, D>{});
  result.systems = engine->systems();
  result.system_count = static_cast<std::uint32_t>(boxes.size());
  result.system_of_point = input.system_of_point;
  result.system_of_query = input.system_of_query;
  result.reach = options.cutoff + options.skin;
  result.squared_reach = result.reach * result.reach;
  result.skin = options.skin;
  result.rule = options.rule;
  result.half = options.pairs == neighbor_pairs::half;
  result.radii = input.radii;
  result.types = input.types;
  result.radii_of_rows = result.own_queries ? input.radii_of_queries : input.radii;
  result.types_of_rows = result.own_queries ? input.types_of_queries : input.types;
  result.type_count = options.rule == cutoff_rule::table_of_types ? detail::type_count(options) : 0;
  result.type_cutoffs = type_cutoffs.data();
  result.excluded_offsets = input.excluded_offsets;
  result.excluded = input.excluded;
  return result;
}

template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::implementation::enqueue_cells(const neighbor_input<T, D>& input) {
  const detail::search_key<T, D> key{search(input), options.accept_outside, faults()};
  engine->enqueue_cells(key);
  if (key.search.own_queries)
    for_each(context, "search.check_queries", rows, detail::check_queries<T, D>{key, detail::most_radius(options)});
  enqueue_copies(input);
}

template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::implementation::enqueue_copies(const neighbor_input<T, D>& input) {
  if (options.skin > T(0)) {
    for_each(context, "search.remember", input.points.count, detail::remember_points<T, D>{search(input), memory()});
  }
  if (keeps_points()) keep_points(input);
}

/// Cells, counts and entries at once, where the engine has that; otherwise nothing, and returns false.
template <typename Context, typename T, int D>
bool neighbor_list<Context, T, D>::implementation::enqueue_at_once(const neighbor_input<T, D>& input,
                                                                   const detail::neighbor_sink<T, D>& to,
                                                                   bool may_give_up) {
  if (matrix() || rows == 0) return false;
  const detail::search_key<T, D> key{search(input), options.accept_outside, faults()};
  if (!engine->enqueue_at_once(key, results.offsets.data(), to, may_give_up)) return false;
  enqueue_copies(input);
  sort_entries(input, to);
  give_shifts(input, to);
  return true;
}

template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::implementation::enqueue_counts(const neighbor_input<T, D>& input, bool grows) {
  const bool refuses_early = grows && !matrix() && rows >= detail::count_limit::worth_asking;
  if constexpr (!cuda) engine->limit().allow(refuses_early ? results.most_entries(context) : detail::count_limit::none);
  engine->enqueue_counts(search(input), results.counts.data(), faults());
  if (matrix()) return;
  if (engine->limit().passed()) results.refuse(context, engine->limit().seen());
  exclusive_scan_with_total(context, results.counts.data(), results.offsets.data(), rows, scratch);
}

template <typename Context, typename T, int D>
detail::ring_bounds<T> neighbor_list<Context, T, D>::implementation::ring_bounds() const {
  detail::ring_bounds<T> rings{static_cast<unsigned>(options.inner_cutoffs.size()), {}};
  for (unsigned k = 0; k < rings.count; ++k) {
    const T reach = options.inner_cutoffs[k] + options.skin;
    rings.squared[k] = reach * reach;
  }
  return rings;
}

/// Asks for sorted keys.
template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::implementation::enqueue_ring_counts(const detail::neighbor_sink<T, D>& to) {
  const auto rings = static_cast<unsigned>(options.inner_cutoffs.size());
  if (rings == 0) return;
  for_each(context, "search.count_rings", rows * rings,
           detail::count_within_rings<T, D>{to, rings, results.within.data()});
}

template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::implementation::enqueue_entries(const neighbor_input<T, D>& input,
                                                                   const detail::neighbor_sink<T, D>& to) {
  engine->enqueue_entries(search(input), to);
  sort_entries(input, to);
  give_shifts(input, to);
}

/// Turns shifts into those of the given boxes.
template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::implementation::give_shifts(const neighbor_input<T, D>& input,
                                                               const detail::neighbor_sink<T, D>& to) {
  if (to.shifts == nullptr || shift_maps.size() == 0) return;
  constexpr unsigned lanes = cuda ? 32 : 1;
  for_each(context, "search.give_shifts", lanes * rows,
           detail::give_shifts<T, D>{search(input), to, shift_maps.data(), lanes});
}

template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::implementation::sort_entries(const neighbor_input<T, D>& input,
                                                                const detail::neighbor_sink<T, D>& to) {
  if (!options.sorted) return;
  const detail::neighbor_search<T, D> what = search(input);
  constexpr unsigned lanes = cuda ? 32 : 1;
  const detail::ring_bounds<T> rings = ring_bounds();
  if (rings.count > 0) {
    for_each(context, "search.mark_rings", lanes * rows, detail::mark_rings<T, D>{what, to, rings, lanes});
  }
  detail::sort_rows(context, {to.offsets, to.counts, to.width, to.capacity, rows, to.keys});
  enqueue_ring_counts(to);
  for_each(context, "search.expand", lanes * rows, detail::expand_row<T, D>{what, to, lanes});
}

template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::implementation::enqueue_size_of_counts() {
  const detail::count_of_row body{results.counts.data()};
  reduce_into(context, "search.size", rows, body, plus_operation{}, std::uint64_t{0}, control.data() + size_word,
              scratch);
}

/// The common start of building and counting. A build is a round, in which another method may be tried.
template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::implementation::start(const neighbor_input<T, D>& input, bool round) {
  state = stage::failed;
  failure = nullptr;
  replayed = false;
  ++version;
  prepare(input, round);
  if (rows == 0) fill_bytes(context, control.data() + size_word, 0, sizeof(std::uint64_t));
}

template <typename Context, typename T, int D>
neighbor_counts neighbor_list<Context, T, D>::implementation::count(const neighbor_input<T, D>& input) {
  start(input, false);  // No memory for entries is made: build_asynchronously needs a build first.
  enqueue_cells(input);
  engine->limit().allow(detail::count_limit::none);
  engine->enqueue_counts(search(input), results.counts.data(), faults());
  enqueue_size_of_counts();
  read_control();
  state = stage::empty;
  return {rows, results.counts.data(), size};
}

/// Cells, counts, and entries if there is room for some.
template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::implementation::enqueue_rows(const neighbor_input<T, D>& input,
                                                                const detail::neighbor_sink<T, D>& to) {
  enqueue_cells(input);
  enqueue_counts(input, true);
  if (results.capacity() > 0) {
    enqueue_entries(input, to);
  } else {
    for_each(context, "search.size", 1, detail::report_size<T, D>{to, rows});
    enqueue_ring_counts(to);
  }
}

/// Builds a list other than a matrix, as far as there is room, and waits for the number of pairs, which is known before
/// the entries are written. Returns whether it was built at once.
template <typename Context, typename T, int D>
bool neighbor_list<Context, T, D>::implementation::build_rows(const neighbor_input<T, D>& input,
                                                              detail::neighbor_sink<T, D> to) {
  const auto expect = [&] {
    if (rows > 0) to.early = mirror.expect(context, control.data(), control_word_count);
  };
  const auto wait = [&] { rows > 0 ? take_control(mirror.wait(context)) : read_control(); };
  expect();
  if (enqueue_at_once(input, to, true)) {
    wait();
    if (!engine->gave_up(note)) return true;
    state = stage::failed;
    fill_bytes(context, control.data() + engine_word, 0, sizeof(std::uint64_t));
    expect();
  }
  enqueue_rows(input, to);
  wait();
  return false;
}

template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::implementation::build(const neighbor_input<T, D>& input) {
  for (;;) {
    in_turn = false;
    try {
      build_by_method(input);
      break;
    } catch (const std::bad_alloc&) {
      // A method on trial may need more memory than there is.
      if (!in_turn || !trials.trying(method)) throw;
    }
    trials.refuse(method);
  }
  if (in_turn) trials.stop(context);
}

template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::implementation::build_by_method(const neighbor_input<T, D>& input) {
  start(input, true);
  if (matrix()) results.grow(context, static_cast<std::uint64_t>(rows) * options.width);
  prepared = true;
  if (matrix()) {
    enqueue_cells(input);
    if (engine->counts_first()) enqueue_counts(input, false);
    enqueue_entries(input, sink(true));
    enqueue_size_of_counts();
    read_control();
    return;
  }
  const bool at_once = build_rows(input, sink(false));
  if (size <= results.capacity()) return;
  // More pairs than there is room for: grow and write the entries; the counts are right.
  state = stage::failed;
  results.grow(context, size);
  if (at_once) {
    static_cast<void>(enqueue_at_once(input, sink(false), true));
  } else {
    const bool finer = engine->refine(task(input, neighbors_of_a_point()));
    if (finer) engine->enqueue_cells({search(input), options.accept_outside, faults()});
    if (engine->grow(size, note) || finer) enqueue_counts(input, false);
    enqueue_entries(input, sink(false));
  }
  state = stage::built;
}

template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::implementation::build_asynchronously(const neighbor_input<T, D>& input) {
  detail::check_neighbor_input(options, input);
  const std::size_t asked = input.queries.has_value() ? input.queries->count : input.points.count;
  require(prepared, "build has not been called; it finds the memory that build_asynchronously works in");
  require(input.points.count == point_count && asked == rows, "there are ", input.points.count, " points and ", asked,
          " rows, but the last build had ", point_count, " and ", rows,
          "; build_asynchronously works in the memory of that build");
  require(detail::same_boxes(given_boxes, input.boxes), "the boxes are not those of the last build; call build");
  require(given_systems == (input.system_of_point != nullptr),
          "system_of_point was given to one of this build and the last, and not to the other; call build");
  const detail::neighbor_request wanted = detail::make_request(cuda, options, input, cubes);
  require(wanted.asks_the_same(request) || detail::method_serves(method, wanted), "the method of the last build, ",
          method, ", does not serve queries or excluded pairs; call build");
  // A graph works in the memory of the method that it was captured with.
  trials.end();
  fixed = true;
  last = input;
  last.boxes = {};
  failure = nullptr;
  ++version;
  if (!enqueue_at_once(input, sink(true), false)) {
    enqueue_cells(input);
    if (!matrix() || engine->counts_first()) enqueue_counts(input, false);
    enqueue_entries(input, sink(true));
    if (matrix()) enqueue_size_of_counts();
  }
  state = stage::built;
  replayed = true;
}

}  // namespace quadrat
