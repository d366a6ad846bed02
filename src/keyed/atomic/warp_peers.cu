// SPDX-License-Identifier: BSD-3-Clause
#include "keyed/atomic/warp_peers.hpp"

#include "keyed/value_group.cuh"
#include "quadrat/keyed/peers.hpp"
#include "quadrat/parallel/cuda_launch.hpp"

namespace quadrat::detail {

namespace {

/// Shared memory private to a warp.
union peer_memory {
  peer_table table;
  std::uint32_t places[32];
};

__device__ __forceinline__ std::uint32_t find_peers(peer_finder finder, std::uint32_t key, peer_memory& memory) {
  switch (finder) {
    case peer_finder::vote:
      return find_peers_by_vote(key);
    case peer_finder::hash:
      return find_peers_by_hash(key, memory.table);
    default:
      return find_peers_by_match(key);
  }
}

__global__ void __launch_bounds__(cuda_launch::block)
    find_peers_kernel(const __grid_constant__ key_source keys, peer_finder finder, std::uint32_t* peers) {
  __shared__ peer_memory memory[cuda_launch::block / 32];
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * cuda_launch::block + threadIdx.x;
  const std::uint32_t key = i < keys.count ? keys[i] : no_key;
  const std::uint32_t found = find_peers(finder, key, memory[threadIdx.x / 32]);
  if (i < keys.count) peers[i] = found;
}

/// `peers`: nullptr if the masks are computed here.
template <typename T, typename Fold>
__global__ void __launch_bounds__(cuda_launch::block)
    warp_peers_kernel(const __grid_constant__ key_source keys, const __grid_constant__ value_group<T, 1> group,
                      const std::uint32_t* peers, peer_finder finder, peer_combination combination) {
  __shared__ peer_memory memory[cuda_launch::block / 32];
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * cuda_launch::block + threadIdx.x;
  const bool there = i < keys.count;
  const std::uint32_t key = there ? keys[i] : no_key;
  T value[1] = {Fold::template identity<T>()};
  if (there) group.load(i, value);
  const bool kept = peers != nullptr;
  // Lanes past the end form one group, which is removed from all kept masks.
  const std::uint32_t beyond = __ballot_sync(0xffffffffu, !there);
  const std::uint32_t own =
      kept ? (there ? peers[i] & ~beyond : beyond) : find_peers(finder, key, memory[threadIdx.x / 32]);
  const auto join = [](T a, T b) { return Fold::join(a, b); };
  __syncwarp();
  if (combination == peer_combination::tree) {
    join_peers_by_tree(own, value[0], join);
  } else {
    join_peers_switched(own, value[0], join, memory[threadIdx.x / 32].places);
  }
  const bool lowest = (own & ((1u << threadIdx.x % 32) - 1)) == 0;
  if (lowest && key != no_key) group.template join<Fold>(key, value);
}

}  // namespace

void warp_peers_engine::set_keys(const key_source& keys) {
  keys_ = keys;
  if (!keeps_peers() || keys.count == 0) return;
  peers_.resize_discarding(context_, keys.count);
  const cuda_launch launch(context_, "keyed.find_peers");
  find_peers_kernel<<<cuda_launch::blocks(keys.count), cuda_launch::block, 0, context_.stream()>>>(
      keys, setup_.details.finder, peers_.data());
  launch.check();
}

template <typename T>
void warp_peers_engine::run(const key_reduction<T>& reduction) {
  clear_results(context_, reduction);
  if (keys_.count == 0) return;
  const cuda_launch launch(context_, "keyed.warp_peers");
  const unsigned blocks = cuda_launch::blocks(keys_.count);
  const key_details& details = setup_.details;
  const std::uint32_t* const peers = keeps_peers() ? peers_.data() : nullptr;
  for (int c = 0; c < reduction.values.components; ++c) {
    with_fold(reduction.fold, [&]<typename Fold>(Fold) {
      warp_peers_kernel<T, Fold><<<blocks, cuda_launch::block, 0, context_.stream()>>>(
          keys_, make_group<T, 1>(reduction, c), peers, details.finder, details.combination);
    });
  }
  launch.check();
}

void warp_peers_engine::count(std::uint64_t* results, bool accumulate) { run(counting(results, keys_, accumulate)); }

template void warp_peers_engine::run(const key_reduction<std::int32_t>&);
template void warp_peers_engine::run(const key_reduction<std::int64_t>&);
template void warp_peers_engine::run(const key_reduction<float>&);
template void warp_peers_engine::run(const key_reduction<double>&);

}  // namespace quadrat::detail
