// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "core/cuda_check.hpp"
#include "core/shared_memory.hpp"
#include "keyed/atomic/bin_slots.hpp"
#include "keyed/atomic/shared_bins.hpp"
#include "keyed/value_group.cuh"
#include "quadrat/parallel/cuda_launch.hpp"

namespace quadrat::detail {

namespace {

// Many keys: a hash table for each chunk of elements. Atomic additions of floating-point numbers in shared memory are
// loops; exchanges are not. So the elements of a slot are first linked into a list, and then summed by one thread.

/// Threads of a block: more for long values, because fewer of those fit in registers.
template <int C>
inline constexpr int bins_threads = C == 1 ? 256 : 512;
constexpr unsigned end_of_list = bin_slots;

/// Elements of a chunk: the number of slots, or fewer to leave room for enough blocks.
template <typename T, int C>
inline constexpr unsigned chunk_items = sizeof(T) * C <= 16 ? bin_slots : bin_slots * 16 / (sizeof(T) * C);

/// Blocks per multiprocessor: as many as fit without spilling registers.
template <typename T, int C>
inline constexpr int bins_blocks = sizeof(T) * C == 4 ? 6 : (sizeof(T) * C == 8 ? 4 : 2);

/// An element of a list: its value, and the high bits of its key << link_bits | the next element.
template <typename T, int C>
struct linked_element {
  T value[C];
  std::uint32_t link;
};
inline constexpr int link_bits = bin_slot_bits + 1;
static_assert(31 - bin_slot_bits + link_bits <= 32, "a key below 2^31 and a link fit a word");

/// The lists of a chunk. One-word values are stored next to their links, so that one access reads both.
template <typename T, int C>
struct bin_lists {
  static constexpr unsigned items = chunk_items<T, C>;
  static constexpr bool pairs = sizeof(T) * C == 4;
  T value[C][pairs ? 1 : items];
  uint2 pair[pairs ? items : 1];
  std::uint32_t link[pairs ? 1 : items];
  std::uint32_t head[bin_slots];

