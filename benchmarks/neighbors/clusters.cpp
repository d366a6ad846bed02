// SPDX-License-Identifier: BSD-3-Clause
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "neighbors/operations.hpp"
#include "neighbors/problem.hpp"
#include "quadrat/search/make_cluster_finder.hpp"

namespace quadrat::bench {

namespace {

/// Points on the device, and how they are distributed.
template <typename Context, typename T>
struct cluster_points {
  std::string_view distribution;
  problem<Context, T> points;
};

template <typename Context, typename T>
void time_clusters(const session& s, const cluster_points<Context, T>& of, std::uint32_t min_points) {
  const problem<Context, T>& what = of.points;
  row identity = identify("clusters", min_points > 1 ? "dbscan" : "friends_of_friends",
                          std::is_same_v<T, float> ? "float" : "double", what.count, 0, of.distribution);
  identity.erase("cells");
  if (what.neighbors > 0) identity["neighbors"] = what.neighbors;
  identity["min_points"] = min_points;
  s.attempt(identity, [&](row& out) {
    auto finder =
        make_cluster_finder(what.context, what.boxes.front(), {.cutoff = what.cutoff, .min_points = min_points});
    stopwatch<Context> watch(what.context);
    const timing measured = repeat(s.plan(), [&] {
      watch.start();
      finder.find(what.input().points);
      return watch.stop_ms();
    });
    add_timing(out, measured, "points_per_s", static_cast<double>(what.count));
    out["clusters"] = finder.view().clusters;
    out["bytes"] = finder.bytes();
  });
}

/// Uniform points in a ball of that radius, in the unit cube. The radius is a few cutoffs, so that cells are
/// crowded.
template <typename T>
[[nodiscard]] std::vector<T> points_in_ball(std::size_t n, double radius) {
  std::vector<T> values;
  values.reserve(3 * n);
  for (std::uint64_t draw = 0; values.size() < 3 * n; draw += 3) {
    const vec<double, 3> r{2 * random_unit(21, draw) - 1, 2 * random_unit(21, draw + 1) - 1,
                           2 * random_unit(21, draw + 2) - 1};
    if (squared_norm(r) > 1) continue;
    for (int axis = 0; axis < 3; ++axis) values.push_back(static_cast<T>(radius * r[axis]));
  }
  return values;
}

/// Equally spaced points on a line along an axis of the unit cube, in random order.
template <typename T>
[[nodiscard]] std::vector<T> points_in_chain(std::size_t n) {
  std::vector<std::size_t> places(n);
  std::iota(places.begin(), places.end(), std::size_t{0});
  for (std::size_t i = n; i > 1; --i) std::swap(places[i - 1], places[random_word(22, i) % i]);
  std::vector<T> values(3 * n);
  for (std::size_t i = 0; i < n; ++i) {
    values[3 * i] = static_cast<T>((static_cast<double>(places[i]) + 0.5) / static_cast<double>(n) - 0.5);
  }
  return values;
}

template <typename T, typename Context>
void time_both_clusters(const session& s, const cluster_points<Context, T>& what) {
  time_clusters(s, what, 1);
  time_clusters(s, what, 5);
}

template <typename Context>
void run_clusters_on(const session& s, const Context& context) {
  const std::size_t n = !s.full() ? 4096 : (s.on_cuda() ? std::size_t{1} << 20 : 1'000'000);
  const auto uniform = [&](std::size_t count, double neighbors) {
    return cluster_points<Context, float>{"uniform", uniform_problem<Context, float>(context, count, neighbors, false)};
  };
  for (const double neighbors : {2.0, 10.0, 40.0}) time_both_clusters(s, uniform(n, neighbors));
  if (s.full() && s.on_cuda()) time_both_clusters(s, uniform(std::size_t{1} << 24, 10));
  time_both_clusters(
      s, cluster_points<Context, float>{"uniform periodic", uniform_problem<Context, float>(context, n, 10, true)});
  time_both_clusters(
      s, cluster_points<Context, double>{"uniform", uniform_problem<Context, double>(context, n, 10, false)});
  const auto time_points = [&](std::string_view distribution, const std::vector<float>& values, double cutoff) {
    time_both_clusters(
        s, cluster_points<Context, float>{
               distribution, problem<Context, float>(context, values, {unit_cube<float>(false)}, cutoff, 0)});
  };
  constexpr double cutoff = 0.1;
  time_points("ball of 4 linking lengths", points_in_ball<float>(n, 4 * cutoff), cutoff);
  time_points("one place", std::vector<float>(3 * n, 0.25f), cutoff);
  const std::size_t length = s.full() ? 200'000 : n;
  time_points("chain", points_in_chain<float>(length), 2.5 / static_cast<double>(length));
  time_both_clusters(s, uniform(length, 4));  // with the same mean number of friends
}

}  // namespace

void run_clusters(const session& s) {
  with_context(s, [&](const auto& context) { run_clusters_on(s, context); });
}

}  // namespace quadrat::bench
