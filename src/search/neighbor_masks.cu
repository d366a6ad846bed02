// SPDX-License-Identifier: BSD-3-Clause
#include "search/neighbor_masks.hpp"

#include "quadrat/parallel/cuda_launch.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "search/neighbor_masks_rows.cuh"

namespace quadrat::detail {

namespace {

constexpr unsigned masks_block = 128;
/// Neighbors that a warp stages in shared memory before it writes whole rows.
constexpr unsigned staged_most = 1536;

/// One 16-byte load through the read-only path where a record is that.
template <typename T, int D>
__device__ search_point<T, D> load_point(const search_point<T, D>* records, std::uint32_t slot) {
  if constexpr (sizeof(search_point<T, D>) == 16) {
    const float4 words = __ldg(reinterpret_cast<const float4*>(records) + slot);
    search_point<T, D> record;
    record.position[0] = words.x;
    record.position[1] = words.y;
    if constexpr (D == 3) record.position[2] = words.z;
    record.id = __float_as_uint(D == 3 ? words.w : words.z);
    return record;
  } else {
    return records[slot];
  }
}

template <typename T, int D>
struct masks_arguments {
  neighbor_search<T, D> search;
  search_system<T, D> system;
  masks_memory memory;
  std::uint32_t rows;
};

/// Bits of the candidates in [first, last), at most 32 of them, that are pairs.
template <bool Half, bool Periodic, typename T, int D>
__device__ std::uint32_t test_range(const masks_arguments<T, D>& a, const search_point<T, D>& own, std::uint32_t first,
                                    std::uint32_t last, const vec<T, D>& translation) {
  std::uint32_t mask = 0;
#pragma unroll 4
  for (std::uint32_t slot = first; slot < last; ++slot) {
    const search_point<T, D> other = load_point(a.search.records, slot);
    vec<T, D> r = other.position - own.position;
    if constexpr (Periodic) r = r + translation;
    bool hit = squared_norm(r) < a.search.squared_reach;
    if constexpr (Half) hit = hit && other.id > own.id;
    mask |= static_cast<std::uint32_t>(hit) << (slot - first);
  }
  return mask;
}

/// The same, without the row's own point.
template <bool Periodic, typename T, int D>
__device__ std::uint32_t test_candidates(const masks_arguments<T, D>& a, const search_point<T, D>& own,
                                         std::uint32_t own_slot, std::uint32_t first, std::uint32_t last,
                                         const vec<T, D>& translation) {
  std::uint32_t mask = a.search.half ? test_range<true, Periodic>(a, own, first, last, translation)
                                     : test_range<false, Periodic>(a, own, first, last, translation);
  if (own_slot - first < 32) mask &= ~(1u << (own_slot - first));
  return mask;
}

/// Thread: one of Lanes of a slot.
template <int Lanes, bool Periodic, typename T, int D>
__global__ void __launch_bounds__(masks_block)
    search_kernel(const __grid_constant__ masks_arguments<T, D> a, std::uint32_t* counts) {
  const std::uint32_t thread = blockIdx.x * masks_block + threadIdx.x;
  const std::uint32_t threads = a.rows * Lanes;
  const bool there = thread < threads;
  const std::uint32_t slot = min(thread / Lanes, a.rows - 1);
  const search_point<T, D> own = load_point(a.search.records, slot);
  std::uint32_t count = 0;
  std::uint32_t word = 0;
  if (there) {
    const row_walk<T, D, Lanes, Periodic> walk{a.system, a.search.cell_offsets, own.position, a.search.squared_reach};
    walk.for_each(thread % Lanes, a.search.reach,
                  [&](std::uint32_t first, std::uint32_t last, const vec<int, D>& shift) {
                    vec<T, D> translation{};
                    if constexpr (Periodic) translation = a.system.shape.translation(shift);
                    for (; first < last; first += 32) {
                      const std::uint32_t mask =
                          test_candidates<Periodic>(a, own, slot, first, min(first + 32, last), translation);
                      if (word < masks_words / Lanes)
                        a.memory.words[word * static_cast<std::size_t>(threads) + thread] = mask;
                      ++word;
                      count += __popc(mask);
                    }
                  });
    // The highest bit says that the words are not all there.
    a.memory.shares[thread] = word <= masks_words / Lanes ? count : count | 0x80000000u;
  }
  for (int step = 1; step < Lanes; step *= 2) count += __shfl_xor_sync(~0u, count, step);
  if (there && thread % Lanes == 0) counts[own.id] = count;
}

/// Calls f(slot, S) for the pairs of a thread, from the bits or by a new search.
template <int Lanes, bool Periodic, typename T, int D, typename F>
__device__ void for_each_pair_of_thread(const masks_arguments<T, D>& a, const search_point<T, D>& own,
                                        std::uint32_t thread, bool complete, F&& f) {
  const std::size_t threads = static_cast<std::size_t>(a.rows) * Lanes;
  const std::uint32_t own_slot = thread / Lanes;
  const std::uint32_t* words = a.memory.words + thread;
  const row_walk<T, D, Lanes, Periodic> walk{a.system, a.search.cell_offsets, own.position, a.search.squared_reach};
  walk.for_each(thread % Lanes, a.search.reach, [&](std::uint32_t first, std::uint32_t last, const vec<int, D>& shift) {
    for (; first < last; first += 32) {
      std::uint32_t mask;
      if (complete) {
        mask = *words;
        words += threads;
      } else {
        vec<T, D> translation{};
        if constexpr (Periodic) translation = a.system.shape.translation(shift);
        mask = test_candidates<Periodic>(a, own, own_slot, first, min(first + 32, last), translation);
      }
      while (mask != 0) {
        f(first + static_cast<std::uint32_t>(__ffs(static_cast<int>(mask))) - 1, shift);
        mask &= mask - 1;
      }
    }
  });
}

/// Where a thread's pairs begin in its row, and the row in the list.
struct thread_rows {
  std::uint32_t own;     ///< pairs of the thread
  std::uint32_t before;  ///< of the threads of the same row before it
  std::uint32_t row;     ///< of the row
  bool complete;
};

template <int Lanes>
__device__ thread_rows rows_of_thread(const std::uint32_t* shares, std::uint32_t thread, bool there) {
  const std::uint32_t share = there ? shares[thread] : 0;
  thread_rows result{share & 0x7fffffffu, 0, 0, (share & 0x80000000u) == 0};
  std::uint32_t sum = result.own;
  for (int step = 1; step < Lanes; step *= 2) {
    const std::uint32_t other = __shfl_up_sync(~0u, sum, step, Lanes);
    if (static_cast<int>(thread % Lanes) >= step) sum += other;
  }
  result.before = sum - result.own;
  result.row = __shfl_sync(~0u, sum, Lanes - 1, Lanes);
  return result;
}

/// Neighbors alone: staged by warp, then written row by row.
template <int Lanes, bool Periodic, typename T, int D>
__global__ void __launch_bounds__(masks_block)
    neighbors_kernel(const __grid_constant__ masks_arguments<T, D> a, const particle_id* elements,
                     const __grid_constant__ neighbor_sink<T, D> sink) {
  __shared__ particle_id staged[masks_block / 32][staged_most];
  const std::uint32_t thread = blockIdx.x * masks_block + threadIdx.x;
  const bool there = thread < a.rows * Lanes;
  const unsigned lane = threadIdx.x % 32;
  const search_point<T, D> own = load_point(a.search.records, min(thread / Lanes, a.rows - 1));
  const thread_rows mine = rows_of_thread<Lanes>(a.memory.shares, thread, there);
  std::uint32_t sum = mine.own;
  for (int step = 1; step < 32; step *= 2) {
    const std::uint32_t other = __shfl_up_sync(~0u, sum, step);
    if (lane >= static_cast<unsigned>(step)) sum += other;
  }
  const std::uint32_t total = __shfl_sync(~0u, sum, 31);
  std::uint64_t begin = there ? sink.begin(own.id) : 0;
  const std::uint64_t limit = there ? sink.limit(own.id) : 0;
  particle_id* stage = staged[threadIdx.x / 32];
  if (total > staged_most) {
    std::uint64_t at = begin + mine.before;
    if (there) {
      for_each_pair_of_thread<Lanes, Periodic>(a, own, thread, mine.complete,
                                               [&](std::uint32_t slot, const vec<int, D>&) {
                                                 if (at < limit) sink.neighbors[at] = elements[slot];
                                                 ++at;
                                               });
    }
    return;
  }
  std::uint32_t at = sum - mine.own;
  if (there && mine.own > 0) {
    for_each_pair_of_thread<Lanes, Periodic>(
        a, own, thread, mine.complete, [&](std::uint32_t slot, const vec<int, D>&) { stage[at++] = elements[slot]; });
  }
  __syncwarp();
  const std::uint32_t row_start = sum - mine.own - mine.before;
  const auto room = static_cast<std::uint32_t>(min(static_cast<std::uint64_t>(mine.row), limit - begin));
#pragma unroll 4
  for (int row = 0; row < 32; row += Lanes) {
    const std::uint64_t to = __shfl_sync(~0u, begin, row);
    const std::uint32_t from = __shfl_sync(~0u, row_start, row);
    const std::uint32_t count = __shfl_sync(~0u, room, row);
    for (std::uint32_t k = lane; k < count; k += 32) sink.neighbors[to + k] = stage[from + k];
  }
}

/// Everything else that can be asked of an entry, written by the thread that has it.
template <int Lanes, bool Periodic, typename T, int D>
__global__ void __launch_bounds__(masks_block)
    entries_kernel(const __grid_constant__ masks_arguments<T, D> a, const __grid_constant__ neighbor_sink<T, D> sink) {
  const std::uint32_t thread = blockIdx.x * masks_block + threadIdx.x;
  const bool there = thread < a.rows * Lanes;
  const search_point<T, D> own = load_point(a.search.records, min(thread / Lanes, a.rows - 1));
  const thread_rows mine = rows_of_thread<Lanes>(a.memory.shares, thread, there);
  if (!there) return;
  std::uint64_t at = sink.begin(own.id) + mine.before;
  const std::uint64_t limit = sink.limit(own.id);
  search_query<T, D> query{own.position, {}, own.id, 0};
  if (sink.shifts != nullptr) query = a.search.query_of_row(own.id);
  for_each_pair_of_thread<Lanes, Periodic>(a, own, thread, mine.complete, [&](std::uint32_t slot, vec<int, D> shift) {
    if (at < limit) {
      const search_point<T, D> other = load_point(a.search.records, slot);
      if (sink.keys != nullptr) {
        sink.keys[at] = key_of_entry(other.id, shift);
      } else {
        const vec<T, D> r = a.search.separation(own.position, other.position, a.system.shape.translation(shift));
        if (sink.shifts != nullptr) shift = a.search.reported(query, other.id, shift);
        sink.store(at, own.id, other.id, shift, r, squared_norm(r));
      }
    }
    ++at;
  });
}

/// Index: row. What a matrix needs besides.
template <typename T, int D>
struct finish_matrix_row {
  neighbor_sink<T, D> sink;

