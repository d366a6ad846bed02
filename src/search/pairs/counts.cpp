// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <span>
#include <type_traits>

#include "cells/counting_build.hpp"
#include "core/backend.hpp"
#include "core/point_checks.hpp"
#include "core/reduced_lattice.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/parallel/fault.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/reduce.hpp"
#include "quadrat/search/pair_counts.hpp"
#include "search/cells.hpp"
#include "search/kernels.hpp"
#include "search/pairs/bin_tables.hpp"
#include "search/pairs/counting.hpp"
#include "search/point_complaint.hpp"

namespace quadrat {

namespace detail {

namespace {

/// Index: slot. Stores points and weights in the order of cells, and checks weights and the length of unit vectors.
template <typename T>
struct place_counted_points {
  lattice<T, 3> shape;
  points_view<T, 3> points;
  const T* weights;  ///< by point, or nullptr
  bool unit;
  const particle_id* elements;
  fault_flag faults;
  search_point<T, 3>* records;  ///< or nullptr
  T* component[3];              ///< or nullptr
  T* weights_of_slots;

  QUADRAT_HD void operator()(std::size_t slot) const {
    const particle_id i = elements[slot];
    vec<int, 3> boxes{};
    const vec<T, 3> point = shape.wrap(points[i], boxes);
    if (unit && !(std::fabs(squared_norm(point) - T(1)) < T(1e-4))) faults.raise(fault_kind::value_range, i);
    if (records != nullptr) records[slot] = {point, i};
    for (int axis = 0; axis < 3; ++axis) {
      if (component[axis] != nullptr) component[axis][slot] = point[axis];
    }
    if (weights == nullptr) return;
    if (!(weights[i] - weights[i] == T(0))) faults.raise(fault_kind::value_range, query_fault_base + i);
    weights_of_slots[slot] = weights[i];
  }
};

template <typename T>
struct magnitude_of {
  const T* values;

  QUADRAT_HD T operator()(std::size_t i) const { return std::fabs(values[i]); }
};

/// The square of a weight in steps, without its last 20 bits or these alone: sums of each fit into a word.
template <typename T>
struct part_of_square {
  static constexpr int bits = 20;
  const T* weights;
  double steps;
  bool high;

  QUADRAT_HD std::int64_t operator()(std::size_t i) const {
    const std::int64_t square = fixed_point(static_cast<double>(weights[i]) * static_cast<double>(weights[i]), steps);
    return high ? square >> bits : square & ((std::int64_t{1} << bits) - 1);
  }
};

/// A power of two: steps per unit of terms that are at most `most`.
[[nodiscard]] double steps_for(double most) {
  return most > 0 ? std::ldexp(1.0, fixed_point_bits - 1 - std::ilogb(most)) : 1.0;
}

}  // namespace

}  // namespace detail

template <typename Context, typename T, int D>
struct pair_counts<Context, T, D>::implementation {
  implementation(const Context& where, const lattice<T, D>& box, const pair_counts_options& chosen);

  /// A set of points, as the caller gave it and in cells.
  struct point_set {
    explicit point_set(const Context& context) : faults(context) {}

    fault_state<Context> faults;
    counting_buckets<Context> buckets;
    array<detail::search_point<T, D>, Context> records;
    array<T, Context> components;
    array<T, Context> weights;

    [[nodiscard]] std::size_t bytes() const {
      return buckets.bytes() + records.bytes() + components.bytes() + weights.bytes();
    }
  };
  struct given_points {
    const points_view<T, D>& points;
    const T* weights;
    const char* name;
  };

  [[nodiscard]] pair_counts_result count(const given_points& first, const given_points* second);
  [[nodiscard]] std::size_t bytes() const {
    return sources.bytes() + targets.bytes() + tables.bytes() + totals.bytes();
  }

  Context context;
  pair_counts_options options;

 private:
  using system_type = detail::search_system<T, D>;

  [[nodiscard]] system_type cut(std::size_t points) const;
  [[nodiscard]] detail::placed_points<T> place(point_set& set, const given_points& given, const system_type& system);
  void check(point_set& set, const given_points& given) const;
  [[nodiscard]] T largest_weight(const given_points& given);
  [[nodiscard]] detail::pair_sums sums_of(const given_points& first, const given_points& second);
  [[nodiscard]] pair_counts_result result_of(const detail::pair_sums& sums, bool own) const;
  void add_own(const given_points& set, const detail::pair_sums& sums, pair_counts_result& result);
  [[nodiscard]] double sum_of_squares(const given_points& set, double steps);

