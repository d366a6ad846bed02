// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#if !defined(__CUDACC__)
#error "quadrat/keyed/peers.hpp is for sources that nvcc compiles"
#endif

#include <cstdint>

#include "quadrat/parallel/warp_scan.hpp"

/// Peers: the lanes of a warp that have the same key, as a bit mask. All lanes of a warp must call these functions
/// together, in one-dimensional blocks. Source: voting-and-shuffling.
namespace quadrat {

/// The peers of each lane, itself among them. Keys: any type of up to 8 bytes that can be compared and shuffled and is
/// equal to itself (a NaN is not, and would loop forever). One round per distinct key in the warp. Source: "Finding
/// groups of keys within a warp", example 1.
template <typename Key>
[[nodiscard]] __device__ __forceinline__ std::uint32_t find_peers_by_vote(const Key& key) {
  std::uint32_t peers = 0, unclaimed = 0xffffffffu;
  bool mine = false;
  while (!mine) {
    // Claimed lanes have left the loop, so only lanes in the pool take part.
    const Key other = __shfl_sync(unclaimed, key, __ffs(static_cast<int>(unclaimed)) - 1);
    mine = key == other;
    peers = __ballot_sync(unclaimed, mine);
    unclaimed ^= peers;
  }
  __syncwarp();
  return peers;
}

/// The same by the hardware instruction; keys of 4 or 8 bytes, compared bitwise.
template <typename Key>
[[nodiscard]] __device__ __forceinline__ std::uint32_t find_peers_by_match(const Key& key) {
  return __match_any_sync(0xffffffffu, key);
}

/// Slots of a warp's table in shared memory.
inline constexpr unsigned peer_slots = 64;
struct peer_table {
  std::uint32_t lane[peer_slots];
  std::uint32_t pattern[peer_slots];
};

/// The same for integer keys by a hash table of the warp in shared memory: one lane per slot writes its key, the lanes
/// with that key set their bits, and the others retry. One round per distinct key in a slot.
template <typename Key>
[[nodiscard]] __device__ __forceinline__ std::uint32_t find_peers_by_hash(const Key& key, peer_table& table) {
  const unsigned lane = threadIdx.x % 32;
  const unsigned slot = static_cast<unsigned>(key + (key >> 6) * 29u) % peer_slots;
  for (unsigned i = lane; i < peer_slots; i += 32) table.pattern[i] = 0;
  __syncwarp();
  std::uint32_t peers = 0;
  bool searching = true;
  while (__any_sync(0xffffffffu, searching)) {
    if (searching) atomicExch(&table.lane[slot], lane);
    __syncwarp();
    const unsigned leader = searching ? table.lane[slot] : lane;
    const bool mine = __shfl_sync(0xffffffffu, key, static_cast<int>(leader)) == key && searching;
    if (mine) atomicOr(&table.pattern[slot], 1u << lane);
    __syncwarp();
    if (mine) peers = table.pattern[slot];
    searching = searching && !mine;
    __syncwarp();
    if (mine && leader == lane) table.pattern[slot] = 0;
  }
  return peers;
}

/// Joins the values of all peers; the lowest lane gets the result (the others get parts of it). join must be
/// associative; the order of lanes is kept. Source: "Parallel reductions", example 2: in each round a lane takes the
/// value of its next peer, unless its own was already taken; every second peer drops out.
template <typename T, typename Join>
__device__ __forceinline__ void join_peers_by_tree(std::uint32_t peers, T& value, const Join& join) {
  const unsigned lane = threadIdx.x % 32;
  unsigned place = static_cast<unsigned>(__popc(peers & ((1u << lane) - 1)));
  peers &= 0xfffffffeu << lane;
  while (__any_sync(0xffffffffu, peers != 0)) {
    const int next = __ffs(static_cast<int>(peers));
    const T other = __shfl_sync(0xffffffffu, value, next - 1);
    if (next != 0) value = join(value, other);
    peers &= ~__ballot_sync(0xffffffffu, (place & 1u) != 0);
    place >>= 1;
  }
}

/// The same with elements permuted so that peers are in adjacent lanes; a tree joins neighbors, and the result goes
/// back to the lowest peer. `places` is shared memory private to the warp. Source: "Pre-combining peers".
template <typename T, typename Join>
__device__ __forceinline__ void join_peers_switched(std::uint32_t peers, T& value, const Join& join,
                                                    std::uint32_t (&places)[32]) {
  const unsigned lane = threadIdx.x % 32;
  const unsigned leader = static_cast<unsigned>(__ffs(static_cast<int>(peers)) - 1);
  const unsigned rank = static_cast<unsigned>(__popc(peers & ((1u << lane) - 1)));
  const unsigned size = static_cast<unsigned>(__popc(peers));
  // Groups are in the order of their lowest lanes: each begins after all earlier ones.
  const unsigned end = detail::warp_inclusive_sum(lane == leader ? size : 0, lane);
  const unsigned begin = __shfl_sync(0xffffffffu, end - size, static_cast<int>(leader));
  places[begin + rank] = lane | (size - rank) << 8;
  __syncwarp();
  const std::uint32_t from = places[lane];
  __syncwarp();
  T joined = __shfl_sync(0xffffffffu, value, static_cast<int>(from & 31u));
  const unsigned left = from >> 8;  // peers from here to the end of the group
  for (unsigned step = 1; __any_sync(0xffffffffu, left > step); step *= 2) {
    const T other = __shfl_down_sync(0xffffffffu, joined, step);
    if (left > step) joined = join(joined, other);
  }
  const T result = __shfl_sync(0xffffffffu, joined, static_cast<int>(begin));
  if (rank == 0) value = result;
}

}  // namespace quadrat
