// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/core/array.hpp"
#include "quadrat/core/config.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/core/error.hpp"

#if QUADRAT_HAS_CUDA
#include "core/cuda_check.hpp"
#include "core/device_pool.hpp"
#endif

namespace quadrat {

#if QUADRAT_HAS_CUDA

using detail::check_cuda;

namespace {

/// Makes a device current for a scope, then restores the previous one.
class device_scope {
 public:
  explicit device_scope(int device) {
    check_cuda(cudaGetDevice(&former_), "asking for the current device");
    if (device != former_) check_cuda(cudaSetDevice(device), "choosing a device");
  }
  ~device_scope() { cudaSetDevice(former_); }
  device_scope(const device_scope&) = delete;
  device_scope& operator=(const device_scope&) = delete;

 private:
  int former_ = 0;
};

}  // namespace

namespace detail {

device_pool::device_pool(int device) : device_(device) {
  check_cuda(cudaDeviceGetDefaultMemPool(&pool_, device), "finding the memory pool");
  std::uint64_t keep_all = ~std::uint64_t{0};
  check_cuda(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &keep_all), "setting up the pool");
}

void* device_pool::allocate(std::size_t bytes, cuda_stream stream) {
  void* memory = nullptr;
  const cudaError_t status = cudaMallocFromPoolAsync(&memory, bytes, pool_, stream);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    throw backend_error(
        message("CUDA: out of memory: ", bytes, " bytes were asked for; ", available_bytes(), " are free"));
  }
  check_cuda(status, "allocating memory");
  return memory;
}

void device_pool::deallocate(void* memory, std::size_t /*bytes*/, cuda_stream stream) noexcept {
  cudaFreeAsync(memory, stream);
}

std::size_t device_pool::available_bytes() const {
  const device_scope scope(device_);
  std::size_t free = 0, total = 0;
  check_cuda(cudaMemGetInfo(&free, &total), "asking for free memory");
  std::uint64_t reserved = 0, used = 0;
  check_cuda(cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrReservedMemCurrent, &reserved), "asking the memory pool");
  check_cuda(cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrUsedMemCurrent, &used), "asking the memory pool");
  return free + (reserved - used);
}

void device_pool::open_to(int other) const {
  cudaMemAccessDesc access{};
  access.location.type = cudaMemLocationTypeDevice;
  access.location.id = other;
  access.flags = cudaMemAccessFlagsProtReadWrite;
  check_cuda(cudaMemPoolSetAccess(pool_, &access, 1), "opening the memory pool to another device");
}

}  // namespace detail

struct cuda_context::shared_state {
  explicit shared_state(const options& chosen) : device(chosen.device), pool(chosen.device), memory(chosen.memory) {
    const device_scope scope(device);
    check_cuda(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device), "asking the device");
    owns_stream = chosen.stream == nullptr;
    stream = chosen.stream;
    if (owns_stream) check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
    if (memory == nullptr) memory = &pool;
  }
  ~shared_state() {
    if (owns_stream) cudaStreamDestroy(stream);
  }
  shared_state(const shared_state&) = delete;
  shared_state& operator=(const shared_state&) = delete;

  int device;
  int multiprocessors = 0;
  bool owns_stream = false;
  cudaStream_t stream = nullptr;
  detail::device_pool pool;
  memory_resource* memory;
};

cuda_context::cuda_context(const options& chosen) : reproducibility_(chosen.reproducibility) {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    cudaGetLastError();
    count = 0;
  }
  if (count == 0) throw backend_error("CUDA: no device was found on this machine; use the CPU");
  require(chosen.device >= 0 && chosen.device < count, "CUDA device ", chosen.device, " does not exist; there ",
          count == 1 ? "is " : "are ", count, ", numbered from 0");
  check_cuda(cudaSetDevice(chosen.device), "choosing a device");
  state_ = std::make_shared<shared_state>(chosen);
}

int cuda_context::device() const { return state_->device; }
int cuda_context::multiprocessors() const { return state_->multiprocessors; }
memory_resource& cuda_context::memory() const { return *state_->memory; }
cuda_stream cuda_context::stream() const { return state_->stream; }
void cuda_context::activate() const { check_cuda(cudaSetDevice(state_->device), "choosing a device"); }
void cuda_context::synchronize() const { check_cuda(cudaStreamSynchronize(state_->stream), "waiting for the device"); }

std::vector<device_description> cuda_devices() {
  std::vector<device_description> result;
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    cudaGetLastError();
    return result;
  }
  for (int device = 0; device < count; ++device) {
    cudaDeviceProp properties{};
    check_cuda(cudaGetDeviceProperties(&properties, device), "asking a device for its properties");
    result.push_back({device, properties.name, properties.totalGlobalMem, properties.multiProcessorCount,
                      properties.major * 10 + properties.minor});
  }
  return result;
}

// The current device must have access to the memory, whatever the stream's device.
void copy_bytes(const cuda_context& context, const void* from, void* to, std::size_t bytes) {
  if (bytes == 0) return;
  context.activate();
  check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, context.stream()), "copying");
}

void fill_bytes(const cuda_context& context, void* to, unsigned char value, std::size_t bytes) {
  if (bytes == 0) return;
  context.activate();
  check_cuda(cudaMemsetAsync(to, value, bytes, context.stream()), "filling memory");
}

#else

namespace {
[[noreturn]] void no_backend() {
  throw backend_error("this build of quadrat has no CUDA backend; configure it where nvcc is found, or use the CPU");
}
}  // namespace

struct cuda_context::shared_state {};
cuda_context::cuda_context(const options& chosen) : reproducibility_(chosen.reproducibility) { no_backend(); }
int cuda_context::device() const { no_backend(); }
int cuda_context::multiprocessors() const { no_backend(); }
memory_resource& cuda_context::memory() const { no_backend(); }
cuda_stream cuda_context::stream() const { no_backend(); }
void cuda_context::activate() const { no_backend(); }
void cuda_context::synchronize() const { no_backend(); }
std::vector<device_description> cuda_devices() { return {}; }
void copy_bytes(const cuda_context&, const void*, void*, std::size_t) { no_backend(); }
void fill_bytes(const cuda_context&, void*, unsigned char, std::size_t) { no_backend(); }

#endif

}  // namespace quadrat