  lattice<T, D> given_shape;
  lattice<T, D> shape;
  detail::bin_tables<T> host_tables;
  detail::pair_region<T> region;
  array<std::byte, Context> tables;
  detail::pair_bins<T> bins;  ///< in the memory of the context
  point_set sources, targets;
  array<std::uint64_t, Context> totals;
  workspace<Context> scratch;
};

template <typename Context, typename T, int D>
pair_counts<Context, T, D>::implementation::implementation(const Context& where, const lattice<T, D>& box,
                                                           const pair_counts_options& chosen)
    : context(where),
      options(chosen),
      given_shape(box),
      shape(detail::reduced(box, false).shape),
      host_tables(chosen),
      region(host_tables.region()),
      tables(to_device(context, host_tables.bytes())),
      bins(host_tables.view(tables.data())),
      sources(where),
      targets(where) {}

/// Cells of the region or a part of it, finer along the first axis, whose rows are trimmed to the region. A CPU takes
/// few, long rows: each costs it as much as about a hundred pairs. The threads of a GPU find 32 rows at once.
template <typename Context, typename T, int D>
auto pair_counts<Context, T, D>::implementation::cut(std::size_t points) const -> system_type {
  const T depth = region.depth > T(0) ? region.depth : region.radius;
  double volume = 1, partners = static_cast<double>(points);
  for (int axis = 0; axis < D; ++axis) volume *= static_cast<double>(shape.height(axis));
  partners *= std::pow(2 * static_cast<double>(region.radius), 2) * 2 * static_cast<double>(depth) / volume;
  const T parts = T(partners < 2000 ? 1 : 2) * (std::is_same_v<Context, cpu_context> ? T(1) : T(2));
  const detail::cells_request<T, D> wanted{{region.radius / T(8), region.radius / parts, depth / parts},
                                           region.reach,
                                           detail::most_cells(points),
                                           options.accept_outside};
  return detail::make_search_systems(std::span<const lattice<T, D>>(&shape, 1), wanted).front();
}

template <typename Context, typename T, int D>
detail::placed_points<T> pair_counts<Context, T, D>::implementation::place(point_set& set, const given_points& given,
                                                                           const system_type& system) {
  const std::size_t count = given.points.count;
  detail::search_key<T, D> key{};
  key.search.points = given.points;
  key.accept_outside = options.accept_outside;
  key.faults = set.faults.flag();
  set.buckets.build(context, count, std::size_t{system.first_cell} + system.count,
                    detail::search_key_of_one<T, D>{key, system}, key.faults);
  detail::place_counted_points<T> body{
      shape,   given.points, given.weights, options.coordinates == pair_coordinates::theta, nullptr, key.faults,
      nullptr, {},           nullptr};
  body.elements = set.buckets.view().elements;
  if (given.weights != nullptr) {
    set.weights.resize_discarding(context, count + detail::placed_points<T>::lanes_beyond);
    body.weights_of_slots = set.weights.data();
  }
  detail::placed_points<T> placed{static_cast<std::uint32_t>(count), nullptr, {}, body.weights_of_slots};
  if constexpr (std::is_same_v<Context, cpu_context>) {
    const std::size_t length = count + detail::placed_points<T>::lanes_beyond;
    set.components.resize_discarding(context, 3 * length);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      placed.component[axis] = body.component[axis] = set.components.data() + axis * length;
    }
  } else {
    set.records.resize_discarding(context, count + detail::placed_points<T>::lanes_beyond);
    placed.records = body.records = set.records.data();
  }
  for_each(context, "search.pairs.place", count, body);
  check(set, given);
  return placed;
}