  __device__ __forceinline__ void write(unsigned i, const linked_element<T, C>& element) {
    if constexpr (pairs) {
      std::uint32_t bits;
      memcpy(&bits, element.value, 4);
      pair[i] = make_uint2(bits, element.link);
    } else {
#pragma unroll
      for (int c = 0; c < C; ++c) value[c][i] = element.value[c];
      link[i] = element.link;
    }
  }
  [[nodiscard]] __device__ __forceinline__ linked_element<T, C> read(unsigned i) const {
    linked_element<T, C> element;
    if constexpr (pairs) {
      const uint2 both = pair[i];
      memcpy(element.value, &both.x, 4);
      element.link = both.y;
    } else {
#pragma unroll
      for (int c = 0; c < C; ++c) element.value[c] = value[c][i];
      element.link = link[i];
    }
    return element;
  }
};

/// Sums the list of a slot. Elements of other keys in the slot are rare, and are joined to their results one by one.
template <typename Fold, typename T, int C>
__device__ __forceinline__ void join_list(const bin_lists<T, C>& lists, unsigned slot, const value_group<T, C>& group) {
  unsigned element = lists.head[slot];
  if (element == end_of_list) return;
  std::uint32_t high = 0;
  T sum[C];
  bool begun = false;
  while (element != end_of_list) {
    const linked_element<T, C> record = lists.read(element);
    const std::uint32_t own = record.link >> link_bits;
    element = record.link % (1u << link_bits);
    if (begun && own != high) {
      group.template join<Fold>(key_of_bin_slot(slot, own), record.value);
      continue;
    }
#pragma unroll
    for (int c = 0; c < C; ++c) sum[c] = begun ? Fold::join(sum[c], record.value[c]) : record.value[c];
    high = own;
    begun = true;
  }
  group.template join<Fold>(key_of_bin_slot(slot, high), sum);
}

template <typename T, int C, typename Fold>
__global__ void __launch_bounds__(bins_threads<C>, bins_blocks<T, C>)
    hashed_bins_kernel(const __grid_constant__ key_source keys, const __grid_constant__ value_group<T, C> group) {
  using lists_type = bin_lists<T, C>;
  constexpr int thread_items = static_cast<int>(lists_type::items / bins_threads<C>);
  extern __shared__ __align__(16) unsigned char memory[];
  auto& lists = *reinterpret_cast<lists_type*>(memory);
  const std::size_t first = static_cast<std::size_t>(blockIdx.x) * lists_type::items + threadIdx.x;
  std::uint32_t key[thread_items];
  T value[thread_items][C];
#pragma unroll
  for (int item = 0; item < thread_items; ++item) {
    const std::size_t i = first + static_cast<std::size_t>(item) * bins_threads<C>;
    if (i >= keys.count) break;
    key[item] = keys.raw(i);
    group.load(i, value[item]);
  }
  for (unsigned slot = threadIdx.x; slot < bin_slots; slot += bins_threads<C>) lists.head[slot] = end_of_list;
  __syncthreads();
#pragma unroll
  for (int item = 0; item < thread_items; ++item) {
    const std::size_t i = first + static_cast<std::size_t>(item) * bins_threads<C>;
    if (i >= keys.count) break;
    const std::uint32_t checked = keys.checked(key[item], i);
    if (checked == no_key) continue;
    const unsigned element = threadIdx.x + static_cast<unsigned>(item) * bins_threads<C>;
    linked_element<T, C> record;
#pragma unroll
    for (int c = 0; c < C; ++c) record.value[c] = value[item][c];
    record.link = (checked >> bin_slot_bits) << link_bits | atomicExch(&lists.head[bin_slot_of(checked)], element);
    lists.write(element, record);
  }
  __syncthreads();
  for (unsigned slot = threadIdx.x; slot < bin_slots; slot += bins_threads<C>) join_list<Fold>(lists, slot, group);
}

// Few keys: each block has a table of all keys, in as many interleaved copies as fit. Lanes use different copies, so
// that they do not collide in words or banks.

constexpr int table_threads = 1024;
/// For two blocks per multiprocessor.
[[nodiscard]] std::size_t table_bytes(const cuda_context& context) {
  return std::min(std::size_t{100} << 10, shared_memory_of_block(context));
}

/// Joins the copies of each key, and then joins the sum to the caller's result.
template <typename Fold, typename T, int C>
__device__ __forceinline__ void join_table(const T* table, unsigned key_count, unsigned copies,
                                           const value_group<T, C>& group) {
  const unsigned cells = key_count * copies;
  for (unsigned key = threadIdx.x; key < key_count; key += table_threads) {
    T sum[C];
#pragma unroll
    for (int c = 0; c < C; ++c) {
      sum[c] = Fold::template identity<T>();
      // Each thread begins with a different copy, to avoid bank conflicts.
      for (unsigned i = 0; i < copies; ++i) {
        sum[c] = Fold::join(sum[c], table[c * cells + key * copies + (i + threadIdx.x) % copies]);
      }
    }
    group.template join<Fold>(key, sum);
  }
}

template <typename T, int C, typename Fold>
__global__ void __launch_bounds__(table_threads)
    direct_bins_kernel(const __grid_constant__ key_source keys, const __grid_constant__ value_group<T, C> group,
                       unsigned copies) {
  extern __shared__ __align__(16) unsigned char memory[];
  T* const table = reinterpret_cast<T*>(memory);
  const unsigned cells = keys.key_count * copies;
  for (unsigned cell = threadIdx.x; cell < cells * C; cell += table_threads) table[cell] = Fold::template identity<T>();
  __syncthreads();
  const unsigned copy = threadIdx.x % copies;
  constexpr int items = 4;
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * (table_threads * items);
  for (std::size_t first = static_cast<std::size_t>(blockIdx.x) * (table_threads * items) + threadIdx.x;
       first < keys.count; first += stride) {
    std::uint32_t key[items];
    T value[items][C];
#pragma unroll
    for (int item = 0; item < items; ++item) {
      const std::size_t i = first + static_cast<std::size_t>(item) * table_threads;
      if (i >= keys.count) break;
      key[item] = keys.raw(i);
      group.load(i, value[item]);
    }
#pragma unroll
    for (int item = 0; item < items; ++item) {
      const std::size_t i = first + static_cast<std::size_t>(item) * table_threads;
      if (i >= keys.count) break;
      const std::uint32_t checked = keys.checked(key[item], i);
      if (checked == no_key) continue;
#pragma unroll
      for (int c = 0; c < C; ++c) {
        if (c < group.components) Fold::join_atomic(table + (c * cells + checked * copies + copy), value[item][c]);
      }
    }
  }
  __syncthreads();
  join_table<Fold>(table, keys.key_count, copies, group);
}

/// The same for all launches of a kernel, because other host threads may launch it at the same time.
template <typename Kernel>
void allow_shared_memory(Kernel* kernel, std::size_t bytes) {
  check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
             "asking for shared memory");
}

template <typename Fold, typename T, int C>
void launch_bins(const cuda_context& context, const key_source& keys, const value_group<T, C>& group) {
  const std::size_t row = keys.key_count * sizeof(T) * C, room = table_bytes(context);
  if (row > room) {
    using lists = bin_lists<T, C>;
    allow_shared_memory(hashed_bins_kernel<T, C, Fold>, sizeof(lists));
    hashed_bins_kernel<T, C, Fold>
        <<<cuda_launch::blocks(keys.count, lists::items), bins_threads<C>, sizeof(lists), context.stream()>>>(keys,
                                                                                                              group);
    return;
  }
  unsigned copies = 32;
  while (copies > 1 && row * copies > room) copies /= 2;
  const unsigned most = 2 * static_cast<unsigned>(context.multiprocessors());
  const unsigned blocks =
      static_cast<unsigned>(std::min<std::size_t>(most, (keys.count + table_threads * 4 - 1) / (table_threads * 4)));
  allow_shared_memory(direct_bins_kernel<T, C, Fold>, room);
  direct_bins_kernel<T, C, Fold><<<blocks, table_threads, row * copies, context.stream()>>>(keys, group, copies);
}

}  // namespace

template <typename T>
void shared_bins_engine::run(const key_reduction<T>& reduction) {
  clear_results(context_, reduction);
  if (keys_.count == 0) return;
  const cuda_launch launch(context_, "keyed.shared_bins");
  for_each_group(reduction, [&]<int C>(const value_group<T, C>& group) {
    with_fold(reduction.fold, [&]<typename Fold>(Fold) { launch_bins<Fold>(context_, keys_, group); });
  });
  launch.check();
}

void shared_bins_engine::count(std::uint64_t* results, bool accumulate) { run(counting(results, keys_, accumulate)); }

template void shared_bins_engine::run(const key_reduction<std::int32_t>&);
template void shared_bins_engine::run(const key_reduction<std::int64_t>&);
template void shared_bins_engine::run(const key_reduction<float>&);
template void shared_bins_engine::run(const key_reduction<double>&);

}  // namespace quadrat::detail
