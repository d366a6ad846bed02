// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <type_traits>

#include "core/cuda_check.hpp"
#include "mesh/tiles/cuda/interpolate/pairs.cuh"
#include "mesh/tiles/cuda/interpolate/shares.cuh"
#include "mesh/tiles/cuda/weights.cuh"
#include "quadrat/parallel/cuda_launch.hpp"

/// Interpolation for tiles with too few points to fill the matrices of tensor cores, but enough to read the mesh many
/// times. A block copies the patch of a few tiles to shared memory, and interpolates its points from there.
namespace quadrat::detail {

/// A patch in shared memory: rows of pairs, `patch_pitch` apart, by plane and then along the second axis. The pitch
/// is 4 modulo 8, so that four pairs from each of two neighboring rows, which eight lanes read at a time, never share a
/// bank.
template <int Width>
struct patch_extent {
  static constexpr int edge = Width > patch_most_width ? cube_patch_edge
                                                       : patch_tiles(Width) * (tile_patch - Width + 1);
  static constexpr int planes = edge + Width - 1;
  /// One more for odd widths, which read a last row with weight zero.
  static constexpr int rows = edge + 2 * pair_rows<Width> - 1;
  static constexpr int pairs = planes * rows * patch_pitch;
};

/// The position of a patch in the mesh.
struct staged_patch {
  int origin[3];  ///< its first mesh point, even along the last axis
  int odd;        ///< its distance before the first tile's, along the last axis
  int planes;
  int pairs;   ///< of a row
  bool whole;  ///< whether it lies entirely within the mesh

