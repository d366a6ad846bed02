// SPDX-License-Identifier: BSD-3-Clause
#include "harness/stopwatch.hpp"

#include <algorithm>
#include <cstddef>

#include "quadrat/core/array.hpp"
#include "quadrat/core/config.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/parallel/cuda_graph.hpp"

#if QUADRAT_HAS_CUDA
#include <cuda_runtime_api.h>
#endif

namespace quadrat::bench {

timing time_repeated(const cpu_context& context, const timing_plan& plan, const std::function<void()>& work) {
  work();
  stopwatch<cpu_context> watch(context);
  return repeat(plan, [&] {
    watch.start();
    work();
    return watch.stop_ms();
  });
}

void warm_up(const cpu_context&) {}

#if QUADRAT_HAS_CUDA

namespace {

void check_cuda(cudaError_t status, const char* action) {
  if (status != cudaSuccess) throw backend_error(message("CUDA: ", action, ": ", cudaGetErrorString(status)));
}

std::string version_text(int version) { return message(version / 1000, ".", version % 1000 / 10); }

}  // namespace

struct stopwatch<cuda_context>::events {
  explicit events(cudaStream_t on) : stream(on) {
    check_cuda(cudaEventCreate(&begin), "making an event");
    check_cuda(cudaEventCreate(&end), "making an event");
  }
  ~events() {
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
  }
  events(const events&) = delete;
  events& operator=(const events&) = delete;

  cudaStream_t stream;
  cudaEvent_t begin = nullptr;
  cudaEvent_t end = nullptr;
};

stopwatch<cuda_context>::stopwatch(const cuda_context& context) {
  context.activate();
  events_ = std::make_unique<events>(context.stream());
}
stopwatch<cuda_context>::~stopwatch() = default;

void stopwatch<cuda_context>::start() { check_cuda(cudaEventRecord(events_->begin, events_->stream), "recording"); }

double stopwatch<cuda_context>::stop_ms() {
  check_cuda(cudaEventRecord(events_->end, events_->stream), "recording");
  check_cuda(cudaEventSynchronize(events_->end), "waiting for the device");
  float elapsed = 0;
  check_cuda(cudaEventElapsedTime(&elapsed, events_->begin, events_->end), "reading the time");
  return static_cast<double>(elapsed);
}

timing time_repeated(const cuda_context& context, const timing_plan& plan, const std::function<void()>& work) {
  stopwatch<cuda_context> watch(context);
  work();  // allocates what it needs
  watch.start();
  work();
  const double once_ms = watch.stop_ms();
  const int repetitions = static_cast<int>(std::clamp(10 / std::max(once_ms, 1e-3), 1.0, 10.0));
  cuda_graph captured;
  captured.capture(context, [&] {
    for (int i = 0; i < repetitions; ++i) work();
  });
  captured.launch(context);
  return repeat(plan, [&] {
    watch.start();
    captured.launch(context);
    return watch.stop_ms() / repetitions;
  });
}

cuda_versions find_cuda_versions() {
  int runtime = 0;
  int driver = 0;
  if (cudaRuntimeGetVersion(&runtime) != cudaSuccess || cudaDriverGetVersion(&driver) != cudaSuccess) return {};
  return {version_text(runtime), version_text(driver)};
}

void warm_up(const cuda_context& context) {
  constexpr std::size_t bytes = std::size_t{1} << 28;
  constexpr double long_enough_ms = 300;
  array<unsigned char, cuda_context> memory(context, bytes);
  stopwatch<cuda_context> watch(context);
  for (double spent = 0; spent < long_enough_ms;) {
    watch.start();
    for (int i = 0; i < 50; ++i) fill_bytes(context, memory.data(), 1, bytes);
    spent += watch.stop_ms();
  }
}

#else

namespace {
[[noreturn]] void no_backend() { throw backend_error("this build has no CUDA backend"); }
}  // namespace

struct stopwatch<cuda_context>::events {};
stopwatch<cuda_context>::stopwatch(const cuda_context&) { no_backend(); }
stopwatch<cuda_context>::~stopwatch() = default;
void stopwatch<cuda_context>::start() { no_backend(); }
double stopwatch<cuda_context>::stop_ms() { no_backend(); }
timing time_repeated(const cuda_context&, const timing_plan&, const std::function<void()>&) { no_backend(); }
cuda_versions find_cuda_versions() { return {}; }
void warm_up(const cuda_context&) { no_backend(); }

#endif

}  // namespace quadrat::bench
