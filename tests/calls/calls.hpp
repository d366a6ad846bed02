// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <vector>

#include "quadrat/core/array.hpp"
#include "quadrat/core/box.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/views.hpp"
#include "support/backend.hpp"
#include "support/counting_memory.hpp"
#include "support/random.hpp"

#if QUADRAT_BACKEND_CUDA
#include <cuda_runtime_api.h>

#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>

#include "quadrat/parallel/cuda_graph.hpp"
#endif

// The table of calls (docs/_site/calls_reference.py), tried: every public call on a small input. What a test promises
// is compared with the words of the headers by tests/pages/calls_test.py, which also finds calls without a test.

namespace quadrat::test {

struct promise {
  bool waits = false;
  bool allocates = false;    ///< or may allocate
  bool captured = false;     ///< can be, in a CUDA graph
  bool messages = false;     ///< waits for other ranks alone: what it does on one is not tried
  bool leaves_work = false;  ///< waits, but not for all that it has enqueued
};

inline constexpr promise keeps_still{};
inline constexpr promise enqueues{.captured = true};
inline constexpr promise makes_room{.allocates = true};
inline constexpr promise grows_and_enqueues{.allocates = true, .captured = true};
inline constexpr promise waits{.waits = true};
inline constexpr promise grows_and_waits{.waits = true, .allocates = true};
inline constexpr promise takes_and_waits{.waits = true, .allocates = true, .leaves_work = true};
inline constexpr promise sends{.messages = true};
inline constexpr promise grows_and_sends{.allocates = true, .messages = true};
inline constexpr promise grows_and_agrees{.waits = true, .allocates = true, .messages = true};

#if QUADRAT_BACKEND_CUDA
/// A stream that is blocked until it is released, or until a time limit.
class blocked_stream {
 public:
  explicit blocked_stream(const cuda_context& context) : context_(context) {
    context_.activate();
    EXPECT_EQ(cudaLaunchHostFunc(context_.stream(), &stand_still, this), cudaSuccess);
  }
  blocked_stream(const blocked_stream&) = delete;
  blocked_stream& operator=(const blocked_stream&) = delete;
  ~blocked_stream() {
    release();
    cudaStreamSynchronize(context_.stream());
  }
  void release() {
    const std::lock_guard lock(guard_);
    released_ = true;
    changed_.notify_all();
  }
  /// Whether the time limit ended the wait.
  [[nodiscard]] bool gave_up() {
    const std::lock_guard lock(guard_);
    return gave_up_;
  }

 private:
  static void stand_still(void* self) { static_cast<blocked_stream*>(self)->wait(); }
  void wait() {
    std::unique_lock lock(guard_);
    gave_up_ = !changed_.wait_for(lock, std::chrono::seconds(20), [&] { return released_; });
  }

  cuda_context context_;
  std::mutex guard_;
  std::condition_variable changed_;
  bool released_ = false, gave_up_ = false;
};

inline void expect_waiting(const cuda_context& context, const promise& said, const std::function<void()>& call) {
  blocked_stream stream(context);
  if (!said.waits) {
    call();
    EXPECT_FALSE(stream.gave_up()) << "the call waits";
    return;
  }
  auto done = std::async(std::launch::async, [&] {
    context.activate();
    call();
  });
  EXPECT_EQ(done.wait_for(std::chrono::milliseconds(30)), std::future_status::timeout) << "the call does not wait";
  stream.release();
  done.get();
  if (!said.leaves_work) {
    EXPECT_EQ(cudaStreamQuery(context.stream()), cudaSuccess) << "work is left in the stream";
  }
}

inline void expect_captured(const cuda_context& context, const std::function<void()>& call) {
  cuda_graph graph;
  graph.capture(context, call);
  graph.launch(context);
  context.synchronize();
}
#endif

class calls_test : public backend_test {
 protected:
  static constexpr std::size_t count = 300;

  void SetUp() override {
    backend_test::SetUp();
    if (IsSkipped()) return;
    memory_.emplace();
    context_.emplace(memory_->context(determinism::none));
  }
  [[nodiscard]] const backend_context& context() const { return *context_; }

  /// Tries what is promised: `call` is made several times. Not a template, which would be compiled for every call.
  void expect_call(const char* name, const promise& said, const std::function<void()>& call) {
    SCOPED_TRACE(name);
    for (int k = 0; k < 3; ++k) call();  // makes room, chooses by what was found, and loads kernels
    context().synchronize();
    const std::size_t before = memory_->allocations();
    call();
    context().synchronize();
    if (!said.allocates) {
      EXPECT_EQ(memory_->allocations(), before) << "the call allocates";
    }
#if QUADRAT_BACKEND_CUDA
    // A checker of kernels waits for each of them.
    if (!said.messages && !small_sizes()) expect_waiting(context(), said, call);
    context().synchronize();
    if (said.captured) expect_captured(context(), call);
#endif
  }

  [[nodiscard]] static box<float, 3> unit_box() { return make_box<float, 3>({0, 0, 0}, {1, 1, 1}, {true, true, true}); }
  [[nodiscard]] array<vec<float, 3>, backend_context> some_points(float shift = 0) const {
    std::mt19937_64 random(5);
    std::vector<vec<float, 3>> points(count);
    for (auto& point : points) {
      point = make_vec<float, 3>([&](int) { return 0.9f * random_unit<float>(random) + shift; });
    }
    return to_device(context(), points);
  }
  /// Numbers from 0 up, over and over again.
  template <typename T>
  [[nodiscard]] array<T, backend_context> some_numbers(std::size_t size, std::size_t period) const {
    std::vector<T> numbers(size);
    for (std::size_t i = 0; i < size; ++i) numbers[i] = static_cast<T>(i % period);
    return to_device(context(), numbers);
  }

 private:
  std::optional<counting_memory> memory_;
  std::optional<backend_context> context_;
};

struct count_one {
  template <typename Separation>
  QUADRAT_HD float operator()(particle_id, particle_id, const Separation&, float) const {
    return 1;
  }
};

[[nodiscard]] inline std::complex<float>* complex_of(array<float, backend_context>& numbers) {
  return reinterpret_cast<std::complex<float>*>(numbers.data());
}

}  // namespace quadrat::test
