// SPDX-License-Identifier: BSD-3-Clause
#include <array>

#include "calls/calls.hpp"
#include "quadrat/cells/buckets.hpp"
#include "quadrat/cells/make_cells.hpp"
#include "quadrat/cells/methods.hpp"

namespace quadrat::test {

namespace {

class calls_of_cells : public calls_test {};

TEST_F(calls_of_cells, buckets) {
  const auto keys = some_numbers<std::uint32_t>(count, 9);
  keyed_buckets<backend_context, counting_buckets<backend_context>> buckets(context());
  expect_call("keyed_buckets::build", grows_and_waits, [&] { buckets.build(keys.data(), count, 9); });
  expect_call("keyed_buckets::build_async", enqueues, [&] { buckets.build_async(keys.data(), count, 9); });
  expect_call("keyed_buckets::check", waits, [&] { buckets.check(); });
  expect_call("keyed_buckets::reserve", makes_room, [&] { buckets.reserve(count, 9); });

  const auto words = some_numbers<std::uint64_t>(count, 9);
  hash_table<backend_context, counting_buckets<backend_context>> table(context());
  expect_call("hash_table::build", grows_and_waits, [&] { table.build(words.data(), count); });
  expect_call("hash_table::build_async", enqueues, [&] { table.build_async(words.data(), count); });
  expect_call("hash_table::check", waits, [&] { table.check(); });
  expect_call("hash_table::reserve", makes_room, [&] { table.reserve(count); });
}

TEST_F(calls_of_cells, lists) {
  const auto stored = some_points();
  const auto points = points_of(stored);
  auto placed = some_points();
  const std::array<carried_array, 1> carried{carry(stored.data(), placed.data())};

  auto counting = make_cells(context(), unit_box(), 0.2f);
  expect_call("grid_cells::build", grows_and_waits, [&] { counting.build(points); });
  expect_call("grid_cells::build_async", enqueues, [&] { counting.build_async(points); });
  expect_call("grid_cells::build_and_carry", grows_and_waits, [&] { counting.build_and_carry(points, carried); });
  expect_call("grid_cells::build_and_carry_async", enqueues, [&] { counting.build_and_carry_async(points, carried); });
  expect_call("grid_cells::check", waits, [&] { counting.check(); });
  expect_call("grid_cells::reserve", makes_room, [&] { counting.reserve(count); });

  auto hashed = make_cells<cell_methods::hashed>(context(), unit_box(), 0.2f);
  expect_call("hashed_cells::build", grows_and_waits, [&] { hashed.build(points); });
  expect_call("hashed_cells::build_async", enqueues, [&] { hashed.build_async(points); });
  expect_call("hashed_cells::build_and_carry", grows_and_waits, [&] { hashed.build_and_carry(points, carried); });
  expect_call("hashed_cells::build_and_carry_async", enqueues, [&] { hashed.build_and_carry_async(points, carried); });
  expect_call("hashed_cells::check", waits, [&] { hashed.check(); });
  expect_call("hashed_cells::reserve", makes_room, [&] { hashed.reserve(count); });

  auto packed = make_cells<cell_methods::linked_packed>(context(), unit_box(), 0.2f);
  expect_call("linked_packed_cells::build", grows_and_waits, [&] { packed.build(points); });
  expect_call("linked_packed_cells::build_async", enqueues, [&] { packed.build_async(points); });
  expect_call("linked_packed_cells::check", waits, [&] { packed.check(); });
  expect_call("linked_packed_cells::reserve", makes_room, [&] { packed.reserve(count); });

  auto tight = make_cells<cell_methods::linked_tight>(context(), unit_box(), 0.2f);
  expect_call("linked_tight_cells::build", grows_and_waits, [&] { tight.build(points); });
  expect_call("linked_tight_cells::build_async", enqueues, [&] { tight.build_async(points); });
  expect_call("linked_tight_cells::check", waits, [&] { tight.check(); });
  expect_call("linked_tight_cells::reserve", makes_room, [&] { tight.reserve(count); });
}

}  // namespace

}  // namespace quadrat::test
