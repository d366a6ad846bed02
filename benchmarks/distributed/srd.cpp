// SPDX-License-Identifier: BSD-3-Clause
#include "distributed/operations.hpp"
#include "distributed/steps.hpp"
#include "quadrat/models/distributed_srd.hpp"

namespace quadrat::bench {

void run_distributed_srd(const session& s) {
  constexpr std::size_t per_cell = 10;
  srd_options<3> options;
  options.cells = vec<int, 3>::filled(s.on_cuda() ? (s.full() ? 160 : 20) : (s.full() ? 48 : 6));
  std::size_t count = per_cell;
  for (int axis = 0; axis < 3; ++axis) count *= static_cast<std::size_t>(options.cells[axis]);
  const srd_particles<3> particles = srd_start(options, count);
  for (const int number : rank_counts(s)) {
    time_model(
        s, "srd", "uniform", count, number,
        [&](const auto& context, communicator& ranks) {
          using context_type = std::remove_cvref_t<decltype(context)>;
          return distributed_srd<context_type, float, 3>(context, ranks, options,
                                                         ranks.rank() == 0 ? particles : srd_particles<3>());
        },
        [&](const auto& context) {
          return srd<std::remove_cvref_t<decltype(context)>, float, 3>(context, options, particles);
        });
  }
}

}  // namespace quadrat::bench
