// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mesh/tiles/cuda/halves.cuh"
#include "mesh/tiles/cuda/interpolate/sums.cuh"
#include "mesh/tiles/cuda/spread/targets.cuh"
#include "parallel/warp_reduce.cuh"
#include "quadrat/parallel/cuda_launch.hpp"

/// Interpolation of floats by tiles as in products.cuh, with factors in halves: (mesh rows x last axis) times (last
/// axis x points). A product adds up the 8 or 16 mesh points of a patch along the last axis.
namespace quadrat::detail {

inline constexpr int half_read_batch = 32;
/// Products read up to 7 points beyond the last one.
inline constexpr int half_read_row = half_read_batch + 8;

/// A lane's part of a right factor: mesh points 2t, 2t + 1 and, of two layers, 2t + 8, 2t + 9.
template <int Layers>
struct alignas(8 * Layers) half_right {
  std::uint32_t high[Layers], low[Layers];
};

template <int Channels, int Layers>
struct half_read_memory {
  float4 first[2][half_read_row];  ///< planes 0 to 3, 4 to 7
  float second[8][half_read_row];
  half_right<Layers> last[half_read_row][4 + 1];  ///< the rest of a row avoids bank conflicts
  float4 up[Channels][2];                         ///< factors for products with planes 0 to 3, 4 to 7
  float4 unfit[Channels][2];                      ///< the same for planes with numbers that lose digits, else 0
  float results[Channels][half_read_batch];

  /// A weight along the first axis, at plane i of the mesh.
  [[nodiscard]] __device__ float first_of(int point, int i) const { return (&first[i >> 2 & 1][point].x)[i & 3]; }
};

/// A lane's mesh values of a patch: eight planes, row g along the second axis, mesh points 2t, 2t + 1 of each layer
/// along the last, scaled plane by plane and channel by channel. Plane i of the mesh is stored at i % 8. In the order
/// of a product's left factor: two planes, layer by layer.
template <int Channels, int Layers>
class half_mesh_patch {
  using values_type = float[2 * Layers][Channels];

 public:
  using memory_type = half_read_memory<Channels, Layers>;

  __device__ explicit half_mesh_patch(memory_type& memory) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    if (lane < Channels * tile_patch) (&memory.up[0][0].x)[lane] = (&memory.unfit[0][0].x)[lane] = 0;
#pragma unroll
    for (int c = 0; c < Channels; ++c) {
      exponent_[c] = -1;
#pragma unroll
      for (int pair = 0; pair < tile_patch / 2; ++pair) {
#pragma unroll
        for (int k = 0; k < 2 * Layers; ++k) high_[c][pair][k] = low_[c][pair][k] = 0;
      }
    }
  }

  /// Loads the planes [plane, until) of the mesh, two at a time. Their scales go to `memory`.
  __device__ __forceinline__ void load(const mesh_shape& shape, const int (&offset)[2 * Layers], int plane, int until,
                                       const tile_channels<float>& channels, half_unit unit, memory_type& memory) {
    __syncwarp();
#pragma unroll 1
    for (int i = plane; i < until; i += 2) {
      values_type value[2];
#pragma unroll
      for (int p = 0; p < 2; ++p) read(shape, offset, i + p, until, channels, value[p]);
#pragma unroll
      for (int p = 0; p < 2; ++p) {
        if (i + p < until) keep_plane(i + p & (tile_patch - 1), value[p], unit, memory);
      }
    }
    __syncwarp();
  }

  /// Whether halves serve all planes, at least for their largest numbers.
  [[nodiscard]] __device__ bool serves() const { return (lacks_ & all_planes) == 0; }
  /// Whether all numbers keep their digits.
  [[nodiscard]] __device__ bool fits() const { return lacks_ == 0; }
  /// Whether all planes have the same scale, and the factor for products in that case.
  [[nodiscard]] __device__ bool alike() const { return alike_ >= tile_patch; }
  [[nodiscard]] __device__ float up(int channel, half_unit unit) const {
    return half_scale::up_of(exponent_[channel], unit);
  }
  /// The product of two planes.
  __device__ __forceinline__ void multiply(int channel, int pair, const half_right<Layers>& right,
                                           float (&product)[4]) const {
    add(product, low_[channel][pair], right.high);
    add(product, high_[channel][pair], right.low);
    add(product, high_[channel][pair], right.high);
  }

