// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <span>
#include <type_traits>
#include <vector>

#include "cells/counting_build.hpp"
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

namespace quadrat::detail {

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

/// The square of a weight in steps: its high or its low part.
template <typename T>
struct part_of_square {
  const T* weights;
  double steps;
  bool high;

  QUADRAT_HD std::uint64_t operator()(std::size_t i) const {
    const std::int64_t square = fixed_point(static_cast<double>(weights[i]) * static_cast<double>(weights[i]), steps);
    return high ? high_part(square) : low_part(square);
  }
};

/// A power of two: steps per unit of terms that are at most `most`.
[[nodiscard]] inline double steps_for(double most) {
  return most > 0 ? std::ldexp(1.0, fixed_point_bits - 1 - std::ilogb(most)) : 1.0;
}

/// A set of points with their weights, as the caller gave them. `name`: of one of them, in messages.
template <typename T, int D>
struct counted_set {
  const points_view<T, D>& points;
  const T* weights;
  const char* name;
};

/// The implementation of pair_counts. What it adds up are integers, so that sums of parts of all pairs, as ranks have
/// them, are those of all.
template <typename Context, typename T, int D>
class pair_counter {
 public:
  using set_type = counted_set<T, D>;

  pair_counter(const Context& where, const lattice<T, D>& box, const pair_counts_options& chosen);

  /// Throws argument_error for input that the host can see.
  static void check_sets(const set_type& first, const set_type& second);
  /// The largest weight, without its sign. Waits.
  [[nodiscard]] double largest_weight(const set_type& set);
  /// What is summed. `first`, `second`: the largest weights of the sets. Throws data_error if their product leaves the
  /// range of fixed point.
  [[nodiscard]] pair_sums sums_of(bool weighted, double first, double second) const;
  /// Integers that are added up: over the pairs of one set with itself, and over those with another. Wait.
  [[nodiscard]] std::vector<std::uint64_t> words_of(const set_type& set, const pair_sums& sums);
  [[nodiscard]] std::vector<std::uint64_t> words_between(const set_type& first, const set_type& second,
                                                         const pair_sums& sums);
  [[nodiscard]] pair_counts_result result_of(const std::vector<std::uint64_t>& words, const pair_sums& sums) const;

  /// Between two points of a pair.
  [[nodiscard]] T reach() const { return region.reach; }
  [[nodiscard]] std::size_t bytes() const {
    return sources.bytes() + targets.bytes() + tables.bytes() + totals.bytes();
  }

  Context context;
  pair_counts_options options;

 private:
  using system_type = search_system<T, D>;
  /// Words behind those of bins: of the pairs of points with themselves.
  enum own_word : std::size_t { own_points, squares_low, squares_high, own_words };

  /// A set in cells.
  struct point_set {
    explicit point_set(const Context& context) : faults(context) {}

    fault_state<Context> faults;
    counting_buckets<Context> buckets;
    array<search_point<T, D>, Context> records;
    array<T, Context> components;
    array<T, Context> weights;

    [[nodiscard]] std::size_t bytes() const {
      return buckets.bytes() + records.bytes() + components.bytes() + weights.bytes();
    }
  };

  [[nodiscard]] system_type cut(std::size_t points) const;
  [[nodiscard]] placed_points<T> place(point_set& set, const set_type& given, const system_type& system);
  void check(point_set& set, const set_type& given) const;
  [[nodiscard]] std::vector<std::uint64_t> count(const set_type& first, const set_type& second, bool own,
                                                 const pair_sums& sums);
  static void carry(std::uint64_t& low, std::uint64_t& high);
  void add_own(const std::uint64_t* words, const pair_sums& sums, pair_counts_result& result) const;
  [[nodiscard]] std::uint64_t squares(const set_type& set, double steps, bool high);

