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
#include "search/pairs/counted_points.hpp"
#include "search/pairs/counting.hpp"
#include "search/point_complaint.hpp"

namespace quadrat::detail {

/// A power of two: steps per unit of terms that are at most `most`.
[[nodiscard]] inline double steps_for(double most) {
  return most > 0 ? std::ldexp(1.0, fixed_point_bits - 1 - std::ilogb(most)) : 1.0;
}

/// The implementation of pair_counts. What it adds up are integers, so that sums of parts of all pairs, as ranks have
/// them, are those of all.
template <typename Context, typename T, int D>
class pair_counter {
 public:
  using set_type = counted_set<T, D>;

  pair_counter(const Context& where, const lattice<T, D>& box, const pair_counts_options& chosen);

  /// Throws argument_error for input that the host can see.
  void check_sets(const set_type& first, const set_type& second) const;
  void check_regions(const set_type& set) const;
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
  /// A set in cells.
  struct point_set {
    explicit point_set(const Context& context) : faults(context) {}

    fault_state<Context> faults;
    counting_buckets<Context> buckets;
    array<search_point<T, D>, Context> records;
    array<T, Context> components;
    array<T, Context> weights;
    array<std::uint32_t, Context> regions;

    [[nodiscard]] std::size_t bytes() const {
      return buckets.bytes() + records.bytes() + components.bytes() + weights.bytes() + regions.bytes();
    }
  };

  /// Images of a point, itself included, in a bin, and the sum of their separations.
  struct own_images {
    std::uint64_t images = 0;
    double separations = 0;
  };

