// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "distributed/nearest.hpp"
#include "distributed/small_system.hpp"
#include "quadrat/distributed/pair_counts.hpp"

// Pairs counted over the ranks of a communicator, compared bit by bit with one rank that has all points.

namespace quadrat::test {

/// Two sets of points with weights in a box; the same on every rank.
template <typename T>
struct counted_points {
  grid<T, 3> space{};
  std::vector<vec<T, 3>> points{}, others{};
  std::vector<T> weights{}, other_weights{};

  [[nodiscard]] std::vector<std::uint32_t> own(const decomposition<3>& shares, int rank,
                                               const std::vector<vec<T, 3>>& of) const {
    std::vector<std::uint32_t> found;
    for (std::uint32_t i = 0; i < of.size(); ++i) {
      if (shares.view().owner(space.unfolded_cell_of(of[i])) == rank) found.push_back(i);
    }
    return found;
  }
};

template <typename T>
[[nodiscard]] std::vector<T> some_weights(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<T> weights(count);
  for (T& weight : weights) weight = random_unit<T>(random) - T(0.25);
  return weights;
}

/// Points of a small system; the others are moved by a little, so that many coincide along an axis.
template <typename T>
[[nodiscard]] counted_points<T> small_counted_points(std::uint64_t seed) {
  const small_system<T, 3> system(seed);
  counted_points<T> made{system.space, system.points, system.points, {}, {}};
  if (made.others.size() > 3) made.others.resize(made.others.size() / 2);
  for (auto& point : made.others) {
    if (system.space.domain.periodic[0]) point[0] += T(0.125);
    point = system.space.domain.wrap(point);
  }
  made.weights = some_weights<T>(made.points.size(), seed);
  made.other_weights = some_weights<T>(made.others.size(), seed + 1);
  return made;
}

inline void expect_same_counts(const pair_counts_result& found, const pair_counts_result& wanted,
                               const std::string& where) {
  for (std::size_t k = 0; k < wanted.counts.size(); ++k) {
    expect(found.counts[k] == wanted.counts[k], where, ": bin ", k, " has ", found.counts[k],
           " pairs; one rank counts ", wanted.counts[k]);
  }
  expect(found.weights == wanted.weights, where, ": sums of weights have other bits than on one rank");
  expect(found.region_counts == wanted.region_counts, where, ": regions have other pairs than on one rank");
  expect(found.region_weights == wanted.region_weights, where, ": regions have other bits than on one rank");
  expect(found.mean_separations == wanted.mean_separations, where, ": means have other bits than on one rank");
}

/// The pairs of one set, and of two.
template <typename T>
void check_pairs_of(communicator& ranks, const counted_points<T>& all, const decomposition<3>& shares,
                    const pair_counts_options& options, bool weighted, const std::string& where) {
  const backend_context context = context_of_rank();
  const auto first = all.own(shares, ranks.rank(), all.points), second = all.own(shares, ranks.rank(), all.others);
  const auto points = to_device(context, chosen(all.points, first)),
             others = to_device(context, chosen(all.others, second));
  const auto weights = to_device(context, chosen(all.weights, first));
  const auto other_weights = to_device(context, chosen(all.other_weights, second));
  const auto all_points = to_device(context, all.points), all_others = to_device(context, all.others);
  const auto all_weights = to_device(context, all.weights), all_other_weights = to_device(context, all.other_weights);
  const auto if_weighted = [&](const auto& given) { return weighted ? given.data() : nullptr; };
  const auto regions_of = [&](const std::vector<vec<T, 3>>& of) {
    std::vector<std::uint32_t> regions;
    for (const vec<T, 3>& point : of) regions.push_back(static_cast<std::uint32_t>(std::fabs(8 * point[0])) % 3);
    return to_device(context, regions);
  };
  const auto regions = regions_of(chosen(all.points, first)), other_regions = regions_of(chosen(all.others, second));
  const auto all_regions = regions_of(all.points), all_other_regions = regions_of(all.others);
  const auto if_split = [&](const auto& given) { return options.regions > 0 ? given.data() : nullptr; };

  distributed_pair_counts<backend_context, T, 3> counter(context, ranks, all.space, options);
  const bool sky = options.coordinates == pair_coordinates::theta;
  auto alone = sky ? pair_counts<backend_context, T, 3>(context, options)
                   : pair_counts<backend_context, T, 3>(context, all.space.domain, options);
  expect_same_counts(counter.count(shares, points_of(points), if_weighted(weights), if_split(regions)),
                     alone.count(points_of(all_points), if_weighted(all_weights), if_split(all_regions)), where);
  expect_same_counts(
      counter.count_between(shares, points_of(points), points_of(others), if_weighted(weights),
                            if_weighted(other_weights), if_split(regions), if_split(other_regions)),
      alone.count_between(points_of(all_points), points_of(all_others), if_weighted(all_weights),
                          if_weighted(all_other_weights), if_split(all_regions), if_split(all_other_regions)),
      where + ", two sets");
}

/// Small systems in random decompositions, some of whose blocks are empty or thinner than the largest separation.
inline void check_pairs(communicator& ranks, std::uint64_t first, std::uint64_t count) {
  const std::vector<double> edges{0, 0.0625, 0.125, 0.25, 0.3, 0.6};
  const pair_counts_options kinds[] = {{pair_coordinates::r, edges, {}, true},
                                       {pair_coordinates::rp_pi, {0, 0.125, 0.25}, {0, 0.1, 0.25, 0.5}, true},
                                       {pair_coordinates::s_mu, edges, {0, 0.25, 0.5, 1}, true, false, 3}};
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const auto both = [&](auto zero) {
      const auto all = small_counted_points<decltype(zero)>(seed);
      const auto shares = seed % 4 == 1 ? even_decomposition(all.space, ranks.size())
                                        : random_decomposition(all.space, ranks.size(), seed);
      check_pairs_of(ranks, all, shares, kinds[seed / 2 % 3], seed % 3 > 0, message("system ", seed));
    };
    seed % 2 == 0 ? both(0.0f) : both(0.0);
  }
}

