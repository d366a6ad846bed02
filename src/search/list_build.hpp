// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <type_traits>

#include "parallel/capture.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/reduce.hpp"
#include "quadrat/parallel/scan.hpp"
#include "search/checks.hpp"
#include "search/choice.hpp"
#include "search/list.hpp"
#include "search/rings.hpp"
#include "search/sort.hpp"
#include "tune/choice.hpp"

namespace quadrat {

template <typename Context, typename T, int D>
neighbor_list<Context, T, D>::implementation::implementation(const Context& where, const neighbor_options<T>& chosen)
    : context(where), options(chosen), control(where, control_word_count) {
  detail::check_neighbor_options(options, cuda);
  detail::require_autotune(options.autotune, context.reproducibility());
  options.sorted = options.sorted || !options.inner_cutoffs.empty();
  fill_bytes(context, control.data(), 0, control.bytes());
  clear_faults();
  if (options.rule == cutoff_rule::table_of_types) type_cutoffs = to_device(context, options.type_cutoffs);
}

template <typename Context, typename T, int D>
std::size_t neighbor_list<Context, T, D>::implementation::bytes() const {
  std::size_t sum = results.bytes() + remembered.bytes() + kept.bytes() + pair_memory.bytes() + type_cutoffs.bytes() +
                    control.bytes() + scratch.bytes() + shift_maps.bytes();
  for (const auto& each : engines) sum += each != nullptr ? each->bytes() : 0;
  return sum;
}

template <typename Context, typename T, int D>
detail::neighbor_request neighbor_list<Context, T, D>::implementation::request_for(
    const neighbor_input<T, D>& input) const {
  detail::neighbor_request wanted = detail::make_request(cuda, options, input, cubes);
  const bool free = context.reproducibility() == determinism::none;
  // If runs must be repeatable, a list does not depend on earlier lists.
  if (free) wanted.found = mean_row * static_cast<double>(wanted.points) / (wanted.half ? 2 : 1);
  if constexpr (!cuda) wanted.threads = free ? context.threads() : detail::usual_threads;
  return wanted;
}

/// The requested method, or the one with the least expected time. A method chosen for similar points is kept.
template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::implementation::choose_method(const neighbor_input<T, D>& input) {
  const detail::neighbor_request wanted = request_for(input);
  // An empty set says nothing about later points.
  const bool tuned = tuner.active() && (wanted.points == 0 || wanted.resembles(request));
  if (engine != nullptr && (tuned || wanted.asks_the_same(request))) return;
  engine = nullptr;  // should this fail
  tuner.stop();
  request = wanted;
  reason = "asked for";
  if (!detail::is_automatic(options.method)) return use_method(options.method);
  const auto times = expected_times(input.points);
  reason = detail::comparison(times, 1);
  use_method(times.front().method);
  if (options.autotune) tuner.begin(times, static_cast<double>(request.points));
}

/// Samples the points for the first choice, and again when their number or the box changes. If runs must be repeatable,
/// it samples only where that takes a small part of the expected time.
template <typename Context, typename T, int D>
std::vector<detail::expected_time> neighbor_list<Context, T, D>::implementation::expected_times(
    const points_view<T, D>& points) {
  auto times = detail::neighbor_times(request, profile_of(context));
  if (times.size() < 2 || boxes.size() > 1 || points.count == 0) return times;
  if (context.reproducibility() != determinism::none && !detail::worth_sampling(cuda, times[0].milliseconds)) {
    return times;
  }
  if (context.reproducibility() != determinism::none || !request.take_sample_of(sampled)) {
    request.sample = sample(points);
    sampled = request;
  }
  return detail::neighbor_times(request, profile_of(context));
}

/// The distribution of points over cubes with the reach as edge, in the box around the (one) cell.
template <typename Context, typename T, int D>
detail::point_sample neighbor_list<Context, T, D>::implementation::sample(const points_view<T, D>& points) {
  const lattice<T, D>& shape = boxes.front();
  if (!shape.orthorhombic) return {};
  box<T, D> around{shape.origin, {}, shape.periodic};
  for (int axis = 0; axis < D; ++axis) around.length[axis] = shape.vectors[axis][axis];
  const auto reach = static_cast<double>(options.cutoff + options.skin);
  detail::sampled_cells cells = detail::cells_for_sample(around, reach);
  cells.endless = options.accept_outside;
  return detail::sample_points(context, points, cells, scratch);
}

template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::implementation::use_method(std::string_view name) {
  detail::neighbor_method_list::with("neighbor method", name, [&](auto named) {
    using named_method = decltype(named);
    if constexpr (requires { named_method::serves(request); }) {
      require(named_method::serves(request), "the neighbor method ", named_method::name, " was asked for; it serves ",
              named_method::served);
    }
    method = named_method::name;
    constexpr std::size_t index = detail::neighbor_method_list::index_of<named_method>;
    if (engines[index] == nullptr) engines[index] = named_method::template make<Context, T, D>(context, options);
    engine = engines[index].get();
  });
}

template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::implementation::set_boxes(std::span<const lattice<T, D>> given) {
  if (detail::same_boxes(given_boxes, given)) return;
  given_boxes.clear();  // should the rest fail
  std::vector<detail::shift_map<D>> maps;
  boxes = detail::searched_boxes(given, maps);
  shift_maps = to_device(context, maps);
  const std::span<const lattice<T, D>> all = boxes;
  one_image = detail::boxes_hold(options, all, static_cast<T>(detail::boxes_of_one_image));
  nearest_image = detail::boxes_hold(options, all, static_cast<T>(detail::boxes_of_nearest_image));
  cubes = detail::cubes_of_boxes(options, all);
  given_boxes.assign(given.begin(), given.end());
  ++boxes_number;
}

template <typename Context, typename T, int D>
detail::search_task<T, D> neighbor_list<Context, T, D>::implementation::task(const neighbor_input<T, D>& input,
                                                                             double a_row) {
  searched = input;
  searched.boxes = boxes;
  return {searched,
          rows,
          boxes_number,
          one_image,
          nearest_image,
          boxes.size() == 1 && !given_systems,
          results.keeps_shifts(),
          control.data() + engine_word,
          a_row};
}

/// The first steps of building and counting: checks the input, and chooses the method.
template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::implementation::prepare(const neighbor_input<T, D>& input) {
  state = stage::failed;
  failure = nullptr;
  replayed = prepared = false;
  ++version;
  if (leaves_faults) clear_faults();
  detail::check_neighbor_input(options, input);
  given_systems = input.system_of_point != nullptr;
  mean_row = neighbors_of_a_point();
  rows = input.queries.has_value() ? input.queries->count : input.points.count;
  require(!matrix() || rows == 0 || options.width <= (std::uint64_t{1} << 40) / rows, "a matrix of ", rows, " x ",
          options.width, " entries was asked for; at most 2^40 are possible");
  set_boxes(input.boxes);
  choose_method(input);
}

/// Makes the memory that the method needs.
template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::implementation::make_room(const neighbor_input<T, D>& input) {
  engine->prepare(task(input, mean_row));
  results.set_rows(context, rows);
  point_count = input.points.count;
  if (options.skin > T(0)) remembered.resize(context, point_count, results.keeps_shifts());
  if (keeps_points()) {
    kept.resize(context, point_count, results.keeps_shifts(), given_systems);
    if (given_systems && kept.shapes_number != boxes_number) {
      kept.shapes = to_device(context, boxes);
      kept.shapes_number = boxes_number;
    }
  }
  last = input;
  last.boxes = {};
  if (rows == 0) fill_bytes(context, control.data() + size_word, 0, sizeof(std::uint64_t));
}

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
  result.maps = maps();
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

/// Enqueues cells, counts and entries at once. Returns false, and enqueues nothing, if the engine cannot.
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

/// Requests sorted keys.
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
  if (to.shifts == nullptr || maps() == nullptr) return;
  constexpr unsigned lanes = cuda ? 32 : 1;
  for_each(context, "search.give_shifts", lanes * rows, detail::give_shifts<T, D>{search(input), to, lanes});
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
  const detail::key_rows keys{to.offsets, to.counts, to.width, to.capacity, rows, to.keys};
  if (maps() == nullptr) {
    detail::sort_rows(context, keys, detail::key_order{});
  } else {
    detail::sort_rows(context, keys, detail::given_order<D>{maps(), what.system_of_row(), what.system_count});
  }
  enqueue_ring_counts(to);
  for_each(context, "search.expand", lanes * rows, detail::expand_row<T, D>{what, to, lanes});
}

