// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <numbers>
#include <string_view>
#include <vector>

#include "neighbors/operations.hpp"
#include "neighbors/problem.hpp"

namespace quadrat::bench {

namespace {

template <typename T>
struct cloud_of_radii {
  std::vector<T> coordinates;
  std::vector<T> radii;
};

/// The radius with which points of this density have 40 neighbors if the cutoff is the sum of two radii.
[[nodiscard]] double radius_at(double density) { return cutoff_for(40, density) / 2; }

/// Points around a center with a density proportional to distance^(-8/3), and radii that follow the density, as
/// smoothing lengths do, over a ratio of 1:130.
template <typename T>
[[nodiscard]] cloud_of_radii<T> falling_density(std::size_t n) {
  cloud_of_radii<T> result;
  constexpr double least = 0.1587;  // the cube root of the least distance
  for (std::size_t i = 0; i < n; ++i) {
    const double distance = std::pow(least + (1 - least) * random_unit(21, i), 3) / 2;
    const double z = 2 * random_unit(22, i) - 1, angle = 2 * std::numbers::pi * random_unit(23, i);
    const double across = std::sqrt(1 - z * z);
    for (const double part : {across * std::cos(angle), across * std::sin(angle), z}) {
      result.coordinates.push_back(static_cast<T>(distance * part));
    }
    const double density =
        static_cast<double>(n) / (12 * std::numbers::pi * (1 - least) * std::cbrt(0.5)) * std::pow(distance, -8.0 / 3);
    result.radii.push_back(static_cast<T>(radius_at(density)));
  }
  return result;
}

/// Uniform points with radii that do not depend on density: all equal, or over 1:100 with many small ones, or all equal
/// but one.
template <typename T>
[[nodiscard]] cloud_of_radii<T> uniform_points(std::size_t n, std::string_view radii) {
  cloud_of_radii<T> result{random_points<T>(n, 0.5, n), {}};
  const double usual = radius_at(static_cast<double>(n));
  for (std::size_t i = 0; i < n; ++i) {
    double factor = 1;
    if (radii == "mixed") factor = 0.6 * std::min(std::pow(1 - random_unit(24, i), -1 / 3.5), 100.0);
    if (radii == "one large" && i == n / 2) factor = 100;
    result.radii.push_back(static_cast<T>(usual * factor));
  }
  return result;
}

/// A list with one cutoff, of uniform points, with the same number of pairs to within a percent.
template <typename Context, typename T>
[[nodiscard]] problem<Context, T> as_many_pairs(const Context& context, std::size_t n, std::uint64_t pairs) {
  auto what = uniform_problem<Context, T>(context, n, static_cast<double>(pairs) / static_cast<double>(n), false);
  neighbor_options<T> options;
  for (int step = 0; step < 4; ++step) {
    options.cutoff = what.cutoff;
    const std::uint64_t found = neighbor_list<Context, T, 3>(context, options).count(what.input()).total;
    what.cutoff *= static_cast<T>(std::cbrt(static_cast<double>(pairs) / static_cast<double>(found)));
  }
  return what;
}

template <typename Context, typename T>
[[nodiscard]] timing time_builds(const session& s, const problem<Context, T>& what,
                                 neighbor_list<Context, T, 3>& list) {
  stopwatch<Context> watch(what.context);
  return repeat(s.plan(), [&] {
    watch.start();
    list.build(what.input());
    return watch.stop_ms();
  });
}

template <typename T, typename Context>
void time_cutoffs(const session& s, const Context& context, std::string_view distribution, cutoff_rule rule,
                  const cloud_of_radii<T>& cloud, std::string_view method) {
  const std::size_t n = cloud.radii.size();
  row identity = identify("cutoffs", method.empty() ? "auto" : std::string(method),
                          std::is_same_v<T, float> ? "float" : "double", n, 0, distribution);
  identity.erase("cells");
  identity["rule"] =
      rule == cutoff_rule::sum_of_radii ? "sum" : (rule == cutoff_rule::larger_radius ? "larger" : "own");
  s.attempt(identity, [&](row& out) {
    problem<Context, T> what(context, cloud.coordinates, {unit_cube<T>(false)}, 0, 40);
    what.radii = to_device(context, cloud.radii);
    neighbor_options<T> options;
    options.rule = rule;
    options.cutoff = *std::max_element(cloud.radii.begin(), cloud.radii.end());
    if (rule == cutoff_rule::sum_of_radii) options.cutoff *= 2;
    options.method = method;
    neighbor_list<Context, T, 3> list(context, options);
    list.build(what.input());
    const std::uint64_t pairs = list.size();
    out["chosen"] = std::string(list.method());
    out["pairs"] = pairs;
    const timing by_radii = time_builds(s, what, list);
    add_timing(out, by_radii, "pairs_per_s", static_cast<double>(pairs));
    out["bytes"] = list.bytes();
    const problem<Context, T> equal = as_many_pairs<Context, T>(context, n, pairs);
    neighbor_options<T> one;
    one.cutoff = equal.cutoff;
    neighbor_list<Context, T, 3> list_of_one(context, one);
    list_of_one.build(equal.input());
    const timing by_one = time_builds(s, equal, list_of_one);
    out["pairs_of_one_cutoff"] = list_of_one.size();
    out["ms_of_one_cutoff"] = by_one.median_ms;
    out["times_one_cutoff"] = by_radii.median_ms / by_one.median_ms;
  });
}

template <typename T, typename Context>
void run_cutoffs_on(const session& s, const Context& context) {
  const std::size_t n = !s.full() ? 4096 : (s.on_cuda() ? std::size_t{1} << 20 : 200'000);
  const auto falling = falling_density<T>(n);
  for (const cutoff_rule rule : {cutoff_rule::sum_of_radii, cutoff_rule::larger_radius, cutoff_rule::own_radius}) {
    cloud_of_radii<T> same_neighbors = falling;
    if (rule != cutoff_rule::sum_of_radii) {
      for (T& radius : same_neighbors.radii) radius *= 2;
    }
    time_cutoffs(s, context, "falling density", rule, same_neighbors, {});
  }
  time_cutoffs(s, context, "falling density", cutoff_rule::sum_of_radii, falling, "levels");
  for (const std::string_view radii : {"equal", "mixed", "one large"}) {
    time_cutoffs(s, context, radii, cutoff_rule::sum_of_radii, uniform_points<T>(n, radii), {});
  }
}

}  // namespace

void run_cutoffs(const session& s) {
  with_context(s, [&](const auto& context) {
    if (!s.full() || s.on_cuda()) run_cutoffs_on<float>(s, context);
    if (!s.on_cuda()) run_cutoffs_on<double>(s, context);
  });
}

}  // namespace quadrat::bench