/// Of points and queries in boxes of any shape. Ranks have any points.
template <typename T>
void check_pairs_in_box_of(communicator& ranks, const ranked_points<T, 3>& all, const pair_counts_options& options,
                           bool weighted, const std::string& where) {
  const backend_context context = context_of_rank();
  struct set_there {
    array<vec<T, 3>, backend_context> points;
    array<T, backend_context> weights;
    array<std::uint32_t, backend_context> regions;
  };
  const auto bring = [&](const std::vector<std::vector<vec<T, 3>>>& parts, bool own) {
    const auto points = all.joined(parts);
    auto weights = some_weights<T>(points.size(), 5);
    std::vector<std::uint32_t> regions;
    for (std::uint32_t i = 0; i < points.size(); ++i) regions.push_back(i % 3);
    const auto range = own ? all.range_of(parts, ranks.rank()) : std::array<std::size_t, 2>{0, points.size()};
    const auto part = [&](const auto& values) {
      return to_device(context, std::span(values).subspan(range[0], range[1] - range[0]));
    };
    return set_there{part(points), part(weights), part(regions)};
  };
  const auto given = [&](const auto& numbers, bool wanted) { return wanted ? numbers.data() : nullptr; };
  const auto count = [&](auto& counter, bool own) {
    const set_there one = bring(all.points, own);
    return counter.count(points_of(one.points), given(one.weights, weighted), given(one.regions, options.regions > 0));
  };
  const auto count_between = [&](auto& counter, bool own) {
    const set_there one = bring(all.points, own), other = bring(all.queries, own);
    return counter.count_between(points_of(one.points), points_of(other.points), given(one.weights, weighted),
                                 given(other.weights, weighted), given(one.regions, options.regions > 0),
                                 given(other.regions, options.regions > 0));
  };
  distributed_pair_counts<backend_context, T, 3> counter(context, ranks, all.box, options);
  pair_counts<backend_context, T, 3> alone(context, all.box, options);
  expect_same_counts(count(counter, true), count(alone, false), where);
  expect_same_counts(count_between(counter, true), count_between(alone, false), where + ", two sets");
}

inline void check_pairs_in_boxes(communicator& ranks, std::uint64_t first, std::uint64_t count) {
  const pair_counts_options kinds[] = {{pair_coordinates::r, {0, 0.0625, 0.25, 0.3, 0.6}, {}, true},
                                       {pair_coordinates::rp_pi, {0, 0.125, 0.25}, {0, 0.1, 0.25, 0.5}, true},
                                       {pair_coordinates::r, {0, 0.05, 0.1}, {}, true, false, 3}};
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const auto both = [&](auto zero) {
      auto all = some_ranked_points<decltype(zero), 3>(ranks.size(), seed);
      all.keep_inside();
      check_pairs_in_box_of(ranks, all, kinds[seed / 2 % 3], seed % 4 > 0, message("box ", seed));
    };
    seed % 2 == 0 ? both(0.0f) : both(0.0);
  }
}

/// Unit vectors in a cube: by angles of up to 180 degrees.
inline void check_sky(communicator& ranks, std::size_t count) {
  counted_points<double> all{make_grid(make_box<double, 3>({-1, -1, -1}, {1, 1, 1}, {}), {3, 4, 5}), {}, {}, {}, {}};
  std::mt19937_64 random(count);
  for (std::size_t i = 0; i < count; ++i) {
    vec<double, 3> point{};
    do {
      for (int axis = 0; axis < 3; ++axis) point[axis] = 2 * random_unit<double>(random) - 1;
    } while (!(norm(point) > 0.1 && norm(point) < 1));
    (i % 3 == 0 ? all.others : all.points).push_back((1 / norm(point)) * point);
  }
  all.weights = some_weights<double>(all.points.size(), 1);
  all.other_weights = some_weights<double>(all.others.size(), 2);
  for (const double most : {5.0, 180.0}) {
    check_pairs_of(ranks, all, even_decomposition(all.space, ranks.size()),
                   {pair_coordinates::theta, {0, 0.3 * most, most}, {}, true}, true, message(most, " degrees"));
  }
}

}  // namespace quadrat::test
