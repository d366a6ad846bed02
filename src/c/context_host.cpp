// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>
#include <cstdio>
#include <exception>
#include <new>

#include "c/arrays.hpp"
#include "c/entry.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/config.hpp"

#if QUADRAT_HAS_CUDA
#include "core/cuda_check.hpp"
#endif

namespace quadrat::c {

namespace {

/// The last error of a thread, stored in place, because there may be no memory for its text.
struct kept_error {
  char text[2048];
  std::int64_t number;
};
thread_local kept_error last_error{"", -1};

int keep(int code, const char* text, std::int64_t number = -1) noexcept {
  std::snprintf(last_error.text, sizeof(last_error.text), "%s", text);
  last_error.number = number;
  return code;
}

}  // namespace

int keep_error() noexcept {
  try {
    throw;
  } catch (const argument_error& e) {
    return keep(QUADRAT_ARGUMENT_ERROR, e.what());
  } catch (const data_error& e) {
    return keep(QUADRAT_DATA_ERROR, e.what(), e.index() ? static_cast<std::int64_t>(*e.index()) : -1);
  } catch (const overflow_error& e) {
    return keep(QUADRAT_OVERFLOW_ERROR, e.what(), static_cast<std::int64_t>(e.needed()));
  } catch (const backend_error& e) {
    return keep(QUADRAT_BACKEND_ERROR, e.what());
  } catch (const out_of_memory& e) {
    return keep(QUADRAT_MEMORY_ERROR, e.what());
  } catch (const std::bad_alloc&) {
    return keep(QUADRAT_MEMORY_ERROR, "out of memory");
  } catch (const std::exception& e) {
    return keep(QUADRAT_INTERNAL_ERROR, e.what());
  } catch (...) {
    return keep(QUADRAT_INTERNAL_ERROR, "an unknown error");
  }
}

#if QUADRAT_HAS_CUDA

using detail::check_cuda;

current_device::current_device(int device) {
  if (device < 0) return;
  check_cuda(cudaGetDevice(&former_), "asking for the current device");
  if (former_ != device) check_cuda(cudaSetDevice(device), "choosing a device");
}
current_device::~current_device() {
  if (former_ >= 0) cudaSetDevice(former_);
}

void require_here(const cuda_context& context, const void* memory, const char* name) {
  if (memory == nullptr) return;
  cudaPointerAttributes found{};
  check_cuda(cudaPointerGetAttributes(&found, memory), "asking where memory is");
  if (found.type != cudaMemoryTypeUnregistered) return;
  int reachable = 0;
  check_cuda(cudaDeviceGetAttribute(&reachable, cudaDevAttrPageableMemoryAccess, context.device()),
             "asking which memory a device reaches");
  require(reachable != 0, name, " is in memory of the host; the context works on CUDA device ", context.device(),
          ", and needs memory that it reaches (quadrat_allocate, quadrat_copy)");
}

namespace {

/// The current device of the thread; -1 if there is none.
int device_of_thread() {
  int device = -1;
  if (cudaGetDevice(&device) == cudaSuccess) return device;
  cudaGetLastError();
  return -1;
}

/// Later work of `later` waits for the work that `earlier` has now.
void order(const cuda_context& /*context*/, cudaStream_t earlier, cudaStream_t later) {
  cudaEvent_t event = nullptr;
  check_cuda(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "making an event");
  cudaError_t status = cudaEventRecord(event, earlier);
  if (status == cudaSuccess) status = cudaStreamWaitEvent(later, event, 0);
  cudaEventDestroy(event);
  check_cuda(status, "waiting for another stream");
}

bool is_captured(const cuda_context& /*context*/, cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  if (stream == nullptr) return false;  // the legacy stream cannot be captured
  check_cuda(cudaStreamIsCapturing(stream, &status), "asking whether a stream is captured");
  return status != cudaStreamCaptureStatusNone;
}

void* allocate(const cuda_context& /*context*/, std::size_t bytes) {
  void* memory = nullptr;
  if (cudaMalloc(&memory, std::max<std::size_t>(bytes, 1)) == cudaSuccess) return memory;
  cudaGetLastError();
  throw std::bad_alloc();
}

void deallocate(const cuda_context& context, void* memory) {
  context.synchronize();
  check_cuda(cudaFree(memory), "freeing memory");
}

}  // namespace

#else

current_device::current_device(int /*device*/) {}
current_device::~current_device() = default;

#endif

namespace {

#if !QUADRAT_HAS_CUDA
int device_of_thread() { return -1; }
#endif

void order(const cpu_context& /*context*/, cuda_stream /*earlier*/, cuda_stream /*later*/) {}
bool is_captured(const cpu_context& /*context*/, cuda_stream /*stream*/) { return false; }
void* allocate(const cpu_context& /*context*/, std::size_t bytes) { return host_memory().allocate(bytes, nullptr); }
void deallocate(const cpu_context& /*context*/, void* memory) { host_memory().deallocate(memory, 0, nullptr); }

/// Adapts the caller's memory functions to memory_resource.
class callers_memory final : public memory_resource {
 public:
  explicit callers_memory(const quadrat_context_options& options) : options_(options) {}
  void* allocate(std::size_t bytes, cuda_stream stream) override {
    void* const memory = options_.allocate(options_.user, bytes, stream);
    if (memory == nullptr) throw out_of_memory(bytes, available_bytes());
    if (reinterpret_cast<std::uintptr_t>(memory) % 64 == 0) return memory;
    options_.deallocate(options_.user, memory, bytes, stream);
    throw argument_error("memory that `allocate` of the context gave is not aligned to 64 bytes");
  }
  void deallocate(void* memory, std::size_t bytes, cuda_stream stream) noexcept override {
    options_.deallocate(options_.user, memory, bytes, stream);
  }
  [[nodiscard]] std::size_t available_bytes() const override {
    return options_.available == nullptr ? memory_resource::available_bytes() : options_.available(options_.user);
  }

