// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/cuda_check.hpp"
#include "mesh/tile_pairs.cuh"
#include "mesh/tile_shares.cuh"
#include "mesh/tile_weights.cuh"
#include "quadrat/parallel/cuda_launch.hpp"

/// Interpolation where tiles hold too few points to fill the matrices of tensor cores, and the mesh would still be read
/// many times over: a block brings the window of a few tiles into shared memory, and its points are summed from there.
namespace quadrat::detail {

/// A window in shared memory: rows of pairs, `window_pitch` apart, by plane and then along the second axis. The pitch
/// is 4 modulo 8, so that the four pairs each of two neighboring rows, which eight lanes read at a time, never share a
/// bank.
template <int Width>
struct window_extent {
  static constexpr int edge = window_tiles(Width) * (tile_window - Width + 1);
  static constexpr int planes = edge + Width - 1;
  /// One more for odd widths, whose last row is read with the weight zero.
  static constexpr int rows = edge + 2 * pair_rows<Width> - 1;
  static constexpr int pairs = planes * rows * window_pitch;
};

/// Where a window stands in the mesh.
struct staged_window {
  int origin[3];  ///< its first mesh point, even along the last axis
  int odd;        ///< how far before the first tile's that is, along the last axis
  int planes;
  int pairs;   ///< of a row
  bool whole;  ///< whether it lies between the ends of the mesh

  template <int Width>
  QUADRAT_HD static staged_window of(const tile_grid& grid, const tile_windows& windows, const int (&at)[3]) {
    staged_window window{};
    for (int axis = 0; axis < 3; ++axis) window.origin[axis] = window_origin(grid, windows, at[axis], axis);
    window.odd = window.origin[2] & 1;
    window.origin[2] -= window.odd;
    window.planes = windows.tiles[0] * grid.edge[0] + Width - 1;
    window.pairs = (window.odd + windows.tiles[2] * grid.edge[2] - 1) / 2 + 4;
    const int size[3] = {window.planes, window_extent<Width>::rows, 2 * window.pairs};
    window.whole = true;
    for (int axis = 0; axis < 3; ++axis) {
      window.whole =
          window.whole && window.origin[axis] >= 0 && window.origin[axis] + size[axis] <= grid.shape.extent[axis];
    }
    return window;
  }
};

/// The mesh point that a point of a window stands for; -1 outside an open axis.
QUADRAT_HD inline int window_home(const mesh_shape& shape, int index, int axis) {
  const int n = shape.extent[axis];
  if (index >= 0 && index < n) return index;
  if (!shape.periodic[axis]) return -1;
  return index < 2 * n ? index - n : index % n;
}

/// Calls copy(to, from) for the pairs that one of the block's threads brings: to in shared memory, from the mesh, or
/// from -1 where there are to be zeros. A thread stays at one place of rows.
#if defined(__CUDACC__)
#pragma nv_exec_check_disable
#endif
template <int Width, int Threads, typename Copy>
QUADRAT_HD void for_each_window_pair(const mesh_shape& shape, const staged_window& window, int thread,
                                     const Copy& copy) {
  static_assert(Threads % window_pitch == 0);
  constexpr int rows = window_extent<Width>::rows, at_once = Threads / window_pitch;
  const int place = thread % window_pitch, all = window.planes * rows, half = shape.extent[2] / 2;
  if (place >= window.pairs) return;
  if (window.whole) {
    const int corner = (window.origin[0] * shape.extent[1] + window.origin[1]) * half + window.origin[2] / 2 + place;
#if defined(__CUDA_ARCH__)
#pragma unroll 4
#endif
    for (int row = thread / window_pitch; row < all; row += at_once) {
      const int i = row / rows, k = row - i * rows;
      copy(row * window_pitch + place, corner + (i * shape.extent[1] + k) * half);
    }
    return;
  }
  const int z = window_home(shape, window.origin[2] + 2 * place, 2);
  for (int row = thread / window_pitch; row < all; row += at_once) {
    const int plane = row / rows, i = window_home(shape, window.origin[0] + plane, 0),
              k = window_home(shape, window.origin[1] + row - plane * rows, 1);
    const bool inside = i >= 0 && k >= 0 && z >= 0;
    copy(row * window_pitch + place, inside ? (i * shape.extent[1] + k) * half + z / 2 : -1);
  }
}

/// What lane (t, h) of a point adds, whose footprint begins at `first` of the window.
template <int Width, int Components>
QUADRAT_HD void sum_window_pairs(const mesh_window<float>& window, const mesh_pair<Components>* staged,
                                 const tile_record<float>& record, const int (&first)[3], int t, int h,
                                 float (&value)[Components]) {
  constexpr int rows = window_extent<Width>::rows;
  const mesh_pair<Components>* at = staged + (first[0] * rows + first[1] + h) * window_pitch + (first[2] >> 1) + t;
  const pair_weights<Width> weights(window, record, (first[2] & 1) != 0, t, h);
  mesh_pair<Components> sum{};
  QUADRAT_UNROLL
  for (int i = 0; i < Width; ++i) {
    mesh_pair<Components> of_plane{};
    QUADRAT_UNROLL
    for (int k = 0; k < pair_rows<Width>; ++k) {
      add_pair(of_plane, weights.second[k], at[(i * rows + 2 * k) * window_pitch]);
    }
    add_pair(sum, weights.first[i], of_plane);
  }
  close_pair(sum, weights.last[0], weights.last[1], value);
}

#if defined(__CUDACC__)

/// Begins to copy a pair to shared memory, or zeros where it is not `inside`.
template <int Bytes>
__device__ __forceinline__ void copy_window_pair(void* to, const void* from, bool inside) {
  const auto target = static_cast<std::uint32_t>(__cvta_generic_to_shared(to));
  const int bytes = inside ? Bytes : 0;
  if constexpr (Bytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(target), "l"(from), "r"(bytes) : "memory");
  } else {
    static_assert(Bytes == 8);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(target), "l"(from), "r"(bytes) : "memory");
  }
}

