// SPDX-License-Identifier: BSD-3-Clause
// The README's first example: the number of neighbors of each point, from a visitor and from a neighbor list.
#include <quadrat/quadrat.hpp>

#include <cstdint>
#include <cstdio>
#include <random>
#include <span>
#include <vector>

int main() {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(0, 1);
  std::vector<quadrat::vec<float, 3>> points(10000);
  for (auto& point : points) point = {uniform(random), uniform(random), uniform(random)};

  const quadrat::cpu_context context;
  const auto box = quadrat::make_box<float, 3>({0, 0, 0}, {1, 1, 1}, {true, true, true});
  const auto view = quadrat::points_of(points);

  std::vector<std::uint32_t> neighbors(points.size());
  quadrat::accumulate_neighbors(
      context, box, view, 0.1f, std::span(neighbors),
      [] QUADRAT_HD(quadrat::particle_id, quadrat::particle_id, const quadrat::vec<float, 3>&, float) { return 1u; });

  auto list = quadrat::make_neighbor_list(context, box, {.cutoff = 0.1f});
  list.build(view);

  std::uint64_t sum = 0;
  for (const std::uint32_t n : neighbors) sum += n;
  const double mean = static_cast<double>(sum) / static_cast<double>(points.size());
  std::printf("%.2f neighbors on average\n", mean);
  // 10000 x (4/3) pi 0.1^3 less the point itself: 41.9.
  return sum == list.size() && mean > 41 && mean < 43 ? 0 : 1;
}