 private:
  quadrat_context_options options_;
};

[[nodiscard]] std::unique_ptr<quadrat_context> make_context(const quadrat_context_options& given) {
  auto result = std::make_unique<quadrat_context>();
  const determinism level = numbered(given.determinism, determinism::canonical, "determinism");
  require((given.allocate == nullptr) == (given.deallocate == nullptr), "allocate and deallocate need each other");
  if (given.allocate != nullptr) result->memory = std::make_shared<callers_memory>(given);
  if (numbered(given.device, QUADRAT_CUDA, "device") == QUADRAT_CPU) {
    require(given.stream == nullptr, "a stream is given, but the context is one of the CPU");
    result->cpu = cpu_context({given.threads, level, result->memory.get()});
    return result;
  }
  result->device = given.cuda_device;
  const current_device scope(device_of_thread());  // the context chooses its own, and says what is wrong with it
  result->cuda.emplace(
      cuda_context::options{given.cuda_device, static_cast<cuda_stream>(given.stream), level, result->memory.get()});
  return result;
}

}  // namespace

extern "C" {

const char* quadrat_version(void) { return QUADRAT_VERSION; }
const char* quadrat_error_message(void) { return last_error.text; }
int64_t quadrat_error_number(void) { return last_error.number; }

int quadrat_cuda_device_count(int* count) {
  return guarded([&] {
    require(count != nullptr, "the pointer to the count is null");
    *count = static_cast<int>(cuda_devices().size());
  });
}

int quadrat_context_create(const quadrat_context_options* options, quadrat_context** context) {
  if (context != nullptr) *context = nullptr;
  return guarded([&] {
    require(context != nullptr, "the pointer to the new handle is null");
    quadrat_context_options wanted{};
    if (options != nullptr) wanted = taken(options, offsetof(quadrat_context_options, threads), "options");
    *context = make_context(wanted).release();
  });
}

void quadrat_context_destroy(quadrat_context* context) { destroy(context); }

int quadrat_context_stream(quadrat_context* context, void** stream) {
  return with(context, [&](quadrat_context& home) {
    require(stream != nullptr, "the pointer to the stream is null");
    *stream = home.on([](const auto& backend) -> void* { return backend.stream(); });
  });
}

int quadrat_context_synchronize(quadrat_context* context) {
  return with(context, [](quadrat_context& home) { home.on([](const auto& backend) { backend.synchronize(); }); });
}

int quadrat_context_wait_for(quadrat_context* context, void* stream) {
  return with(context, [&](quadrat_context& home) {
    home.on([&](const auto& backend) { order(backend, static_cast<cuda_stream>(stream), backend.stream()); });
  });
}

int quadrat_context_signal(quadrat_context* context, void* stream) {
  return with(context, [&](quadrat_context& home) {
    home.on([&](const auto& backend) { order(backend, backend.stream(), static_cast<cuda_stream>(stream)); });
  });
}

int quadrat_stream_is_captured(quadrat_context* context, void* stream, int* captured) {
  return with(context, [&](quadrat_context& home) {
    require(captured != nullptr, "the pointer to the answer is null");
    *captured = home.on([&](const auto& backend) { return is_captured(backend, static_cast<cuda_stream>(stream)); });
  });
}

int quadrat_allocate(quadrat_context* context, size_t bytes, void** memory) {
  if (memory != nullptr) *memory = nullptr;
  return with(context, [&](quadrat_context& home) {
    require(memory != nullptr, "the pointer to the new memory is null");
    *memory = home.on([&](const auto& backend) { return allocate(backend, bytes); });
  });
}

int quadrat_free(quadrat_context* context, void* memory) {
  return with(context, [&](quadrat_context& home) {
    if (memory != nullptr) home.on([&](const auto& backend) { deallocate(backend, memory); });
  });
}

int quadrat_copy(quadrat_context* context, const void* from, void* to, size_t bytes) {
  return with(context, [&](quadrat_context& home) {
    require_given(from, bytes, "from");
    require_given(to, bytes, "to");
    home.on([&](const auto& backend) {
      copy_bytes(backend, from, to, bytes);
      backend.synchronize();
    });
  });
}

}  // extern "C"

}  // namespace quadrat::c