  template <int Width>
  QUADRAT_HD static staged_patch of(const tile_grid& grid, const tile_patches& patches, const int (&at)[3]) {
    staged_patch patch{};
    for (int axis = 0; axis < 3; ++axis) patch.origin[axis] = patch_origin(grid, patches, at[axis], axis);
    patch.odd = patch.origin[2] & 1;
    patch.origin[2] -= patch.odd;
    patch.planes = patches.tiles[0] * grid.edge[0] + Width - 1;
    const int last = patch.odd + patches.tiles[2] * grid.edge[2] - 1;  // first mesh point of the last footprint
    patch.pairs = Width > patch_most_width ? (last + 1) / 2 + 4 : last / 2 + 4;
    const int size[3] = {patch.planes, patch_extent<Width>::rows, 2 * patch.pairs};
    patch.whole = true;
    for (int axis = 0; axis < 3; ++axis) {
      patch.whole =
          patch.whole && patch.origin[axis] >= 0 && patch.origin[axis] + size[axis] <= grid.shape.extent[axis];
    }
    return patch;
  }
};

/// The mesh point of a patch point; -1 outside an open axis.
QUADRAT_HD inline int patch_home(const mesh_shape& shape, int index, int axis) {
  const int n = shape.extent[axis];
  if (index >= 0 && index < n) return index;
  if (!shape.periodic[axis]) return -1;
  return index < 2 * n ? index - n : index % n;
}

/// Calls copy(to, from) for the pairs that one thread of the block copies: `to` in shared memory, `from` in the mesh,
/// or -1 for zeros. A thread keeps its position within rows.
#if defined(__CUDACC__)
#pragma nv_exec_check_disable
#endif
template <int Width, int Threads, typename Copy>
QUADRAT_HD void for_each_patch_pair(const mesh_shape& shape, const staged_patch& patch, int thread, const Copy& copy) {
  static_assert(Threads % patch_pitch == 0);
  constexpr int rows = patch_extent<Width>::rows, at_once = Threads / patch_pitch;
  const int place = thread % patch_pitch, all = patch.planes * rows, half = shape.extent[2] / 2;
  if (place >= patch.pairs) return;
  if (patch.whole) {
    const int corner = (patch.origin[0] * shape.extent[1] + patch.origin[1]) * half + patch.origin[2] / 2 + place;
#if defined(__CUDA_ARCH__)
#pragma unroll 4
#endif
    for (int row = thread / patch_pitch; row < all; row += at_once) {
      const int i = row / rows, k = row - i * rows;
      copy(row * patch_pitch + place, corner + (i * shape.extent[1] + k) * half);
    }
    return;
  }
  const int z = patch_home(shape, patch.origin[2] + 2 * place, 2);
  for (int row = thread / patch_pitch; row < all; row += at_once) {
    const int plane = row / rows, i = patch_home(shape, patch.origin[0] + plane, 0),
              k = patch_home(shape, patch.origin[1] + row - plane * rows, 1);
    const bool inside = i >= 0 && k >= 0 && z >= 0;
    copy(row * patch_pitch + place, inside ? (i * shape.extent[1] + k) * half + z / 2 : -1);
  }
}

#if defined(__CUDACC__)

QUADRAT_HD inline float2 join_pair(float first, float second) { return {first, second}; }
QUADRAT_HD inline float4 join_pair(const float2& first, const float2& second) {
  return {first.x, first.y, second.x, second.y};
}

/// The sums of lane (t, h) for a point whose footprint begins at patch point `first`. Footprints of 8 mesh points are
/// read number by number, because they touch five pairs if they begin in the middle of one.
template <int Width, int Components, bool Gradient>
__device__ __forceinline__ void sum_patch_pairs(const lane_polynomial& own, const mesh_window<float>& window,
                                                const mesh_pair<Components>* staged, const tile_record<float>& record,
                                                const int (&first)[3], int t, int h,
                                                float (&results)[pair_results<Components, Gradient>]) {
  constexpr int rows = patch_extent<Width>::rows;
  constexpr bool by_pairs = Width <= patch_most_width;
  using number = std::conditional_t<Components == 1, float, float2>;
  const mesh_pair<Components>* const row = staged + (first[0] * rows + first[1] + h) * patch_pitch;
  const number* const at = reinterpret_cast<const number*>(row + t) + (by_pairs ? first[2] & ~1 : first[2]);
  const pair_weights<Width, Gradient> weights(own, window, record, by_pairs && (first[2] & 1) != 0, t, h);
  pair_sums<Width, Components, Gradient> sums(weights);
#pragma unroll
  for (int i = 0; i < Width; ++i) {
    sums.add_plane(i, [&](int k) {
      const number* const from = at + (i * rows + 2 * k) * (2 * patch_pitch);
      if constexpr (by_pairs) {
        return *reinterpret_cast<const mesh_pair<Components>*>(from);
      } else {
        return join_pair(from[0], from[1]);
      }
    });
  }
  sums.close(results);
}

/// Begins to copy a pair to shared memory, or zeros if it is not `inside`. Before compute capability 8.0, copies it.
template <int Bytes>
__device__ __forceinline__ void copy_patch_pair(void* to, const void* from, bool inside) {
  static_assert(Bytes == 8 || Bytes == 16);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  const auto target = static_cast<std::uint32_t>(__cvta_generic_to_shared(to));
  const int bytes = inside ? Bytes : 0;
  if constexpr (Bytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(target), "l"(from), "r"(bytes) : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(target), "l"(from), "r"(bytes) : "memory");
  }
#else
  using pair = std::conditional_t<Bytes == 16, uint4, uint2>;
  *static_cast<pair*>(to) = inside ? *static_cast<const pair*>(from) : pair{};
#endif
}
/// Waits for the copies that this thread has begun.
__device__ __forceinline__ void wait_for_patch_pairs() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

/// Of 128, 192 and 256 threads, 192 are fastest on an H200 at 1 / 20 of a point per mesh point.
inline constexpr int patch_threads = 16 * patch_pitch;

