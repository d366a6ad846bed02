// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "distributed/operations.hpp"
#include "distributed/steps.hpp"
#include "quadrat/models/distributed_circles.hpp"

namespace quadrat::bench {

void run_distributed_circles(const session& s) {
  const std::size_t count = s.on_cuda() ? (s.full() ? 1'000'000 : 20'000) : (s.full() ? 50'000 : 2'000);
  circles_options options;
  options.parameters.width = std::floor(std::sqrt(static_cast<double>(count)));
  const auto positions = circles_initial_positions<2>(options.parameters, count);
  for (const int number : rank_counts(s)) {
    time_model(
        s, "circles", "uniform", count, number,
        [&](const auto& context, communicator& ranks) {
          const std::vector<vec<double, 2>> none;
          return distributed_circles<std::remove_cvref_t<decltype(context)>, float, 2>(
              context, ranks, options, ranks.rank() == 0 ? positions : none);
        },
        [&](const auto& context) {
          return circles<std::remove_cvref_t<decltype(context)>, float, 2>(context, options, positions);
        });
  }
}

}  // namespace quadrat::bench
