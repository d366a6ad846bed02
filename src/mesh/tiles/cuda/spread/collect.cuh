// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mesh/tiles/cuda/spread/products.cuh"
#include "quadrat/parallel/warp_scan.hpp"

/// Spreading with few points per mesh point: a warp owns a patch of 8 x 8 x 8 mesh points, collects all footprints that
/// reach into it, and writes it once. Also for footprints that are longer than a patch. A point is read by several
/// patches; there are no atomic operations, the mesh need not be cleared, and the order of sums is that of the tiles.
namespace quadrat::detail {

/// The tiles along an axis whose footprints may reach the patch that begins at mesh point `begin`, image by image where
/// the axis is periodic: a run of tiles for each.
class tile_span {
 public:
  struct run {
    int first, count;
    int shift;  ///< of the image, in mesh points
  };

  __device__ tile_span(const tile_grid& grid, int axis, int begin)
      : low_(begin - grid.shape.width[axis] + 1 - grid.origin[axis]),
        high_(begin + tile_patch - 1 - grid.origin[axis]),
        edge_(grid.edge[axis]),
        extent_(grid.shape.periodic[axis] ? grid.shape.extent[axis] : 0),
        last_((extent_ > 0 ? extent_ : grid.tiles[axis] * edge_) - 1) {
    if (extent_ > 0 && low_ < 0) first_image_ = -((extent_ - 1 - low_) / extent_);
    if (extent_ > 0) images_ = high_ / extent_ - first_image_ + 1;
    for (int image = 0; image < images_; ++image) total_ += of_image(image).count;
  }
  [[nodiscard]] __device__ int images() const { return images_; }
  [[nodiscard]] __device__ run of_image(int image) const {
    const int shift = (first_image_ + image) * extent_;
    const int from = max(low_ - shift, 0) / edge_, to = min(high_ - shift, last_) / edge_;
    return {from, max(to - from + 1, 0), shift};
  }
  /// Tiles of all images.
  [[nodiscard]] __device__ int total() const { return total_; }
  /// Tile k of them, as a run of one.
  [[nodiscard]] __device__ run tile(int k) const {
    for (int image = 0;; ++image) {
      const run own = of_image(image);
      if (k < own.count) return {own.first + k, 1, own.shift};
      k -= own.count;
    }
  }

 private:
  int low_, high_;  // first mesh points of footprints that reach the patch
  int edge_, extent_, last_;
  int first_image_ = 0, images_ = 1, total_ = 0;
};

/// Shifts eight weights by `offset`, from -7 to 7, in a row of eight; those shifted out are dropped.
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

/// Points of adjacent tiles of a row: a run of slots.
struct tile_run {
  std::uint32_t first, length;
  int from;     ///< the smallest first mesh point along the first axis
  int base[3];  ///< origin of the offsets in records
};

template <typename T, int Channels>
using tile_sums = T[tile_patch / 2][Channels][4];

/// The work of a warp for its patch. Columns: the most mesh points of a footprint along an axis.
template <typename T, int Channels, int Columns>
struct tile_collector {
  const tile_problem<T>& problem;
  const tile_channels<T>& channels;
  tile_collect_memory<T, Channels>& memory;
  int begin[3];
  int lane;
  int queued;

  __device__ void collect(tile_sums<T, Channels>& sums) {
    const tile_grid& grid = problem.grid;
    const tile_span first(grid, 0, begin[0]), second(grid, 1, begin[1]), last(grid, 2, begin[2]);
    const int runs = second.total() * last.total() * first.images();
    for (int round = 0; round < runs; round += 32) {
      const int number = round + lane;
      tile_run run{};
      if (number < runs) {
        const int row = number / first.images(), rank = row / last.total();
        run = run_of(first.of_image(number - row * first.images()), second.tile(rank),
                     last.tile(row - rank * last.total()));
      }
      look_at(run, sums);
    }
    if (queued > 0) add_batch(queued, sums);
  }

 private:
  [[nodiscard]] __device__ tile_run run_of(const tile_span::run& first, const tile_span::run& second,
                                           const tile_span::run& last) const {
    const tile_grid& grid = problem.grid;
    if (first.count == 0) return {};
    const std::uint32_t number = static_cast<std::uint32_t>(second.first * grid.tiles[2] + last.first) *
                                     static_cast<std::uint32_t>(grid.segments * grid.segment) +
                                 static_cast<std::uint32_t>(first.first);
    const std::uint32_t begins = problem.offsets[number];
    const int origin = grid.origin[0] + first.shift;
    return {begins,
            problem.offsets[number + static_cast<std::uint32_t>(first.count)] - begins,
            origin + first.first * grid.edge[0],
            {origin + first.first / grid.segment * grid.segment * grid.edge[0],
             grid.origin[1] + second.first * grid.edge[1] + second.shift,
             grid.origin[2] + last.first * grid.edge[2] + last.shift}};
  }

