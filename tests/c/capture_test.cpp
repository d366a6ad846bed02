// SPDX-License-Identifier: BSD-3-Clause
// Calls that do not wait can be captured in a CUDA graph, and give what those that wait have given.
#include <cstdint>
#include <vector>

#include "c/support.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/parallel/cuda_graph.hpp"

namespace quadrat::testing {
namespace {

class c_capture : public c_interface {
 protected:
  void SetUp() override {
    c_interface::SetUp();
    if (!IsSkipped() && GetParam() == QUADRAT_CPU) GTEST_SKIP() << "graphs are of GPUs";
  }
  /// Compares `size` numbers of `results` after `call` and after a graph that holds `twin`.
  template <typename Call, typename Twin>
  void expect_same(const Call& call, const Twin& twin, double* results, std::size_t size) {
    QUADRAT_ASSERT_OK(call());
    const std::vector<double> expected = on_host<double>(results, size);
    QUADRAT_ASSERT_OK(quadrat_copy(context_, on_device(std::vector<double>(size, -1)), results, size * sizeof(double)));
    void* stream = nullptr;
    QUADRAT_ASSERT_OK(quadrat_context_stream(context_, &stream));
    cuda_context::options options;
    options.stream = static_cast<cuda_stream>(stream);
    const cuda_context same(options);
    cuda_graph graph;
    graph.capture(same, [&] { QUADRAT_EXPECT_OK(twin()); });
    graph.launch(same);
    QUADRAT_ASSERT_OK(quadrat_context_synchronize(context_));
    expect_close(on_host<double>(results, size), expected, 1e-10);
  }
};
INSTANTIATE_TEST_SUITE_P(devices, c_capture, ::testing::Values(int{QUADRAT_CPU}, int{QUADRAT_CUDA}),
                         c_interface::name_of);

TEST_P(c_capture, holds_spreading_and_interpolation) {
  auto options = sized<quadrat_spread_options>();
  options.type = QUADRAT_FLOAT64;
  options.dimension = 1;
  options.domain = {{0, 0, 0}, {1, 1, 1}, {1, 1, 1}};
  options.mesh[0] = 32;
  options.order = 4;
  quadrat_spread_plan* plan = nullptr;
  QUADRAT_ASSERT_OK(quadrat_spread_plan_create(context_, &options, &plan));
  const quadrat_points points{on_device(uniform<double>(count, 0, 1)), count, 0, 0};
  QUADRAT_ASSERT_OK(quadrat_spread_plan_set_points(plan, &points));
  const double* const values = on_device(uniform<double>(count, -1, 1, 2));
  auto* const mesh = room<double>(32);
  auto* const read = room<double>(count);
  expect_same([&] { return quadrat_spread_plan_spread(plan, values, mesh, nullptr); },
              [&] { return quadrat_spread_plan_spread_async(plan, values, mesh, nullptr); }, mesh, 32);
  expect_same([&] { return quadrat_spread_plan_interpolate(plan, mesh, read, nullptr); },
              [&] { return quadrat_spread_plan_interpolate_async(plan, mesh, read, nullptr); }, read, count);
  expect_same([&] { return quadrat_spread_plan_interpolate_gradient(plan, mesh, read, nullptr); },
              [&] { return quadrat_spread_plan_interpolate_gradient_async(plan, mesh, read, nullptr); }, read, count);
  quadrat_spread_plan_destroy(plan);
}

TEST_P(c_capture, of_another_stream_holds_calls_between_waiting_for_it_and_signaling_it) {
  auto options = sized<quadrat_key_reducer_options>();
  options.key_count = 3;
  quadrat_key_reducer* reducer = nullptr;
  QUADRAT_ASSERT_OK(quadrat_key_reducer_create(context_, &options, &reducer));
  const quadrat_integers keys{on_device(std::vector<std::uint32_t>{0, 2, 2}), 3, QUADRAT_UINT32};
  QUADRAT_ASSERT_OK(quadrat_key_reducer_set_keys(reducer, &keys));
  auto* const totals = room<std::uint64_t>(3);
  QUADRAT_ASSERT_OK(quadrat_key_reducer_count(reducer, totals));
  QUADRAT_ASSERT_OK(quadrat_copy(context_, on_device(std::vector<std::uint64_t>(3, 9)), totals, 3 * sizeof(*totals)));
  const cuda_context other{cuda_context::options{}};
  void* const stream = other.stream();
  cuda_graph graph;
  graph.capture(other, [&] {
    int captured = 0;
    QUADRAT_EXPECT_OK(quadrat_stream_is_captured(context_, stream, &captured));
    EXPECT_EQ(captured, 1);
    QUADRAT_EXPECT_OK(quadrat_context_wait_for(context_, stream));
    QUADRAT_EXPECT_OK(quadrat_key_reducer_count_async(reducer, totals));
    QUADRAT_EXPECT_OK(quadrat_context_signal(context_, stream));
  });
  EXPECT_EQ(on_host<std::uint64_t>(totals, 3), (std::vector<std::uint64_t>{9, 9, 9}));
  graph.launch(other);
  other.synchronize();
  EXPECT_EQ(on_host<std::uint64_t>(totals, 3), (std::vector<std::uint64_t>{1, 0, 2}));
  quadrat_key_reducer_destroy(reducer);
}

TEST_P(c_capture, holds_transforms) {
  auto options = sized<quadrat_nufft_options>();
  options.type = QUADRAT_FLOAT64;
  options.dimension = 1;
  options.modes[0] = 16;
  options.tolerance = 1e-6;
  quadrat_nufft_plan* plan = nullptr;
  QUADRAT_ASSERT_OK(quadrat_nufft_plan_create(context_, &options, &plan));
  const quadrat_points points{on_device(uniform<double>(count, -3, 3)), count, 0, 0};
  QUADRAT_ASSERT_OK(quadrat_nufft_plan_set_points(plan, &points, nullptr));
  const double* const values = on_device(uniform<double>(2 * count, -1, 1, 2));
  auto* const modes = room<double>(32);
  auto* const read = room<double>(2 * count);
  expect_same([&] { return quadrat_nufft_plan_type_1(plan, values, modes, nullptr); },
              [&] { return quadrat_nufft_plan_type_1_async(plan, values, modes, nullptr); }, modes, 32);
  expect_same([&] { return quadrat_nufft_plan_type_2(plan, modes, read, nullptr); },
              [&] { return quadrat_nufft_plan_type_2_async(plan, modes, read, nullptr); }, read, 2 * count);
  quadrat_nufft_plan_destroy(plan);

  auto wanted = sized<quadrat_nufft_target_options>();
  wanted.type = QUADRAT_FLOAT64;
  wanted.dimension = 1;
  wanted.tolerance = 1e-6;
  quadrat_nufft_target_plan* targets = nullptr;
  QUADRAT_ASSERT_OK(quadrat_nufft_target_plan_create(context_, &wanted, &targets));
  const quadrat_points frequencies{on_device(uniform<double>(16, -9, 9, 3)), 16, 0, 0};
  QUADRAT_ASSERT_OK(quadrat_nufft_target_plan_set_points(targets, &points, &frequencies));
  expect_same([&] { return quadrat_nufft_target_plan_type_3(targets, values, modes, nullptr); },
              [&] { return quadrat_nufft_target_plan_type_3_async(targets, values, modes, nullptr); }, modes, 32);
  quadrat_nufft_target_plan_destroy(targets);
}

TEST_P(c_capture, holds_reductions) {
  auto options = sized<quadrat_key_reducer_options>();
  options.key_count = 9;
  quadrat_key_reducer* reducer = nullptr;
  QUADRAT_ASSERT_OK(quadrat_key_reducer_create(context_, &options, &reducer));
  std::vector<std::uint32_t> keys(count);
  for (std::size_t i = 0; i < count; ++i) keys[i] = static_cast<std::uint32_t>(i * 7 % 9);
  const quadrat_integers given{on_device(keys), count, QUADRAT_UINT32};
  QUADRAT_ASSERT_OK(quadrat_key_reducer_set_keys(reducer, &given));
  auto call = sized<quadrat_key_call>();
  call.value_type = QUADRAT_FLOAT64;
  const double* const values = on_device(uniform<double>(count, -1, 1));
  auto* const results = room<double>(9);
  expect_same([&] { return quadrat_key_reducer_reduce(reducer, values, results, &call); },
              [&] { return quadrat_key_reducer_reduce_async(reducer, values, results, &call); }, results, 9);
  quadrat_key_reducer_destroy(reducer);
}

}  // namespace
}  // namespace quadrat::testing
