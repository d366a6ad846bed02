// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "harness/timing.hpp"
#include "quadrat/core/context.hpp"

/// Not Google Benchmark, for four reasons: the timed work is a GPU graph, or a whole simulation that provides its own
/// samples; methods must be compared before they are timed; rows have the project's JSON format; the program has one
/// dependency less.

namespace quadrat::bench {

/// Milliseconds between two moments of a context's stream.
template <typename Context>
class stopwatch;

template <>
class stopwatch<cpu_context> {
 public:
  explicit stopwatch(const cpu_context&) {}
  void start() { begin_ = clock::now(); }
  [[nodiscard]] double stop_ms() const {
    return std::chrono::duration<double, std::milli>(clock::now() - begin_).count();
  }

 private:
  using clock = std::chrono::steady_clock;
  clock::time_point begin_ = clock::now();
};

/// Measured by two events of the device.
template <>
class stopwatch<cuda_context> {
 public:
  explicit stopwatch(const cuda_context& context);
  ~stopwatch();
  stopwatch(const stopwatch&) = delete;
  stopwatch& operator=(const stopwatch&) = delete;
  void start();
  /// Waits.
  [[nodiscard]] double stop_ms();

 private:
  struct events;
  std::unique_ptr<events> events_;
};

/// Times `work`, which runs or enqueues one repetition on the context and allocates nothing after its first run. CPU:
/// one call to warm up, then one call per sample.
[[nodiscard]] timing time_repeated(const cpu_context& context, const timing_plan& plan,
                                   const std::function<void()>& work);
/// CUDA: after one call, captures up to 10 repetitions in one graph (fewer if one takes milliseconds). A sample is one
/// replay between two events, without the cost of launching from the host. Caches are warm, as in a simulation, where
/// the previous step has just written what the build reads.
[[nodiscard]] timing time_repeated(const cuda_context& context, const timing_plan& plan,
                                   const std::function<void()>& work);

/// Versions of the CUDA runtime and driver as "13.0"; "" if there is none.
struct cuda_versions {
  std::string runtime;
  std::string driver;
};
[[nodiscard]] cuda_versions find_cuda_versions();

/// Keeps the device busy for some tenths of a second, until its clocks have ramped up.
void warm_up(const cpu_context& context);
void warm_up(const cuda_context& context);

}  // namespace quadrat::bench
