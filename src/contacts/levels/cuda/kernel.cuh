// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "contacts/levels/cuda/level_rows.hpp"
#include "contacts/levels/cuda/warp_search.hpp"
#include "quadrat/contacts/narrow_phase.hpp"
#include "quadrat/parallel/cuda_launch.hpp"

namespace quadrat::detail {

inline constexpr unsigned levels_warps = 4;
/// Resident blocks per multiprocessor, to hide the latency of loads: as many as leave each thread enough registers. An
/// eighth block, or a seventh if cells repeat, gains less than its spills cost.
template <bool Repeats>
inline constexpr int levels_blocks = Repeats ? 6 : 7;
/// Candidates that a lane tests between two checks of the queue.
inline constexpr std::uint32_t levels_group = 3;
/// Capacity of a warp's queue. The warp drains it when another round of all lanes might not fit.
inline constexpr std::uint32_t levels_queue = 256;

/// Staging memory for a warp's records, so that their writes coalesce.
template <typename T>
struct staged_contacts {
  static constexpr unsigned words = sizeof(contact<T>) / sizeof(std::uint64_t);
  std::uint64_t lines[32 * words];

  [[nodiscard]] __device__ contact<T>& operator[](std::uint32_t place) {
    return reinterpret_cast<contact<T>*>(lines)[place];
  }
  /// Called by the whole warp.
  __device__ void write(std::uint32_t count, contact<T>* to) {
    __syncwarp();
    auto* const target = reinterpret_cast<std::uint64_t*>(to);
    for (unsigned k = threadIdx.x % 32; k < count * words; k += 32) target[k] = lines[k];
    __syncwarp();
  }
};

/// A pair that touches.
template <typename T>
struct found_contact {
  contact_point<T> point;
  vec<T, 3> center_a;
  particle_id a;
  particle_id b;
  vec<int, 3> shift;
};

/// A queued pair: a slot of this warp, and the partner's slot or the id of a plane.
struct queued_pair {
  std::uint32_t own;
  std::uint32_t other;
};

template <typename T>
struct levels_shared {
  queued_pair queue[levels_warps][levels_queue];
  staged_contacts<T> staged[levels_warps];
};

/// One warp with its queue.
template <typename T, bool Periodic, typename Policy>
class levels_warp {
 public:
  __device__ levels_warp(const warp_search<T>& search, const warp_sink<T>& sink, levels_shared<T>& shared,
                         std::uint32_t chunk)
      : search_(search),
        sink_(sink),
        queue_(shared.queue[threadIdx.x / 32]),
        staged_(shared.staged[threadIdx.x / 32]),
        chunk_(chunk) {
    if (sink.begins != nullptr) next_ = sink.begins[chunk];
  }

  /// Called by the whole warp, with or without a hit.
  __device__ void push(bool hit, std::uint32_t own, std::uint32_t other) {
    const unsigned hits = __ballot_sync(~0u, hit);
    if (hit) queue_[queued_ + static_cast<unsigned>(__popc(hits & ((1u << lane()) - 1)))] = {own, other};
    queued_ += static_cast<unsigned>(__popc(hits));
  }
  /// Turns queued pairs into records: 32 at a time if another round might not fit; all of them at the end.
  __device__ void make_room(bool end) {
    if (end || queued_ + 32 * levels_group > levels_queue) empty(end ? 1 : 32);
  }
  __device__ void finish() {
    if (sink_.counts != nullptr && lane() == 0) sink_.counts[chunk_] = static_cast<std::uint32_t>(next_);
  }

 private:
  [[nodiscard]] __device__ static unsigned lane() { return threadIdx.x % 32; }