 private:
  __device__ __forceinline__ static void add(float (&product)[4], const std::uint32_t (&left)[2 * Layers],
                                             const std::uint32_t (&right)[Layers]) {
    if constexpr (Layers == 1) {
      add_half_product(product, left[0], left[1], right[0]);
    } else {
      add_half_product(product, left[0], left[1], left[2], left[3], right[0], right[1]);
    }
  }
  __device__ __forceinline__ static void read(const mesh_shape& shape, const int (&offset)[2 * Layers], int plane,
                                              int until, const tile_channels<float>& channels, values_type& value) {
    const int i = plane < until ? tile_home(shape, plane, 0) : -1;
    const std::size_t base = static_cast<std::size_t>(max(i, 0)) * static_cast<std::size_t>(shape.extent[1]) *
                             static_cast<std::size_t>(shape.extent[2]);
#pragma unroll
    for (int k = 0; k < 2 * Layers; ++k) {
#pragma unroll
      for (int c = 0; c < Channels; ++c) value[k][c] = 0;
      if (i >= 0 && offset[k] >= 0) {
        load_tile_node<float, Channels>(channels, base + static_cast<std::size_t>(offset[k]), value[k]);
      }
    }
  }

  __device__ __forceinline__ void keep_plane(int p, const values_type& value, half_unit unit, memory_type& memory) {
    bool serves = true, fits = true;
    half_parts part[Channels][Layers];
#pragma unroll
    for (int c = 0; c < Channels; ++c) {
      // Any footprint more than two mesh points wide contains both of some pair.
      std::uint32_t pair[Layers], most = 0;
#pragma unroll
      for (int layer = 0; layer < Layers; ++layer) {
        pair[layer] = max(half_scale::modulus(value[2 * layer][c]), half_scale::modulus(value[2 * layer + 1][c]));
        most = max(most, pair[layer]);
      }
      const half_scale scale(warp_max(most), unit, exponent_[c]);
      serves = serves && scale.serves;
      if (scale.exponent != exponent_[c] && exponent_[c] >= 0) alike_ = 0;
      exponent_[c] = scale.exponent;
      bool all_fit = true;
#pragma unroll
      for (int layer = 0; layer < Layers; ++layer) {
        all_fit = all_fit && scale.fits(pair[layer]);
        part[c][layer] = split_halves(value[2 * layer][c] * scale.down, value[2 * layer + 1][c] * scale.down);
      }
      all_fit = __all_sync(~0u, all_fit);
      fits = fits && all_fit;
      if (threadIdx.x % 32 == 0) {
        (&memory.up[c][0].x)[p] = scale.up;
        (&memory.unfit[c][0].x)[p] = all_fit ? 0 : scale.up;
      }
    }
    ++alike_;
    const unsigned lacks = (serves ? 0u : 1u) + (fits ? 0u : 1u << tile_patch);
    lacks_ = (lacks_ & ~((1u + (1u << tile_patch)) << p)) | lacks << p;
    keep_parts<0>(p, part);
  }
  template <int P>
  __device__ __forceinline__ void keep_parts(int p, const half_parts (&part)[Channels][Layers]) {
    if (P != p) {
      if constexpr (P + 1 < tile_patch) keep_parts<P + 1>(p, part);
      return;
    }
#pragma unroll
    for (int c = 0; c < Channels; ++c) {
#pragma unroll
      for (int layer = 0; layer < Layers; ++layer) {
        keep<P>(high_[c][P / 2][2 * layer + P % 2], part[c][layer].high);
        keep<P>(low_[c][P / 2][2 * layer + P % 2], part[c][layer].low);
      }
    }
  }
  /// P keeps compilers from merging the branches for different planes, which would put the patch into
  /// memory.
  template <int P>
  __device__ __forceinline__ static void keep(std::uint32_t& to, std::uint32_t value) {
    asm volatile("mov.b32 %0, %1;  // %2" : "=r"(to) : "r"(value), "n"(P));
  }

