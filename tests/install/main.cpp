// SPDX-License-Identifier: BSD-3-Clause
// The README's first example: how many neighbors has each point?
#include <quadrat/cells/counting.hpp>
#include <quadrat/parallel/for_each.hpp>
#include <quadrat/search/neighborhood.hpp>

#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

int main() {
  constexpr std::size_t count = 10000;
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(0, 1);
  std::vector<quadrat::vec<float, 3>> points(count);
  for (auto& point : points) point = {uniform(random), uniform(random), uniform(random)};

  const quadrat::cpu_context context;
  const auto box = quadrat::make_box<float, 3>({0, 0, 0}, {1, 1, 1}, {true, true, true});
  quadrat::cell_methods::counting::type<quadrat::cpu_context, float, 3> cells(context,
                                                                              quadrat::make_grid_for_cutoff(box, 0.1f));
  const auto view = quadrat::points_of(points.data(), count);
  cells.build(context, view);
  cells.check(context);

  std::vector<std::uint32_t> neighbors(count);
  quadrat::for_each(context, "count neighbors", count, [&, list = cells.view()](std::size_t i) {
    quadrat::for_each_neighbor(list, view, static_cast<quadrat::particle_id>(i), 0.1f,
                               [&](quadrat::particle_id, const auto&, float) { ++neighbors[i]; });
  });

  std::uint64_t sum = 0;
  for (const std::uint32_t n : neighbors) sum += n;
  const double mean = static_cast<double>(sum) / count;
  std::printf("%.2f neighbors on average\n", mean);
  // 10000 x (4/3) pi 0.1^3 less the point itself: 41.9.
  return mean > 41 && mean < 43 ? 0 : 1;
}
