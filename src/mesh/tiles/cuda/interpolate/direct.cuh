// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/cuda_check.hpp"
#include "mesh/tiles/cuda/interpolate/pairs.cuh"
#include "mesh/tiles/cuda/interpolate/shares.cuh"
#include "quadrat/parallel/cuda_launch.hpp"

/// Interpolation of so few points that most of the mesh is read at most once. Footprints are read directly from the
/// mesh. A block takes the points of a patch of tiles, so that neighbors find shared mesh points in the first-level
/// cache: on an H200, 10^5 points on 256^3 are 2.5 times faster than in the order of tiles.
namespace quadrat::detail {

inline constexpr int direct_threads = 128;
/// Planes whose loads are in flight together; the registers hold 9 or 8 pairs.
template <int Width>
inline constexpr int direct_planes = Width == 6 || Width == 5 ? 3
                                     : Width == 7             ? 2
                                                              : Width;

/// Maps an index of a footprint to its mesh point; -1 outside an open axis.
QUADRAT_HD inline int direct_home(const mesh_shape& shape, int index, int axis) {
  const int n = shape.extent[axis];
  if (shape.periodic[axis] && index >= n) {
    index -= n;
    if (index >= n) index %= n;
  }
  return index >= 0 && index < n ? index : -1;
}

template <typename Pair>
QUADRAT_HD inline Pair read_mesh_pair(const Pair* mesh, int plane, int row) {
  if (plane < 0 || row < 0) return Pair{};
#if defined(__CUDA_ARCH__)
  return __ldg(mesh + (plane + row));
#else
  return mesh[plane + row];
#endif
}

/// Offsets of the pairs of lane (t, h) in a plane of the mesh; -1 outside an open axis.
template <int Width>
QUADRAT_HD void find_direct_rows(const mesh_shape& shape, const int (&first)[3], int t, int h,
                                 int (&row)[pair_rows<Width>]) {
  // A pair beyond the footprint would cost a sector, so the last pair of the footprint is read instead.
  const int odd = first[2] & 1, most = (Width + odd - 1) / 2;
  const int z = direct_home(shape, first[2] - odd + 2 * (t < most ? t : most), 2);
  QUADRAT_UNROLL
  for (int k = 0; k < pair_rows<Width>; ++k) {
    const int step = 2 * k + h < Width ? 2 * k + h : Width - 1;
    const int y = direct_home(shape, first[1] + step, 1);
    row[k] = y < 0 || z < 0 ? -1 : y * (shape.extent[2] / 2) + z / 2;
  }
}

#if defined(__CUDACC__)

/// The sums of lane (t, h) for a point whose footprint begins at mesh point `first`.
template <int Width, int Components, bool Gradient>
__device__ __forceinline__ void sum_direct_pairs(const mesh_shape& shape, const lane_polynomial& own,
                                                 const mesh_window<float>& window, const mesh_pair<Components>* mesh,
                                                 const tile_record<float>& record, const int (&first)[3], int t, int h,
                                                 float (&results)[pair_results<Components, Gradient>]) {
  constexpr int rows = pair_rows<Width>, planes = direct_planes<Width>;
  const int plane_pairs = shape.extent[1] * (shape.extent[2] / 2);
  int row[rows];
  find_direct_rows<Width>(shape, first, t, h, row);
  mesh_pair<Components> v[planes][rows];
  const auto load = [&](int from) {
    QUADRAT_UNROLL
    for (int i = 0; i < planes; ++i) {
      if (from + i >= Width) continue;
      const int x = direct_home(shape, first[0] + from + i, 0);
      QUADRAT_UNROLL
      for (int k = 0; k < rows; ++k) v[i][k] = read_mesh_pair(mesh, x < 0 ? -1 : x * plane_pairs, row[k]);
    }
  };
  load(0);
  const pair_weights<Width, Gradient> weights(own, window, record, (first[2] & 1) != 0, t, h);
  pair_sums<Width, Components, Gradient> sums(weights);
  QUADRAT_UNROLL
  for (int from = 0; from < Width; from += planes) {
    if (from > 0) load(from);
    QUADRAT_UNROLL
    for (int i = 0; i < planes; ++i) {
      if (from + i < Width) sums.add_plane(from + i < Width ? from + i : 0, [&](int k) { return v[i][k]; });
    }
  }
  sums.close(results);
}

/// One block per share of a patch.
template <int Width, int Components, bool Gradient>
__global__ void __launch_bounds__(direct_threads, 4)
    interpolate_directly_kernel(const __grid_constant__ tile_problem<float> problem,
                                const __grid_constant__ tile_patch_shares shares,
                                const __grid_constant__ tile_patch_values values) {
  __shared__ tile_run_table table;
  const tile_grid& grid = problem.grid;
  const tile_share share = find_tile_share(grid, shares, problem.offsets, table);
  if (share.empty()) return;
  int origin[3];
#pragma unroll
  for (int axis = 0; axis < 3; ++axis) origin[axis] = patch_origin(grid, shares.patches, share.at[axis], axis);
  const auto* mesh = reinterpret_cast<const mesh_pair<Components>*>(values.mesh);
  const int lane = threadIdx.x % 8;
  const lane_polynomial own(problem.window, lane);
  const std::uint32_t of_thread = threadIdx.x / 8, of_warp = threadIdx.x / 32 * 4;
#pragma unroll 1
  for (std::uint32_t begin = share.first; begin + of_warp < share.last; begin += direct_threads / 8) {
    const std::uint32_t number = min(begin + of_thread, share.last - 1);
    const int4 run = table.run_of(number, share.top);
    const tile_record<float> record = problem.records[number + static_cast<std::uint32_t>(run.x)];
    const int first[3] = {origin[0] + run.y + offset_of<float>(record.place[0]),
                          origin[1] + run.z + offset_of<float>(record.place[1]),
                          origin[2] + run.w + offset_of<float>(record.place[2])};
    float results[pair_results<Components, Gradient>];
    sum_direct_pairs<Width, Components, Gradient>(grid.shape, own, problem.window, mesh, record, first, lane & 3,
                                                  lane >> 2, results);
    store_pair_results<Components, Gradient>(values, record.id, lane, begin + of_thread < share.last, results);
  }
}

template <int Width, int Components, bool Gradient>
void launch_interpolate_directly(const cuda_context& context, const tile_problem<float>& problem,
                                 const tile_patch_shares& shares, const tile_patch_values& values) {
  const cuda_launch launch(context, "mesh.tiles.interpolate_directly");
  auto* kernel = interpolate_directly_kernel<Width, Components, Gradient>;
  check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxL1),
             "asking for a large first-level cache");
  kernel<<<cuda_launch::blocks(shares.most_blocks(), 1), direct_threads, 0, context.stream()>>>(problem, shares,
                                                                                                values);
  launch.check();
}

template <int Components>
void interpolate_directly(const cuda_context& context, const tile_problem<float>& problem,
                          const tile_patch_shares& shares, const tile_patch_values& values) {
  with_pair_width(problem.window.width, [&](auto width) {
    constexpr int count = decltype(width)::value;
    if (values.gradients != nullptr) {
      launch_interpolate_directly<count, Components, true>(context, problem, shares, values);
    } else {
      launch_interpolate_directly<count, Components, false>(context, problem, shares, values);
    }
  });
}

#endif

}  // namespace quadrat::detail