  QUADRAT_HD void operator()(std::size_t row) const {
    const std::uint64_t count = sink.counts[row];
    if (count > sink.width) sink.faults.raise_overflow(list_fault_base + row, count);
    if (sink.keys != nullptr) return;
    for (std::uint64_t k = count; k < sink.width; ++k) sink.neighbors[sink.begin(row) + k] = no_particle;
  }
};

template <typename T, int D>
[[nodiscard]] bool any_periodic(const search_system<T, D>& system) {
  for (int axis = 0; axis < D; ++axis) {
    if (system.shape.periodic[axis]) return true;
  }
  return false;
}

/// Calls f<Lanes, Periodic>() for what is asked.
template <typename T, int D, typename F>
void with_kernel(const masks_arguments<T, D>& a, F&& f) {
  const auto by_lanes = [&]<bool Periodic>() {
    switch (masks_lanes(a.rows)) {
      case 1:
        return f.template operator()<1, Periodic>();
      case 2:
        return f.template operator()<2, Periodic>();
      default:
        return f.template operator()<8, Periodic>();
    }
  };
  any_periodic(a.system) ? by_lanes.template operator()<true>() : by_lanes.template operator()<false>();
}

}  // namespace

template <typename T, int D>
void enqueue_masks(const cuda_context& context, const neighbor_search<T, D>& search, const search_system<T, D>& system,
                   const masks_memory& memory, std::uint32_t* counts) {
  const masks_arguments<T, D> a{search, system, memory, static_cast<std::uint32_t>(search.points.count)};
  if (a.rows == 0) return;
  with_kernel(a, [&]<int Lanes, bool Periodic>() {
    const cuda_launch launch(context, "search.masks");
    const unsigned blocks = cuda_launch::blocks(static_cast<std::size_t>(a.rows) * Lanes, masks_block);
    search_kernel<Lanes, Periodic><<<blocks, masks_block, 0, context.stream()>>>(a, counts);
    launch.check();
  });
}

template <typename T, int D>
void enqueue_entries_of_masks(const cuda_context& context, const neighbor_search<T, D>& search,
                              const search_system<T, D>& system, const masks_memory& memory,
                              const particle_id* elements, const neighbor_sink<T, D>& sink) {
  const masks_arguments<T, D> a{search, system, memory, static_cast<std::uint32_t>(search.points.count)};
  if (a.rows == 0) return;
  const bool plain = sink.keys == nullptr && sink.first == nullptr && sink.squared_distances == nullptr &&
                     sink.vectors == nullptr && sink.shifts == nullptr;
  with_kernel(a, [&]<int Lanes, bool Periodic>() {
    const cuda_launch launch(context, "search.entries_of_masks");
    const unsigned blocks = cuda_launch::blocks(static_cast<std::size_t>(a.rows) * Lanes, masks_block);
    if (plain) {
      neighbors_kernel<Lanes, Periodic><<<blocks, masks_block, 0, context.stream()>>>(a, elements, sink);
    } else {
      entries_kernel<Lanes, Periodic><<<blocks, masks_block, 0, context.stream()>>>(a, sink);
    }
    launch.check();
  });
  if (sink.offsets == nullptr) for_each(context, "search.finish_matrix", a.rows, finish_matrix_row<T, D>{sink});
}

#define QUADRAT_MASKS(T, D)                                                                                   \
  template void enqueue_masks(const cuda_context&, const neighbor_search<T, D>&, const search_system<T, D>&,  \
                              const masks_memory&, std::uint32_t*);                                           \
  template void enqueue_entries_of_masks(const cuda_context&, const neighbor_search<T, D>&,                   \
                                         const search_system<T, D>&, const masks_memory&, const particle_id*, \
                                         const neighbor_sink<T, D>&);
QUADRAT_MASKS(float, 2)
QUADRAT_MASKS(float, 3)
QUADRAT_MASKS(double, 2)
QUADRAT_MASKS(double, 3)
#undef QUADRAT_MASKS

}  // namespace quadrat::detail