  /// Leaves fewer than `least` pairs in the queue.
  __device__ void empty(std::uint32_t least) {
    __syncwarp();
    if constexpr (Policy::rules_out) rule_out();
    std::uint32_t first = 0;
    for (; first + least <= queued_; first += 32) {
      const bool there = first + lane() < queued_;
      found_contact<T> found;
      const bool good = there && Policy::template find<Periodic>(search_, queue_[first + lane()], found);
      write(good, found);
    }
    // Move the rest to the front.
    queued_pair rest{};
    const std::uint32_t left = first < queued_ ? queued_ - first : 0;
    if (lane() < left) rest = queue_[first + lane()];
    __syncwarp();
    if (lane() < left) queue_[lane()] = rest;
    __syncwarp();
    queued_ = looked_at_ = left;
  }

  /// Drops pairs that a cheap test rules out, so that all lanes have work in the expensive test.
  __device__ void rule_out() {
    std::uint32_t kept = looked_at_;
    for (std::uint32_t first = looked_at_; first < queued_; first += 32) {
      queued_pair pair{};
      bool keep = first + lane() < queued_;
      if (keep) {
        pair = queue_[first + lane()];
        keep = Policy::template may_meet<Periodic>(search_, pair);
      }
      __syncwarp();
      const unsigned keeps = __ballot_sync(~0u, keep);
      if (keep) queue_[kept + static_cast<unsigned>(__popc(keeps & ((1u << lane()) - 1)))] = pair;
      kept += static_cast<unsigned>(__popc(keeps));
    }
    __syncwarp();
    queued_ = kept;
  }

  __device__ void write(bool good, const found_contact<T>& found) {
    const unsigned goods = __ballot_sync(~0u, good);
    const auto count = static_cast<std::uint32_t>(__popc(goods));
    if (count == 0) return;
    if (sink_.counts != nullptr) {
      next_ += count;
      return;
    }
    std::uint64_t begin = next_;
    if (sink_.begins != nullptr) {
      next_ += count;
    } else {
      if (lane() == 0) begin = atomicAdd(reinterpret_cast<unsigned long long*>(sink_.size), count);
      begin = __shfl_sync(~0u, begin, 0);
    }
    if (begin >= sink_.capacity) return;
    const std::uint64_t room = sink_.capacity - begin;
    if (good) {
      const auto place = static_cast<std::uint32_t>(__popc(goods & ((1u << lane()) - 1)));
      staged_[place] = make_contact(found.center_a, found.point, found.a, found.b, found.shift);
    }
    staged_.write(room < count ? static_cast<std::uint32_t>(room) : count, sink_.records + begin);
  }

  const warp_search<T>& search_;
  const warp_sink<T>& sink_;
  queued_pair* queue_;
  staged_contacts<T>& staged_;
  std::uint32_t chunk_;
  std::uint32_t queued_ = 0;
  std::uint32_t looked_at_ = 0;  ///< queued pairs tested by rule_out
  std::uint64_t next_ = 0;
};

template <typename T>
[[nodiscard]] __device__ int own_level_of(const warp_search<T>& search, T radius) {
  int level = 0;
  while (level + 1 < search.level_count && radius > search.levels[level].widest) ++level;
  return level;
}

/// The candidates of a lane: the rows of each level in turn, then the planes, a few at a time. All lanes of a warp
/// begin a level together.
template <typename T, bool Repeats>
class levels_walk {
 public:
  __device__ levels_walk(const warp_search<T>& search, std::uint32_t slot)
      : search_(search),
        slot_(slot),
        own_(search.records[min(slot, search.count - 1)]),
        own_level_(slot < search.count ? own_level_of(search, own_.radius) : most_levels + 1),
        far_(Repeats && *search.far != 0),
        rows_(search.levels[0], own_.center, T(0), 0, far_) {}

  [[nodiscard]] __device__ const warp_body<T>& own() const { return own_; }
  [[nodiscard]] __device__ std::uint32_t slot() const { return slot_; }
  [[nodiscard]] __device__ std::uint32_t at() const { return at_; }
  [[nodiscard]] __device__ bool has(std::uint32_t candidate) const { return candidate < end_; }
  [[nodiscard]] __device__ bool at_planes() const { return level_ == search_.level_count; }

