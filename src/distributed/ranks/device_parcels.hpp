// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include "quadrat/core/context.hpp"

/// Messages between threads of one process, each with its own stream: the receiver's stream waits for the event that
/// the sender recorded, copies, and records one that the sender's stream waits for. Between devices that are peers the
/// copy goes directly from memory to memory. No thread waits for a device.
namespace quadrat::detail {

struct parcel {
  parcel(int receiver, const void* first, std::size_t length) : to(receiver), data(first), bytes(length) {}
  ~parcel();
  parcel(const parcel&) = delete;
  parcel& operator=(const parcel&) = delete;

  int to;
  const void* data;
  std::size_t bytes;
  std::vector<std::byte> copy;  ///< of host memory
  int device = -1;              ///< of the sender
  void* ready = nullptr;        ///< cudaEvent_t: the data are complete
  void* copied = nullptr;       ///< cudaEvent_t of the receiver's device: they are no longer needed
  std::atomic<bool> taken{false};
};

/// The sender's side, before the parcel is given away.
void mark_ready(const cuda_context& context, parcel& one);
/// The receiver's side: enqueues the copy.
void take_parcel(const cuda_context& context, parcel& one, void* to);
/// The sender's side, when the parcel has been taken.
void wait_until_copied(const cuda_context& context, const parcel& one);

/// Makes two devices peers, once in a process, so that copies between them are direct. Returns whether they are peers,
/// or one.
bool make_peers(int device, int other);
/// Whether kernels of `device` may write to what the context allocates, from now on.
[[nodiscard]] bool open_memory(const cuda_context& context, int device);

/// A word of the host that kernels of all devices can read, 0 at first.
class device_flag {
 public:
  device_flag() = default;
  /// Waits for all devices that have it: kernels may still run when the threads of their ranks have ended.
  ~device_flag();
  device_flag(const device_flag&) = delete;
  device_flag& operator=(const device_flag&) = delete;

  /// For kernels of the context's device. nullptr without devices.
  [[nodiscard]] std::uint32_t* open_to(const cuda_context& context);
  void set();

 private:
  std::uint32_t* word_ = nullptr;  ///< page-locked
  bool is_set_ = false;
  std::set<int> devices_;
};

/// The marks of one rank's stream: see direct_ranks. Two by turns, so that one can be set while others still read the
/// one before.
class stream_marks {
 public:
  void set(const cuda_context& context);
  /// The last one that was set.
  [[nodiscard]] void* last() const { return events_[turn_].get(); }

 private:
  std::shared_ptr<void> events_[2];  ///< cudaEvent_t
  int turn_ = 0;
};

/// Later work of the stream waits for a mark of any rank.
void wait_for_mark(const cuda_context& context, void* mark);

}  // namespace quadrat::detail
