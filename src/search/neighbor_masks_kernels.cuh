// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <type_traits>

#include "core/cuda_check.hpp"
#include "parallel/block_scan.cuh"
#include "quadrat/parallel/cuda_launch.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "search/neighbor_masks.hpp"
#include "search/trimmed_rows.cuh"

namespace quadrat::detail {

inline constexpr unsigned masks_block = 128;
inline constexpr unsigned small_cells_threads = 1024;
/// Pairs that a warp stages in shared memory before it writes whole rows.
inline constexpr unsigned staged_most = 1536;

/// And the longest row that is staged; the bits of longer ones are taken by the whole warp.
inline constexpr std::uint32_t staged_row_most = 256;

/// Bits of a word that hold a slot.
inline constexpr unsigned slot_bits = 27;
inline constexpr std::uint32_t slot_mask = (1u << slot_bits) - 1;

/// Which boxes a kernel is made for: one; several; several so small that every pair of a system is tried, each with the
/// nearest image.
enum class boxes_kind { open, periodic, many, many_small };

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

[[nodiscard]] __device__ inline std::uint32_t sign_word(float x) { return __float_as_uint(x); }
[[nodiscard]] __device__ inline std::uint32_t sign_word(double x) {
  return static_cast<std::uint32_t>(__double2hiint(x));
}

/// The box of a point.
template <boxes_kind Boxes, typename T, int D>
__device__ const search_system<T, D>& system_of(const masks_search<T, D>& a, particle_id id) {
  if constexpr (Boxes >= boxes_kind::many) return a.search.systems[a.search.system_at(a.search.system_of_point, id)];
  return a.system;
}

template <boxes_kind Boxes, typename T, int D>
__device__ row_walk<T, D, Boxes != boxes_kind::open> walk_around(const masks_search<T, D>& a,
                                                                 const search_system<T, D>& system,
                                                                 const vec<T, D>& point) {
  return {system, a.search.cell_offsets, point, a.search.reach};
}

/// One block puts all points into cells, in shared memory: five launches less, which is what small sets are made of.
template <typename T, int D>
__global__ void __launch_bounds__(small_cells_threads)
    build_small_cells(const __grid_constant__ search_key_of_one<T, D> key, std::uint32_t count, std::uint32_t cells,
                      const __grid_constant__ small_cells<T, D> out) {
  extern __shared__ std::uint32_t shared[];  // a counter a cell, then cell and rank of each point
  __shared__ std::uint32_t warp_sums[small_cells_threads / 32];
  std::uint32_t* counts = shared;
  std::uint32_t* places = shared + cells;
  for (std::uint32_t cell = threadIdx.x; cell < cells; cell += small_cells_threads) counts[cell] = 0;
  __syncthreads();
  for (std::uint32_t i = threadIdx.x; i < count; i += small_cells_threads) {
    const cell_id cell = key(i);
    places[i] = cell << 16 | atomicAdd(counts + cell, 1u);
  }
  __syncthreads();
  const std::uint32_t share = (cells + small_cells_threads - 1) / small_cells_threads;
  const std::uint32_t first = min(threadIdx.x * share, cells);
  const std::uint32_t last = min(first + share, cells);
  std::uint32_t sum = 0;
  for (std::uint32_t cell = first; cell < last; ++cell) sum += counts[cell];
  std::uint32_t before = block_exclusive_sum(sum, warp_sums);
  for (std::uint32_t cell = first; cell < last; ++cell) {
    const std::uint32_t own = counts[cell];
    counts[cell] = before;
    out.offsets[cell] = before;
    before += own;
  }
  if (threadIdx.x == 0) out.offsets[cells] = count;
  __syncthreads();
  for (std::uint32_t i = threadIdx.x; i < count; i += small_cells_threads) {
    const std::uint32_t slot = counts[places[i] >> 16] + (places[i] & 0xffffu);
    vec<int, D> boxes{};
    out.elements[slot] = i;
    const vec<T, D> position = key.system.shape.wrap(key.read(i), boxes);
    out.records[slot] = {position, i};
    out.components.store(slot, position);
  }
}

/// All points of a system whose points stand in one cell.
template <typename T, int D>
__device__ row_range<D> whole_system(const masks_search<T, D>& a, const search_system<T, D>& system) {
  return {a.search.cell_offsets[system.first_cell], a.search.cell_offsets[system.first_cell + 1], {}};
}

/// From a separation to that of the image in question.
struct no_image {
  template <typename V>
  __device__ V operator()(const V& r) const {
    return r;
  }
};
template <typename T, int D>
struct fixed_image {
  vec<T, D> translation;

