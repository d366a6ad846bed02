// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "quadrat/core/context.hpp"
#include "quadrat/distributed/communicator.hpp"

/// Ranks whose kernels write into each other's memory, over NVLink or PCI Express: threads of one process, on one
/// device or on peer devices. A message is then what a kernel writes between two marks of the streams. There is no
/// staging memory, and no thread waits for a device.
namespace quadrat::detail {

class direct_ranks {
 public:
  direct_ranks() = default;
  direct_ranks(const direct_ranks&) = delete;
  direct_ranks& operator=(const direct_ranks&) = delete;
  virtual ~direct_ranks() = default;

  /// Whether kernels of each rank can write to the memory that all contexts allocate; the same on all ranks. False for
  /// a memory resource that is not the library's own. Collective.
  [[nodiscard]] virtual bool reach(const cuda_context& context) = 0;
  /// Marks the present place in the stream.
  virtual void mark(const cuda_context& context) = 0;
  /// Makes later work of the stream wait until the streams of some ranks have passed their last marks: ranks that this
  /// one will write to, or ranks that have written to it. Also gathers `bytes` of host memory from all ranks, as
  /// communicator::all_gather. Each call follows a call of `mark`. Collective.
  virtual void pass_marks(const cuda_context& context, std::span<const int> whose, const void* mine, void* all,
                          std::size_t bytes) = 0;
  /// The same for all ranks.
  void pass_marks(const cuda_context& context, const void* mine, void* all, std::size_t bytes) {
    pass_marks(context, others(), mine, all, bytes);
  }
  /// All ranks but this one.
  [[nodiscard]] virtual std::span<const int> others() const = 0;
  /// A word of host memory that kernels of all ranks can read; nonzero when a rank has failed. nullptr if ranks share a
  /// device, because a kernel that waits for another rank's kernel may keep it from running. nullptr also if
  /// CUDA_LAUNCH_BLOCKING is set. Call `reach` first.
  [[nodiscard]] virtual const std::uint32_t* stop_flag() const = 0;
  /// Adds bytes that kernels have written to other ranks to communicator::bytes_sent.
  virtual void count_written(std::size_t bytes) = 0;
};

/// The direct_ranks of a communicator; nullptr if its ranks cannot write to each other. Collective.
[[nodiscard]] inline direct_ranks* find_direct_ranks(communicator& ranks, const cuda_context& context) {
  auto* const direct = dynamic_cast<direct_ranks*>(&ranks);
  return direct != nullptr && direct->reach(context) ? direct : nullptr;
}
[[nodiscard]] inline direct_ranks* find_direct_ranks(communicator&, const cpu_context&) { return nullptr; }

}  // namespace quadrat::detail
