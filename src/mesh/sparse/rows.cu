// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/sparse/rows.hpp"

#include "mesh/sparse/stage.cuh"
#include "quadrat/parallel/atomic.hpp"
#include "quadrat/parallel/cuda_launch.hpp"

namespace quadrat::detail {

namespace {

/// Points of this block, from `first` on.
__device__ unsigned points_here(std::size_t first, std::size_t count, unsigned most) {
  const std::size_t rest = count - first;
  return rest < most ? static_cast<unsigned>(rest) : most;
}

template <typename T>
__global__ void __launch_bounds__(stage_threads)
    count_kernel(const __grid_constant__ contribution_source<T> source, unsigned per_block, std::uint32_t* counts) {
  __shared__ staged_homes homes;
  const std::size_t first = static_cast<std::size_t>(blockIdx.x) * per_block;
  const unsigned here = points_here(first, source.count, per_block);
  for_each_staged(source.shape, here, [&](unsigned point, unsigned axis, unsigned j) {
    homes.at[point][axis][j] =
        source.shape.home(source.points[first + point].first[axis] + static_cast<int>(j), static_cast<int>(axis));
  });
  __syncthreads();
  for_each_contribution(source.shape, homes, here, [&](unsigned, std::size_t node, unsigned, unsigned, unsigned) {
    atomic_add(counts + node, 1u);
  });
}

template <typename T, typename Rows>
__global__ void __launch_bounds__(stage_threads) insert_kernel(const __grid_constant__ contribution_source<T> source,
                                                               unsigned per_block, std::uint32_t* counts, Rows rows) {
  __shared__ staged_homes homes;
  __shared__ staged_weights<T> weights;
  const std::size_t first = static_cast<std::size_t>(blockIdx.x) * per_block;
  const unsigned here = points_here(first, source.count, per_block);
  for_each_staged(source.shape, here, [&](unsigned point, unsigned axis, unsigned j) {
    const placed_point<T>& placed = source.points[first + point];
    homes.at[point][axis][j] = source.shape.home(placed.first[axis] + static_cast<int>(j), static_cast<int>(axis));
    weights.at[point][axis][j] = source.weight(placed, static_cast<int>(axis), static_cast<int>(j));
  });
  __syncthreads();
  for_each_contribution(source.shape, homes, here,
                        [&](unsigned point, std::size_t node, unsigned a, unsigned b, unsigned c) {
                          const T(&w)[3][stage_width] = weights.at[point];
                          const std::uint32_t slot = atomic_add(counts + node, ~std::uint32_t{0}) - 1;
                          rows.put(node, slot, static_cast<std::uint32_t>(first + point), w[0][a] * w[1][b] * w[2][c]);
                        });
}

}  // namespace

template <typename T>
void count_contributions(const cuda_context& context, const contribution_source<T>& source, std::uint32_t* counts) {
  if (source.count == 0) return;
  const cuda_launch launch(context, "mesh.count");
  const unsigned per_block = staged_points(source.shape);
  count_kernel<<<cuda_launch::blocks(source.count, per_block), stage_threads, 0, context.stream()>>>(source, per_block,
                                                                                                     counts);
  launch.check();
}

template <typename T, typename Rows>
void insert_contributions(const cuda_context& context, const contribution_source<T>& source, std::uint32_t* counts,
                          const Rows& rows) {
  if (source.count == 0) return;
  const cuda_launch launch(context, "mesh.insert");
  const unsigned per_block = staged_points(source.shape);
  insert_kernel<<<cuda_launch::blocks(source.count, per_block), stage_threads, 0, context.stream()>>>(source, per_block,
                                                                                                      counts, rows);
  launch.check();
}

#define QUADRAT_INSTANTIATE(T)                                                                           \
  template void count_contributions(const cuda_context&, const contribution_source<T>&, std::uint32_t*); \
  template void insert_contributions(const cuda_context&, const contribution_source<T>&, std::uint32_t*, \
                                     const listed_rows<T>&);                                             \
  template void insert_contributions(const cuda_context&, const contribution_source<T>&, std::uint32_t*, \
                                     const split_rows<T>&);                                              \
  template void insert_contributions(const cuda_context&, const contribution_source<T>&, std::uint32_t*, \
                                     const hybrid_rows<T>&);
QUADRAT_INSTANTIATE(float)
QUADRAT_INSTANTIATE(double)
#undef QUADRAT_INSTANTIATE

}  // namespace quadrat::detail