  lattice<T, D> given_shape;
  lattice<T, D> shape;
  bin_tables<T> host_tables;
  pair_region<T> region;
  array<std::byte, Context> tables;
  pair_bins<T> bins;  ///< in the memory of the context
  point_set sources, targets;
  array<std::uint64_t, Context> totals;
  workspace<Context> scratch;
};

template <typename Context, typename T, int D>
pair_counter<Context, T, D>::pair_counter(const Context& where, const lattice<T, D>& box,
                                          const pair_counts_options& chosen)
    : context(where),
      options(chosen),
      given_shape(box),
      shape(reduced(box, false).shape),
      host_tables(chosen),
      region(host_tables.region()),
      tables(to_device(context, host_tables.bytes())),
      bins(host_tables.view(tables.data())),
      sources(where),
      targets(where) {}

/// Cells of the region or a part of it, finer along the first axis, whose rows are trimmed to the region. A CPU takes
/// few, long rows: each costs it as much as about a hundred pairs. The threads of a GPU find 32 rows at once.
template <typename Context, typename T, int D>
auto pair_counter<Context, T, D>::cut(std::size_t points) const -> system_type {
  const T depth = region.depth > T(0) ? region.depth : region.radius;
  double volume = 1, partners = static_cast<double>(points);
  for (int axis = 0; axis < D; ++axis) volume *= static_cast<double>(shape.height(axis));
  partners *= std::pow(2 * static_cast<double>(region.radius), 2) * 2 * static_cast<double>(depth) / volume;
  const T parts = T(partners < 2000 ? 1 : 2) * (std::is_same_v<Context, cpu_context> ? T(1) : T(2));
  const cells_request<T, D> wanted{{region.radius / T(8), region.radius / parts, depth / parts},
                                   region.reach,
                                   most_cells(points),
                                   options.accept_outside};
  return make_search_systems(std::span<const lattice<T, D>>(&shape, 1), wanted).front();
}

template <typename Context, typename T, int D>
placed_points<T> pair_counter<Context, T, D>::place(point_set& set, const set_type& given, const system_type& system) {
  const std::size_t count = given.points.count;
  search_key<T, D> key{};
  key.search.points = given.points;
  key.accept_outside = options.accept_outside;
  key.faults = set.faults.flag();
  set.buckets.build(context, count, std::size_t{system.first_cell} + system.count, search_key_of_one<T, D>{key, system},
                    key.faults);
  place_counted_points<T> body{shape,   given.points, given.weights, options.coordinates == pair_coordinates::theta,
                               nullptr, key.faults,   nullptr,       {},
                               nullptr};
  body.elements = set.buckets.view().elements;
  if (given.weights != nullptr) {
    set.weights.resize_discarding(context, count + placed_points<T>::lanes_beyond);
    body.weights_of_slots = set.weights.data();
  }
  placed_points<T> placed{static_cast<std::uint32_t>(count), nullptr, {}, body.weights_of_slots};
  if constexpr (std::is_same_v<Context, cpu_context>) {
    const std::size_t length = count + placed_points<T>::lanes_beyond;
    set.components.resize_discarding(context, 3 * length);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      placed.component[axis] = body.component[axis] = set.components.data() + axis * length;
    }
  } else {
    set.records.resize_discarding(context, count + placed_points<T>::lanes_beyond);
    placed.records = body.records = set.records.data();
  }
  for_each(context, "search.pairs.place", count, body);
  check(set, given);
  return placed;
}

/// Waits, and throws data_error for a bad point or weight.
template <typename Context, typename T, int D>
void pair_counter<Context, T, D>::check(point_set& set, const set_type& given) const {
  const fault_report fault = set.faults.read(context);
  if (fault.kind == fault_kind::none) return;
  set.faults.clear(context);
  if (fault.kind != fault_kind::value_range) {
    throw data_error(point_complaint(context, given_shape, given.points, message(given.name, " "), fault.index),
                     fault.index);
  }
  if (fault.index >= query_fault_base) {
    const std::uint64_t i = fault.index - query_fault_base;
    throw data_error(message("the weight of ", given.name, " ", i, " is ", to_host(context, given.weights + i, 1)[0],
                             "; weights must be finite"),
                     i);
  }
  const auto point = point_to_host(context, given.points, fault.index);
  throw data_error(message(given.name, " ", fault.index, " at ", vector_text(point), " has length ", norm(point),
                           "; for angles all points must be unit vectors"),
                   fault.index);
}

template <typename Context, typename T, int D>
void pair_counter<Context, T, D>::check_sets(const set_type& first, const set_type& second) {
  require_points(first.points, "points");
  require_points(second.points, "other points");
  const bool empty = first.points.count == 0 || second.points.count == 0;
  require(empty || (first.weights == nullptr) == (second.weights == nullptr),
          "one set of points has weights and the other has none; give both or neither");
}

template <typename Context, typename T, int D>
double pair_counter<Context, T, D>::largest_weight(const set_type& set) {
  return static_cast<double>(reduce(context, "search.pairs.largest_weight", set.points.count,
                                    magnitude_of<T>{set.weights}, maximum_operation{}, T(0), scratch));
}

template <typename Context, typename T, int D>
pair_sums pair_counter<Context, T, D>::sums_of(bool weighted, double first, double second) const {
  pair_sums sums;
  const double largest = first * second;
  const bool finite = std::isfinite(first) && std::isfinite(second);  // or else the count names the point
  if (finite && first > 0 && second > 0 && !(largest >= 1e-280 && largest <= 1e280)) {
    throw data_error(message("the largest weights are ", first, " and ", second,
                             "; their product must be from 1e-280 to 1e280, or 0"));
  }
  sums.weighted = weighted;
  sums.means = options.mean_separation;
  if (sums.weighted) sums.weight_steps = steps_for(largest);
  if (sums.means) sums.separation_steps = steps_for(options.edges.back());
  return sums;
}

/// Makes the low part of a sum as small as that of a term.
template <typename Context, typename T, int D>
void pair_counter<Context, T, D>::carry(std::uint64_t& low, std::uint64_t& high) {
  high += low >> part_bits;
  low = low_part(static_cast<std::int64_t>(low));
}

