// SPDX-License-Identifier: BSD-3-Clause
#include "distributed/ranks/device_parcels.hpp"

#include <map>
#include <mutex>
#include <utility>

#include "quadrat/core/config.hpp"

#if QUADRAT_HAS_CUDA
#include "core/cuda_check.hpp"
#include "core/device_pool.hpp"
#endif

namespace quadrat::detail {

#if QUADRAT_HAS_CUDA

namespace {

/// Records an event on the context's stream.
[[nodiscard]] void* recorded_event(const cuda_context& context) {
  context.activate();
  cudaEvent_t event = nullptr;
  check_cuda(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "making an event");
  const cudaError_t status = cudaEventRecord(event, context.stream());
  if (status != cudaSuccess) cudaEventDestroy(event);
  check_cuda(status, "recording an event");
  return event;
}

/// Gives `device` access to the memory of `other`.
[[nodiscard]] bool enable_peer(int device, int other) {
  int possible = 0;
  if (cudaDeviceCanAccessPeer(&possible, device, other) != cudaSuccess || possible == 0) {
    cudaGetLastError();
    return false;
  }
  check_cuda(cudaSetDevice(device), "choosing a device");
  const cudaError_t status = cudaDeviceEnablePeerAccess(other, 0);
  if (status != cudaSuccess) cudaGetLastError();
  return status == cudaSuccess || status == cudaErrorPeerAccessAlreadyEnabled;
}

}  // namespace

void wait_for_mark(const cuda_context& context, void* mark) {
  context.activate();
  check_cuda(cudaStreamWaitEvent(context.stream(), static_cast<cudaEvent_t>(mark), 0), "waiting for an event");
}

bool make_peers(int device, int other) {
  if (device == other) return true;
  static std::mutex mutex;
  static std::map<std::pair<int, int>, bool> known;
  const std::lock_guard lock(mutex);
  const auto [found, is_new] = known.try_emplace({device, other}, false);
  if (is_new) {
    found->second = enable_peer(device, other) && enable_peer(other, device);
    if (found->second) {
      device_pool(device).open_to(other);
      device_pool(other).open_to(device);
    }
  }
  return found->second;
}

bool open_memory(const cuda_context& context, int device) {
  const bool peers = make_peers(device, context.device());
  context.activate();
  return peers && dynamic_cast<const device_pool*>(&context.memory()) != nullptr;
}

device_flag::~device_flag() {
  if (word_ == nullptr) return;
  for (const int device : devices_) {
    if (cudaSetDevice(device) == cudaSuccess) cudaDeviceSynchronize();
  }
  cudaFreeHost(word_);
}

std::uint32_t* device_flag::open_to(const cuda_context& context) {
  context.activate();
  if (word_ == nullptr) {
    void* memory = nullptr;
    check_cuda(cudaHostAlloc(&memory, sizeof(std::uint32_t), cudaHostAllocPortable | cudaHostAllocMapped),
               "allocating page-locked memory");
    word_ = static_cast<std::uint32_t*>(memory);
    *word_ = is_set_ ? 1 : 0;
  }
  devices_.insert(context.device());
  return word_;
}

void device_flag::set() {
  is_set_ = true;
  if (word_ != nullptr) std::atomic_ref(*word_).store(1);
}

void stream_marks::set(const cuda_context& context) {
  turn_ = 1 - turn_;
  context.activate();
  if (events_[turn_] == nullptr) {
    cudaEvent_t event = nullptr;
    check_cuda(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "making an event");
    events_[turn_] = std::shared_ptr<void>(event, [](void* one) { cudaEventDestroy(static_cast<cudaEvent_t>(one)); });
  }
  check_cuda(cudaEventRecord(static_cast<cudaEvent_t>(last()), context.stream()), "recording an event");
}

parcel::~parcel() {
  if (ready != nullptr) cudaEventDestroy(static_cast<cudaEvent_t>(ready));
  if (copied != nullptr) cudaEventDestroy(static_cast<cudaEvent_t>(copied));
}

void mark_ready(const cuda_context& context, parcel& one) {
  one.device = context.device();
  one.ready = recorded_event(context);
}

void take_parcel(const cuda_context& context, parcel& one, void* to) {
  make_peers(context.device(), one.device);
  wait_for_mark(context, one.ready);
  check_cuda(cudaMemcpyPeerAsync(to, context.device(), one.data, one.device, one.bytes, context.stream()),
             "copying between ranks");
  one.copied = recorded_event(context);
}

void wait_until_copied(const cuda_context& context, const parcel& one) { wait_for_mark(context, one.copied); }

#else

parcel::~parcel() = default;
void mark_ready(const cuda_context& context, parcel&) { context.activate(); }
void take_parcel(const cuda_context& context, parcel&, void*) { context.activate(); }
void wait_until_copied(const cuda_context& context, const parcel&) { context.activate(); }
void wait_for_mark(const cuda_context& context, void*) { context.activate(); }
bool make_peers(int, int) { return false; }
bool open_memory(const cuda_context&, int) { return false; }
device_flag::~device_flag() = default;
std::uint32_t* device_flag::open_to(const cuda_context&) { return word_; }
void device_flag::set() { is_set_ = true; }
void stream_marks::set(const cuda_context& context) { context.activate(); }

#endif

}  // namespace quadrat::detail
