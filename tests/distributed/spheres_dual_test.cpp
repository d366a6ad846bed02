// SPDX-License-Identifier: BSD-3-Clause
#include "distributed/spheres.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "quadrat/distributed/in_process.hpp"
#include "support/backend.hpp"
#include "support/errors.hpp"

namespace quadrat::test {

namespace {

class distributed_spheres_test : public backend_test, public testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(ranks, distributed_spheres_test, testing::Values(1, 2, 3, 8));

TEST_P(distributed_spheres_test, velocities_are_those_of_one_rank) {
  EXPECT_NO_THROW(run_ranks(GetParam(), [](communicator& ranks) { check_spheres(ranks, size_or(200, 60)); }));
}

using flow_of_ranks = distributed_mobility<backend_context, double>;

TEST_P(distributed_spheres_test, impossible_input_is_refused_on_all_ranks) {
  run_ranks(GetParam(), [](communicator& ranks) {
    const backend_context context = context_of_rank();
    spheres_of_ranks<double> system({20, 20, 20}, {8, 8, 8}, 10, 1e-2);
    for (auto& point : system.points) point = point * 0.1;
    const auto host = ranks.rank() == 0 ? system.points : std::vector<vec<double, 3>>();
    std::vector<particle_id> numbers;
    for (particle_id i = 0; i < host.size(); ++i) numbers.push_back(i);
    const auto& space = system.space;
    const auto shares = even_decomposition(space, ranks.size());
    const auto points = to_device(context, host);
    const auto ids = to_device(context, numbers);
    const auto refused = [&](const mobility_options& options) {
      return error_of<argument_error>([&] { flow_of_ranks(context, ranks, space, options, 10); });
    };
    mobility_options options = system.options;
    options.method = "krylov";
    expect_words(refused(options), {"the method split", "krylov"});
    options = system.options;
    options.accuracy = 1e-12;
    expect_words(refused(options), {"1e-12", "1e-11 to 0.1"});
    options.accuracy = 0.5;
    expect_words(refused(options), {"0.5"});
    auto open = space;
    open.domain.periodic[2] = false;
    expect_words(error_of<argument_error>([&] { flow_of_ranks(context, ranks, open, system.options, 10); }),
                 {"open along axis 2"});

    flow_of_ranks flow(context, ranks, space, system.options, 10);
    expect_words(error_of<argument_error>([&] { flow.set_points(points_of(points)); }), {"set has not been called"});
    expect_words(error_of<argument_error>([&] { static_cast<void>(flow.report()); }), {"set has not been called"});
    expect_words(error_of<argument_error>([&] { flow.set(shares, points_of(points), ids.data(), -1); }),
                 {"skin is -1"});
    const auto others = even_decomposition(space, ranks.size() + 1);
    expect_words(error_of<argument_error>([&] { flow.set(others, points_of(points), ids.data(), 0); }),
                 {"for other ranks"});
    const auto fewer = points_of(points.data(), host.empty() ? 0 : host.size() - 1);
    expect_words(error_of<argument_error>([&] { flow.set(shares, fewer, ids.data(), 0); }),
                 {"9 points on all ranks", "not 10"});
    auto broken = host;
    if (!broken.empty()) broken[6][1] = std::numeric_limits<double>::quiet_NaN();
    auto there = to_device(context, broken);
    expect_words(error_of<data_error>([&] { flow.set(shares, points_of(there), ids.data(), 0); }),
                 {"point 6 of rank 0", "not finite"});
    if (ranks.size() > 1) {
      if (!broken.empty()) broken[3] = space.domain.length * 0.99;
      there = to_device(context, broken);
      expect_words(error_of<data_error>([&] { flow.set(shares, points_of(there), ids.data(), 0); }),
                   {"point 3 of rank 0", "in a cell of rank"});
    }
    flow.set(shares, points_of(points), ids.data(), 0.2);
    expect_words(error_of<argument_error>([&] { flow.square_root({}, nullptr); }), {"no points are set"});
    expect_words(error_of<argument_error>([&] { flow.set_points(fewer); }), {"9 points", "was for 10"});
    flow.set_points(points_of(points));
    array<vec<double, 3>, backend_context> result(context, host.size());
    expect_words(error_of<argument_error>([&] { flow.square_root({1, 1, 1.0 / 0.0}, result.data()); }), {"inf"});
    EXPECT_NO_THROW(flow.square_root({1, 1, 1}, result.data()));
    // A draw that cannot become accurate.
    options = system.options;
    options.most_iterations = 3;
    options.accuracy = 1e-6;
    flow_of_ranks short_of_breath(context, ranks, space, options, 10);
    short_of_breath.set(shares, points_of(points), ids.data(), 0);
    short_of_breath.set_points(points_of(points));
    expect_words(error_of<data_error>([&] {
                   short_of_breath.square_root({1, 1, 1}, result.data());
                 }),
                 {"after 3 iterations"});
  });
}

}  // namespace

}  // namespace quadrat::test
