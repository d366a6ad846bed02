// SPDX-License-Identifier: BSD-3-Clause
#include <quadrat/search/make_neighbor_list.hpp>
#include <vector>

int main() {
  const quadrat::cpu_context context;
  const auto box = quadrat::make_box<double, 3>({0, 0, 0}, {1, 1, 1}, {true, true, true});
  const std::vector<quadrat::vec<double, 3>> points{{0.05, 0.5, 0.5}, {0.95, 0.5, 0.5}, {0.5, 0.5, 0.5}};
  auto list = quadrat::make_neighbor_list(context, box, {.cutoff = 0.2});
  list.build(quadrat::points_of(points));
  return list.size() == 2 ? 0 : 1;
}
