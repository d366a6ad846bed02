// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "mesh/tiles/cuda/spread/candidates.hpp"
#include "mesh/tiles/cuda/spread/products.cuh"
#include "parallel/warp_reduce.cuh"
#include "quadrat/parallel/warp_scan.hpp"

/// Spreading with few points per mesh point: a warp owns a patch of 8 x 8 x 8 mesh points, collects all footprints that
/// reach into it, and writes it once. Also for footprints that are longer than a patch. A point is read by several
/// patches; there are no atomic operations, the mesh need not be cleared, and the order of sums is that of the tiles.
/// Crowded patches are divided: other warps take their candidates after the first `share`, and write sums that are
/// added to the mesh afterwards.
namespace quadrat::detail {

/// Shifts eight weights by `offset`, from -7 to 7, in a row of eight, and drops those shifted out.
template <typename T>
__device__ __forceinline__ void place_tile_weights(int offset, T (&w)[8]) {
  T two[16];
#pragma unroll
  for (int j = 0; j < 16; ++j) two[j] = j < 8 ? w[j] : T(0);
  shift_tile_weights(offset & 7, 8, two);
#pragma unroll
  for (int j = 0; j < 8; ++j) w[j] = offset < 0 ? two[8 + j] : two[j];
}

/// Weights of footprints of up to Columns mesh points, at those of a patch: w[p - offset] for -Columns < offset < 8.
template <int Columns, typename T>
__device__ __forceinline__ void wide_tile_weights(const mesh_window<T>& window, T place, int offset, T (&w)[8]) {
  constexpr int before = 8, most = before + Columns + 8;
  T all[most];
#pragma unroll
  for (int j = 0; j < most; ++j) all[j] = T(0);
#pragma unroll
  for (int d = mesh_window<T>::most_terms - 1; d >= 0; --d) {
    if (d >= window.terms) continue;
#pragma unroll
    for (int j = 0; j < Columns; ++j) all[before + j] = all[before + j] * place + window.coefficient[d][j];
  }
  const int shift = before - offset;  // 1 to Columns + 7
#pragma unroll
  for (int bit = 16; bit > 0; bit /= 2) {
    const bool move = (shift & bit) != 0;
#pragma unroll
    for (int j = 0; j < most; ++j) {
      if (j < 8 + bit - 1) all[j] = move ? (j + bit < most ? all[j + bit] : T(0)) : all[j];
    }
  }
#pragma unroll
  for (int j = 0; j < 8; ++j) w[j] = all[j];
}

template <typename T, int Channels>
struct tile_collect_memory {
  tile_spread_memory<T, Channels, 1> weights;
  std::uint32_t slots[2 * tile_batch];    ///< of points whose footprints reach into the patch
  std::uint32_t offsets[2 * tile_batch];  ///< where these begin: 16 + the offset from the patch, 8 bits per axis
};

template <typename T, int Channels>
using tile_sums = T[tile_patch / 2][Channels][4];

/// A lane has adjacent mesh points, which it writes together.
struct collected_columns {
  [[nodiscard]] __device__ static int position(int column) { return column; }
};

/// The work of a warp for its patch. Columns: the most mesh points of a footprint along an axis.
template <typename T, int Channels, int Columns>
struct tile_collector {
  const tile_problem<T>& problem;
  const tile_channels<T>& channels;
  tile_collect_memory<T, Channels>& memory;
  int begin[3];
  int lane;
  int queued;

  /// The last iteration only adds the rest of the queue. One copy of the code keeps it in the instruction
  /// cache.
  __device__ void collect(const candidate_share& share, tile_sums<T, Channels>& sums) {
    const tile_candidates candidates(problem.grid, problem.offsets, begin);
    std::uint64_t seen = 0;
    bool over = false;
    for (int round = 0; !over; round += 32) {
      over = round >= candidates.runs() || seen >= share.last;
      tile_run run = !over && round + lane < candidates.runs() ? candidates.run(round + lane) : tile_run{};
      const std::uint32_t most = warp_sum(min(run.length, share.size() + 1));
      if (share.first == 0 && seen + most <= share.size()) {
        // All candidates, as in every patch that is not crowded.
        seen += most;
      } else {
        const std::uint64_t end = seen + sum_of_lanes(run.length);
        run = share.part_of(run, end - run.length);
        seen = __shfl_sync(~0u, end, 31);
      }
      look_at(run, over, sums);
    }
  }