  __device__ vec<T, D> operator()(const vec<T, D>& r) const { return r + translation; }
};
/// The nearest one, which is unique within reach where that is less than half of the box.
template <typename T, int D>
struct nearest_image {
  vec<T, D> inverse;  ///< of the length; 0 along open axes
  vec<T, D> length;

  __device__ explicit nearest_image(const lattice<T, D>& shape) {
    for (int axis = 0; axis < D; ++axis) {
      length[axis] = shape.vectors[axis][axis];
      inverse[axis] = shape.periodic[axis] ? T(1) / length[axis] : T(0);
    }
  }
  /// Rounds by adding a number so large that no fraction is left beside it.
  [[nodiscard]] __device__ T boxes(T r, int axis) const {
    constexpr T large = sizeof(T) == 4 ? T(12582912) : T(6755399441055744);
    return (r * inverse[axis] + large) - large;
  }
  __device__ vec<T, D> operator()(vec<T, D> r) const {
    for (int axis = 0; axis < D; ++axis) r[axis] = r[axis] + -boxes(r[axis], axis) * length[axis];
    return r;
  }
  [[nodiscard]] __device__ vec<int, D> shift(const vec<T, D>& r) const {
    vec<int, D> result{};
    for (int axis = 0; axis < D; ++axis) result[axis] = -static_cast<int>(boxes(r[axis], axis));
    return result;
  }
};

template <boxes_kind Boxes, typename T, int D>
__device__ auto image_of(const search_system<T, D>& system, const vec<int, D>& shift) {
  if constexpr (Boxes == boxes_kind::open) {
    return no_image{};
  } else if constexpr (Boxes == boxes_kind::many_small) {
    return nearest_image<T, D>(system.shape);
  } else {
    fixed_image<T, D> image;
    for (int axis = 0; axis < D; ++axis) {
      image.translation[axis] = static_cast<T>(shift[axis]) * system.shape.vectors[axis][axis];
    }
    return image;
  }
}

/// The position of a candidate. Threads that look at different candidates are limited by how many bytes a warp reads,
/// and take the coordinates from arrays of their own, without the id; where all look at the same one, one load is best.
template <boxes_kind Boxes, typename T, int D>
__device__ vec<T, D> load_position(const masks_search<T, D>& a, std::uint32_t slot) {
  if constexpr (Boxes == boxes_kind::many_small) return load_point(a.search.records, slot).position;
  using pair_type = std::conditional_t<sizeof(T) == 4, float2, double2>;
  const pair_type xy = __ldg(reinterpret_cast<const pair_type*>(a.xy) + slot);
  vec<T, D> position;
  position[0] = xy.x;
  position[1] = xy.y;
  if constexpr (D == 3) position[2] = __ldg(a.z + slot);
  return position;
}

/// A word whose highest bit says that a candidate is a pair. The sign of d^2 - R^2 is that of the comparison.
template <bool Half, typename T, int D, typename Image>
__device__ std::uint32_t pair_sign(const masks_search<T, D>& a, const search_point<T, D>& own, std::uint32_t slot,
                                   const vec<T, D>& position, const Image& image) {
  const vec<T, D> r = image(position - own.position);
  std::uint32_t sign = sign_word(squared_norm(r) - a.search.squared_reach);
  if constexpr (Half) sign &= own.id - __ldg(a.elements + min(slot, a.rows - 1));  // those beyond are dropped
  return sign;
}

/// Bits of the candidates in [first, last), at most 32 of them, that are pairs; the row's own point is none. Taken by
/// fours, so that there is one loop: up to three records beyond are read, and their bits dropped.
template <bool Half, boxes_kind Boxes, typename T, int D, typename Image>
__device__ std::uint32_t test_range(const masks_search<T, D>& a, const search_point<T, D>& own, std::uint32_t own_slot,
                                    std::uint32_t first, std::uint32_t last, const Image& image) {
  std::uint32_t mask = 0;
  for (std::uint32_t four = first; four < last; four += 4) {
    vec<T, D> positions[4];
#pragma unroll
    for (std::uint32_t k = 0; k < 4; ++k) positions[k] = load_position<Boxes>(a, four + k);
#pragma unroll
    for (std::uint32_t k = 0; k < 4; ++k) {
      mask = __funnelshift_l(pair_sign<Half>(a, own, four + k, positions[k], image), mask, 1);
    }
  }
  const std::uint32_t length = last - first;
  mask = __brev(mask) >> (32 - (length + 3) / 4 * 4);
  mask &= 0xffffffffu >> (32 - length);
  if (own_slot - first < 32) mask &= ~(1u << (own_slot - first));
  return mask;
}

/// Calls f(first slot, mask, S) for each 32 candidates of a row.
template <boxes_kind Boxes, typename T, int D, typename F>
__device__ void for_each_mask(const masks_search<T, D>& a, const search_point<T, D>& own, std::uint32_t slot, F&& f) {
  const search_system<T, D>& system = system_of<Boxes>(a, own.id);
  const auto visit = [&](const row_range<D>& range) {
    const auto image = image_of<Boxes>(system, range.shift);
    for (std::uint32_t first = range.first; first < range.last; first += 32) {
      const std::uint32_t last = min(first + 32, range.last);
      f(first,
        a.search.half ? test_range<true, Boxes>(a, own, slot, first, last, image)
                      : test_range<false, Boxes>(a, own, slot, first, last, image),
        range.shift);
    }
  };
  if constexpr (Boxes == boxes_kind::many_small) {
    visit(whole_system(a, system));
  } else {
    walk_around<Boxes>(a, system, own.position).for_each(visit);
  }
}

/// The image of a pair in the upper bits of its slot.
template <boxes_kind Boxes, int D>
__device__ std::uint32_t packed_shift(const vec<int, D>& shift) {
  int code = 0;
  if constexpr (Boxes == boxes_kind::periodic || Boxes == boxes_kind::many) {
    for (int axis = D - 1; axis >= 0; --axis) code = 3 * code + shift[axis] + 1;
  }
  return static_cast<std::uint32_t>(code) << slot_bits;
}
template <boxes_kind Boxes, int D>
__device__ vec<int, D> unpacked_shift(std::uint32_t word) {
  vec<int, D> shift{};
  if constexpr (Boxes == boxes_kind::periodic || Boxes == boxes_kind::many) {
    int code = static_cast<int>(word >> slot_bits);
    for (int axis = 0; axis < D; ++axis) {
      shift[axis] = code % 3 - 1;
      code /= 3;
    }
  }
  return shift;
}

/// A thread a row: counts, and leaves the bits.
template <boxes_kind Boxes, typename T, int D>
__global__ void __launch_bounds__(masks_block)
    count_by_thread(const __grid_constant__ masks_search<T, D> a, std::uint32_t* counts) {
  const std::uint32_t slot = blockIdx.x * masks_block + threadIdx.x;
  if (slot >= a.rows) return;
  const search_point<T, D> own = load_point(a.search.records, slot);
  std::uint32_t count = 0;
  std::uint32_t used = 0;
  candidate_mask* to = a.words + slot * a.slot_stride;
  for_each_mask<Boxes>(a, own, slot, [&](std::uint32_t first, std::uint32_t mask, const vec<int, D>& shift) {
    if (mask == 0) return;
    if (used < a.words_a_row) *to = {mask, first - 1 + packed_shift<Boxes>(shift)};
    to += a.mask_stride;
    ++used;
    count += static_cast<std::uint32_t>(__popc(mask));
  });
  a.shares[slot] = {count, used};
  counts[own.id] = count;
  if (used > a.words_a_row) atomic_max(a.most_used, static_cast<std::uint64_t>(used));
}

/// The candidates of a warp, one a lane: calls f(pair bits of the warp, this lane's slot, S).
template <boxes_kind Boxes, typename T, int D, typename F>
__device__ void test_by_warp(const masks_search<T, D>& a, const search_system<T, D>& system,
                             const search_point<T, D>& own, bool candidate, std::uint32_t slot,
                             const vec<int, D>& shift, F&& f) {
  bool pair = false;
  if (candidate) {
    const vec<T, D> position = load_position<Boxes>(a, slot);
    const auto image = image_of<Boxes>(system, shift);
    const std::uint32_t sign = a.search.half ? pair_sign<true>(a, own, slot, position, image)
                                             : pair_sign<false>(a, own, slot, position, image);
    pair = (sign >> 31) != 0;
  }
  f(__ballot_sync(~0u, pair), slot, shift);
}

/// A warp a row: calls f(pair bits of the warp, this lane's slot, S) for each 32 candidates.
template <boxes_kind Boxes, typename T, int D, typename F>
__device__ void for_each_warp_mask(const masks_search<T, D>& a, const search_point<T, D>& own, std::uint32_t own_slot,
                                   F&& f) {
  const search_system<T, D>& system = system_of<Boxes>(a, own.id);
  const std::uint32_t lane = threadIdx.x % 32;
  const auto test_range_by_warp = [&](std::uint32_t first, std::uint32_t last, const vec<int, D>& shift) {
    for (std::uint32_t slot = first + lane; slot - lane < last; slot += 32) {
      test_by_warp<Boxes>(a, system, own, slot < last && slot != own_slot, slot, shift, f);
    }
  };
  if constexpr (Boxes == boxes_kind::many_small) {
    const row_range<D> all = whole_system(a, system);
    test_range_by_warp(all.first, all.last, all.shift);
  } else {
    const auto walk = walk_around<Boxes>(a, system, own.position);
    const auto ranges = static_cast<std::uint32_t>(walk.count());
    for (std::uint32_t base = 0; base < ranges; base += 32) {
      row_range<D> mine{0, 0, {}};
      if (base + lane < ranges) mine = walk.range(static_cast<int>(base + lane));
      const std::uint32_t length = mine.last - mine.first;
      std::uint32_t end = length;
      for (std::uint32_t step = 1; step < 32; step *= 2) {
        const std::uint32_t other = __shfl_up_sync(~0u, end, step);
        if (lane >= step) end += other;
      }
      const std::uint32_t total = __shfl_sync(~0u, end, 31);
      const auto shift_of = [&](int source) {
        vec<int, D> shift{};
        if constexpr (Boxes != boxes_kind::open) {
          for (int axis = 0; axis < D; ++axis) shift[axis] = __shfl_sync(~0u, mine.shift[axis], source);
        }
        return shift;
      };
      if (total > 32 * 32) {  // long ranges: one after the other
        const int batch = static_cast<int>(min(ranges - base, 32u));
        for (int source = 0; source < batch; ++source) {
          test_range_by_warp(__shfl_sync(~0u, mine.first, source), __shfl_sync(~0u, mine.last, source),
                             shift_of(source));
        }
        continue;
      }
      for (std::uint32_t first = 0; first < total; first += 32) {
        const std::uint32_t candidate = first + lane;
        int source = 0;  // the range of the candidate: as many ranges end before it
        for (int step = 16; step > 0; step /= 2) {
          if (__shfl_sync(~0u, end, source + step - 1) <= candidate) source += step;
        }
        const std::uint32_t slot = __shfl_sync(~0u, mine.first + length - end, source) + candidate;
        test_by_warp<Boxes>(a, system, own, candidate < total && slot != own_slot, slot, shift_of(source), f);
      }
    }
  }
}

template <boxes_kind Boxes, typename T, int D>
__global__ void __launch_bounds__(masks_block)
    count_by_warp(const __grid_constant__ masks_search<T, D> a, std::uint32_t* counts) {
  const std::uint32_t slot = (blockIdx.x * masks_block + threadIdx.x) / 32;
  if (slot >= a.rows) return;
  const search_point<T, D> own = load_point(a.search.records, slot);
  std::uint32_t count = 0;
  for_each_warp_mask<Boxes>(a, own, slot,
                            [&](std::uint32_t mask, std::uint32_t, const vec<int, D>&) { count += __popc(mask); });
  if (threadIdx.x % 32 == 0) counts[own.id] = count;
}

/// Writes one entry. Plain: the neighbor alone.
template <bool Plain, boxes_kind Boxes, typename T, int D>
__device__ void write_entry(const masks_search<T, D>& a, const neighbor_sink<T, D>& sink, std::uint64_t at,
                            const search_point<T, D>& own, std::uint32_t slot, vec<int, D> shift) {
  if constexpr (Plain) {
    sink.neighbors[at] = __ldg(a.elements + slot);
  } else {
    const search_point<T, D> other = load_point(a.search.records, slot);
    const search_system<T, D>& system = system_of<Boxes>(a, own.id);
    const vec<T, D> direct = other.position - own.position;
    if constexpr (Boxes == boxes_kind::many_small) shift = nearest_image<T, D>(system.shape).shift(direct);
    if (sink.keys != nullptr) {
      sink.keys[at] = key_of_entry(other.id, shift);
      return;
    }
    const vec<T, D> r = image_of<Boxes>(system, shift)(direct);
    if (sink.shifts != nullptr) shift = a.search.reported(a.search.query_of_row(own.id), other.id, shift);
    sink.store(at, own.id, other.id, shift, r, squared_norm(r));
  }
}

/// The same of four at once, where to[k] is below the limit.
template <bool Plain, boxes_kind Boxes, typename T, int D>
__device__ void write_four(const masks_search<T, D>& a, const neighbor_sink<T, D>& sink, const std::uint64_t (&to)[4],
                           std::uint64_t limit, const search_point<T, D>& own, const std::uint32_t (&code)[4]) {
  if constexpr (Plain) {
    particle_id neighbors[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      if (to[k] < limit) neighbors[k] = __ldg(a.elements + (code[k] & slot_mask));
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      if (to[k] < limit) sink.neighbors[to[k]] = neighbors[k];
    }
  } else {
    for (int k = 0; k < 4; ++k) {
      if (to[k] >= limit) continue;
      write_entry<false, Boxes>(a, sink, to[k], own, code[k] & slot_mask, unpacked_shift<Boxes, D>(code[k]));
    }
  }
}

template <bool Plain, boxes_kind Boxes, typename T, int D>
__device__ void write_row_by_warp(const masks_search<T, D>& a, const neighbor_sink<T, D>& sink,
                                  const search_point<T, D>& own, std::uint32_t slot) {
  std::uint64_t at = sink.begin(own.id);
  const std::uint64_t limit = sink.limit(own.id);
  const std::uint32_t before = (1u << threadIdx.x % 32) - 1;
  for_each_warp_mask<Boxes>(a, own, slot, [&](std::uint32_t mask, std::uint32_t other, const vec<int, D>& shift) {
    const std::uint64_t mine = at + static_cast<std::uint32_t>(__popc(mask & before));
    if ((mask & (before + 1)) != 0 && mine < limit) write_entry<Plain, Boxes>(a, sink, mine, own, other, shift);
    at += static_cast<std::uint32_t>(__popc(mask));
  });
}

template <bool Plain, boxes_kind Boxes, typename T, int D>
__global__ void __launch_bounds__(masks_block)
    write_by_warp(const __grid_constant__ masks_search<T, D> a, const __grid_constant__ neighbor_sink<T, D> sink) {
  if (blockIdx.x == 0 && threadIdx.x == 0) sink.report(a.rows);
  const std::uint32_t slot = (blockIdx.x * masks_block + threadIdx.x) / 32;
  if (slot >= a.rows) return;
  write_row_by_warp<Plain, Boxes>(a, sink, load_point(a.search.records, slot), slot);
}

/// A long row by the warp: from its masks where they are complete, 32 candidates at a time, or by a search.
template <bool Plain, boxes_kind Boxes, typename T, int D>
__device__ void write_long_row(const masks_search<T, D>& a, const neighbor_sink<T, D>& sink,
                               const search_point<T, D>& own, std::uint32_t slot, std::uint32_t used) {
  if (used > a.words_a_row) {
    write_row_by_warp<Plain, Boxes>(a, sink, own, slot);
    return;
  }
  const std::uint32_t lane = threadIdx.x % 32;
  const std::uint32_t before = (1u << lane) - 1;
  std::uint64_t at = sink.begin(own.id);
  const std::uint64_t limit = sink.limit(own.id);
  for (std::uint32_t first = 0; first < used; first += 32) {
    candidate_mask mine{0, 0};
    if (first + lane < used) mine = a.words[slot * a.slot_stride + (first + lane) * a.mask_stride];
    const int here = static_cast<int>(min(used - first, 32u));
    // Four masks at a time, so that four loads are under way; what lies beyond the last mask has no bits.
    for (int k = 0; k < here; k += 4) {
      std::uint32_t code[4];
      std::uint64_t to[4];
#pragma unroll
      for (int step = 0; step < 4; ++step) {
        const std::uint32_t bits = __shfl_sync(~0u, mine.bits, k + step);
        code[step] = __shfl_sync(~0u, mine.code, k + step) + lane + 1;
        to[step] = (bits >> lane & 1) != 0 ? at + static_cast<std::uint32_t>(__popc(bits & before)) : limit;
        at += static_cast<std::uint32_t>(__popc(bits));
      }
      write_four<Plain, Boxes>(a, sink, to, limit, own, code);
    }
  }
}

/// Where the entries of a row go that are staged from `start` on: to[entry] for entries below `end`.
struct staged_row {
  std::uint64_t to;
  std::uint32_t end;
};

/// Neighbors alone: entries know their row by the bits above the slot, and the warp writes 32 at a time, whose rows
/// follow each other.
template <typename T, int D>
__device__ void write_staged_neighbors(const masks_search<T, D>& a, const neighbor_sink<T, D>& sink,
                                       const std::uint32_t* stage, std::uint32_t total, const staged_row* rows) {
  for (std::uint32_t first = threadIdx.x % 32; first < total; first += 4 * 32) {
    std::uint64_t to[4];
    particle_id neighbors[4];
    bool there[4];
#pragma unroll
    for (std::uint32_t k = 0; k < 4; ++k) {
      const std::uint32_t entry = first + 32 * k;
      const std::uint32_t word = stage[entry < total ? entry : first];
      const staged_row row = rows[word >> slot_bits];
      neighbors[k] = __ldg(a.elements + (word & slot_mask));
      to[k] = row.to + entry;
      there[k] = entry < total && entry < row.end;
    }
#pragma unroll
    for (std::uint32_t k = 0; k < 4; ++k) {
      if (there[k]) sink.neighbors[to[k]] = neighbors[k];
    }
  }
}

/// A thread a row: brings the pairs of as many rows as fit into shared memory; then the warp writes.
template <bool Plain, boxes_kind Boxes, typename T, int D>
__global__ void __launch_bounds__(masks_block)
    write_by_thread(const __grid_constant__ masks_search<T, D> a, const __grid_constant__ neighbor_sink<T, D> sink) {
  __shared__ std::uint32_t staged[masks_block / 32][staged_most];
  __shared__ staged_row staged_rows[masks_block / 32][32];
  if (blockIdx.x == 0 && threadIdx.x == 0) sink.report(a.rows);
  const std::uint32_t slot = blockIdx.x * masks_block + threadIdx.x;
  const auto lane = static_cast<int>(threadIdx.x % 32);
  const std::uint32_t home = min(slot, a.rows - 1);
  const search_point<T, D> own = load_point(a.search.records, home);
  const row_share share = slot < a.rows ? a.shares[slot] : row_share{0, 0};
  const std::uint64_t begin = sink.begin(own.id);
  const auto room =
      static_cast<std::uint32_t>(min(static_cast<std::uint64_t>(share.count), sink.limit(own.id) - begin));
  std::uint32_t end = share.count;
  for (int step = 1; step < 32; step *= 2) {
    const std::uint32_t other = __shfl_up_sync(~0u, end, step);
    if (lane >= step) end += other;
  }
  std::uint32_t* stage = staged[threadIdx.x / 32];
  staged_row* targets = staged_rows[threadIdx.x / 32];
  for (int done = 0; done < 32;) {
    const std::uint32_t base = __shfl_sync(~0u, end - share.count, done);
    const bool staged = share.count <= staged_row_most && share.used <= a.words_a_row && end - base <= staged_most;
    const std::uint32_t follow = __ballot_sync(~0u, staged) >> done;
    const int rows = follow == ~0u ? 32 : __ffs(static_cast<int>(~follow)) - 1;
    if (rows == 0) {
      search_point<T, D> long_row;
      for (int axis = 0; axis < D; ++axis) long_row.position[axis] = __shfl_sync(~0u, own.position[axis], done);
      long_row.id = __shfl_sync(~0u, own.id, done);
      const std::uint32_t used = __shfl_sync(~0u, share.used, done);
      write_long_row<Plain, Boxes>(a, sink, long_row, __shfl_sync(~0u, home, done), used);
      ++done;
      continue;
    }
    const std::uint32_t start = end - share.count - base;
    if (lane >= done && lane < done + rows) {
      std::uint32_t* at = stage + start;
      const std::uint32_t tag = static_cast<std::uint32_t>(lane) << slot_bits;
      const auto put = [&](std::uint32_t mask, std::uint32_t code) {
        for (; mask != 0; mask &= mask - 1) {
          const std::uint32_t word = code + static_cast<std::uint32_t>(__ffs(static_cast<int>(mask)));
          *at++ = Plain ? (word & slot_mask) | tag : word;
        }
      };
      const candidate_mask* from = a.words + slot * a.slot_stride;
      candidate_mask next = share.used > 0 ? *from : candidate_mask{0, 0};
      for (std::uint32_t k = 0; k < share.used; ++k) {
        const candidate_mask word = next;
        from += a.mask_stride;
        if (k + 1 < share.used) next = *from;  // under way while the bits are taken
        put(word.bits, word.code);
      }
      targets[lane] = {begin - start, start + room};
    }
    __syncwarp();
    if constexpr (Plain) {
      const std::uint32_t total = __shfl_sync(~0u, end, done + rows - 1) - base;
      write_staged_neighbors(a, sink, stage, total, targets);
    } else {
      for (int row = done; row < done + rows; ++row) {
        search_point<T, D> of_row;
        for (int axis = 0; axis < D; ++axis) of_row.position[axis] = __shfl_sync(~0u, own.position[axis], row);
        of_row.id = __shfl_sync(~0u, own.id, row);
        const staged_row target = targets[row];
        std::uint32_t entry = __shfl_sync(~0u, start, row) + threadIdx.x % 32;
        for (; entry < target.end; entry += 32) {
          const std::uint32_t word = stage[entry];
          write_entry<false, Boxes>(a, sink, target.to + entry, of_row, word & slot_mask,
                                    unpacked_shift<Boxes, D>(word));
        }
      }
    }
    __syncwarp();
    done += rows;
  }
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

/// Calls f<Boxes>() for the boxes of a search.
template <typename T, int D, typename F>
void with_boxes_kind(const masks_search<T, D>& a, F&& f) {
  if (a.small_boxes) {
    f.template operator()<boxes_kind::many_small>();
  } else if (a.search.system_count > 1) {
    f.template operator()<boxes_kind::many>();
  } else if (a.periodic) {
    f.template operator()<boxes_kind::periodic>();
  } else {
    f.template operator()<boxes_kind::open>();
  }
}

template <typename T, int D>
void enqueue_small_cells(const cuda_context& context, const search_key_of_one<T, D>& key, std::size_t count,
                         std::size_t cells, const small_cells<T, D>& out) {
  const cuda_launch launch(context, "search.small_cells");
  const std::size_t bytes = (count + cells) * sizeof(std::uint32_t);
  check_cuda(cudaFuncSetAttribute(build_small_cells<T, D>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(2 * small_cells_most * sizeof(std::uint32_t))),
             "asking for shared memory");
  build_small_cells<T, D><<<1, small_cells_threads, bytes, context.stream()>>>(key, static_cast<std::uint32_t>(count),
                                                                               static_cast<std::uint32_t>(cells), out);
  launch.check();
}

template <typename T, int D>
void enqueue_masks(const cuda_context& context, const masks_search<T, D>& what, std::uint32_t* counts) {
  if (what.rows == 0) return;
  with_boxes_kind(what, [&]<boxes_kind Boxes>() {
    const cuda_launch launch(context, "search.masks");
    if (what.warp_a_row) {
      const unsigned blocks = cuda_launch::blocks(std::size_t{32} * what.rows, masks_block);
      count_by_warp<Boxes><<<blocks, masks_block, 0, context.stream()>>>(what, counts);
    } else {
      const unsigned blocks = cuda_launch::blocks(what.rows, masks_block);
      count_by_thread<Boxes><<<blocks, masks_block, 0, context.stream()>>>(what, counts);
    }
    launch.check();
  });
}

template <bool Plain, boxes_kind Boxes, typename T, int D>
void launch_entries(const cuda_context& context, const masks_search<T, D>& what, const neighbor_sink<T, D>& sink) {
  const cuda_launch launch(context, "search.entries_of_masks");
  if (what.warp_a_row) {
    const unsigned blocks = cuda_launch::blocks(std::size_t{32} * what.rows, masks_block);
    write_by_warp<Plain, Boxes><<<blocks, masks_block, 0, context.stream()>>>(what, sink);
  } else {
    const unsigned blocks = cuda_launch::blocks(what.rows, masks_block);
    write_by_thread<Plain, Boxes><<<blocks, masks_block, 0, context.stream()>>>(what, sink);
  }
  launch.check();
}

template <typename T, int D>
void enqueue_entries_of_masks(const cuda_context& context, const masks_search<T, D>& what,
                              const neighbor_sink<T, D>& sink) {
  if (what.rows == 0) return;
  const bool plain = sink.keys == nullptr && sink.first == nullptr && sink.squared_distances == nullptr &&
                     sink.vectors == nullptr && sink.shifts == nullptr;
  with_boxes_kind(what, [&]<boxes_kind Boxes>() {
    plain ? launch_entries<true, Boxes>(context, what, sink) : launch_entries<false, Boxes>(context, what, sink);
  });
  if (sink.offsets == nullptr) for_each(context, "search.finish_matrix", what.rows, finish_matrix_row<T, D>{sink});
}

}  // namespace quadrat::detail
