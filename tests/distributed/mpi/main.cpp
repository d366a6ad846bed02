// SPDX-License-Identifier: BSD-3-Clause
#include <csignal>
#include <cstdio>
#include <string_view>

#include "distributed/balance.hpp"
#include "distributed/bodies.hpp"
#include "distributed/charges.hpp"
#include "distributed/clusters.hpp"
#include "distributed/communication_checks.hpp"
#include "distributed/fields.hpp"
#include "distributed/models/brownian.hpp"
#include "distributed/models/circles.hpp"
#include "distributed/models/electrolyte.hpp"
#include "distributed/models/friction.hpp"
#include "distributed/models/granular.hpp"
#include "distributed/models/srd.hpp"
#include "distributed/models/toy.hpp"
#include "distributed/nearest.hpp"
#include "distributed/nufft.hpp"
#include "distributed/pairs.hpp"
#include "distributed/searches.hpp"
#include "distributed/spectrum.hpp"
#include "distributed/spheres.hpp"
#include "quadrat/distributed/mpi.hpp"

// The checks of the in-process tests, on the ranks of MPI. An argument makes rank 1 fail instead.

namespace {

using namespace quadrat;

void make_all_checks(communicator& ranks) {
  test::check_communication(ranks);
  test::check_agreement(ranks);
  test::check_small_systems(ranks, static_cast<std::uint64_t>(ranks.size()) * 7919, 200);
  test::check_balances(ranks);
  test::check_searches(ranks, static_cast<std::uint64_t>(ranks.size()), 10);
  test::check_pairs(ranks, static_cast<std::uint64_t>(ranks.size()), 20);
  test::check_pairs_in_boxes(ranks, static_cast<std::uint64_t>(ranks.size()), 20);
  test::check_sky(ranks, 100);
  test::check_spectra(ranks, 100);
  test::check_nuffts(ranks, 40);
  test::check_exact_places(ranks);
  test::check_nearest(ranks, static_cast<std::uint64_t>(ranks.size()), 40);
  test::check_clusters(ranks, static_cast<std::uint64_t>(ranks.size()), 40);
  test::check_clusters_in_boxes(ranks, static_cast<std::uint64_t>(ranks.size()), 40);
  test::check_chains(ranks);
  test::check_granular(ranks, 600);
  test::check_srd(ranks, 800);
  test::check_friction(ranks, 150);
  test::check_circles(ranks, 500);
  test::check_electrolyte_on_ranks(ranks, 12);
  test::check_toys<1>(ranks, 300);
  test::check_toys<4>(ranks, 300);
  test::check_fields(ranks, 0, 20);
  test::check_charges(ranks, 200);
  test::check_suspension(ranks, 60);
  test::check_brownian_midpoints(ranks, 16);
  test::check_bodies(ranks, 1000, 40);
}

/// The others wait in a collective, as they would in a run.
void fail(communicator& ranks, std::string_view how) {
  const bool chosen = ranks.rank() == 1;
  const data_error lost("particle 17 is lost", 17);
  if (how == "agree") {
    together(ranks, [&] {
      if (chosen) throw lost;
    });
  }
  if (chosen && how == "throw") throw lost;
  if (chosen && how == "kill") std::raise(SIGKILL);
  for (;;) ranks.barrier();
}

}  // namespace

int main(int count, char** words) {
  run_under_mpi([&](communicator& ranks) {
    if (count > 1) {
      fail(ranks, words[1]);
    } else {
      make_all_checks(ranks);
    }
    if (ranks.rank() == 0) std::printf("%d ranks: all checks passed\n", ranks.size());
  });
}
