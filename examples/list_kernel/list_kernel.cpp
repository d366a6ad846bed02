// SPDX-License-Identifier: BSD-3-Clause
// The same on the CPU, in a loop of one's own.
#include <cstdint>
#include <cstdio>
#include <exception>

#include "springs.hpp"

namespace {

int run() {
  const std::vector<vector3> points = random_points();
  const quadrat::cpu_context context;
  auto list = quadrat::make_neighbor_list(context, periodic_box(),
                                          {.cutoff = cutoff, .squared_distances = true, .vectors = true});
  list.build(quadrat::points_of(points));  // a view: nothing is copied; throws where a point is NaN

  const auto view = list.view();
  std::vector<vector3> forces(count);
#pragma omp parallel for
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(count); ++i) {
    const auto row = static_cast<std::size_t>(i);
    forces[row] = force_on(view, row);
  }
  return judge(points, forces);
}

}  // namespace

int main() {
  try {
    return run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "list_kernel: %s\n", error.what());
    return 1;
  }
}