/// One block per share of a patch.
template <int Width, int Components, bool Gradient>
__global__ void __launch_bounds__(patch_threads, Gradient ? 4 : 5)
    interpolate_patches_kernel(const __grid_constant__ tile_problem<float> problem,
                               const __grid_constant__ tile_patch_shares shares,
                               const __grid_constant__ tile_patch_values values) {
  using pair = mesh_pair<Components>;
  extern __shared__ float4 shared_patch[];
  __shared__ tile_run_table table;
  auto* staged = reinterpret_cast<pair*>(shared_patch);
  const tile_share share = find_tile_share(problem.grid, shares, problem.offsets, table);
  if (share.empty()) return;
  const auto patch = staged_patch::of<Width>(problem.grid, shares.patches, share.at);
  const auto* mesh = reinterpret_cast<const pair*>(values.mesh);
  for_each_patch_pair<Width, patch_threads>(
      problem.grid.shape, patch, static_cast<int>(threadIdx.x),
      [&](int to, int from) { copy_patch_pair<sizeof(pair)>(staged + to, mesh + max(from, 0), from >= 0); });
  // The next point is loaded while one is summed.
  const int lane = threadIdx.x % 8;
  const lane_polynomial own(problem.window, lane);
  const std::uint32_t of_thread = threadIdx.x / 8, of_warp = threadIdx.x / 32 * 4;
  const auto number_of = [&](std::uint32_t begin) { return min(begin + of_thread, share.last - 1); };
  int4 run = table.run_of(number_of(share.first), share.top);
  tile_record<float> record = problem.records[number_of(share.first) + static_cast<std::uint32_t>(run.x)];
  wait_for_patch_pairs();
  __syncthreads();
#pragma unroll 1
  for (std::uint32_t begin = share.first; begin + of_warp < share.last; begin += patch_threads / 8) {
    const std::uint32_t after = number_of(begin + patch_threads / 8);
    const int4 next_run = table.run_of(after, share.top);
    const tile_record<float> next = problem.records[after + static_cast<std::uint32_t>(next_run.x)];
    const int first[3] = {run.y + offset_of<float>(record.place[0]), run.z + offset_of<float>(record.place[1]),
                          run.w + offset_of<float>(record.place[2]) + patch.odd};
    float results[pair_results<Components, Gradient>];
    sum_patch_pairs<Width, Components, Gradient>(own, problem.window, staged, record, first, lane & 3, lane >> 2,
                                                 results);
    store_pair_results<Components, Gradient>(values, record.id, lane, begin + of_thread < share.last, results);
    run = next_run, record = next;
  }
}

template <int Width, int Components, bool Gradient>
void launch_interpolate_patches(const cuda_context& context, const tile_problem<float>& problem,
                                const tile_patch_shares& shares, const tile_patch_values& values) {
  const cuda_launch launch(context, "mesh.tiles.interpolate_patches");
  constexpr int bytes = patch_extent<Width>::pairs * static_cast<int>(sizeof(mesh_pair<Components>));
  auto* kernel = interpolate_patches_kernel<Width, Components, Gradient>;
  check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
             "asking for shared memory");
  check_cuda(
      cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared),
      "asking for shared memory of several blocks");
  kernel<<<cuda_launch::blocks(shares.most_blocks(), 1), patch_threads, bytes, context.stream()>>>(problem, shares,
                                                                                                   values);
  launch.check();
}

template <int Components>
void interpolate_patches(const cuda_context& context, const tile_problem<float>& problem,
                         const tile_patch_shares& shares, const tile_patch_values& values) {
  const auto launch = [&](auto width) {
    constexpr int count = decltype(width)::value;
    if (values.gradients != nullptr) {
      launch_interpolate_patches<count, Components, true>(context, problem, shares, values);
    } else {
      launch_interpolate_patches<count, Components, false>(context, problem, shares, values);
    }
  };
  if (problem.window.width > patch_most_width) return launch(std::integral_constant<int, tile_patch>{});
  with_pair_width(problem.window.width, launch);
}

#endif

}  // namespace quadrat::detail