  /// Advances to the next candidates; returns whether any lane of the warp may have some. Called by the whole warp.
  [[nodiscard]] __device__ bool go_on(std::uint32_t step) {
    at_ += step;
    while (__ballot_sync(~0u, at_ < end_ || more_) == 0) {
      if (level_ >= search_.level_count) return false;
      begin_level(++level_);
    }
    if (at_ < end_ || !more_) return true;
    rows_.next(search_.levels[level_], search_.offsets, at_, end_);
    more_ = !rows_.done();
    return true;
  }

 private:
  __device__ void begin_level(int level) {
    at_ = end_ = 0;
    more_ = false;
    if (level < own_level_ && level < search_.level_count) return;
    if (level == search_.level_count) {
      end_ = own_level_ < level ? search_.plane_count : 0;
      return;
    }
    const warp_level<T>& shape = search_.levels[level];
    T widest = shape.widest;
    if (level + 1 == search_.level_count) widest = fmax(widest, size_of_bits<T>(*search_.largest));
    rows_ = level_rows<T, Repeats>(shape, own_.center, own_.radius + widest, level == own_level_ ? slot_ + 1 : 0, far_);
    more_ = !rows_.done();
  }

  const warp_search<T>& search_;
  std::uint32_t slot_;
  warp_body<T> own_;
  int own_level_;
  int level_ = -1;
  bool far_;
  level_rows<T, Repeats> rows_;
  std::uint32_t at_ = 0;
  std::uint32_t end_ = 0;
  bool more_ = false;
};

/// Tests the next few candidates of each lane, and queues those that meet.
template <bool Repeats, bool Periodic, typename Policy, typename T>
__device__ void look(const warp_search<T>& search, const levels_walk<T, Repeats>& walk,
                     levels_warp<T, Periodic, Policy>& warp) {
  if (walk.at_planes()) {
#pragma unroll
    for (std::uint32_t k = 0; k < levels_group; ++k) {
      const std::uint32_t number = walk.at() + k;
      const bool hit = walk.has(number) && Policy::meets_plane(search, walk.own(), walk.slot(), number);
      warp.push(hit, walk.slot(), first_plane + number);
    }
    return;
  }
  warp_body<T> others[levels_group];
#pragma unroll
  for (std::uint32_t k = 0; k < levels_group; ++k) {
    if (walk.has(walk.at() + k)) others[k] = search.records[walk.at() + k];
  }
#pragma unroll
  for (std::uint32_t k = 0; k < levels_group; ++k) {
    const std::uint32_t at = walk.at() + k;
    const bool hit = walk.has(at) && Policy::template meets<Periodic>(search, walk.own(), others[k], walk.slot(), at);
    warp.push(hit, walk.slot(), at);
  }
}

/// Repeats: cells wrap around some axis, because it is periodic or folded. Periodic: pairs also have images.
template <typename T, bool Repeats, bool Periodic, typename Policy>
__global__ void __launch_bounds__(32 * levels_warps, sizeof(T) == 4 ? Policy::template blocks<Repeats> : 1)
    levels_kernel(const __grid_constant__ warp_search<T> search, const __grid_constant__ warp_sink<T> sink) {
  __shared__ levels_shared<T> shared;
  const std::uint32_t chunk = blockIdx.x * levels_warps + threadIdx.x / 32;
  if (chunk * warp_chunk >= search.count) return;
  levels_warp<T, Periodic, Policy> warp(search, sink, shared, chunk);
  levels_walk<T, Repeats> walk(search, chunk * warp_chunk + threadIdx.x % 32);
  bool working = walk.go_on(0);
  while (true) {
    if (working) {
      look<Repeats, Periodic, Policy>(search, walk, warp);
      working = walk.go_on(levels_group);
    }
    warp.make_room(!working);
    if (!working) break;
  }
  warp.finish();
}

}  // namespace quadrat::detail
