// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/distributed/nccl.hpp"

#include "quadrat/core/config.hpp"
#include "quadrat/core/error.hpp"

#if QUADRAT_HAS_CUDA && QUADRAT_HAS_NCCL

#include <dlfcn.h>
#include <nccl.h>

#include "core/cuda_check.hpp"

namespace quadrat {

namespace {

/// The functions of NCCL that are used; null if the library is missing.
struct nccl_functions {
  nccl_functions() {
    library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return;
    complete = find(unique_id, "ncclGetUniqueId") && find(create, "ncclCommInitRank") &&
               find(destroy, "ncclCommDestroy") && find(words, "ncclGetErrorString") &&
               find(group_start, "ncclGroupStart") && find(group_end, "ncclGroupEnd") && find(send, "ncclSend") &&
               find(receive, "ncclRecv");
  }

  template <typename Function>
  bool find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    return function != nullptr;
  }
  void check(ncclResult_t status, const char* action) const {
    if (status != ncclSuccess) throw backend_error(message("NCCL: ", action, ": ", words(status)));
  }

  void* library = nullptr;  ///< stays loaded
  bool complete = false;
  decltype(&ncclGetUniqueId) unique_id = nullptr;
  decltype(&ncclCommInitRank) create = nullptr;
  decltype(&ncclCommDestroy) destroy = nullptr;
  decltype(&ncclGetErrorString) words = nullptr;
  decltype(&ncclGroupStart) group_start = nullptr;
  decltype(&ncclGroupEnd) group_end = nullptr;
  decltype(&ncclSend) send = nullptr;
  decltype(&ncclRecv) receive = nullptr;
};

[[nodiscard]] const nccl_functions& nccl() {
  static const nccl_functions functions;
  return functions;
}

using detail::check_cuda;

class nccl_communicator final : public communicator {
 public:
  nccl_communicator(communicator& host, const cuda_context& context) : host_(host), context_(context) {
    ncclUniqueId id{};
    together(host_, [&] {
      if (!nccl().complete) throw backend_error("NCCL was not found (libnccl.so.2)");
      context_.activate();
      if (host_.rank() == 0) nccl().check(nccl().unique_id(&id), "making an id");
    });
    id = all_values(host_, id)[0];
    together(host_, [&] {
      nccl().check(nccl().create(&comm_, host_.size(), id, host_.rank()), "joining the ranks");
      // High priority: messages do not wait for the rest of a large kernel.
      int lowest = 0, highest = 0;
      check_cuda(cudaDeviceGetStreamPriorityRange(&lowest, &highest), "asking for priorities of streams");
      check_cuda(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, highest), "making a stream");
      check_cuda(cudaEventCreateWithFlags(&packed_, cudaEventDisableTiming), "making an event");
      check_cuda(cudaEventCreateWithFlags(&arrived_, cudaEventDisableTiming), "making an event");
    });
  }
  ~nccl_communicator() override {
    if (arrived_ != nullptr) cudaEventDestroy(arrived_);
    if (packed_ != nullptr) cudaEventDestroy(packed_);
    if (stream_ != nullptr) cudaStreamDestroy(stream_);
    if (comm_ != nullptr) nccl().destroy(comm_);
  }
  nccl_communicator(const nccl_communicator&) = delete;
  nccl_communicator& operator=(const nccl_communicator&) = delete;

  [[nodiscard]] int rank() const override { return host_.rank(); }
  [[nodiscard]] int size() const override { return host_.size(); }
  [[nodiscard]] std::string name() const override { return "nccl"; }
  void barrier() override { host_.barrier(); }
  void all_gather(const void* mine, void* all, std::size_t bytes) override { host_.all_gather(mine, all, bytes); }
  std::unique_ptr<shared_file> open_shared(const std::string& path, const std::string& name) override {
    return host_.open_shared(path, name);
  }
  void all_to_all(const void* sent, void* received, std::size_t bytes) override {
    host_.all_to_all(sent, received, bytes);
  }
  void add_up(std::uint64_t* values, std::size_t number) override { host_.add_up(values, number); }
  void start(const cpu_context& context, std::span<const outgoing_message> sends,
             std::span<const incoming_message> receives) override {
    count(sends);
    host_.start(context, sends, receives);
  }
  void finish(const cpu_context& context) override { host_.finish(context); }

  void start(const cuda_context& context, std::span<const outgoing_message> sends,
             std::span<const incoming_message> receives) override {
    count(sends);
    context.activate();
    check_cuda(cudaEventRecord(packed_, context.stream()), "recording an event");
    check_cuda(cudaStreamWaitEvent(stream_, packed_, 0), "waiting for an event");
    nccl().check(nccl().group_start(), "starting an exchange");
    for (const outgoing_message& one : sends) {
      nccl().check(nccl().send(one.data, one.bytes, ncclInt8, one.to, comm_, stream_), "sending");
    }
    for (const incoming_message& one : receives) {
      nccl().check(nccl().receive(one.data, one.bytes, ncclInt8, one.from, comm_, stream_), "receiving");
    }
    nccl().check(nccl().group_end(), "exchanging messages");
    check_cuda(cudaEventRecord(arrived_, stream_), "recording an event");
  }
  void finish(const cuda_context& context) override {
    context.activate();
    check_cuda(cudaStreamWaitEvent(context.stream(), arrived_, 0), "waiting for an event");
  }

 private:
  communicator& host_;
  cuda_context context_;
  ncclComm_t comm_ = nullptr;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t packed_ = nullptr;
  cudaEvent_t arrived_ = nullptr;
};

}  // namespace

bool nccl_is_there() { return nccl().complete; }

std::unique_ptr<communicator> make_nccl_communicator(communicator& host, const cuda_context& context) {
  return std::make_unique<nccl_communicator>(host, context);
}

}  // namespace quadrat

#else

namespace quadrat {

bool nccl_is_there() { return false; }

std::unique_ptr<communicator> make_nccl_communicator(communicator&, const cuda_context&) {
  throw backend_error("this build of quadrat does not know NCCL; configure it where nvcc and nccl.h are found");
}

}  // namespace quadrat

#endif