/// Waits, and throws data_error for a bad point or weight.
template <typename Context, typename T, int D>
void pair_counts<Context, T, D>::implementation::check(point_set& set, const given_points& given) const {
  const fault_report fault = set.faults.read(context);
  if (fault.kind == fault_kind::none) return;
  set.faults.clear(context);
  if (fault.kind != fault_kind::value_range) {
    throw data_error(detail::point_complaint(context, given_shape, given.points, message(given.name, " "), fault.index),
                     fault.index);
  }
  if (fault.index >= detail::query_fault_base) {
    const std::uint64_t i = fault.index - detail::query_fault_base;
    throw data_error(message("the weight of ", given.name, " ", i, " is ", to_host(context, given.weights + i, 1)[0],
                             "; weights must be finite"),
                     i);
  }
  const auto point = detail::point_to_host(context, given.points, fault.index);
  throw data_error(message(given.name, " ", fault.index, " at ", detail::vector_text(point), " has length ",
                           norm(point), "; for angles all points must be unit vectors"),
                   fault.index);
}

template <typename Context, typename T, int D>
T pair_counts<Context, T, D>::implementation::largest_weight(const given_points& given) {
  return reduce(context, "search.pairs.largest_weight", given.points.count, detail::magnitude_of<T>{given.weights},
                maximum_operation{}, T(0), scratch);
}

template <typename Context, typename T, int D>
detail::pair_sums pair_counts<Context, T, D>::implementation::sums_of(const given_points& first,
                                                                      const given_points& second) {
  detail::pair_sums sums;
  sums.weighted = first.weights != nullptr || second.weights != nullptr;
  sums.means = options.mean_separation;
  if (sums.weighted) {
    const auto a = static_cast<double>(largest_weight(first));
    sums.weight_steps = detail::steps_for(a * (&first == &second ? a : static_cast<double>(largest_weight(second))));
  }
  if (sums.means) sums.separation_steps = detail::steps_for(options.edges.back());
  return sums;
}

template <typename Context, typename T, int D>
pair_counts_result pair_counts<Context, T, D>::implementation::count(const given_points& first,
                                                                     const given_points* second) {
  const bool own = second == nullptr;
  const given_points& others = own ? first : *second;
  detail::require_points(first.points, "points");
  detail::require_points(others.points, "other points");
  const bool empty = first.points.count == 0 || others.points.count == 0;
  require(empty || (first.weights == nullptr) == (others.weights == nullptr),
          "one set of points has weights and the other has none; give both or "
          "neither");
  const std::size_t words = detail::pair_words * std::size_t{bins.size()};
  totals.resize_discarding(context, words + 1);
  fill_bytes(context, totals.data(), 0, (words + 1) * sizeof(std::uint64_t));
  const system_type system = cut(std::max(first.points.count, others.points.count));
  detail::counted_pairs<T> pairs{};
  pairs.system = system;
  pairs.sources = place(sources, first, system);
  pairs.targets = own ? pairs.sources : place(targets, others, system);
  pairs.cell_offsets = (own ? sources : targets).buckets.view().offsets;
  pairs.own = own;
  pairs.region = region;
  pairs.span = {8, 1, 1};
  pairs.bins = bins;
  pairs.sums = sums_of(first, others);
  if (!empty) detail::count_pairs(context, pairs, totals.data());
  pair_counts_result result = result_of(pairs.sums, own);
  if (own) add_own(first, pairs.sums, result);
  for (std::size_t k = 0; k < result.mean_separations.size(); ++k) {
    if (result.counts[k] > 0) result.mean_separations[k] /= static_cast<double>(result.counts[k]);
  }
  return result;
}

/// The sums of all pairs of different points; means are still sums.
template <typename Context, typename T, int D>
pair_counts_result pair_counts<Context, T, D>::implementation::result_of(const detail::pair_sums& sums,
                                                                         bool own) const {
  const std::size_t size = bins.size();
  const std::vector<std::uint64_t> words = to_host(context, totals.data(), detail::pair_words * size);
  const double times = own ? 2 : 1;
  const auto sum_at = [&](std::size_t k, detail::pair_word low, detail::pair_word high, double steps) {
    const auto upper = static_cast<double>(static_cast<std::int64_t>(words[high * size + k]));
    return times * (upper * 4294967296.0 + static_cast<double>(words[low * size + k])) / steps;
  };
  pair_counts_result result;
  for (std::size_t k = 0; k < size; ++k) {
    result.counts.push_back(words[k] * (own ? 2 : 1));
    if (sums.weighted) {
      result.weights.push_back(sum_at(k, detail::weights_low, detail::weights_high, sums.weight_steps));
    }
    if (sums.means) {
      result.mean_separations.push_back(
          sum_at(k, detail::separations_low, detail::separations_high, sums.separation_steps));
    }
  }
  return result;
}

