// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include "quadrat/core/context.hpp"

/// Messages between threads of one process, each with its own stream. The receiver's stream waits for the event that
/// the sender recorded, copies, and records an event that the sender's stream waits for. Between peer devices the copy
/// goes directly from memory to memory. No thread waits for a device.
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
  void* copied = nullptr;       ///< cudaEvent_t of the receiver's device: the data have been copied
  std::atomic<bool> taken{false};
};

/// Called by the sender before it posts the parcel.
void mark_ready(const cuda_context& context, parcel& one);
/// Called by the receiver: enqueues the copy.
void take_parcel(const cuda_context& context, parcel& one, void* to);
/// Called by the sender when the parcel has been taken.
void wait_until_copied(const cuda_context& context, const parcel& one);

/// Makes two devices peers, once per process, so that copies between them are direct. Returns whether they are peers or
/// the same device.
bool make_peers(int device, int other);
/// Gives kernels of `device` access to the memory that the context allocates. Returns whether that works.
[[nodiscard]] bool open_memory(const cuda_context& context, int device);

/// A word in host memory that kernels of all devices can read; initially 0.
class device_flag {
 public:
  device_flag() = default;
  /// Waits for all devices that use the word: kernels may still run when the threads of their ranks have ended.
  ~device_flag();
  device_flag(const device_flag&) = delete;
  device_flag& operator=(const device_flag&) = delete;

  /// The word's address for kernels of the context's device. nullptr without devices.
  [[nodiscard]] std::uint32_t* open_to(const cuda_context& context);
  void set();

 private:
  std::uint32_t* word_ = nullptr;  ///< page-locked
  bool is_set_ = false;
  std::set<int> devices_;
};

/// The marks of one rank's stream: see direct_ranks. Double buffer: one mark can be set while others still read the
/// previous one.
class stream_marks {
 public:
  void set(const cuda_context& context);
  /// The mark that was set last.
  [[nodiscard]] void* last() const { return events_[turn_].get(); }

 private:
  std::shared_ptr<void> events_[2];  ///< cudaEvent_t
  int turn_ = 0;
};

/// Makes later work of the stream wait for a mark of any rank.
void wait_for_mark(const cuda_context& context, void* mark);

}  // namespace quadrat::detail
