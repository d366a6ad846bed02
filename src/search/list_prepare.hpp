// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <type_traits>

#include "core/method_choice.hpp"
#include "quadrat/core/error.hpp"
#include "search/checks.hpp"
#include "search/list.hpp"

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
                    control.bytes() + scratch.bytes();
  for (const auto& each : engines) sum += each != nullptr ? each->bytes() : 0;
  return sum;
}

/// The method that was asked for, or the one with the least expected time.
template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::implementation::choose_method(const neighbor_input<T, D>& input) {
  const detail::neighbor_request wanted = detail::make_request(cuda, options, input);
  if (engine != nullptr && wanted == request) return;
  engine = nullptr;  // should this fail
  request = wanted;
  const detail::method_demand demand{.kind = "neighbor method", .cuda = cuda};
  const std::string_view name =
      options.method.empty() ? detail::expected_times<detail::neighbor_method_list>(demand, request).front().method
                             : std::string_view(options.method);
  detail::neighbor_method_list::with(demand.kind, name, [&](auto named) { use_method<decltype(named)>(); });
}

template <typename Context, typename T, int D>
template <typename Method>
void neighbor_list<Context, T, D>::implementation::use_method() {
  if constexpr (requires { Method::serves(request); }) {
    require(Method::serves(request), "the neighbor method ", Method::name, " was asked for; it serves ",
            Method::served);
  }
  method = Method::name;
  reason = "asked for";
  if constexpr (requires { Method::reason; }) {
    if (options.method.empty()) reason = Method::reason;
  }
  constexpr std::size_t index = detail::neighbor_method_list::index_of<Method>;
  if (engines[index] == nullptr) engines[index] = Method::template make<Context, T, D>(context, options);
  engine = engines[index].get();
}

template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::implementation::set_boxes(std::span<const lattice<T, D>> given) {
  if (detail::same_boxes(boxes, given)) return;
  boxes.clear();  // should the rest fail
  one_image = detail::boxes_hold(options, given, static_cast<T>(detail::boxes_of_one_image));
  nearest_image = detail::boxes_hold(options, given, static_cast<T>(detail::boxes_of_nearest_image));
  boxes.assign(given.begin(), given.end());
  ++boxes_number;
}

template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::implementation::prepare(const neighbor_input<T, D>& input) {
  prepared = false;
  detail::check_neighbor_input(options, input);
  given_systems = input.system_of_point != nullptr;
  rows = input.queries.has_value() ? input.queries->count : input.points.count;
  require(!matrix() || rows == 0 || options.width <= (std::uint64_t{1} << 40) / rows, "a matrix of ", rows, " x ",
          options.width, " entries was asked for; at most 2^40 are possible");
  set_boxes(input.boxes);
  choose_method(input);
  engine->prepare({input, rows, boxes_number, one_image, nearest_image, boxes.size() == 1 && !given_systems,
                   results.keeps_shifts(), control.data() + engine_word});
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
