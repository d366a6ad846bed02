// SPDX-License-Identifier: BSD-3-Clause The same on the CPU, in a user-written
// loop.
#include <quadrat/cells/make_cells.hpp>

#include <cstdint>
#include <cstdio>
#include <exception>

#include "density.hpp"

namespace {

int run() {
  const std::vector<quadrat::vec<float, 3>> host = random_points();
  const quadrat::cpu_context context;
  auto cells = quadrat::make_cells(context, periodic_box(), cutoff);
  const auto points = quadrat::points_of(host);  // a view: nothing is copied
  cells.build(points);                           // throws if a point is NaN or outside

  const auto list = cells.view();
  std::vector<float> result(count);
#pragma omp parallel for
  for (std::int64_t slot = 0; slot < static_cast<std::int64_t>(count); ++slot) {
    const quadrat::particle_id i = list.particle(static_cast<std::uint32_t>(slot));
    result[i] = density_at(list, points, i);
  }
  return judge(result);
}

}  // namespace

int main() {
  try {
    return run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "visitor: %s\n", error.what());
    return 1;
  }
}