  std::uint32_t high_[Channels][tile_patch / 2][2 * Layers], low_[Channels][tile_patch / 2][2 * Layers];
  static constexpr unsigned all_planes = (1u << tile_patch) - 1;
  unsigned lacks_ = 0;      // by plane: halves do not serve; after those, do not fit all numbers
  int exponent_[Channels];  // of the last plane's scales
  int alike_ = tile_patch;  // at least this many planes have them
};

/// Interpolates points [begin, end) of a batch, all in the patch's tile. Alike: all planes have the same scale.
template <bool Alike, int Channels, int Layers>
__device__ __forceinline__ void interpolate_half_points(half_read_memory<Channels, Layers>& memory,
                                                        const half_mesh_patch<Channels, Layers>& patch, half_unit unit,
                                                        int begin, int end, int lane) {
  const int g = lane / 4, t = lane % 4;
  float all_up[Channels];
#pragma unroll
  for (int c = 0; c < Channels; ++c) all_up[c] = Alike ? patch.up(c, unit) : 1.0f;
  for (int k = begin; k < end; k += 8) {
    const half_right<Layers> right = memory.last[k + g][t];
    float sums[Channels][2] = {};
#pragma unroll
    for (int four = 0; four < 2; ++four) {
      float first[2][4];
#pragma unroll
      for (int p = 0; p < 2; ++p) {
        const float4 w = memory.first[four][k + 2 * t + p];
        first[p][0] = w.x, first[p][1] = w.y, first[p][2] = w.z, first[p][3] = w.w;
      }
#pragma unroll
      for (int pair = 0; pair < 2; ++pair) {
#pragma unroll
        for (int c = 0; c < Channels; ++c) {
          float product[4] = {};
          patch.multiply(c, 2 * four + pair, right, product);
          if constexpr (!Alike) {
            const float4 up = memory.up[c][four];
#pragma unroll
            for (int k = 0; k < 4; ++k) product[k] *= pair == 0 ? (k < 2 ? up.x : up.y) : (k < 2 ? up.z : up.w);
          }
#pragma unroll
          for (int p = 0; p < 2; ++p) {
            sums[c][p] += first[p][2 * pair] * product[p];
            sums[c][p] += first[p][2 * pair + 1] * product[2 + p];
          }
        }
      }
    }
    const float second[2] = {memory.second[g][k + 2 * t], memory.second[g][k + 2 * t + 1]};
    const int point = k + 2 * t + g % 2;
#pragma unroll
    for (int c = 0; c < Channels; ++c) {
      const float weighted[2] = {all_up[c] * sums[c][0] * second[0], all_up[c] * sums[c][1] * second[1]};
      const float sum = sum_tile_rows(weighted, lane);
      if (g < 2 && point < end) memory.results[c][point] = sum;
    }
  }
}

/// Whether a point's result may have lost digits. Most points near numbers that do not fit are also near larger ones,
/// whose digits are all kept: a mesh to which a crowd was spread falls off steeply around it.
template <int Channels, int Layers>
[[nodiscard]] __device__ __forceinline__ bool half_result_is_doubtful(const half_read_memory<Channels, Layers>& memory,
                                                                      half_unit unit, int point) {
  bool doubtful = false;
#pragma unroll
  for (int c = 0; c < Channels; ++c) {
    float unfit = 0;
#pragma unroll
    for (int four = 0; four < 2; ++four) {
      const float4 w = memory.first[four][point], up = memory.unfit[c][four];
      unfit += fabsf(w.x) * up.x + fabsf(w.y) * up.y + fabsf(w.z) * up.z + fabsf(w.w) * up.w;
    }
    doubtful = doubtful || !(fabsf(memory.results[c][point]) >= least_half_result(unfit, unit));
  }
  return doubtful;
}

