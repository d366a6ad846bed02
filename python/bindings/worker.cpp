// SPDX-License-Identifier: BSD-3-Clause
#include "worker.hpp"

#include <mutex>
#include <utility>
#include <vector>

#include "interruption.hpp"
#include "own_process.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::python {

namespace {

/// Throws backend_error in a process forked from one that has used CUDA, which does not work there.
void require_process_of_gpu() {
  if (in_own_process<gpu_of_process>()) return;
  throw backend_error(
      "this process was forked from one that has used a GPU, which then cannot be used here; start processes with "
      "the method 'spawn'");
}

/// The contexts that no worker uses.
class context_pool {
 public:
  static quadrat_context* take(const place& where) {
    if (where.device >= 0) require_process_of_gpu();
    context_pool& pool = instance();
    {
      const std::lock_guard<std::mutex> lock(pool.mutex_);
      for (std::size_t k = pool.free_.size(); k-- > 0;) {
        if (pool.free_[k].first != where) continue;
        quadrat_context* const found = pool.free_[k].second;
        pool.free_.erase(pool.free_.begin() + static_cast<std::ptrdiff_t>(k));
        return found;
      }
    }
    return make(where);
  }
  static void give_back(const place& where, quadrat_context* context) {
    context_pool& pool = instance();
    const std::lock_guard<std::mutex> lock(pool.mutex_);
    pool.free_.emplace_back(where, context);
  }

 private:
  /// Never destroyed: the driver may be gone by then.
  static context_pool& instance() {
    static auto* const pool = new context_pool;
    return *pool;
  }
  static quadrat_context* make(const place& where) {
    auto options = sized<quadrat_context_options>();
    options.threads = where.threads;
    options.determinism = where.level;
    if (where.device < 0) {
      heed_interruption(options);
    } else {
      options.device = QUADRAT_CUDA;
      options.cuda_device = where.device;
    }
    quadrat_context* made = nullptr;
    check(*where.library, where.library->context_create(&options, &made));
    return made;
  }

  std::mutex mutex_;
  std::vector<std::pair<place, quadrat_context*>> free_;
};

/// The threads of a CPU context; a GPU context needs one host thread.
[[nodiscard]] int threads_of(const place& where) {
  if (where.device >= 0) return 1;
  require_own_threads(where.threads);
  return cpu_context({where.threads}).threads();
}

}  // namespace

lent_context::lent_context(const place& where) : where_(where) {
  if (where_.device >= 0) where_.threads = 0;
  context_ = context_pool::take(where_);
}
lent_context::~lent_context() { context_pool::give_back(where_, context_); }

worker::worker(const place& where, bool can_be_captured)
    : where_(where), can_be_captured_(can_be_captured), threads_(threads_of(where)), context_(where) {}

device_memory::device_memory(const place& where, std::size_t bytes) : where_(where) {
  worker(where_).on_context(&c_functions::allocate, bytes, &memory_);
}
device_memory::~device_memory() {
  try {
    worker(where_).on_context(&c_functions::free, memory_);
  } catch (...) {  // a device that has failed, or is another process's, frees nothing
  }
}

std::uintptr_t worker::stream() const {
  void* found = nullptr;
  check(library(), library().context_stream(context_, &found));
  return reinterpret_cast<std::uintptr_t>(found);
}

void worker::wait_for(std::uintptr_t other) {
  if (where_.device < 0) return;
  void* const producer = reinterpret_cast<void*>(other);  // NOLINT(performance-no-int-to-ptr)
  int captured = 0;
  check(library(), library().stream_is_captured(context_, producer, &captured));
  captured_by_ = captured != 0 ? producer : nullptr;
  if (!can_be_captured_) refuse_capture();
  awaited_ = producer;
}

void worker::refuse_capture() const {
  require(!captured(),
          "this call waits for its results, so it cannot be captured in a CUDA graph; SpreadPlan, Nufft "
          "and, for lists with a capacity, quadrat.torch.CapturedLists can");
}

void worker::finish() {
  if (!captured()) return synchronize();
  on_context(&c_functions::context_signal, captured_by_);
}

void worker::begin() {
  if (where_.device < 0) return require_own_threads(threads_);
  if (!awaited_) return;
  void* const producer = *std::exchange(awaited_, std::nullopt);
  check(library(), library().context_wait_for(context_, producer));
}

}  // namespace quadrat::python
