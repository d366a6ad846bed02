// SPDX-License-Identifier: BSD-3-Clause
#include "distributed/nufft.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "quadrat/distributed/in_process.hpp"
#include "support/backend.hpp"
#include "support/errors.hpp"

namespace quadrat::test {

namespace {

class distributed_nufft_test : public backend_test, public testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(ranks, distributed_nufft_test, testing::Values(1, 2, 3, 4, 7));

TEST_P(distributed_nufft_test, transforms_are_direct_sums_within_the_tolerance_and_adjoints) {
  EXPECT_NO_THROW(run_ranks(GetParam(), [](communicator& ranks) { check_nuffts(ranks, size_or(80, 30)); }));
}

TEST_P(distributed_nufft_test, positions_are_exact_however_long_the_mesh) {
  EXPECT_NO_THROW(run_ranks(GetParam(), [](communicator& ranks) { check_exact_places(ranks); }));
}

TEST_P(distributed_nufft_test, all_ranks_name_a_bad_point_and_its_rank_and_later_calls_are_right) {
  const auto body = [](communicator& ranks) {
    const backend_context context = context_of_rank();
    transformed_points<double, 3> all;
    all.modes = {6, 5, 4};
    all.make_space({8, 1, 1});
    all.add_points(spread_places::uniform, 200, 1);
    const auto shares = even_decomposition(all.space, ranks.size());
    distributed_nufft_plan<backend_context, double, 3> plan(context, ranks, all.space, all.modes, all.tolerance);
    const std::complex<double>* const none = nullptr;
    array<std::complex<double>, backend_context> modes(context, plan.mode_count());
    const auto transform = [&] { plan.type_1(none, modes.data()); };
    expect_words(error_of<argument_error>(transform), {"no points are set"});
    check_nufft_of(ranks, all, shares, plan, "before an error");

    std::vector<vec<double, 3>> own;
    for (const auto& point : all.points) {
      if (shares.view().owner(all.space.unfolded_cell_of(point)) == ranks.rank()) own.push_back(point);
    }
    const bool last = ranks.rank() == ranks.size() - 1;
    auto bad = own;
    if (last) bad[1][2] = std::numeric_limits<double>::quiet_NaN();
    const auto not_finite = to_device(context, bad);
    const std::string rank = message("rank ", ranks.size() - 1);
    expect_words(error_of<data_error>([&] { plan.set_points(shares, points_of(not_finite)); }),
                 {"point 1", rank, "not finite"});
    expect_words(error_of<argument_error>(transform), {"no points are set"});
    expect(plan.point_count() == 0, "a plan without points has some");
    if (ranks.size() > 1) {
      bad = own;
      if (last) bad[1][0] = 0.01;
      const auto elsewhere = to_device(context, bad);
      expect_words(error_of<data_error>([&] { plan.set_points(shares, points_of(elsewhere)); }),
                   {"point 1", rank, "in a cell of rank 0"});
    }
    check_nufft_of(ranks, all, shares, plan, "after an error");
    expect_words(error_of<argument_error>(transform), {"values"});
    const auto values = to_device(context, some_complex<double>(own.size(), 1));
    expect_words(error_of<argument_error>([&] { plan.type_1(values.data(), modes.data(), {0, 1}); }), {"0", "vectors"});
    expect_words(error_of<argument_error>([&] { plan.type_1(values.data(), modes.data(), {1, 2}); }), {"sign is 2"});
  };
  EXPECT_NO_THROW(run_ranks(GetParam(), body));
}

class distributed_nufft_options_test : public backend_test {};

TEST_F(distributed_nufft_options_test, what_is_for_one_rank_and_boxes_that_are_no_period_are_refused) {
  const auto error = [](const nufft_options& options,
                        const vec<double, 2>& length = vec<double, 2>::filled(2 * std::numbers::pi),
                        const vec<bool, 2>& periodic = {true, true}, double tolerance = 1e-3) {
    return error_of<argument_error>([&] {
      run_ranks(2, [&](communicator& ranks) {
        const auto space = make_grid(make_box_from_lengths(vec<double, 2>{}, length, periodic), {2, 2});
        static_cast<void>(distributed_nufft_plan<backend_context, double, 2>(context_of_rank(), ranks, space, {4, 4},
                                                                             tolerance, options));
      });
    });
  };
  nufft_options real, order, systems, bytes, origin;
  real.values = nufft_values::real;
  order.order = mode_order::fft;
  systems.systems = 3;
  bytes.most_bytes = 1000;
  origin.origin[1] = 0.5;
  expect_words(error(real), {"real", "several ranks"});
  expect_words(error(order), {"order", "centered"});
  expect_words(error(systems), {"3 systems", "several ranks"});
  expect_words(error(bytes), {"1000 bytes"});
  expect_words(error(origin), {"begins at 0 along axis 1", "0.5"});
  expect_words(error({}, {6, 6}), {"6 long along axis 0", "6.28"});
  expect_words(error({}, vec<double, 2>::filled(2 * std::numbers::pi), {true, false}), {"open along axis 1"});
  expect_words(error({}, vec<double, 2>::filled(2 * std::numbers::pi), {true, true}, 1e-20), {"tolerance"});
}

}  // namespace

}  // namespace quadrat::test