/// The same for the point of a lane, without halves, from the mesh. `plane`, `row`: the first of the tile; `word`: the
/// point's place along the last axis, where the tile begins at mesh point `last`. Not inlined, so that it costs the
/// other code no registers.
template <int Channels, int Layers>
__device__ __noinline__ void interpolate_half_point_singly(const tile_problem<float>& problem,
                                                           const tile_channels<float>& channels, half_unit unit,
                                                           half_read_memory<Channels, Layers>& memory, int plane,
                                                           int row, int last, std::uint32_t word) {
  const int point = static_cast<int>(threadIdx.x % 32);
  const tile_grid& grid = problem.grid;
  const mesh_shape& shape = grid.shape;
  const float place = place_of<float>(word);
  float sums[Channels] = {};
#pragma unroll 1
  for (int k = 0; k < shape.width[2]; ++k) {
    const int z = tile_home(shape, last + offset_of<float>(word) + k, 2);
    // Recompute them: the halves in memory have too few digits of small weights.
    const float third = unit.along(2, shape) * problem.window.weight(k, place);
#pragma unroll 1
    for (int i = plane; i < plane + grid.reach(0); ++i) {
      const int x = tile_home(shape, i, 0);
      const float first = third * (unit.along(0, shape) * memory.first_of(point, i));
      if (x < 0 || z < 0 || first == 0) continue;
#pragma unroll 4
      for (int j = 0; j < tile_patch; ++j) {
        const int y = j < grid.reach(1) ? tile_home(shape, row + j, 1) : -1;
        const float weight = first * (unit.along(1, shape) * memory.second[j][point]);
        if (y < 0 || weight == 0) continue;
        float value[Channels];
        load_tile_node<float, Channels>(channels, shape.node(x, y, z), value);
#pragma unroll
        for (int c = 0; c < Channels; ++c) sums[c] = fmaf(weight, value[c], sums[c]);
      }
    }
  }
#pragma unroll
  for (int c = 0; c < Channels; ++c) memory.results[c][point] = sums[c];
}

/// The weights of one point per lane. Returns whether halves serve the whole batch. Only weights along the last axis
/// are split.
template <int Channels, int Layers>
__device__ __forceinline__ bool stage_half_weights(const tile_problem<float>& problem, const tile_record<float>& record,
                                                   const tile_unit_patch& at,
                                                   half_read_memory<Channels, Layers>& memory) {
  const int lane = at.lane;
  const tile_grid& grid = problem.grid;
  float w[3][8];
  weights_of_record(problem.window, grid.shape, record, w);
  const bool serves = half_weights_serve(grid.shape, 2, at.last + offset_of<float>(record.place[2]), w[2]);
  rotate_tile_weights(at.first + offset_of<float>(record.place[0]), w[0]);
  memory.first[0][lane] = make_float4(w[0][0], w[0][1], w[0][2], w[0][3]);
  memory.first[1][lane] = make_float4(w[0][4], w[0][5], w[0][6], w[0][7]);
  shift_tile_weights(offset_of<float>(record.place[1]), grid.edge[1], w[1]);
#pragma unroll
  for (int j = 0; j < 8; ++j) memory.second[j][lane] = w[1][j];
  float wide[8 * Layers];
#pragma unroll
  for (int j = 0; j < 8 * Layers; ++j) wide[j] = j < 8 ? w[2][j] : 0;
  shift_tile_weights(offset_of<float>(record.place[2]), grid.edge[2], wide);
#pragma unroll
  for (int t = 0; t < 4; ++t) {
    half_right<Layers> right;
#pragma unroll
    for (int layer = 0; layer < Layers; ++layer) {
      const half_parts parts = split_halves(wide[8 * layer + 2 * t], wide[8 * layer + 2 * t + 1]);
      right.high[layer] = parts.high, right.low[layer] = parts.low;
    }
    memory.last[lane][t] = right;
  }
  return __all_sync(~0u, serves);
}

template <int Channels, int Layers>
__device__ __forceinline__ void put_half_results(const tile_results<float>& results,
                                                 const half_read_memory<Channels, Layers>& memory, particle_id id,
                                                 int lane) {
  if constexpr (Channels == 2) {
    if (results.pairs) return results.put_pair(id, memory.results[0][lane], memory.results[1][lane]);
  }
#pragma unroll
  for (int c = 0; c < Channels; ++c) results.put_value(c, id, memory.results[c][lane]);
}

inline constexpr int half_read_warps = 4;

