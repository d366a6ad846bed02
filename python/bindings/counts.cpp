// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <memory>

#include "boxes.hpp"
#include "modules.hpp"
#include "points.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::python {

namespace {

/// Points with their weights and regions, which may be missing.
struct weighted_array {
  given_array points;
  std::optional<given_array> weights{}, regions{};

  void receive(worker& reader) {
    points.receive(reader);
    if (weights) weights->receive(reader);
    if (regions) regions->receive(reader);
  }
  /// Regions up to the largest number, at least one.
  [[nodiscard]] std::size_t region_count(const place& where) {
    const std::int64_t largest = regions ? largest_of(*regions, where) : 0;
    return static_cast<std::size_t>(std::max<std::int64_t>(largest, 0)) + 1;
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

/// Counts, sums of products of weights, mean separations: of NumPy, one for each bin; counts and sums by region and
/// bin; None for what is not wanted. `region_count`: 0 for as many as there are.
[[nodiscard]] nb::tuple pair_counts(nb::handle points, nb::handle others, nb::handle weights, nb::handle other_weights,
                                    nb::handle box, nb::handle periodic, nb::handle origin, int coordinates,
                                    nb::handle edges, nb::handle second_edges, bool mean_separation, nb::handle regions,
                                    nb::handle other_regions, std::size_t region_count, int threads) {
  const origin_of_arrays where = origin_of(points, "points");
  weighted_array first = weighted_from(points, "points", weights, "weights", where, std::nullopt);
  std::optional<weighted_array> second;
  if (!others.is_none()) {
    second = weighted_from(others, "others", other_weights, "other_weights", where, first.points.type());
  }
  first.regions = indices_from(regions, "regions", first.points.shape()[0], where);
  if (second) {
    second->regions = indices_from(other_regions, "other_regions", second->points.shape()[0], where, "others");
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
  options.regions = region_count;
  if (first.regions && region_count == 0) {
    options.regions =
        std::max(first.region_count(where.at(threads)), second ? second->region_count(where.at(threads)) : 0);
  }
  const quadrat_boxes space = boxes.view();
  const quadrat_boxes* const around = coordinates == QUADRAT_PAIR_THETA ? nullptr : &space;
  const std::unique_ptr<counts_handle> counter = made_at<counts_handle>(where.at(threads), around, &options);
  first.receive(*counter);
  if (second) second->receive(*counter);
  const quadrat_points given = first.points.points();
  unlocked([&] {
    const quadrat_integers of_points = of(first.regions);
    if (!second) return counter->call(&c_functions::pair_counts_count, &given, first.data(), &of_points);
    const quadrat_points partners = second->points.points();
    const quadrat_integers of_partners = of(second->regions);
    counter->call(&c_functions::pair_counts_count_between, &given, &partners, first.data(), second->data(), &of_points,
                  &of_partners);
  });
  const auto found = counter->get(&c_functions::pair_counts_result);
  const auto copied = [&](number type, const auto* from, std::size_t count) -> nb::object {
    if (from == nullptr) return nb::none();
    results made({});
    using value = std::remove_const_t<std::remove_pointer_t<decltype(from)>>;
    std::copy_n(from, count, static_cast<value*>(made.add(type, {count})));
    return made.take(0);
  };
  const std::size_t bins = found.bins, in_regions = options.regions * found.bins;
  return nb::make_tuple(copied(number::uint64, found.counts, bins), copied(number::float64, found.weights, bins),
                        copied(number::float64, found.mean_separations, bins),
                        copied(number::uint64, found.region_counts, in_regions),
                        copied(number::float64, found.region_weights, in_regions));
}

}  // namespace

void add_counts(nb::module_& module) {
  const auto any = [](const char* name) { return nb::arg(name).none(); };
  module.def("pair_counts", &pair_counts, any("points"), any("others"), any("weights"), any("other_weights"),
             any("box"), any("periodic"), any("origin"), nb::arg("coordinates"), any("edges"), any("second_edges"),
             nb::arg("mean_separation"), any("regions"), any("other_regions"), nb::arg("region_count"),
             nb::arg("threads"));
}

}  // namespace quadrat::python
