// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <memory>

#include "boxes.hpp"
#include "modules.hpp"
#include "points.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::python {

namespace {

/// Points and their weights, which may be missing.
struct weighted_array {
  given_array points;
  std::optional<given_array> weights{};

  void receive(worker& reader) {
    points.receive(reader);
    if (weights) weights->receive(reader);
  }
  [[nodiscard]] const void* data() const { return weights ? weights->data() : nullptr; }
};
[[nodiscard]] weighted_array weighted_from(nb::handle points, const char* name, nb::handle weights,
                                           const char* name_of_weights, const origin_of_arrays& where,
                                           std::optional<number> type) {
  weighted_array result{points_from(points, where, 3, name, type, type ? 3 : 0)};
  if (weights.is_none()) return result;
  result.weights = floats(weights, name_of_weights, where, result.points.type());
  const std::size_t count = result.points.shape()[0];
  if (result.weights->shape() != std::vector<std::size_t>{count}) {
    throw nb::value_error(message(name_of_weights, " have the shape ", shape_text(result.weights->shape()),
                                  "; one for each of the ", count, " ", name, " is needed")
                              .c_str());
  }
  return result;
}

/// Counts, sums of products of weights, mean separations: of NumPy, one for each bin; None for what is not wanted.
[[nodiscard]] nb::tuple pair_counts(nb::handle points, nb::handle others, nb::handle weights, nb::handle other_weights,
                                    nb::handle box, nb::handle periodic, nb::handle origin, int coordinates,
                                    nb::handle edges, nb::handle second_edges, bool mean_separation, int threads) {
  const origin_of_arrays where = origin_of(points, "points");
  weighted_array first = weighted_from(points, "points", weights, "weights", where, std::nullopt);
  std::optional<weighted_array> second;
  if (!others.is_none()) {
    second = weighted_from(others, "others", other_weights, "other_weights", where, first.points.type());
  }
  const boxes_given boxes = boxes_from(box, 3, periodic, origin);
  const host_numbers of_first = numbers_from(edges, "edges"), of_second = numbers_from(second_edges, "second_edges");
  auto options = sized<quadrat_pair_counts_options>();
  options.type = c_type(first.points.type());
  options.coordinates = coordinates;
  options.edges = of_first.values.data();
  options.edge_count = of_first.values.size();
  options.second_edges = of_second.values.data();
  options.second_edge_count = of_second.values.size();
  options.mean_separation = mean_separation ? 1 : 0;
  options.accept_outside = boxes.open() ? 1 : 0;
  const quadrat_boxes space = boxes.view();
  const quadrat_boxes* const around = coordinates == QUADRAT_PAIR_THETA ? nullptr : &space;
  const std::unique_ptr<counts_handle> counter = made_at<counts_handle>(where.at(threads), around, &options);
  first.receive(*counter);
  if (second) second->receive(*counter);
  const quadrat_points given = first.points.points();
  unlocked([&] {
    if (!second) return counter->call(&c_functions::pair_counts_count, &given, first.data());
    const quadrat_points partners = second->points.points();
    counter->call(&c_functions::pair_counts_count_between, &given, &partners, first.data(), second->data());
  });
  const auto found = counter->get(&c_functions::pair_counts_result);
  const auto copied = [&](number type, const auto* from) -> nb::object {
    if (from == nullptr) return nb::none();
    results made({});
    using value = std::remove_const_t<std::remove_pointer_t<decltype(from)>>;
    std::copy_n(from, found.bins, static_cast<value*>(made.add(type, {found.bins})));
    return made.take(0);
  };
  return nb::make_tuple(copied(number::uint64, found.counts), copied(number::float64, found.weights),
                        copied(number::float64, found.mean_separations));
}

}  // namespace

void add_counts(nb::module_& module) {
  const auto any = [](const char* name) { return nb::arg(name).none(); };
  module.def("pair_counts", &pair_counts, any("points"), any("others"), any("weights"), any("other_weights"),
             any("box"), any("periodic"), any("origin"), nb::arg("coordinates"), any("edges"), any("second_edges"),
             nb::arg("mean_separation"), nb::arg("threads"));
}

}  // namespace quadrat::python