/// Like interpolate_tiles_kernel, values only. The problem's window is scaled by `unit`.
template <int Channels, int Layers, int Resident = Layers == 2 ? 4 : 5>
__global__ void __launch_bounds__(32 * half_read_warps, Resident)
    interpolate_halves_kernel(const __grid_constant__ tile_problem<float> problem,
                              const __grid_constant__ tile_channels<float> channels,
                              const __grid_constant__ tile_results<float> results, half_unit unit) {
  __shared__ half_read_memory<Channels, Layers> memories[half_read_warps];
  const int lane = threadIdx.x % 32;
  auto& memory = memories[threadIdx.x / 32];
  const std::uint32_t number = blockIdx.x * half_read_warps + threadIdx.x / 32;
  if (number >= *problem.unit_count) return;
  const tile_unit own = problem.units[number];
  const tile_grid& grid = problem.grid;

  const tile_unit_patch at = patch_of_unit(grid, own, number, lane);
  const int start = at.first;
  const int home = lane / 4 < grid.reach(1) ? tile_home(grid.shape, at.second + lane / 4, 1) : -1;
  int offset[2 * Layers];
#pragma unroll
  for (int k = 0; k < 2 * Layers; ++k) {
    const int position = 2 * (lane % 4) + k % 2 + 8 * (k / 2);
    const int z = position < grid.reach(2) ? tile_home(grid.shape, at.last + position, 2) : -1;
    offset[k] = home < 0 || z < 0 ? -1 : home * grid.shape.extent[2] + z;
  }

  int loaded = start - tile_patch;  // all planes of the mesh before this one have been loaded
  half_mesh_patch<Channels, Layers> patch(memory);
  tile_record<float> record = problem.records[min(own.first + lane, own.last - 1)];
  for (std::uint32_t batch = own.first; batch < own.last; batch += half_read_batch) {
    const tile_record<float> next = problem.records[min(batch + half_read_batch + lane, own.last - 1)];
    const int tile = grid.tile_in_segment(offset_of<float>(record.place[0]));
    const int count = static_cast<int>(min(static_cast<std::uint32_t>(half_read_batch), own.last - batch));
    const int before = __shfl_up_sync(~0u, tile, 1);
    unsigned begins = __ballot_sync(~0u, lane < count && (lane == 0 || tile != before));
    const bool serves = stage_half_weights(problem, record, at, memory);
    __syncwarp();
    while (begins != 0) {
      const int begin = __ffs(static_cast<int>(begins)) - 1;
      begins &= begins - 1;
      const int end = begins == 0 ? count : __ffs(static_cast<int>(begins)) - 1;
      const int plane = start + __shfl_sync(~0u, tile, begin) * grid.edge[0];
      const int until = plane + grid.reach(0);
      if (until > loaded) {
        patch.load(grid.shape, offset, max(plane, loaded), until, channels, unit, memory);
        loaded = until;
      }
      bool singly = !serves || !patch.serves();
      if (!singly) {
        if (patch.alike()) {
          interpolate_half_points<true>(memory, patch, unit, begin, end, lane);
        } else {
          interpolate_half_points<false>(memory, patch, unit, begin, end, lane);
        }
        if (!patch.fits()) {
          __syncwarp();
          singly = half_result_is_doubtful(memory, unit, lane);
        }
      }
      if (singly && lane >= begin && lane < end) {
        interpolate_half_point_singly(problem, channels, unit, memory, plane, at.second, at.last, record.place[2]);
      }
    }
    __syncwarp();
    if (lane < count) put_half_results(results, memory, record.id, lane);
    __syncwarp();
    record = next;
  }
}

template <int Channels, int Layers>
void launch_interpolate_halves(const cuda_context& context, const tile_problem<float>& problem,
                               const tile_channels<float>& channels, const tile_results<float>& results) {
  const cuda_launch launch(context, "mesh.tiles.interpolate");
  tile_problem<float> scaled = problem;
  const half_unit unit = scale_half_window(scaled.window, problem.grid.shape);
  interpolate_halves_kernel<Channels, Layers>
      <<<cuda_launch::blocks(problem.most_units, half_read_warps), 32 * half_read_warps, 0, context.stream()>>>(
          scaled, channels, results, unit);
  launch.check();
}

template <int Channels>
void interpolate_by_halves(const cuda_context& context, const tile_problem<float>& problem,
                           const tile_channels<float>& channels, const tile_results<float>& results) {
  if (problem.grid.layers == 1) {
    launch_interpolate_halves<Channels, 1>(context, problem, channels, results);
  } else {
    launch_interpolate_halves<Channels, 2>(context, problem, channels, results);
  }
}

}  // namespace quadrat::detail
