// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "interface.hpp"
#include "own_process.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/core/lattice.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/views.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/reduce.hpp"

#if defined(__CUDACC__)
#include <cuda_runtime_api.h>
#endif

/// What all workers share. These sources are dual: compiled for the CPU, and by nvcc for CUDA.
namespace quadrat::python {

#if QUADRAT_BACKEND_CUDA
using built_context = cuda_context;
#else
using built_context = cpu_context;
#endif

/// The context of a worker, entered at the beginning of each call.
template <typename Context>
class home;

template <>
class home<cpu_context> {
 public:
  explicit home(const place& where) : context_(context_for(where)) {}
  [[nodiscard]] const cpu_context& context() const { return context_; }
  struct visit {};
  [[nodiscard]] visit enter() const {
    require_own_threads(context_.threads());
    return {};
  }
  void wait_for(std::uintptr_t /*stream*/, bool /*can_be_captured*/) {}
  [[nodiscard]] static bool captured() { return false; }
  void finish() {}

 private:
  static cpu_context context_for(const place& where) {
    require_own_threads(where.threads);
    cpu_context::options options;
    options.threads = where.threads;
#if !QUADRAT_BACKEND_CUDA
    options.memory = cpu_memory();
#endif
    options.reproducibility = where.level;
    return cpu_context(options);
  }
  cpu_context context_;
};

#if defined(__CUDACC__)

/// Contexts with streams of their own, lent to workers: making a stream takes longer than many calls.
class stream_pool {
 public:
  static cuda_context take(int device) {
    require_own_process();
    stream_pool& pool = instance();
    {
      const std::lock_guard<std::mutex> lock(pool.mutex_);
      for (std::size_t k = pool.free_.size(); k-- > 0;) {
        if (pool.free_[k].device() != device) continue;
        cuda_context found = std::move(pool.free_[k]);
        pool.free_.erase(pool.free_.begin() + static_cast<std::ptrdiff_t>(k));
        return found;
      }
    }
    cuda_context::options options;
    options.device = device;
    return cuda_context(options);
  }
  static void give_back(cuda_context&& context) {
    stream_pool& pool = instance();
    const std::lock_guard<std::mutex> lock(pool.mutex_);
    pool.free_.push_back(std::move(context));
  }

 private:
  /// Never destroyed: the driver may be gone by then.
  static stream_pool& instance() {
    static auto* const pool = new stream_pool;
    return *pool;
  }
  /// CUDA does not work in a process that was forked from one that has used it.
  static void require_own_process() {
    static std::atomic<pid_t> user{0};
    const pid_t self = getpid();
    pid_t first = 0;
    if (user.compare_exchange_strong(first, self) || first == self) return;
    throw backend_error(
        "this process was forked from one that has used a GPU, which then cannot be used here; start processes with "
        "the method 'spawn'");
  }

  std::mutex mutex_;
  std::vector<cuda_context> free_;
};

/// Makes a device current, and the caller's again at the end: other libraries of the process have one of their own.
class current_device {
 public:
  explicit current_device(int device) {
    if (cudaGetDevice(&former_) != cudaSuccess) former_ = device;
    if (former_ != device) cudaSetDevice(device);
    wanted_ = device;
  }
  ~current_device() {
    if (former_ != wanted_) cudaSetDevice(former_);
  }
  current_device(const current_device&) = delete;
  current_device& operator=(const current_device&) = delete;

 private:
  int former_ = 0;
  int wanted_ = 0;
};

template <>
class home<cuda_context> {
 public:
  explicit home(const place& where) : lent_(lend(where.device)) {
    if (where.level == determinism::none) return;
    const current_device scope(where.device);
    cuda_context::options options;
    options.device = where.device;
    options.stream = lent_->stream();
    options.reproducibility = where.level;
    strict_.emplace(options);
  }
  ~home() {
    if (event_ != nullptr) cudaEventDestroy(event_);
    stream_pool::give_back(std::move(*lent_));
  }
  home(const home&) = delete;
  home& operator=(const home&) = delete;

  [[nodiscard]] const cuda_context& context() const { return strict_ ? *strict_ : *lent_; }
  class visit {
   public:
    explicit visit(home& entered) : device_(entered.lent_->device()), home_(entered) { entered.await(); }
    ~visit() { home_.captured_by_ = nullptr; }  // also of a call that has failed
    visit(const visit&) = delete;
    visit& operator=(const visit&) = delete;

   private:
    current_device device_;
    home& home_;
  };
  [[nodiscard]] visit enter() { return visit(*this); }
  /// From the next `enter` on: once for all arrays of a call, results included.
  void wait_for(std::uintptr_t stream, bool can_be_captured) {
    const current_device scope(lent_->device());
    auto* const producer = reinterpret_cast<cudaStream_t>(stream);  // NOLINT(performance-no-int-to-ptr)
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    if (producer != nullptr) check(cudaStreamIsCapturing(producer, &status));  // the legacy stream cannot be captured
    const bool captured = status != cudaStreamCaptureStatusNone;
    require(!captured || can_be_captured,
            "this call waits for its results, so it cannot be captured in a CUDA graph; SpreadPlan and Nufft can");
    captured_by_ = captured ? producer : nullptr;
    awaited_ = producer;
  }
  /// Whether the current call is captured in a graph.
  [[nodiscard]] bool captured() const { return captured_by_ != nullptr; }
  /// The end of a call, after `enter`: when it returns, the work is done, or the stream that captures it waits for it.
  void finish() {
    if (!captured()) return context().synchronize();
    follow(captured_by_, lent_->stream());
  }

