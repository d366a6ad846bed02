// SPDX-License-Identifier: BSD-3-Clause
#include "distributed/spectrum.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "quadrat/distributed/in_process.hpp"
#include "support/backend.hpp"
#include "support/errors.hpp"

namespace quadrat::test {

namespace {

class distributed_power_spectrum_test : public backend_test, public testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(ranks, distributed_power_spectrum_test, testing::Values(1, 2, 3, 4, 7));

TEST_P(distributed_power_spectrum_test, spectra_are_those_of_one_rank) {
  EXPECT_NO_THROW(run_ranks(GetParam(), [](communicator& ranks) { check_spectra(ranks, size_or(400, 100)); }));
}

TEST_P(distributed_power_spectrum_test, all_ranks_name_what_is_wrong) {
  const auto error = [&](int what) {
    const auto body = [what](communicator& ranks) {
      auto all = spectrum_points<double>(80, 3);
      if (what == 0) all.points.clear();
      const backend_context context = context_of_rank();
      const auto shares = even_decomposition(all.space, ranks.size());
      const auto mine = all.own(shares, ranks.rank(), all.points);
      auto own = chosen(all.points, mine);
      std::vector<double> weights(own.size(), what == 1 ? 0.0 : 1.0);
      const bool first = ranks.rank() == 0;  // which has many
      if (first && what == 2) own[1][2] = std::numeric_limits<double>::quiet_NaN();
      if (first && what == 3) weights[0] = std::numeric_limits<double>::infinity();
      const auto points = to_device(context, own);
      const auto given = to_device(context, weights);
      distributed_power_spectrum<backend_context, double, 3> spectrum(context, ranks, all.space,
                                                                      vec<int, 3>{8, 8, what == 4 ? 7 : 8});
      static_cast<void>(spectrum.measure(shares, points_of(points), given.data()));
    };
    return [body] { run_ranks(GetParam(), body); };
  };
  expect_words(error_of<argument_error>(error(0)), {"there are no points"});
  expect_words(error_of<data_error>(error(1)), {"weights add up to 0"});
  expect_words(error_of<data_error>(error(2)), {"point 1 of rank 0", "not finite"});
  expect_words(error_of<data_error>(error(3)), {"weights add up to inf"});
  expect_words(error_of<argument_error>(error(4)), {"7"});
}

class distributed_power_spectrum_box_test : public backend_test {};

TEST_F(distributed_power_spectrum_box_test, open_axes_are_refused) {
  const auto make = [] {
    run_ranks(2, [](communicator& ranks) {
      const auto space = make_grid(make_box<double, 3>({0, 0, 0}, {1, 1, 1}, {true, false, true}), {2, 2, 2});
      static_cast<void>(
          distributed_power_spectrum<backend_context, double, 3>(context_of_rank(), ranks, space, {4, 4, 4}));
    });
  };
  expect_words(error_of<argument_error>(make), {"axis 1", "open", "periodic box"});
}

}  // namespace

}  // namespace quadrat::test