  [[nodiscard]] system_type cut(std::size_t points) const;
  [[nodiscard]] placed_points<T> place(point_set& set, const set_type& given, const system_type& system);
  void check(point_set& set, const set_type& given) const;
  [[nodiscard]] std::vector<std::uint64_t> count(const set_type& first, const set_type& second, bool own,
                                                 const pair_sums& sums);
  static void carry(std::uint64_t* low, std::uint64_t* high, std::size_t count);
  void count_own(const set_type& set, const pair_sums& sums, std::uint64_t* words);
  void add_own(const std::uint64_t* words, const pair_sums& sums, pair_counts_result& result) const;
  [[nodiscard]] std::vector<own_images> images_by_bin() const;
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
  place_counted_points<T> body{shape,
                               given.points,
                               given.weights,
                               given.regions,
                               static_cast<std::uint32_t>(options.regions),
                               options.coordinates == pair_coordinates::theta,
                               set.buckets.view().elements,
                               key.faults,
                               nullptr,
                               {},
                               nullptr,
                               nullptr};
  if (given.regions != nullptr) {
    set.regions.resize_discarding(context, count);
    body.regions_of_slots = set.regions.data();
  }
  if (given.weights != nullptr) {
    set.weights.resize_discarding(context, count + placed_points<T>::lanes_beyond);
    body.weights_of_slots = set.weights.data();
  }
  placed_points<T> placed{static_cast<std::uint32_t>(count), nullptr, {}, body.weights_of_slots, body.regions_of_slots};
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

/// Waits, and throws data_error for a bad point, weight or region.
template <typename Context, typename T, int D>
void pair_counter<Context, T, D>::check(point_set& set, const set_type& given) const {
  const fault_report fault = set.faults.read(context);
  if (fault.kind == fault_kind::none) return;
  set.faults.clear(context);
  if (fault.kind != fault_kind::value_range) {
    throw data_error(point_complaint(context, given_shape, given.points, message(given.name, " "), fault.index),
                     fault.index);
  }
  if (fault.index >= region_fault_base) {
    const std::uint64_t i = fault.index - region_fault_base;
    throw data_error(message(given.name, " ", i, " is in region ", to_host(context, given.regions + i, 1)[0],
                             "; there are ", options.regions, ", from 0"),
                     i);
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
void pair_counter<Context, T, D>::check_sets(const set_type& first, const set_type& second) const {
  require_points(first.points, "points");
  require_points(second.points, "other points");
  const bool empty = first.points.count == 0 || second.points.count == 0;
  require(empty || (first.weights == nullptr) == (second.weights == nullptr),
          "one set of points has weights and the other has none; give both or neither");
  check_regions(first);
  check_regions(second);
}

template <typename Context, typename T, int D>
void pair_counter<Context, T, D>::check_regions(const set_type& set) const {
  require(options.regions > 0 || set.regions == nullptr, "regions are given; the options must say how many there are");
  require(options.regions == 0 || set.regions != nullptr || set.points.count == 0, "each ", set.name,
          " needs a region; there are ", options.regions);
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
  sums.regions = static_cast<std::uint32_t>(options.regions);
  if (sums.weighted) sums.weight_steps = steps_for(largest);
  if (sums.means) sums.separation_steps = steps_for(options.edges.back());
  return sums;
}

/// Makes the low parts of sums as small as those of terms.
template <typename Context, typename T, int D>
void pair_counter<Context, T, D>::carry(std::uint64_t* low, std::uint64_t* high, std::size_t count) {
  for (std::size_t k = 0; k < count; ++k) {
    high[k] += low[k] >> part_bits;
    low[k] = low_part(static_cast<std::int64_t>(low[k]));
  }
}

/// The words of all pairs of different points; then those of points with themselves, of all and of each region, as 0.
template <typename Context, typename T, int D>
std::vector<std::uint64_t> pair_counter<Context, T, D>::count(const set_type& first, const set_type& second, bool own,
                                                              const pair_sums& sums) {
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
  const std::size_t size = bins.size(), words = pairs.words();
  totals.resize_discarding(context, words + 1);
  fill_bytes(context, totals.data(), 0, (words + 1) * sizeof(std::uint64_t));
  if (first.points.count > 0 && second.points.count > 0) count_pairs(context, pairs, totals.data());
  std::vector<std::uint64_t> found = to_host(context, totals.data(), words);
  std::uint64_t* const all = found.data();
  carry(all + weights_low * size, all + weights_high * size, size);
  carry(all + separations_low * size, all + separations_high * size, size);
  carry(all + pairs.place(region_weights_low, 0, 0), all + pairs.place(region_weights_high, 0, 0), sums.regions * size);
  found.resize(words + own_words * (std::size_t{sums.regions} + 1), 0);
  return found;
}

template <typename Context, typename T, int D>
std::vector<std::uint64_t> pair_counter<Context, T, D>::words_of(const set_type& set, const pair_sums& sums) {
  std::vector<std::uint64_t> words = count(set, set, true, sums);
  for (std::uint64_t& word : words) word *= 2;
  count_own(set, sums, words.data() + words.size() - own_words * (std::size_t{sums.regions} + 1));
  return words;
}

/// Fills the words of the pairs of points with themselves.
template <typename Context, typename T, int D>
void pair_counter<Context, T, D>::count_own(const set_type& set, const pair_sums& sums, std::uint64_t* words) {
  words[own_points] = set.points.count;
  if (sums.weighted) {
    words[squares_low] = squares(set, sums.weight_steps, false);
    words[squares_high] = squares(set, sums.weight_steps, true);
  }
  if (sums.regions == 0) return;
  const std::size_t size = own_words * std::size_t{sums.regions};
  totals.resize_discarding(context, size);
  fill_bytes(context, totals.data(), 0, size * sizeof(std::uint64_t));
  const add_own_pair<T> body{set.regions, sums.weighted ? set.weights : nullptr, sums.weight_steps, totals.data()};
  for_each(context, "search.pairs.own", set.points.count, body);
  std::ranges::copy(to_host(context, totals.data(), size), words + own_words);
}

template <typename Context, typename T, int D>
std::vector<std::uint64_t> pair_counter<Context, T, D>::words_between(const set_type& first, const set_type& second,
                                                                      const pair_sums& sums) {
  return count(first, second, false, sums);
}

template <typename Context, typename T, int D>
pair_counts_result pair_counter<Context, T, D>::result_of(const std::vector<std::uint64_t>& words,
                                                          const pair_sums& sums) const {
  const std::size_t size = bins.size(), in_regions = sums.regions * size;
  const auto sum_at = [](const std::uint64_t* low, std::size_t stride, double steps) {
    return sum_of_parts(low[0], low[stride]) / steps;
  };
  pair_counts_result result;
  const std::uint64_t* const all = words.data();
  result.counts.assign(all, all + size);
  for (const std::uint64_t* k = all; k != all + size; ++k) {
    if (sums.weighted) result.weights.push_back(sum_at(k + weights_low * size, size, sums.weight_steps));
    if (sums.means) result.mean_separations.push_back(sum_at(k + separations_low * size, size, sums.separation_steps));
  }
  const std::uint64_t* const regions = all + pair_words * size;
  result.region_counts.assign(regions, regions + in_regions);
  for (const std::uint64_t* k = regions; k != regions + in_regions && sums.weighted; ++k) {
    result.region_weights.push_back(sum_at(k + region_weights_low * in_regions, in_regions, sums.weight_steps));
  }
  add_own(regions + region_words * in_regions, sums, result);
  for (std::size_t k = 0; k < result.mean_separations.size(); ++k) {
    if (result.counts[k] > 0) result.mean_separations[k] /= static_cast<double>(result.counts[k]);
  }
  return result;
}

/// The pairs of points with themselves and with their own images.
template <typename Context, typename T, int D>
void pair_counter<Context, T, D>::add_own(const std::uint64_t* words, const pair_sums& sums,
                                          pair_counts_result& result) const {
  if (words[own_points] == 0) return;
  const std::vector<own_images> images = images_by_bin();
  for (std::size_t bin = 0; bin < images.size() && sums.means; ++bin) {
    result.mean_separations[bin] += static_cast<double>(words[own_points]) * images[bin].separations;
  }
  const auto add = [&](const std::uint64_t* own, std::uint64_t* counts, double* weights) {
    for (const own_images& here : images) *counts++ += here.images * own[own_points];
    if (!sums.weighted) return;
    const double squares = sum_of_parts(own[squares_low], own[squares_high]) / sums.weight_steps;
    for (const own_images& here : images) *weights++ += static_cast<double>(here.images) * squares;
  };
  add(words, result.counts.data(), result.weights.data());
  for (std::size_t k = 0; k < sums.regions; ++k) {
    const std::size_t first = k * images.size();
    add(words + own_words * (k + 1), result.region_counts.data() + first, result.region_weights.data() + first);
  }
}

/// All points have the same own images.
template <typename Context, typename T, int D>
auto pair_counter<Context, T, D>::images_by_bin() const -> std::vector<own_images> {
  std::vector<own_images> found(bins.size());
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
        ++found[bin].images;
        found[bin].separations += static_cast<double>(where.separation(squared));
      }
    }
  }
  return found;
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
