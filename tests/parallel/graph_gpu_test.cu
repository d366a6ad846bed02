// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <numeric>

#include "element_of.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/parallel/cuda_graph.hpp"
#include "quadrat/parallel/reduce.hpp"
#include "quadrat/parallel/scan.hpp"
#include "quadrat/parallel/sort.hpp"
#include "reference/parallel.hpp"
#include "support/backend.hpp"
#include "support/random.hpp"

namespace quadrat::test {

namespace {

using words = array<std::uint32_t, cuda_context>;

/// One of each primitive, on memory at fixed addresses.
struct pipeline {
  words keys;
  words values;
  words offsets;
  array<std::uint64_t, cuda_context> sum;
  workspace<cuda_context> scratch;

  pipeline(const cuda_context& context, std::size_t size)
      : keys(context, size), values(context, size), offsets(context, size + 1), sum(context, 1) {}

  void run(const cuda_context& context) {
    const std::size_t size = keys.size();
    reduce_into(context, "test sum", size, element_of<std::uint32_t, std::uint64_t>{keys.data()}, plus_operation{},
                std::uint64_t{0}, sum.data(), scratch);
    sort_pairs(context, keys.data(), values.data(), size, 13, scratch, sort_values::index);
    exclusive_scan_with_total(context, keys.data(), offsets.data(), size, scratch);
  }

  void expect_right_for(const cuda_context& context, std::vector<std::uint32_t> input) const {
    const std::uint64_t total = std::accumulate(input.begin(), input.end(), std::uint64_t{0});
    std::vector<std::uint32_t> index(input.size());
    std::iota(index.begin(), index.end(), 0u);
    reference::sort_pairs(input, index, 13);
    EXPECT_EQ(to_host(context, keys), input);
    EXPECT_EQ(to_host(context, values), index);
    EXPECT_EQ(to_host(context, offsets), reference::exclusive_scan_with_total<std::uint32_t>(input));
    EXPECT_EQ(to_host(context, sum)[0], total);
  }
};

class cuda_graph_test : public backend_test {};

TEST_F(cuda_graph_test, replays_the_primitives_on_new_data) {
  const std::size_t size = size_or(200'000, 3000);
  const cuda_context context;
  pipeline work(context, size);
  const auto set_keys = [&](const std::vector<std::uint32_t>& input) {
    copy_bytes(context, input.data(), work.keys.data(), work.keys.bytes());
    context.synchronize();
  };
  // The first run makes the scratch memory grow; a graph cannot allocate.
  set_keys(random_words<std::uint32_t>(size, 1, 1 << 13));
  work.run(context);
  context.synchronize();

  cuda_graph graph;
  graph.capture(context, [&] { work.run(context); });
  for (const std::uint64_t seed : {2, 3, 4}) {
    const auto input = random_words<std::uint32_t>(size, seed, 1 << 13);
    set_keys(input);
    graph.launch(context);
    work.expect_right_for(context, input);
  }
}

TEST_F(cuda_graph_test, passes_on_what_is_thrown_while_it_records_and_can_record_again) {
  const cuda_context context;
  words data(context, 100);
  cuda_graph graph;
  EXPECT_THROW(graph.capture(context, [] { throw argument_error("stop"); }), argument_error);
  EXPECT_TRUE(graph.empty());
  graph.capture(context, [&] { fill_bytes(context, data.data(), 1, data.bytes()); });
  EXPECT_FALSE(graph.empty());
  graph.launch(context);
  EXPECT_EQ(to_host(context, data), std::vector<std::uint32_t>(100, 0x01010101u));
}

TEST_F(cuda_graph_test, refuses_work_that_waits_for_the_stream) {
  const cuda_context context;
  cuda_graph graph;
  EXPECT_THROW(graph.capture(context, [&] { context.synchronize(); }), backend_error);
  EXPECT_NO_THROW(context.synchronize());
}

}  // namespace

}  // namespace quadrat::test
