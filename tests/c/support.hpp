// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "quadrat/quadrat.h"

/// The C interface on each device of this machine, and the same calls in C++ on the CPU to compare with.
namespace quadrat::testing {

#define QUADRAT_EXPECT_OK(call) EXPECT_EQ(call, QUADRAT_OK) << quadrat_error_message()
#define QUADRAT_ASSERT_OK(call) ASSERT_EQ(call, QUADRAT_OK) << quadrat_error_message()

/// Expects a code and a part of the message.
inline void expect_error(int code, int expected, const std::string& part) {
  EXPECT_EQ(code, expected) << quadrat_error_message();
  EXPECT_NE(std::string(quadrat_error_message()).find(part), std::string::npos)
      << quadrat_error_message() << "\nlacks: " << part;
}

inline constexpr double infinity = std::numeric_limits<double>::infinity();
/// Points of most tests.
inline constexpr std::size_t count = 300;

template <typename Struct>
[[nodiscard]] Struct sized() {
  Struct result{};
  result.size = sizeof(Struct);
  return result;
}

template <typename T>
[[nodiscard]] std::vector<T> uniform(std::size_t size, T low, T high, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<T> draw(low, high);
  std::vector<T> result(size);
  for (T& value : result) value = draw(random);
  return result;
}

class c_interface : public ::testing::TestWithParam<int> {
 public:
  static std::string name_of(const ::testing::TestParamInfo<int>& info) {
    return info.param == QUADRAT_CPU ? "cpu" : "cuda";
  }

 protected:
  void SetUp() override {
    auto options = sized<quadrat_context_options>();
    options.device = GetParam();
    options.threads = GetParam() == QUADRAT_CPU ? 2 : 0;
    if (GetParam() == QUADRAT_CUDA) {
      int devices = 0;
      QUADRAT_ASSERT_OK(quadrat_cuda_device_count(&devices));
      if (devices == 0) GTEST_SKIP() << "no GPU";
    }
    QUADRAT_ASSERT_OK(quadrat_context_create(&options, &context_));
  }
  void TearDown() override {
    for (void* const memory : memory_) QUADRAT_EXPECT_OK(quadrat_free(context_, memory));
    quadrat_context_destroy(context_);
  }

  /// Memory of the device until the end of the test.
  template <typename T>
  [[nodiscard]] T* room(std::size_t size) {
    void* memory = nullptr;
    QUADRAT_EXPECT_OK(quadrat_allocate(context_, size * sizeof(T), &memory));
    memory_.push_back(memory);
    return static_cast<T*>(memory);
  }
  template <typename T>
  [[nodiscard]] T* on_device(const std::vector<T>& values) {
    T* const memory = room<T>(values.size());
    QUADRAT_EXPECT_OK(quadrat_copy(context_, values.data(), memory, values.size() * sizeof(T)));
    return memory;
  }
  template <typename T>
  [[nodiscard]] std::vector<T> on_host(const void* memory, std::size_t size) {
    std::vector<T> values(size);
    QUADRAT_EXPECT_OK(quadrat_copy(context_, memory, values.data(), size * sizeof(T)));
    return values;
  }

  quadrat_context* context_ = nullptr;

 private:
  std::vector<void*> memory_;
};

#define QUADRAT_ON_DEVICES(suite)      \
  class suite : public c_interface {}; \
  INSTANTIATE_TEST_SUITE_P(devices, suite, ::testing::Values(int{QUADRAT_CPU}, int{QUADRAT_CUDA}), c_interface::name_of)

template <typename T>
void expect_close(const std::vector<T>& found, const std::vector<T>& expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t k = 0; k < found.size(); ++k) {
    EXPECT_NEAR(static_cast<double>(found[k]), static_cast<double>(expected[k]), tolerance) << "element " << k;
  }
}

}  // namespace quadrat::testing
