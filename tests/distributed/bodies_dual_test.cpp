// SPDX-License-Identifier: BSD-3-Clause
#include "distributed/bodies.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

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
    const device_decomposition<backend_context, 3> on_device(context, shares);
    contacts.build(on_device.view(), own.view());
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
    const device_decomposition<backend_context, 3> on_device(context, shares);
    try {
      contacts.build(on_device.view(), own.view());
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

/// Bodies along x, each overlapping the next, that are known by these ids.
void find_in_a_row(communicator& ranks, const std::vector<particle_id>& ids_of_all,
                   std::vector<contact<double>>& found) {
  const backend_context context = context_of_rank();
  const auto space = make_grid(make_box<double, 3>({0, 0, 0}, {8, 1, 1}, vec<bool, 3>::filled(false)), {8, 1, 1});
  const auto shares = even_decomposition(space, ranks.size());
  std::vector<vec<double, 3>> centers;
  std::vector<particle_id> mine;
  for (std::size_t i = 0; i < ids_of_all.size(); ++i) {
    const vec<double, 3> center{static_cast<double>(i) + 0.5, 0.5, 0.5};
    if (shares.view().owner(space.unfolded_cell_of(center)) != ranks.rank()) continue;
    centers.push_back(center);
    mine.push_back(ids_of_all[i]);
  }
  distributed_contacts<backend_context, double> contacts(context, ranks, space, {.sorted = true});
  const auto stored = to_device(context, centers);
  const auto ids = to_device(context, mine);
  const std::vector<plane<double>> floor{{{0, 0, 1}, 0}};
  bodies_view<double> bodies;
  bodies.centers = points_of(stored);
  bodies.radius = 0.6;
  bodies.ids = ids.data();
  bodies.planes = floor;
  const device_decomposition<backend_context, 3> on_device(context, shares);
  contacts.build(on_device.view(), bodies);
  found = to_host(context, contacts.view().records, contacts.size());
}

TEST_P(distributed_contacts_test, have_any_ids_and_planes_that_do_not_depend_on_them) {
  const std::vector<particle_id> ids{7, 1000, 3, 500, first_plane - 1, 0, 20};
  std::vector<std::vector<contact<double>>> found(static_cast<std::size_t>(GetParam()));
  run_ranks(GetParam(),
            [&](communicator& ranks) { find_in_a_row(ranks, ids, found[static_cast<std::size_t>(ranks.rank())]); });
  std::set<std::pair<particle_id, particle_id>> pairs, expected;
  for (const auto& of_rank : found) {
    for (const contact<double>& one : of_rank) EXPECT_TRUE(pairs.emplace(one.a, one.b).second);
  }
  for (std::size_t i = 0; i < ids.size(); ++i) {
    expected.emplace(ids[i], first_plane);
    if (i > 0) expected.emplace(std::min(ids[i - 1], ids[i]), std::max(ids[i - 1], ids[i]));
  }
  EXPECT_EQ(pairs, expected);
}

TEST_P(distributed_contacts_test, refuse_ids_that_two_bodies_near_each_other_have) {
  run_ranks(GetParam(), [](communicator& ranks) {
    std::vector<contact<double>> found;
    try {
      find_in_a_row(ranks, {7, 6, 5, 4, 4, 2, 1}, found);
      ADD_FAILURE() << "no error on rank " << ranks.rank();
    } catch (const data_error& problem) {
      EXPECT_EQ(problem.index(), 4u);
      expect_words(problem.what(), {"both have the id 4"});
    }
  });
}

}  // namespace

}  // namespace quadrat::test