 private:
  /// The sum over this lane and all before it.
  [[nodiscard]] __device__ std::uint64_t sum_of_lanes(std::uint64_t value) const {
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
      const std::uint64_t before = __shfl_up_sync(~0u, value, distance);
      if (lane >= distance) value += before;
    }
    return value;
  }

  /// Each lane passes one run; their points are processed 32 at a time. `over`: there are no runs left.
  __device__ void look_at(const tile_run& run, bool over, tile_sums<T, Channels>& sums) {
    const std::uint32_t end = warp_inclusive_sum(run.length, static_cast<unsigned>(lane));
    const std::uint32_t total = __shfl_sync(~0u, end, 31);
    for (std::uint32_t base = 0; base < total || over; base += 32) {
      if (!over) {
        const std::uint32_t index = min(base + lane, total - 1);
        int owner = 0;  // the lane whose run contains it
#pragma unroll
        for (int step = 16; step > 0; step /= 2) {
          if (__shfl_sync(~0u, end, owner + step - 1) <= index) owner += step;
        }
        const std::uint32_t before = __shfl_sync(~0u, end - run.length, owner);
        const std::uint32_t slot = __shfl_sync(~0u, run.first, owner) + index - before;
        int start[3];
#pragma unroll
        for (int axis = 0; axis < 3; ++axis) start[axis] = __shfl_sync(~0u, run.base[axis], owner);
        const int from = __shfl_sync(~0u, run.from, owner);
        enqueue(slot, start, from, base + lane < total);
      }
      if (queued >= tile_batch || (over && queued > 0)) {
        add_batch(min(queued, tile_batch), sums);
        if (!over) keep_rest();
      }
      if (over) return;
    }
  }

  __device__ void enqueue(std::uint32_t slot, const int (&start)[3], int from, bool there) {
    const tile_grid& grid = problem.grid;
    const tile_record<T> record = problem.records[slot];
    std::uint32_t packed = 0;
#pragma unroll
    for (int axis = 0; axis < 3; ++axis) {
      int first = start[axis] + offset_of<T>(record.place[axis]);
      // A run may continue in the next segment.
      if (axis == 0 && first < from) first += grid.segment * grid.edge[0];
      const int offset = first - begin[axis];
      there = there && offset > -grid.shape.width[axis] && offset < tile_patch;
      packed |= static_cast<std::uint32_t>(offset + 16) << (8 * axis);
    }
    const unsigned those = __ballot_sync(~0u, there);
    if (there) {
      const int at = queued + __popc(those & ((1u << lane) - 1));
      memory.slots[at] = slot;
      memory.offsets[at] = packed;
    }
    queued += __popc(those);
    __syncwarp();
  }

  __device__ void keep_rest() {
    queued -= tile_batch;
    const std::uint32_t slot = memory.slots[tile_batch + lane], packed = memory.offsets[tile_batch + lane];
    __syncwarp();
    memory.slots[lane] = slot;
    memory.offsets[lane] = packed;
    __syncwarp();
  }