/// Of 128, 192 and 256 threads, an H200 takes the least time with 192 at 1 / 20 of a point a mesh point.
inline constexpr int window_threads = 16 * window_pitch;

/// Block: a share of a window.
template <int Width, int Components>
__global__ void __launch_bounds__(window_threads, 5)
    interpolate_windows_kernel(const __grid_constant__ tile_problem<float> problem,
                               const __grid_constant__ tile_window_shares shares,
                               const __grid_constant__ tile_window_values values) {
  using pair = mesh_pair<Components>;
  extern __shared__ float4 shared_window[];
  __shared__ tile_run_table table;
  auto* staged = reinterpret_cast<pair*>(shared_window);
  const tile_share share = find_tile_share(problem.grid, shares, problem.offsets, table);
  if (share.empty()) return;
  const auto window = staged_window::of<Width>(problem.grid, shares.windows, share.at);
  const auto* mesh = reinterpret_cast<const pair*>(values.mesh);
  for_each_window_pair<Width, window_threads>(
      problem.grid.shape, window, static_cast<int>(threadIdx.x),
      [&](int to, int from) { copy_window_pair<sizeof(pair)>(staged + to, mesh + max(from, 0), from >= 0); });
  // The next point is on its way while one is summed.
  const int lane = threadIdx.x % 8;
  const std::uint32_t of_thread = threadIdx.x / 8, of_warp = threadIdx.x / 32 * 4;
  const auto number_of = [&](std::uint32_t begin) { return min(begin + of_thread, share.last - 1); };
  int4 run = table.run_of(number_of(share.first), share.top);
  tile_record<float> record = problem.records[number_of(share.first) + static_cast<std::uint32_t>(run.x)];
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
#pragma unroll 1
  for (std::uint32_t begin = share.first; begin + of_warp < share.last; begin += window_threads / 8) {
    const std::uint32_t after = number_of(begin + window_threads / 8);
    const int4 next_run = table.run_of(after, share.top);
    const tile_record<float> next = problem.records[after + static_cast<std::uint32_t>(next_run.x)];
    const int first[3] = {run.y + offset_of<float>(record.place[0]), run.z + offset_of<float>(record.place[1]),
                          run.w + offset_of<float>(record.place[2]) + window.odd};
    float value[Components];
    sum_window_pairs<Width, Components>(problem.window, staged, record, first, lane & 3, lane >> 2, value);
    store_pair_sums<Components>(values, record.id, lane, begin + of_thread < share.last, value);
    run = next_run, record = next;
  }
}

template <int Width, int Components>
void launch_interpolate_windows(const cuda_context& context, const tile_problem<float>& problem,
                                const tile_window_shares& shares, const tile_window_values& values) {
  const cuda_launch launch(context, "mesh.tiles.interpolate_windows");
  constexpr int bytes = window_extent<Width>::pairs * static_cast<int>(sizeof(mesh_pair<Components>));
  auto* kernel = interpolate_windows_kernel<Width, Components>;
  check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
             "asking for shared memory");
  check_cuda(
      cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared),
      "asking for shared memory of several blocks");
  kernel<<<cuda_launch::blocks(shares.most_blocks(), 1), window_threads, bytes, context.stream()>>>(problem, shares,
                                                                                                    values);
  launch.check();
}

#endif

}  // namespace quadrat::detail