 private:
  static void check(cudaError_t status) {
    if (status == cudaSuccess) return;
    throw backend_error(message("CUDA: waiting for another stream: ", cudaGetErrorString(status)));
  }
  void await() {
    if (awaited_) follow(lent_->stream(), *std::exchange(awaited_, std::nullopt));
  }
  void follow(cudaStream_t later, cudaStream_t earlier) {
    if (event_ == nullptr) check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming));
    check(cudaEventRecord(event_, earlier));
    check(cudaStreamWaitEvent(later, event_, 0));
  }
  static cuda_context lend(int device) {
    const current_device scope(device);
    return stream_pool::take(device);
  }
  std::optional<cuda_context> lent_;
  std::optional<cuda_context> strict_;
  cudaEvent_t event_ = nullptr;
  cudaStream_t captured_by_ = nullptr;
  std::optional<cudaStream_t> awaited_;
};

#endif

/// A worker of an interface class, on a context. Members of derived classes are destroyed before the stream is lent on.
template <typename Interface, typename Context>
class worker_on : public Interface {
 public:
  explicit worker_on(const place& where) : home_(where) {}
  [[nodiscard]] std::uintptr_t stream() const final { return reinterpret_cast<std::uintptr_t>(context().stream()); }
  void synchronize() final {
    const auto visit = enter();
    static_cast<void>(visit);
    context().synchronize();
  }
  void wait_for(std::uintptr_t other) final { home_.wait_for(other, can_be_captured()); }

 protected:
  /// Whether calls end with `finish` and do not wait before.
  [[nodiscard]] virtual bool can_be_captured() const { return false; }
  [[nodiscard]] bool captured() const { return home_.captured(); }
  void finish() { home_.finish(); }
  [[nodiscard]] const Context& context() const { return home_.context(); }
  [[nodiscard]] auto enter() { return home_.enter(); }

 private:
  home<Context> home_;
};

template <typename T, int D>
[[nodiscard]] points_view<T, D> view_of(const points_given& points) {
  return strided_points<D>(static_cast<const T*>(points.data), points.count);
}

template <typename T, int D>
[[nodiscard]] std::vector<lattice<T, D>> lattices_of(const boxes_given& boxes) {
  std::vector<lattice<T, D>> result;
  result.reserve(boxes.count);
  const double* side = boxes.vectors.data();
  const double* corner = boxes.origins.data();
  const unsigned char* wrap = boxes.periodic.data();
  for (std::size_t s = 0; s < boxes.count; ++s) {
    vec<T, D> origin{};
    vec<vec<T, D>, D> sides{};
    vec<bool, D> wraps{};
    for (int a = 0; a < D; ++a) {
      origin[a] = static_cast<T>(*corner++);
      wraps[a] = *wrap++ != 0;
      for (int b = 0; b < D; ++b) sides[a][b] = static_cast<T>(*side++);
    }
    result.push_back(make_lattice(origin, sides, wraps));
  }
  return result;
}

/// Calls `call` with a value of the type, which must be one of those of `integers`.
template <typename Call>
auto with_integer_type(number type, const Call& call) {
  switch (type) {
    case number::int32:
      return call(std::int32_t{});
    case number::int64:
      return call(std::int64_t{});
    default:
      return call(std::uint32_t{});
  }
}

/// The index of an element that is no number from 0 below the largest uint32; the largest size_t for others.
template <typename Value>
struct no_index {
  const Value* values;
  QUADRAT_HD std::size_t operator()(std::size_t i) const {
    const auto value = static_cast<std::int64_t>(values[i]);
    return value < 0 || value >= std::int64_t{0xffffffff} ? i : ~std::size_t{0};
  }
};

template <typename Value>
struct as_index {
  const Value* values;
  std::uint32_t* to;
  QUADRAT_HD void operator()(std::size_t i) const { to[i] = static_cast<std::uint32_t>(values[i]); }
};

/// Integers by point as the library takes them.
template <typename Context>
class index_array {
 public:
  /// Null for none. Throws argument_error naming the first that is no index.
  const std::uint32_t* of(const Context& context, const integers& given) {
    if (given.data == nullptr) return nullptr;
    return with_integer_type(given.type, [&](auto type) { return converted<decltype(type)>(context, given); });
  }

 private:
  template <typename Value>
  const std::uint32_t* converted(const Context& context, const integers& given) {
    const auto* values = static_cast<const Value*>(given.data);
    constexpr std::size_t none = ~std::size_t{0};
    const std::size_t wrong = reduce(context, "python.check_indices", given.count, no_index<Value>{values},
                                     minimum_operation{}, none, scratch_);
    if (wrong != none) {
      const Value value = to_host(context, values + wrong, 1)[0];
      throw argument_error(message(given.name, "[", wrong, "] is ", value, "; numbers from 0 are accepted"));
    }
    converted_.resize_discarding(context, given.count);
    for_each(context, "python.indices", given.count, as_index<Value>{values, converted_.data()});
    return converted_.data();
  }

  array<std::uint32_t, Context> converted_;
  workspace<Context> scratch_;
};

}  // namespace quadrat::python