  /// Weights at the mesh points of the patch.
  __device__ void weights_of(const tile_record<T>& record, std::uint32_t packed, T (&w)[3][8]) const {
    const mesh_shape& shape = problem.grid.shape;
    const int offset[3] = {static_cast<int>(packed & 0xff) - 16, static_cast<int>(packed >> 8 & 0xff) - 16,
                           static_cast<int>(packed >> 16) - 16};
    if constexpr (Columns > tile_patch) {
#pragma unroll
      for (int axis = 0; axis < 3; ++axis) {
        if (axis < shape.first_axis) {
#pragma unroll
          for (int j = 0; j < 8; ++j) w[axis][j] = j == offset[axis] ? T(1) : T(0);
        } else {
          wide_tile_weights<Columns>(problem.window, place_of<T>(record.place[axis]), offset[axis], w[axis]);
        }
      }
    } else {
      weights_to_spread(problem, record, w);
#pragma unroll
      for (int axis = 0; axis < 3; ++axis) place_tile_weights(offset[axis], w[axis]);
    }
  }

  /// The first `count` points of the queue.
  __device__ void add_batch(int count, tile_sums<T, Channels>& sums) {
    auto& weights = memory.weights;
    const int mine = lane < count ? lane : 0;
    const tile_record<T> record = problem.records[memory.slots[mine]];
    const std::uint32_t packed = memory.offsets[mine];
    T value[Channels];
    load_tile_values<T, Channels>(channels, record.id, value);
    T w[3][8];
    weights_of(record, packed, w);
    store_tile_weights(weights.first, lane, w[0]);
    store_tile_weights(weights.second, lane, w[1]);
#pragma unroll
    for (int j = 0; j < 8; ++j) w[2][j] = Channels == 1 ? w[2][j] * value[0] : w[2][j];
    store_tile_weights(weights.last[0], lane, w[2]);
    if constexpr (Channels > 1) {
#pragma unroll
      for (int c = 0; c < Channels; ++c) weights.values[c][lane] = value[c];
    }
    __syncwarp();
    add_tile_points<T, Channels, 1, collected_columns>(weights, 0, count, lane, sums);
    __syncwarp();
  }
};

/// Calls f(channel, mesh point) for sum `number` of a lane, below 16 times the channels, unless it is outside the mesh.
template <int Channels, typename F>
__device__ __forceinline__ void with_collected_sum(const mesh_shape& shape, const int (&begin)[3], int number, int lane,
                                                   const F& f) {
  const int half = number % 2, plane = number / 4 / Channels * 2 + number / 2 % 2;
  const int i = begin[0] + plane, j = begin[1] + lane / 4, k = begin[2] + lane % 4 * 2 + half;
  if (i < shape.extent[0] && j < shape.extent[1] && k < shape.extent[2]) {
    f(number / 4 % Channels, shape.node(i, j, k));
  }
}

/// Values that are adjacent in the mesh, read and written in one access.
template <typename T, int Count>
struct alignas(sizeof(T) * Count < 16 ? sizeof(T) * Count : 16) adjacent_values {
  T value[Count];
};

template <typename T, int Count>
__device__ __forceinline__ void write_adjacent(T* mesh, const adjacent_values<T, Count>& sums, bool accumulate) {
  auto& to = *reinterpret_cast<adjacent_values<T, Count>*>(mesh);
  adjacent_values<T, Count> result = sums;
  if (accumulate) {
    const adjacent_values<T, Count> before = to;
#pragma unroll
    for (int v = 0; v < Count; ++v) result.value[v] += before.value[v];
  }
  to = result;
}

