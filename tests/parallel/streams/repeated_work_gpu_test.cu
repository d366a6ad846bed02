// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/streams/repeated_work.hpp"

#include <gtest/gtest.h>

#include "quadrat/core/array.hpp"
#include "quadrat/parallel/cuda_graph.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "support/backend.hpp"

namespace quadrat::test {

namespace {

struct add_to {
  std::uint32_t* sum;
  std::uint32_t amount;
  QUADRAT_HD void operator()(std::size_t) const { *sum += amount; }
};

class repeated_work_test : public backend_test {
 protected:
  using repeated = detail::repeated_work<cuda_context, std::uint32_t>;

  struct device_state {
    cuda_context context;
    array<std::uint32_t, cuda_context> sum{context, 1};
    int enqueued = 0;

    device_state() { fill_bytes(context, sum.data(), 0, sum.bytes()); }
    /// Adds the key.
    void run(repeated& work, std::uint32_t key) {
      work.run(context, key, [&] {
        ++enqueued;
        for_each(context, "test.add", 1, add_to{sum.data(), key});
      });
    }
    [[nodiscard]] std::uint32_t value() const { return to_host(context, sum)[0]; }
  };
};

TEST_F(repeated_work_test, is_captured_once_and_runs_in_every_call) {
  device_state state;
  repeated work;
  for (std::uint32_t call = 1; call <= 20; ++call) {
    state.run(work, 3);
    EXPECT_EQ(state.value(), 3 * call);
  }
  EXPECT_TRUE(work.captured());
  EXPECT_EQ(state.enqueued, repeated::calls_before + 1);
}

TEST_F(repeated_work_test, another_key_is_other_work) {
  device_state state;
  repeated work;
  std::uint32_t sum = 0;
  for (const std::uint32_t key : {1u, 1u, 1u, 1u, 1u, 1u, 5u, 1u, 7u, 7u, 7u, 7u, 7u, 7u, 7u, 1u}) {
    state.run(work, key);
    sum += key;
    EXPECT_EQ(state.value(), sum);
  }
  EXPECT_FALSE(work.captured());
}

TEST_F(repeated_work_test, is_part_of_a_graph_that_the_caller_captures) {
  device_state state;
  repeated work;
  for (int call = 0; call < 10; ++call) state.run(work, 2);
  cuda_graph graph;
  graph.capture(state.context, [&] { state.run(work, 2); });
  EXPECT_EQ(state.value(), 20u);
  graph.launch(state.context);
  graph.launch(state.context);
  EXPECT_EQ(state.value(), 24u);
  state.run(work, 2);
  EXPECT_EQ(state.value(), 26u);
}

}  // namespace

}  // namespace quadrat::test
