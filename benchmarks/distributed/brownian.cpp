// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <numbers>

#include "distributed/operations.hpp"
#include "distributed/steps.hpp"
#include "quadrat/models/distributed_brownian.hpp"

namespace quadrat::bench {

/// A suspension at a volume fraction of 0.1.
void run_distributed_brownian(const session& s) {
  const std::size_t count = s.on_cuda() ? (s.full() ? 1'000'000 : 2'000) : (s.full() ? 10'000 : 300);
  brownian_options options;
  options.box = vec<double, 3>::filled(std::cbrt(4 * std::numbers::pi / 3 * static_cast<double>(count) / 0.1));
  options.method = "split";
  options.repulsion = 40;
  const auto positions = brownian_positions(options, brownian_start::lattice, count);
  for (const int number : rank_counts(s)) {
    time_model(
        s, "brownian", "lattice", count, number,
        [&](const auto& context, communicator& ranks) {
          const std::vector<vec<double, 3>> none;
          return distributed_brownian<std::remove_cvref_t<decltype(context)>, float>(
              context, ranks, options, ranks.rank() == 0 ? positions : none);
        },
        [&](const auto& context) {
          return brownian<std::remove_cvref_t<decltype(context)>, float>(context, options, positions);
        });
  }
}

}  // namespace quadrat::bench