/// Writes the sums of a patch to the mesh, or adds them. `adjacent`: both mesh points of a lane in one access.
template <typename T, int Channels>
__device__ void write_patch(const mesh_shape& shape, const tile_channels<T>& channels, const int (&begin)[3], int lane,
                            const tile_sums<T, Channels>& sums, bool adjacent, bool accumulate) {
  const int j = begin[1] + lane / 4, k = begin[2] + lane % 4 * 2;
  if (j >= shape.extent[1] || k >= shape.extent[2]) return;
#pragma unroll
  for (int plane = 0; plane < tile_patch; ++plane) {
    if (begin[0] + plane >= shape.extent[0]) return;
    const std::size_t node = shape.node(begin[0] + plane, j, k);
    const auto sum = [&](int c, int half) { return sums[plane / 2][c][2 * (plane % 2) + half]; };
    if (adjacent && channels.stride == 1) {
#pragma unroll
      for (int c = 0; c < Channels; ++c) {
        write_adjacent<T, 2>(channels.mesh[c] + node, {sum(c, 0), sum(c, 1)}, accumulate);
      }
      continue;
    }
    if constexpr (Channels == 2) {
      if (adjacent) {
        write_adjacent<T, 4>(channels.mesh[0] + 2 * node, {sum(0, 0), sum(1, 0), sum(0, 1), sum(1, 1)}, accumulate);
        continue;
      }
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      if (k + half >= shape.extent[2]) continue;
#pragma unroll
      for (int c = 0; c < Channels; ++c) {
        T& to = channels.mesh[c][(node + half) * static_cast<std::size_t>(channels.stride)];
        to = accumulate ? to + sum(c, half) : sum(c, half);
      }
    }
  }
}

/// Whether both mesh points of a lane can be written in one access.
template <typename T>
[[nodiscard]] bool writes_adjacent(const mesh_shape& shape, const tile_channels<T>& channels) {
  if (shape.extent[2] % 2 != 0) return false;
  if (channels.stride == 2 && channels.count != 2) return false;
  const std::size_t alignment = std::min<std::size_t>(16, 2 * sizeof(T) * static_cast<std::size_t>(channels.stride));
  return std::all_of(channels.mesh, channels.mesh + (channels.stride == 2 ? 1 : channels.count),
                     [&](const T* mesh) { return reinterpret_cast<std::uintptr_t>(mesh) % alignment == 0; });
}

/// The first blocks take the extra shares of crowded patches, which take long. The others take one patch per warp.
template <typename T, int Channels, int Columns>
__global__ void __launch_bounds__(32 * tile_warps<T>)
    collect_tiles_kernel(const __grid_constant__ tile_problem<T> problem,
                         const __grid_constant__ tile_channels<T> channels,
                         const __grid_constant__ tile_crowd_shares<T> crowds, unsigned patches, bool adjacent,
                         bool accumulate) {
  __shared__ tile_collect_memory<T, Channels> memories[tile_warps<T>];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const mesh_shape& shape = problem.grid.shape;
  const std::uint32_t number = blockIdx.x * tile_warps<T> + warp;
  tile_extra own{number - crowds.most_extras, 0};
  if (number < crowds.most_extras) {
    if (number >= crowds.counts->extras) return;
    own = crowds.extras[number];
  }
  if (own.patch >= patches) return;
  tile_collector<T, Channels, Columns> collector{problem, channels, memories[warp], {}, lane, 0};
  tile_mesh_patches(shape).locate(own.patch, collector.begin);
  tile_sums<T, Channels> sums = {};
  collector.collect(candidate_share(own.share, crowds.share), sums);
  if (own.share == 0) {
    write_patch<T, Channels>(shape, channels, collector.begin, lane, sums, adjacent, accumulate);
    return;
  }
  T* partial = crowds.sums + static_cast<std::size_t>(number) * (16 * Channels * 32) + lane;
#pragma unroll
  for (int s = 0; s < 16 * Channels; ++s) partial[s * 32] = sums[s / 4 / Channels][s / 4 % Channels][s % 4];
}

/// Sums of a lane that a block adds up, and groups of warps among which the shares of a patch are divided.
inline constexpr int crowd_sums = 4, crowd_groups = 4;