  /// Each lane brings a run; their points are processed 32 at a time.
  __device__ void look_at(const tile_run& run, tile_sums<T, Channels>& sums) {
    const std::uint32_t end = warp_inclusive_sum(run.length, static_cast<unsigned>(lane));
    const std::uint32_t total = __shfl_sync(~0u, end, 31);
    for (std::uint32_t base = 0; base < total; base += 32) {
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
      if (queued >= tile_batch) {
        add_batch(tile_batch, sums);
        keep_rest();
      }
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
      tile_weights(problem.window, shape, record, w);
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
    add_tile_points<T, Channels, 1, tile_mesh_target<T, Channels, 1>>(weights, 0, count, lane, sums);
    __syncwarp();
  }
};

template <typename T, int Channels, int Columns>
__global__ void __launch_bounds__(32 * tile_warps<T>)
    collect_tiles_kernel(const __grid_constant__ tile_problem<T> problem,
                         const __grid_constant__ tile_channels<T> channels, unsigned patches, bool accumulate) {
  __shared__ tile_collect_memory<T, Channels> memories[tile_warps<T>];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const mesh_shape& shape = problem.grid.shape;
  const unsigned along_last = (shape.extent[2] + tile_patch - 1) / tile_patch,
                 along_second = (shape.extent[1] + tile_patch - 1) / tile_patch;
  const unsigned patch = blockIdx.x * tile_warps<T> + warp;
  if (patch >= patches) return;
  const int begin[3] = {static_cast<int>(patch / along_last / along_second) * tile_patch,
                        static_cast<int>(patch / along_last % along_second) * tile_patch,
                        static_cast<int>(patch % along_last) * tile_patch};
  tile_sums<T, Channels> sums = {};
  tile_collector<T, Channels, Columns> collector{problem, channels, memories[warp], {begin[0], begin[1], begin[2]},
                                                 lane,    0};
  collector.collect(sums);
  const int j = begin[1] + lane / 4;
#pragma unroll
  for (int plane = 0; plane < tile_patch; ++plane) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int i = begin[0] + plane, k = begin[2] + 4 * half + lane % 4;
      if (i >= shape.extent[0] || j >= shape.extent[1] || k >= shape.extent[2]) continue;
#pragma unroll
      for (int c = 0; c < Channels; ++c) {
        T& to = channels.mesh[c][shape.node(i, j, k) * static_cast<std::size_t>(channels.stride)];
        const T sum = sums[plane / 2][c][2 * (plane % 2) + half];
        to = accumulate ? to + sum : sum;
      }
    }
  }
}

template <typename T, int Channels, int Columns>
void launch_collect_tiles(const cuda_context& context, const tile_problem<T>& problem, const tile_channels<T>& channels,
                          bool accumulate) {
  const cuda_launch launch(context, "mesh.tiles.collect");
  std::size_t patches = 1;
  for (const int extent : problem.grid.shape.extent) {
    patches *= static_cast<std::size_t>((extent + tile_patch - 1) / tile_patch);
  }
  collect_tiles_kernel<T, Channels, Columns>
      <<<cuda_launch::blocks(patches, tile_warps<T>), 32 * tile_warps<T>, 0, context.stream()>>>(
          problem, channels, static_cast<unsigned>(patches), accumulate);
  launch.check();
}

template <typename T, int Columns>
void collect_tiles_of_width(const cuda_context& context, const tile_problem<T>& problem,
                            const tile_channels<T>& channels, bool accumulate) {
  if (channels.count == 1) {
    launch_collect_tiles<T, 1, Columns>(context, problem, channels, accumulate);
  } else {
    launch_collect_tiles<T, 2, Columns>(context, problem, channels, accumulate);
  }
}

template <typename T>
void collect_tiles(const cuda_context& context, const tile_problem<T>& problem, const tile_channels<T>& channels,
                   bool accumulate) {
  if (problem.window.width <= tile_patch) {
    collect_tiles_of_width<T, tile_patch>(context, problem, channels, accumulate);
  } else if (problem.window.width <= 12) {
    collect_tiles_of_width<T, 12>(context, problem, channels, accumulate);
  } else {
    collect_tiles_of_width<T, mesh_window<T>::most_width>(context, problem, channels, accumulate);
  }
}

}  // namespace quadrat::detail
