// SPDX-License-Identifier: BSD-3-Clause
#include "distributed/device_parcels.hpp"

#include "quadrat/core/config.hpp"

#if QUADRAT_HAS_CUDA
#include "core/cuda_check.hpp"
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

void wait_for_event(const cuda_context& context, void* event) {
  context.activate();
  check_cuda(cudaStreamWaitEvent(context.stream(), static_cast<cudaEvent_t>(event), 0), "waiting for an event");
}

}  // namespace

parcel::~parcel() {
  if (ready != nullptr) cudaEventDestroy(static_cast<cudaEvent_t>(ready));
  if (copied != nullptr) cudaEventDestroy(static_cast<cudaEvent_t>(copied));
}

void mark_ready(const cuda_context& context, parcel& one) {
  one.device = context.device();
  one.ready = recorded_event(context);
}

void take_parcel(const cuda_context& context, parcel& one, void* to) {
  wait_for_event(context, one.ready);
  check_cuda(cudaMemcpyPeerAsync(to, context.device(), one.data, one.device, one.bytes, context.stream()),
             "copying between ranks");
  one.copied = recorded_event(context);
}

void wait_until_copied(const cuda_context& context, const parcel& one) { wait_for_event(context, one.copied); }

#else

parcel::~parcel() = default;
void mark_ready(const cuda_context& context, parcel&) { context.activate(); }
void take_parcel(const cuda_context& context, parcel&, void*) { context.activate(); }
void wait_until_copied(const cuda_context& context, const parcel&) { context.activate(); }

#endif

}  // namespace quadrat::detail