/// The words of all pairs of different points.
template <typename Context, typename T, int D>
std::vector<std::uint64_t> pair_counter<Context, T, D>::count(const set_type& first, const set_type& second, bool own,
                                                              const pair_sums& sums) {
  const std::size_t size = bins.size(), words = pair_words * size;
  totals.resize_discarding(context, words + 1);
  fill_bytes(context, totals.data(), 0, (words + 1) * sizeof(std::uint64_t));
  const system_type system = cut(std::max(first.points.count, second.points.count));
  counted_pairs<T> pairs{};
  pairs.system = system;
  pairs.sources = place(sources, first, system);
  pairs.targets = own ? pairs.sources : place(targets, second, system);
  pairs.cell_offsets = (own ? sources : targets).buckets.view().offsets;
  pairs.own = own;
  pairs.region = region;
  pairs.span = {8, 1, 1};
  pairs.bins = bins;
  pairs.sums = sums;
  if (first.points.count > 0 && second.points.count > 0) count_pairs(context, pairs, totals.data());
  std::vector<std::uint64_t> found = to_host(context, totals.data(), words);
  found.resize(words + own_words, 0);
  for (std::size_t k = 0; k < size; ++k) {
    carry(found[weights_low * size + k], found[weights_high * size + k]);
    carry(found[separations_low * size + k], found[separations_high * size + k]);
  }
  return found;
}

template <typename Context, typename T, int D>
std::vector<std::uint64_t> pair_counter<Context, T, D>::words_of(const set_type& set, const pair_sums& sums) {
  std::vector<std::uint64_t> words = count(set, set, true, sums);
  for (std::uint64_t& word : words) word *= 2;
  std::uint64_t* const own = words.data() + words.size() - own_words;
  own[own_points] = set.points.count;
  if (sums.weighted) {
    own[squares_low] = squares(set, sums.weight_steps, false);
    own[squares_high] = squares(set, sums.weight_steps, true);
  }
  return words;
}

template <typename Context, typename T, int D>
std::vector<std::uint64_t> pair_counter<Context, T, D>::words_between(const set_type& first, const set_type& second,
                                                                      const pair_sums& sums) {
  return count(first, second, false, sums);
}

template <typename Context, typename T, int D>
pair_counts_result pair_counter<Context, T, D>::result_of(const std::vector<std::uint64_t>& words,
                                                          const pair_sums& sums) const {
  const std::size_t size = bins.size();
  const auto sum_at = [&](std::size_t k, pair_word low, pair_word high, double steps) {
    return sum_of_parts(words[low * size + k], words[high * size + k]) / steps;
  };
  pair_counts_result result;
  for (std::size_t k = 0; k < size; ++k) {
    result.counts.push_back(words[k]);
    if (sums.weighted) result.weights.push_back(sum_at(k, weights_low, weights_high, sums.weight_steps));
    if (sums.means) {
      result.mean_separations.push_back(sum_at(k, separations_low, separations_high, sums.separation_steps));
    }
  }
  add_own(words.data() + pair_words * size, sums, result);
  for (std::size_t k = 0; k < result.mean_separations.size(); ++k) {
    if (result.counts[k] > 0) result.mean_separations[k] /= static_cast<double>(result.counts[k]);
  }
  return result;
}

/// The pairs of each point with itself and with its own images: all points have the same ones.
template <typename Context, typename T, int D>
void pair_counter<Context, T, D>::add_own(const std::uint64_t* words, const pair_sums& sums,
                                          pair_counts_result& result) const {
  const std::uint64_t points = words[own_points];
  if (points == 0) return;
  const double weight = sums.weighted ? sum_of_parts(words[squares_low], words[squares_high]) / sums.weight_steps : 0;
  const pair_bins<T> where = host_tables.view(host_tables.bytes().data());
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
        result.counts[bin] += points;
        if (sums.weighted) result.weights[bin] += weight;
        if (sums.means) {
          result.mean_separations[bin] += static_cast<double>(points) * static_cast<double>(where.separation(squared));
        }
      }
    }
  }
}

/// The sum over weights of the parts of their squares.
template <typename Context, typename T, int D>
std::uint64_t pair_counter<Context, T, D>::squares(const set_type& set, double steps, bool high) {
  return reduce(context, "search.pairs.squares", set.points.count, part_of_square<T>{set.weights, steps, high},
                plus_operation{}, std::uint64_t{0}, scratch);
}

/// The box in which pairs are counted. `box`: the given one; nullptr: none.
template <typename T, int D>
[[nodiscard]] lattice<T, D> box_of_pairs(const pair_counts_options& options, const lattice<T, D>* box) {
  if (options.coordinates != pair_coordinates::theta) {
    require(box != nullptr, "pairs are counted in a box, except by theta; give the box");
    return *box;
  }
  require(box == nullptr, "theta is counted between unit vectors, without a box");
  // A little larger than the sphere, for rounding.
  return make_lattice(make_box(vec<T, D>::filled(T(-1.001)), vec<T, D>::filled(T(1.001)), vec<bool, D>{}));
}

}  // namespace quadrat::detail
