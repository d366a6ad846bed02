// SPDX-License-Identifier: BSD-3-Clause
#include "distributed/fields.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "quadrat/distributed/in_process.hpp"
#include "support/backend.hpp"
#include "support/errors.hpp"

namespace quadrat::test {

namespace {

class distributed_fields_test : public backend_test, public testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(ranks, distributed_fields_test, testing::Values(1, 2, 3, 4, 8));

TEST_P(distributed_fields_test, meshes_are_those_of_one_rank) {
  const int count = GetParam();
  EXPECT_NO_THROW(run_ranks(count, [&](communicator& ranks) {
    check_fields(ranks, static_cast<std::uint64_t>(count) * 1000, size_or(100, 8));
  }));
}

TEST(pencil_decomposition_test, pencils_cover_the_mesh_once_on_any_number_of_ranks) {
  for (const vec<int, 3>& mesh :
       {vec<int, 3>{8, 8, 8}, vec<int, 3>{3, 5, 16}, vec<int, 3>{1, 9, 2}, vec<int, 3>{6, 1, 1}}) {
    for (int count = 1; count <= 40; ++count) {
      const auto shares = pencil_decomposition(mesh, count);
      std::int64_t most = 0, all = 0;
      for (int rank = 0; rank < count; ++rank) {
        const cell_block<3> own = shares.blocks[static_cast<std::size_t>(rank)];
        const vec<int, 3> extents = own.end - own.first;
        const std::int64_t points = std::int64_t{extents[0]} * extents[1] * extents[2];
        EXPECT_TRUE(points == 0 || extents[2] == mesh[2]);
        most = std::max(most, points);
        all += points;
        for_each_point(own.first, own.end, [&](int x, int y, int z) {
          EXPECT_EQ(shares.view().owner({x, y, z}), rank) << count << " ranks";
        });
      }
      EXPECT_EQ(all, std::int64_t{mesh[0]} * mesh[1] * mesh[2]);
      // 64 lines of a cube: 16 ranks and more have work, where in slabs 8 would.
      if (mesh[0] == 8 && count >= 16) {
        EXPECT_LE(most, 8 * 4) << count;
      }
    }
  }
  EXPECT_THROW(static_cast<void>(pencil_decomposition({4, 4, 4}, 0)), argument_error);
  EXPECT_THROW(static_cast<void>(pencil_decomposition({4, 0, 4}, 2)), argument_error);
}

TEST_P(distributed_fields_test, transforms_in_pencils_on_more_ranks_than_layers) {
  run_ranks(4 * GetParam(), [](communicator& ranks) {
    check_fft<double>(ranks, {6, 4, 5}, false);
    check_fft<float>(ranks, {4, 6, 3}, true);
    check_real_fft<double>(ranks, {6, 4, 10}, false);
    check_real_fft<float>(ranks, {4, 6, 2}, true);
  });
}

/// Also where a mesh is so long that the last digits of a position are whole mesh points.
TEST_P(distributed_fields_test, points_at_faces_of_blocks_are_spread_with_any_order) {
  run_ranks(GetParam(), [](communicator& ranks) {
    const backend_context context = context_of_rank();
    for (const int length : {97, 1 << 20}) {
      const auto space = make_grid(make_box_from_lengths<float, 3>({-0.3f, 0, 0}, {0.7f, 1, 1}, {true, true, true}),
                                   vec<int, 3>{31, 2, 1});
      const auto shares = even_decomposition(space, ranks.size());
      const vec<int, 3> mesh{length, 1, 1};
      const auto owners = slab_decomposition(mesh, ranks.size(), {true, true, true});
      std::vector<vec<float, 3>> mine;
      for (int cell = 0; cell <= 31; ++cell) {
        const float face = -0.3f + 0.7f * static_cast<float>(cell) / 31;
        for (const float x : {std::nextafter(face, -1.0f), face, std::nextafter(face, 1.0f)}) {
          const vec<float, 3> point{x, 0.5f, 0.5f};
          if (x < -0.3f || x >= 0.4f || space.domain.wrap(point)[0] != x) continue;
          if (shares.view().owner(space.unfolded_cell_of(point)) == ranks.rank()) mine.push_back(point);
        }
      }
      const auto points = to_device(context, mine);
      const auto values = to_device(context, std::vector<float>(mine.size(), 1.0f));
      for (int order = 1; order <= 8; order += length == 97 ? 1 : 7) {
        distributed_spread_plan<backend_context, float, 3> plan(context, ranks, mesh, order, owners, space, shares);
        array<float, backend_context> part(context, plan.mesh_size());
        plan.set_points(points_of(points));
        plan.spread(values.data(), part.data());
        double sum = 0;
        for (const float value : to_host(context, part)) sum += static_cast<double>(value);
        std::uint64_t all = mine.size();
        ranks.add_up(&all, 1);
        const double whole = sum_in_rank_order(ranks, sum);
        expect(std::abs(whole - static_cast<double>(all)) < 1e-4 * static_cast<double>(all), "order ", order, ": ",
               whole, " of ", all, " are on a mesh of ", length);
      }
    }
  });
}

TEST_P(distributed_fields_test, what_does_not_fit_is_refused_on_all_ranks) {
  run_ranks(GetParam(), [](communicator& ranks) {
    const backend_context context = context_of_rank();
    using fft = distributed_fft<backend_context, float>;
    expect_words(error_of<argument_error>([&] { fft(context, ranks, {8, 7, 8}); }), {"7", "axis 1", "2, 3 and 5"});
    using real_fft = distributed_real_fft<backend_context, float>;
    expect_words(error_of<argument_error>([&] { real_fft(context, ranks, {8, 6, 5}); }), {"5", "axis 2", "even"});
    expect_words(error_of<argument_error>([&] { real_fft(context, ranks, {0, 6, 4}); }), {"0 points", "axis 0"});
    const auto space = make_grid(make_box<float, 3>({0, 0, 0}, {1, 1, 1}, {true, true, true}), {4, 4, 4});
    const auto shares = even_decomposition(space, ranks.size());
    const vec<int, 3> mesh{16, 16, 16};
    const auto owners = slab_decomposition(mesh, ranks.size(), {true, true, true});
    using plan = distributed_spread_plan<backend_context, float, 3>;
    expect_words(error_of<argument_error>([&] {
                   plan(context, ranks, {8, 16, 16}, 4, owners, space, shares);
                 }),
                 {"16 x 16 x 16", "8 x 16 x 16"});
    expect_words(error_of<argument_error>(
                     [&] { plan(context, ranks, mesh, 4, slab_decomposition(mesh, ranks.size()), space, shares); }),
                 {"periodic"});
    expect_words(error_of<argument_error>([&] { plan(context, ranks, mesh, 4, owners, space, shares, -1); }), {"-1"});
    spread_options clipping;
    clipping.clip = true;
    expect_words(error_of<argument_error>([&] { plan(context, ranks, mesh, 4, owners, space, shares, 0, clipping); }),
                 {"refused"});
  });
}

}  // namespace

}  // namespace quadrat::test
