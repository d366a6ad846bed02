// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "quadrat/core/types.hpp"

// The CUDA runtime's own stream type, declared here so that no header needs the toolkit.
struct CUstream_st;

namespace quadrat {

/// A CUDA stream, as `cudaStream_t`.
using cuda_stream = CUstream_st*;

/// Where a context takes its memory from. Implementations may be stream-ordered: memory is used on `stream` only, and
/// `deallocate` is called when all work that uses it has been enqueued there. Alignment is at least 64 bytes.
class memory_resource {
 public:
  virtual ~memory_resource() = default;
  /// Throws std::bad_alloc (host_memory: out_of_memory) or backend_error when the allocation fails.
  [[nodiscard]] virtual void* allocate(std::size_t bytes, cuda_stream stream) = 0;
  virtual void deallocate(void* memory, std::size_t bytes, cuda_stream stream) noexcept = 0;
  /// About how many bytes could be allocated now; the largest number where that is not known.
  [[nodiscard]] virtual std::size_t available_bytes() const { return ~std::size_t{0}; }
};

/// Aligned host memory.
[[nodiscard]] memory_resource& host_memory();

/// Work runs on the CPU with OpenMP, in the calling thread's own team. Cheap to copy. All work is complete when a call
/// returns. Several host threads may use the library, each with its own context.
class cpu_context {
 public:
  /// More than the largest machine has. A limit is needed because OpenMP ends the process when it cannot start a
  /// thread.
  static constexpr int most_threads = 4096;

  struct options {
    int threads = 0;  ///< 0 means OpenMP's default
    determinism reproducibility = determinism::none;
    memory_resource* memory = nullptr;  ///< the caller's; nullptr means host_memory(). Must outlive all arrays.
  };

  cpu_context() : cpu_context(options{}) {}
  /// Throws argument_error for a number of threads that is negative or above `most_threads`.
  explicit cpu_context(const options& chosen);

  [[nodiscard]] int threads() const { return threads_; }
  [[nodiscard]] determinism reproducibility() const { return reproducibility_; }
  [[nodiscard]] memory_resource& memory() const { return *memory_; }
  [[nodiscard]] cuda_stream stream() const { return nullptr; }
  void synchronize() const {}

 private:
  int threads_;
  determinism reproducibility_;
  memory_resource* memory_;
};

/// Work runs on one NVIDIA GPU, asynchronously on one stream. Cheap to copy: copies share the stream, which lives as
/// long as the last copy. Calls that wait for the stream say so.
class cuda_context {
 public:
  struct options {
    int device = 0;
    cuda_stream stream = nullptr;  ///< the caller's, which must stay alive; nullptr makes one
    determinism reproducibility = determinism::none;
    memory_resource* memory = nullptr;  ///< the caller's; nullptr means a stream-ordered pool of the device
  };

  cuda_context() : cuda_context(options{}) {}
  /// Throws backend_error when this build has no CUDA backend, or the machine has no such device.
  explicit cuda_context(const options& chosen);

  [[nodiscard]] int device() const;
  [[nodiscard]] int multiprocessors() const;
  [[nodiscard]] determinism reproducibility() const { return reproducibility_; }
  [[nodiscard]] memory_resource& memory() const;
  [[nodiscard]] cuda_stream stream() const;
  /// Makes the device current for the calling host thread. Required before work is launched there.
  void activate() const;
  /// Waits for all work of the stream. Throws backend_error when some of it failed.
  void synchronize() const;

 private:
  struct shared_state;
  std::shared_ptr<shared_state> state_;
  determinism reproducibility_;
};

/// A device that could carry a context.
struct device_description {
  int index;
  std::string name;
  std::size_t memory_bytes;
  int multiprocessors;
  int compute_capability;  ///< 90 for 9.0
};

/// The CUDA devices of this machine; empty when there is none or this build has no CUDA backend.
[[nodiscard]] std::vector<device_description> cuda_devices();

}  // namespace quadrat
