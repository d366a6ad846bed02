// SPDX-License-Identifier: BSD-3-Clause
#include "distributed/bodies.hpp"

#include <gtest/gtest.h>

#include "quadrat/distributed/in_process.hpp"
#include "support/backend.hpp"
#include "support/errors.hpp"

namespace quadrat::test {

namespace {

class distributed_contacts_test : public backend_test, public testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(ranks, distributed_contacts_test, testing::Values(1, 2, 3, 4, 8));

TEST_P(distributed_contacts_test, each_contact_comes_once_with_the_bytes_of_one_rank) {
  EXPECT_NO_THROW(run_ranks(GetParam(), [](communicator& ranks) { check_bodies(ranks, 0, size_or(150, 10)); }));
}

class distributed_contacts_cost_test : public backend_test {};

/// Small bodies in a row along x, one each cell, and perhaps a large one at the end.
[[nodiscard]] std::size_t ghosts_of_first_rank(bool with_large) {
  std::size_t ghosts = 0;
  run_ranks(4, [&](communicator& ranks) {
    const backend_context context = context_of_rank();
    const auto space = make_grid(make_box<float, 3>({0, 0, 0}, {64, 1, 1}, vec<bool, 3>::filled(false)), {64, 1, 1});
    const auto shares = even_decomposition(space, ranks.size());
    body_scene<float> scene;
    std::vector<std::uint32_t> mine;
    for (std::uint32_t i = 0; i < 64; ++i) {
      scene.centers.push_back({static_cast<float>(i) + 0.5f, 0.5f, 0.5f});
      scene.radii.push_back(with_large && i == 63 ? 10 : 0.4f);
      if (static_cast<int>(i) / 16 == ranks.rank()) mine.push_back(i);
    }
    distributed_contacts<backend_context, float> contacts(context, ranks, space);
    const some_bodies<float> own(context, scene, mine);
    const auto ids = to_device(context, mine);
    const device_decomposition<backend_context, 3> on_device(context, shares);
    contacts.build(on_device.view(), own.view(), ids.data());
    if (ranks.rank() == 0) ghosts = contacts.ghosts();
  });
  return ghosts;
}

TEST_F(distributed_contacts_cost_test, a_rank_with_small_bodies_does_not_pay_for_a_large_one_elsewhere) {
  EXPECT_EQ(ghosts_of_first_rank(false), 1u);
  EXPECT_EQ(ghosts_of_first_rank(true), 1u);
}

TEST_P(distributed_contacts_test, an_unsound_body_is_named_by_its_id_on_all_ranks) {
  const auto body = [](communicator& ranks) {
    const backend_context context = context_of_rank();
    const auto space = make_grid(make_box<double, 3>({0, 0, 0}, {8, 1, 1}, vec<bool, 3>::filled(false)), {8, 1, 1});
    const auto shares = even_decomposition(space, ranks.size());
    body_scene<double> scene;
    std::vector<std::uint32_t> mine;
    for (std::uint32_t i = 0; i < 8; ++i) {
      scene.centers.push_back({7.5 - i, 0.5, 0.5});
      scene.radii.push_back(i == 5 ? -1 : 0.4);
      if (shares.view().owner(space.unfolded_cell_of(scene.centers[i])) == ranks.rank()) mine.push_back(i);
    }
    distributed_contacts<backend_context, double> contacts(context, ranks, space);
    const some_bodies<double> own(context, scene, mine);
    const auto ids = to_device(context, mine);
    const device_decomposition<backend_context, 3> on_device(context, shares);
    try {
      contacts.build(on_device.view(), own.view(), ids.data());
    } catch (const data_error& problem) {
      EXPECT_EQ(problem.index(), 5u);
      expect_words(problem.what(), {"id 5"});
      expect_words(error_of<argument_error>([&] { static_cast<void>(contacts.view()); }), {"failed"});
      return;
    }
    ADD_FAILURE() << "no error on rank " << ranks.rank();
  };
  run_ranks(GetParam(), body);
}

}  // namespace

}  // namespace quadrat::test
