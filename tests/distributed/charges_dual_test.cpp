// SPDX-License-Identifier: BSD-3-Clause
#include "distributed/charges.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "quadrat/distributed/in_process.hpp"
#include "support/backend.hpp"
#include "support/errors.hpp"

namespace quadrat::test {

namespace {

class distributed_charges_test : public backend_test, public testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(ranks, distributed_charges_test, testing::Values(1, 2, 3, 4, 8));

TEST_P(distributed_charges_test, sums_are_those_of_one_rank) {
  EXPECT_NO_THROW(run_ranks(GetParam(), [](communicator& ranks) { check_charges(ranks, size_or(400, 100)); }));
}

using charge_sums = distributed_electrostatics<backend_context, double>;

/// The sums of charges that rank 0 owns, in the cell of the first block.
struct charges_in_a_cell {
  charges_of_ranks<double> system{{8, 8, 8}, {8, 8, 8}, 10, 5};
  decomposition<3> shares;

  explicit charges_in_a_cell(int size) : shares(even_decomposition(system.space, size)) {
    for (auto& point : system.points) point = system.space.domain.lower + (point - system.space.domain.lower) * 0.1;
  }
  [[nodiscard]] std::vector<vec<double, 3>> points_on(const communicator& ranks) const {
    return ranks.rank() == 0 ? system.points : std::vector<vec<double, 3>>();
  }
};

TEST_P(distributed_charges_test, a_second_run_gives_the_same_bits) {
  const charges_of_ranks<double> system({6, 5, 7}, {6, 5, 7}, 200, 9);
  std::vector<double> potentials[2];
  for (auto& kept : potentials) {
    run_ranks(GetParam(), [&](communicator& ranks) {
      const backend_context context = context_of_rank(determinism::run_to_run);
      const auto shares = even_decomposition(system.space, ranks.size());
      std::vector<std::uint32_t> own;
      for (std::uint32_t i = 0; i < system.points.size(); ++i) {
        if (shares.view().owner(system.space.unfolded_cell_of(system.points[i])) == ranks.rank()) own.push_back(i);
      }
      const auto points = to_device(context, chosen(system.points, own));
      const auto charges = to_device(context, chosen(system.charges, own));
      charge_sums sums(context, ranks, system.space, system.options);
      sums.set(shares, points_of(points), charges.data());
      const auto found = sums_by<double>(context, own.size(), [&](const electrostatics_output<double>& output) {
        sums.compute(points_of(points), output);
      });
      if (ranks.rank() == 0) kept = found.potentials;
    });
  }
  EXPECT_EQ(potentials[0], potentials[1]);
  EXPECT_FALSE(potentials[0].empty());
}

TEST_P(distributed_charges_test, no_charges_at_all_have_no_energy) {
  const charges_of_ranks<double> system({6, 5, 7}, {6, 5, 7}, 0, 9);
  EXPECT_NO_THROW(run_ranks(GetParam(), [&](communicator& ranks) {
    const backend_context context = context_of_rank();
    charge_sums sums(context, ranks, system.space, system.options);
    const points_view<double, 3> none = points_of(static_cast<const vec<double, 3>*>(nullptr), 0);
    sums.set(even_decomposition(system.space, ranks.size()), none, nullptr);
    const auto found =
        sums_by<double>(context, 0, [&](const electrostatics_output<double>& output) { sums.compute(none, output); });
    expect(found.energy == 0, "the energy is ", found.energy);
  }));
}

TEST_P(distributed_charges_test, impossible_input_is_refused_on_all_ranks) {
  run_ranks(GetParam(), [](communicator& ranks) {
    const backend_context context = context_of_rank();
    const charges_in_a_cell cell(ranks.size());
    const auto& space = cell.system.space;
    const auto host = cell.points_on(ranks);
    const auto points = to_device(context, host);
    const auto charges = to_device(context, cell.system.charges);
    electrostatics_options options = cell.system.options;
    options.method = "direct";
    expect_words(error_of<argument_error>([&] { charge_sums(context, ranks, space, options); }),
                 {"spme and esp", "direct"});
    options.method = "nothing";
    expect_words(error_of<argument_error>([&] { charge_sums(context, ranks, space, options); }), {"nothing", "spme"});
    auto open = space;
    open.domain.periodic[1] = false;
    expect_words(error_of<argument_error>([&] { charge_sums(context, ranks, open, {}); }),
                 {"open along axis 1", "slab"});
    open.domain.periodic = {true, true, false};
    electrostatics_options dispersion;
    dispersion.law = pair_law::dispersion;
    expect_words(error_of<argument_error>([&] { charge_sums(context, ranks, open, dispersion); }),
                 {"open along axis 2", "1/r^6"});

    charge_sums sums(context, ranks, space, cell.system.options);
    expect_words(error_of<argument_error>([&] { sums.compute(points_of(points), {}); }), {"set has not been called"});
    expect_words(error_of<argument_error>([&] { static_cast<void>(sums.report()); }), {"set has not been called"});
    expect_words(error_of<argument_error>([&] { sums.set(cell.shares, points_of(points), charges.data(), -1); }),
                 {"skin is -1"});
    const auto others = even_decomposition(space, ranks.size() + 1);
    expect_words(error_of<argument_error>([&] { sums.set(others, points_of(points), charges.data()); }),
                 {"for other ranks"});
    if (ranks.size() > 1) {
      auto strayed = host;
      if (!strayed.empty()) strayed[3] = space.domain.lower + space.domain.length * 0.99;
      const auto there = to_device(context, strayed);
      expect_words(error_of<data_error>([&] { sums.set(cell.shares, points_of(there), charges.data()); }),
                   {"point 3 of rank 0", "in a cell of rank"});
    }
    sums.set(cell.shares, points_of(points), charges.data());
    const auto fewer = points_of(points.data(), host.empty() ? 0 : host.size() - 1);
    expect_words(error_of<argument_error>([&] { sums.compute(fewer, {}); }), {"9 points", "was for 10"});
    auto broken = host;
    if (!broken.empty()) broken[6][0] = std::numeric_limits<double>::quiet_NaN();
    const auto there = to_device(context, broken);
    expect_words(error_of<data_error>([&] { sums.compute(points_of(there), {}); }), {"point 6", "not finite"});
    if (!broken.empty()) broken[6] = broken[2];
    const auto twice = to_device(context, broken);
    expect_words(error_of<data_error>([&] { sums.compute(points_of(twice), {}); }), {"point 2", "same place"});
    EXPECT_NO_THROW(sums.compute(points_of(points), {}));
  });
}

}  // namespace

}  // namespace quadrat::test
