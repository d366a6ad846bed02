// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <type_traits>

#include "quadrat/core/error.hpp"
#include "search/checks.hpp"
#include "search/choice.hpp"
#include "search/list.hpp"
#include "tune/choice.hpp"

namespace quadrat {

template <typename Context, typename T, int D>
neighbor_list<Context, T, D>::implementation::implementation(const Context& where, const neighbor_options<T>& chosen)
    : context(where), options(chosen), control(where, control_word_count) {
  detail::check_neighbor_options(options, cuda);
  options.sorted = options.sorted || !options.inner_cutoffs.empty();
  fill_bytes(context, control.data(), 0, control.bytes());
  fill_bytes(context, control.data() + fault_word, 0xff, sizeof(std::uint64_t));
  if (options.rule == cutoff_rule::table_of_types) type_cutoffs = to_device(context, options.type_cutoffs);
}

template <typename Context, typename T, int D>
std::size_t neighbor_list<Context, T, D>::implementation::bytes() const {
  std::size_t sum = results.bytes() + remembered.bytes() + kept.bytes() + pair_memory.bytes() + type_cutoffs.bytes() +
                    control.bytes() + scratch.bytes() + shift_maps.bytes();
  for (const auto& each : engines) sum += each != nullptr ? each->bytes() : 0;
  return sum;
}

/// Goes over to the method whose turn it is, where the times of builds decide.
template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::implementation::take_turn(std::size_t points) {
  in_turn = trials.running() && points > 0;
  if (!in_turn) return;
  use_method(trials.next_round(context, static_cast<double>(points)));
  tried = tried || trials.trying(method);
  if (tried && trials.resting()) {
    for (auto& each : engines) {
      if (each.get() != engine) each.reset();
    }
    tried = false;
  }
  trials.start(context);
}

/// Whether a method that was chosen for such points stays: until there has been work that is worth a sample, if they
/// were not sampled. Where runs must be repeatable the first points decide.
template <typename Context, typename T, int D>
bool neighbor_list<Context, T, D>::implementation::choice_holds() {
  if (unseen_ms == 0 || context.reproducibility() != determinism::none) return true;
  unseen_work_ms += unseen_ms;
  return !detail::worth_sampling(cuda, unseen_work_ms);
}

/// The method that was asked for, or the one with the least expected time. `mean_row`: neighbors of a point in the list
/// before, 0 for the first. Where runs must be repeatable a list does not depend on those before it.
template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::implementation::choose_method(const neighbor_input<T, D>& input, double mean_row) {
  detail::neighbor_request wanted = detail::make_request(cuda, options, input, cubes);
  if (context.reproducibility() == determinism::none)
    wanted.found = mean_row * static_cast<double>(wanted.points) / (wanted.half ? 2 : 1);
  if constexpr (!cuda) {
    const bool free = context.reproducibility() == determinism::none;
    wanted.threads = free ? context.threads() : detail::usual_threads;
  }
  if (engine != nullptr) {
    // No points say nothing of those that follow.
    const bool as_tried = trials.running() && (wanted.points == 0 || wanted.resembles(request));
    if (wanted.asks_the_same(request) ? choice_holds() : as_tried) return;
  }
  engine = nullptr;  // should this fail
  trials.end();
  if (!wanted.asks_the_same(request) && context.reproducibility() == determinism::none) unseen_work_ms += unseen_ms;
  request = wanted;
  reason = "asked for";
  if (!options.method.empty()) return use_method(options.method);
  auto times = detail::neighbor_times(request, profile_of(context));
  unseen_ms = times.size() > 1 && boxes.size() == 1 ? times[0].milliseconds : 0;
  if (unseen_ms > 0 && detail::worth_sampling(cuda, std::max(unseen_ms, unseen_work_ms))) {
    request.sample = sample(input.points);
    times = detail::neighbor_times(request, profile_of(context));
    unseen_ms = unseen_work_ms = 0;
  }
  reason = detail::comparison(times, 1);
  use_method(times.front().method);
  // Crowds slow some methods down a hundred times, so that points that were not sampled are not tried on any.
  const bool tries = request.sample.seen > 0 && !fixed && context.reproducibility() == determinism::none;
  if (tries) trials.begin(times, method, static_cast<double>(request.points));
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
  boxes = detail::searched_boxes(given, options.cutoff + options.skin, maps);
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
                                                                             double mean_row) {
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
          mean_row};
}

template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::implementation::prepare(const neighbor_input<T, D>& input, bool round) {
  prepared = false;
  detail::check_neighbor_input(options, input);
  given_systems = input.system_of_point != nullptr;
  const double mean_row = neighbors_of_a_point();
  rows = input.queries.has_value() ? input.queries->count : input.points.count;
  require(!matrix() || rows == 0 || options.width <= (std::uint64_t{1} << 40) / rows, "a matrix of ", rows, " x ",
          options.width, " entries was asked for; at most 2^40 are possible");
  set_boxes(input.boxes);
  choose_method(input, mean_row);
  if (round) take_turn(input.points.count);
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
}

}  // namespace quadrat