/// Adds the extra shares of crowded patches to the mesh: groups of consecutive ones, then the groups in their order.
template <typename T, int Channels>
__global__ void __launch_bounds__(32 * crowd_sums * crowd_groups)
    add_crowds_kernel(const __grid_constant__ mesh_shape shape, const __grid_constant__ tile_channels<T> channels,
                      const __grid_constant__ tile_crowd_shares<T> crowds) {
  __shared__ T sums[crowd_groups][crowd_sums][32];
  const int lane = threadIdx.x % 32, of_block = threadIdx.x / 32 % crowd_sums, group = threadIdx.x / 32 / crowd_sums;
  const int number = blockIdx.y * crowd_sums + of_block;
  const std::uint32_t count = crowds.counts->crowds;
  for (std::uint32_t at = blockIdx.x; at < count; at += gridDim.x) {
    const tile_crowd crowd = crowds.crowds[at];
    const std::uint32_t size = (crowd.count + crowd_groups - 1) / crowd_groups;
    const std::uint32_t first = min(group * size, crowd.count), last = min(first + size, crowd.count);
    const T* partial =
        crowds.sums + (static_cast<std::size_t>(crowd.first + first) * (16 * Channels) + number) * 32 + lane;
    T sum = T(0);
#pragma unroll 8
    for (std::uint32_t share = first; share < last; ++share, partial += 16 * Channels * 32) sum += *partial;
    sums[group][of_block][lane] = sum;
    __syncthreads();
    if (group == 0) {
#pragma unroll
      for (int other = 1; other < crowd_groups; ++other) sum += sums[other][of_block][lane];
      int begin[3];
      tile_mesh_patches(shape).locate(crowd.patch, begin);
      with_collected_sum<Channels>(shape, begin, number, lane, [&](int c, std::size_t node) {
        channels.mesh[c][node * static_cast<std::size_t>(channels.stride)] += sum;
      });
    }
    __syncthreads();
  }
}

template <typename T, int Channels, int Columns>
void launch_collect_tiles(const cuda_context& context, const tile_problem<T>& problem, const tile_channels<T>& channels,
                          const tile_crowd_shares<T>& crowds, bool accumulate) {
  const cuda_launch launch(context, "mesh.tiles.collect");
  const std::size_t patches = tile_mesh_patches(problem.grid.shape).total();
  collect_tiles_kernel<T, Channels, Columns>
      <<<cuda_launch::blocks(patches + crowds.most_extras, tile_warps<T>), 32 * tile_warps<T>, 0, context.stream()>>>(
          problem, channels, crowds, static_cast<unsigned>(patches), writes_adjacent(problem.grid.shape, channels),
          accumulate);
  launch.check();
}

template <typename T, int Channels>
void launch_add_crowds(const cuda_context& context, const mesh_shape& shape, const tile_channels<T>& channels,
                       const tile_crowd_shares<T>& crowds) {
  if (crowds.most_extras == 0) return;
  const cuda_launch launch(context, "mesh.tiles.add_crowds");
  const dim3 blocks(std::min(crowds.most_extras, 128u), 16 * Channels / crowd_sums);
  add_crowds_kernel<T, Channels>
      <<<blocks, 32 * crowd_sums * crowd_groups, 0, context.stream()>>>(shape, channels, crowds);
  launch.check();
}

template <typename T, int Channels>
void collect_tiles_of(const cuda_context& context, const tile_problem<T>& problem, const tile_channels<T>& channels,
                      const tile_crowd_shares<T>& crowds, bool accumulate) {
  if (problem.window.width <= tile_patch) {
    launch_collect_tiles<T, Channels, tile_patch>(context, problem, channels, crowds, accumulate);
  } else if (problem.window.width <= 12) {
    launch_collect_tiles<T, Channels, 12>(context, problem, channels, crowds, accumulate);
  } else {
    launch_collect_tiles<T, Channels, mesh_window<T>::most_width>(context, problem, channels, crowds, accumulate);
  }
  launch_add_crowds<T, Channels>(context, problem.grid.shape, channels, crowds);
}

template <typename T>
void collect_tiles(const cuda_context& context, const tile_problem<T>& problem, const tile_channels<T>& channels,
                   const tile_crowd_shares<T>& crowds, bool accumulate) {
  if (channels.count == 1) {
    collect_tiles_of<T, 1>(context, problem, channels, crowds, accumulate);
  } else {
    collect_tiles_of<T, 2>(context, problem, channels, crowds, accumulate);
  }
}

}  // namespace quadrat::detail