template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::implementation::enqueue_size_of_counts() {
  const detail::count_of_row body{results.counts.data()};
  reduce_into(context, "search.size", rows, body, plus_operation{}, std::uint64_t{0}, control.data() + size_word,
              scratch);
}

template <typename Context, typename T, int D>
neighbor_counts neighbor_list<Context, T, D>::implementation::count(const neighbor_input<T, D>& input) {
  attempt([&] {
    prepare(input);
    make_room(input);  // no entries yet: build_async needs a build first
    enqueue_cells(input);
    engine->limit().allow(detail::count_limit::none);
    engine->enqueue_counts(search(input), results.counts.data(), faults());
    enqueue_size_of_counts();
    read_control();
    require_success();
  });
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

/// Builds a list (not a matrix) as far as there is room, and waits for the number of pairs, which is known before the
/// entries are written. Returns whether it was built at once.
template <typename Context, typename T, int D>
bool neighbor_list<Context, T, D>::implementation::build_rows(const neighbor_input<T, D>& input,
                                                              detail::neighbor_sink<T, D> to) {
  const auto expect = [&] {
    if (rows > 0) to.early = mirror.expect(context, control.data(), control_word_count);
  };
  const auto wait = [&] {
    rows > 0 ? take_control(mirror.wait(context)) : read_control();
    require_success();
  };
  expect();
  if (enqueue_at_once(input, to, true)) {
    wait();
    if ((note & detail::gave_up_note) == 0) return true;
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
  attempt([&] {
    prepare(input);
    if (!tuner.active()) return build_by_method(input);
    tuner.turn(context, static_cast<double>(input.points.count), [&](std::string_view name) {
      use_method(name);
      build_by_method(input);
    });
  });
  replayed = asynchronous;
}

template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::implementation::build_by_method(const neighbor_input<T, D>& input) {
  make_room(input);
  if (matrix()) results.grow(context, static_cast<std::uint64_t>(rows) * options.width);
  prepared = true;
  if (matrix()) {
    enqueue_cells(input);
    enqueue_entries(input, sink(true));
    enqueue_size_of_counts();
    read_control();
    return require_success();
  }
  const bool at_once = build_rows(input, sink(false));
  if (size <= results.capacity()) return;
  // More pairs than there is room for: grow and write the entries; the counts are right.
  state = stage::failed;
  results.grow(context, size);
  if (at_once) {
    static_cast<void>(enqueue_at_once(input, sink(false), true));
  } else {
    using detail::build_step;
    const build_step from = engine->adapt(task(input, neighbors_of_a_point()), size, note);
    if (from == build_step::cells) engine->enqueue_cells({search(input), options.accept_outside, faults()});
    if (from != build_step::entries) enqueue_counts(input, false);
    enqueue_entries(input, sink(false));
  }
  state = stage::built;
}

template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::implementation::build_async(const neighbor_input<T, D>& input) {
  detail::check_neighbor_input(options, input);
  const std::size_t asked = input.queries.has_value() ? input.queries->count : input.points.count;
  require(prepared, "build has not been called; build_async works in the memory that it makes");
  require(input.points.count == point_count && asked == rows, "there are ", input.points.count, " points and ", asked,
          " rows, but the last build had ", point_count, " and ", rows,
          "; build_async works in the memory of that build");
  require(detail::same_boxes(given_boxes, input.boxes), "the boxes are not those of the last build; call build");
  require(given_systems == (input.system_of_point != nullptr),
          "system_of_point was given for only one of this build and the last; call build");
  const detail::neighbor_request wanted = detail::make_request(cuda, options, input, cubes);
  require(wanted.asks_the_same(request) || detail::method_serves(method, wanted), "the method of the last build, ",
          method, ", does not serve queries or excluded pairs; call build");
  // A graph works in the memory of the method that it was captured with.
  tuner.stop();
  last = input;
  last.boxes = {};
  failure = nullptr;
  ++version;
  attempt([&] {
    clear_faults(detail::is_capturing(context));  // in a graph at each replay
    if (!enqueue_at_once(input, sink(true), false)) {
      enqueue_cells(input);
      if (!matrix()) enqueue_counts(input, false);
      enqueue_entries(input, sink(true));
      if (matrix()) enqueue_size_of_counts();
    }
  });
  state = stage::built;
  asynchronous = replayed = leaves_faults = true;
  if constexpr (!cuda) check();
}

template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::implementation::reserve(std::size_t pairs) {
  if (matrix() || pairs <= results.capacity()) return;
  if (replayed) read_control();
  replayed = false;
  if (state == stage::built) state = stage::empty;
  results.grow(context, pairs);
}

}  // namespace quadrat
