// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "quadrat/core/context.hpp"
#include "quadrat/distributed/communicator.hpp"

/// Ranks whose kernels write into each other's memory, over NVLink or PCI Express: threads of one process, on one
/// device or on devices that are peers. A message is then what a kernel writes between two marks of the streams,
/// without staging memory; no thread waits for a device.
namespace quadrat::detail {

class direct_ranks {
 public:
  direct_ranks() = default;
  direct_ranks(const direct_ranks&) = delete;
  direct_ranks& operator=(const direct_ranks&) = delete;
  virtual ~direct_ranks() = default;

  /// Whether kernels of each rank can write to what the contexts of all allocate: the same on all ranks. Not for memory
  /// of a resource that is not the library's own. Collective.
  [[nodiscard]] virtual bool reach(const cuda_context& context) = 0;
  /// Marks the place that the stream has come to.
  virtual void mark(const cuda_context& context) = 0;
  /// Later work of the stream waits for the streams of some ranks to pass their last marks: those that this rank will
  /// write to, or those that have written to it. Gathers `bytes` of host memory of all on the way, as
  /// communicator::all_gather. Each call follows one of `mark`. Collective.
  virtual void pass_marks(const cuda_context& context, std::span<const int> whose, const void* mine, void* all,
                          std::size_t bytes) = 0;
  /// The same for all ranks.
  void pass_marks(const cuda_context& context, const void* mine, void* all, std::size_t bytes) {
    pass_marks(context, others(), mine, all, bytes);
  }
  /// All ranks but this one.
  [[nodiscard]] virtual std::span<const int> others() const = 0;
  /// Memory of the host that kernels of all ranks can read: not 0 when a rank has failed. nullptr where ranks share a
  /// device, on which a kernel that waits for one of another rank may keep that from running, and where
  /// CUDA_LAUNCH_BLOCKING is set. After `reach`.
  [[nodiscard]] virtual const std::uint32_t* stop_flag() const = 0;
  /// Adds what kernels have written to other ranks to communicator::bytes_sent.
  virtual void count_written(std::size_t bytes) = 0;
};

/// The ranks of a communicator as such, or nullptr where they cannot. Collective.
[[nodiscard]] inline direct_ranks* find_direct_ranks(communicator& ranks, const cuda_context& context) {
  auto* const direct = dynamic_cast<direct_ranks*>(&ranks);
  return direct != nullptr && direct->reach(context) ? direct : nullptr;
}
[[nodiscard]] inline direct_ranks* find_direct_ranks(communicator&, const cpu_context&) { return nullptr; }

}  // namespace quadrat::detail