/// The pairs of each point with itself and with its own images: all points have the same ones.
template <typename Context, typename T, int D>
void pair_counts<Context, T, D>::implementation::add_own(const given_points& set, const detail::pair_sums& sums,
                                                         pair_counts_result& result) {
  if (set.points.count == 0) return;
  const detail::pair_bins<T> where = host_tables.view(host_tables.bytes().data());
  const double squares = sums.weighted ? sum_of_squares(set, sums.weight_steps) : 0;
  vec<int, D> most{};
  for (int axis = 0; axis < D; ++axis) {
    if (shape.periodic[axis]) most[axis] = static_cast<int>(region.reach / shape.height(axis)) + 1;
  }
  vec<int, D> image{};
  for (image[2] = -most[2]; image[2] <= most[2]; ++image[2]) {
    for (image[1] = -most[1]; image[1] <= most[1]; ++image[1]) {
      for (image[0] = -most[0]; image[0] <= most[0]; ++image[0]) {
        const vec<T, D> r = shape.translation(image);
        const T squared = where.squared(r);
        if (!(squared >= where.low && squared < where.high)) continue;
        std::uint32_t bin = where.first_bin(squared);
        if (!where.add_second(squared, r[D - 1], bin)) continue;
        result.counts[bin] += set.points.count;
        if (sums.weighted) result.weights[bin] += squares;
        if (sums.means) {
          result.mean_separations[bin] +=
              static_cast<double>(set.points.count) * static_cast<double>(where.separation(squared));
        }
      }
    }
  }
}

template <typename Context, typename T, int D>
double pair_counts<Context, T, D>::implementation::sum_of_squares(const given_points& set, double steps) {
  const auto sum_of = [&](bool high) {
    const detail::part_of_square<T> part{set.weights, steps, high};
    return static_cast<double>(
        reduce(context, "search.pairs.squares", set.points.count, part, plus_operation{}, std::int64_t{0}, scratch));
  };
  return (std::ldexp(sum_of(true), detail::part_of_square<T>::bits) + sum_of(false)) / steps;
}

namespace detail {

namespace {

/// The box of unit vectors, a little larger for rounding.
template <typename T, int D>
[[nodiscard]] lattice<T, D> box_of_sky(const pair_counts_options& options) {
  require(options.coordinates == pair_coordinates::theta, "pairs are counted in a box, except by theta; give the box");
  return make_lattice(make_box(vec<T, D>::filled(T(-1.001)), vec<T, D>::filled(T(1.001)), vec<bool, D>{}));
}

template <typename T, int D>
[[nodiscard]] const lattice<T, D>& box_of_space(const lattice<T, D>& box, const pair_counts_options& options) {
  require(options.coordinates != pair_coordinates::theta, "theta is counted between unit vectors, without a box");
  return box;
}

}  // namespace

}  // namespace detail

template <typename Context, typename T, int D>
pair_counts<Context, T, D>::pair_counts(const Context& context, const lattice<T, D>& box,
                                        const pair_counts_options& options)
    : implementation_(std::make_unique<implementation>(context, detail::box_of_space<T, D>(box, options), options)) {}
template <typename Context, typename T, int D>
pair_counts<Context, T, D>::pair_counts(const Context& context, const pair_counts_options& options)
    : implementation_(std::make_unique<implementation>(context, detail::box_of_sky<T, D>(options), options)) {}

template <typename Context, typename T, int D>
pair_counts_result pair_counts<Context, T, D>::count(const points_view<T, D>& points, const T* weights) {
  return implementation_->count({points, weights, "point"}, nullptr);
}
template <typename Context, typename T, int D>
pair_counts_result pair_counts<Context, T, D>::count_between(const points_view<T, D>& points,
                                                             const points_view<T, D>& others, const T* weights,
                                                             const T* other_weights) {
  const typename implementation::given_points second{others, other_weights, "other point"};
  return implementation_->count({points, weights, "point"}, &second);
}
template <typename Context, typename T, int D>
std::size_t pair_counts<Context, T, D>::bytes() const {
  return implementation_->bytes();
}
template <typename Context, typename T, int D>
const pair_counts_options& pair_counts<Context, T, D>::options() const {
  return implementation_->options;
}

template class pair_counts<backend_context, float, 3>;
template class pair_counts<backend_context, double, 3>;

}  // namespace quadrat
