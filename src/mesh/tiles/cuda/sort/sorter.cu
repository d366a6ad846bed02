// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/tiles/cuda/sort/sorter.hpp"

#include <algorithm>
#include <limits>

#include "cells/counting_build.hpp"
#include "core/cuda_check.hpp"
#include "core/shared_memory.hpp"
#include "mesh/tiles/cuda/sort/kernels.cuh"
#include "quadrat/parallel/cuda_launch.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/scan.hpp"

namespace quadrat::detail {

namespace {

/// The key of an element, for counting_buckets.
template <typename T>
struct tile_key {
  tile_locator<T> find;
  point_placement<T> placement;

  struct element {};
  QUADRAT_HD element read(std::size_t) const { return {}; }
  QUADRAT_HD cell_id at(std::size_t i, element) const { return (*this)(i); }
  QUADRAT_HD cell_id operator()(std::size_t i) const { return find(placement(i), static_cast<particle_id>(i)).tile; }
};

/// What counting_buckets does with an element and its slot.
template <typename T>
struct put_record {
  tile_locator<T> find;
  point_placement<T> placement;
  tile_record<T>* records;

  [[nodiscard]] QUADRAT_HD bool empty() const { return false; }
  QUADRAT_HD void move(std::size_t i, std::size_t slot) const {
    records[slot] = find(placement(i), static_cast<particle_id>(i)).record;
  }
};

template <typename Kernel>
void allow_shared(Kernel* kernel, std::size_t bytes) {
  check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
             "asking for shared memory");
  check_cuda(
      cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared),
      "asking for shared memory of several blocks");
}

template <typename T>
inline constexpr std::size_t bytes_to_group =
    block_points<T> * (sizeof(tile_record<T>) + sizeof(std::uint32_t) + sizeof(std::uint16_t));
template <typename T>
[[nodiscard]] constexpr std::size_t bytes_to_place(std::size_t tiles_of_range) {
  return block_points<T> * (sizeof(tile_record<T>) + 2 * sizeof(std::uint16_t)) +
         tiles_of_range * (sizeof(std::uint32_t) + sizeof(std::uint16_t));
}

template <typename T>
void launch_group(const cuda_context& context, const sort_job<T>& job) {
  const cuda_launch launch(context, "mesh.tiles.group");
  const unsigned blocks = cuda_launch::blocks(job.count, block_points<T>);
  find_kernel<T><<<blocks, sort_threads, 0, context.stream()>>>(job);
  launch.check();
  constexpr std::size_t bytes = bytes_to_group<T>;
  allow_shared(group_kernel<T>, bytes);
  group_kernel<T><<<blocks, sort_threads, bytes, context.stream()>>>(job);
  launch.check();
}

/// Every range has at most one partial piece.
template <typename T>
[[nodiscard]] unsigned most_pieces(const sort_job<T>& job) {
  const std::uint32_t ranges = (job.find.last_tile >> job.shift) + 1;
  return job.count / block_points<T> + ranges;
}

template <typename T>
void launch_count_tiles(const cuda_context& context, const sort_job<T>& job) {
  const cuda_launch launch(context, "mesh.tiles.count");
  const std::size_t bytes = job.tiles_of_range() * sizeof(std::uint32_t);
  allow_shared(count_tiles_kernel<T>, bytes);
  count_tiles_kernel<T><<<most_pieces(job), sort_threads, bytes, context.stream()>>>(job);
  launch.check();
}

template <typename T>
void launch_place(const cuda_context& context, const sort_job<T>& job) {
  const cuda_launch launch(context, "mesh.tiles.place");
  const std::size_t bytes = bytes_to_place<T>(job.tiles_of_range());
  allow_shared(place_kernel<T>, bytes);
  place_kernel<T><<<most_pieces(job), sort_threads, bytes, context.stream()>>>(job);
  launch.check();
}

/// Adds positions along axes beyond the dimension: the positions of the last axis, on an open axis of one mesh point
/// that maps all to 0 with place 0, and refuses none.
template <typename T>
[[nodiscard]] point_placement<T> with_all_axes(point_placement<T> points) {
  constexpr T far = std::numeric_limits<T>::max() / 2;
  for (int axis = 0; axis < 3; ++axis) {
    if (points.component[axis] != nullptr) continue;
    points.axis[axis] = {-far, far, T(0), T(0), T(0), T(1), 1, 1, false, T(0)};
    points.component[axis] = points.component[2];
  }
  return points;
}

/// The context, at a level of determinism that keeps ids in order if `ordered`.
[[nodiscard]] cuda_context context_at(const cuda_context& context, bool ordered) {
  if (ordered == (context.reproducibility() != determinism::none)) return context;
  cuda_context::options chosen;
  chosen.device = context.device();
  chosen.stream = context.stream();
  chosen.memory = &context.memory();
  chosen.reproducibility = ordered ? determinism::run_to_run : determinism::none;
  return cuda_context(chosen);
}

/// Whether records are moved in two steps.
[[nodiscard]] bool sorts_records(std::size_t planned, std::size_t tiles, bool ordered) {
  return !ordered && planned >= partition_least && tiles <= most_sorted_tiles;
}

/// Whether blocks have the shared memory for that on this device.
template <typename T>
[[nodiscard]] bool has_room_to_sort(const cuda_context& context, std::size_t tiles) {
  constexpr std::size_t others = std::size_t{5} << 10;  // what the kernels have beside
  const std::size_t to_place = bytes_to_place<T>(std::size_t{1} << partition_shift(tiles));
  return std::max(bytes_to_group<T>, to_place) + others <= shared_memory_of_block(context);
}

}  // namespace

template <typename T>
std::size_t tile_sorter<T>::bytes_needed(std::size_t count, std::size_t tiles, bool ordered) {
  const std::size_t of_tiles = (tiles + 1) * 2 * sizeof(std::uint32_t);
  // counting_buckets takes 12 bytes per point, 14 in two levels; in order, 16 and the scratch memory of a sort.
  constexpr std::size_t sort_scratch = 65'536, scan_scratch = 16'384;
  if (ordered) return count * 18 + of_tiles + sort_scratch;
  if (count < partition_least) return count * 12 + of_tiles + scan_scratch;
  const std::size_t of_record = sizeof(tile_record<T>) + sizeof(std::uint32_t) + sizeof(std::uint16_t);
  return count * (sorts_records(count, tiles, ordered) ? of_record : 14) + of_tiles + sort_scratch;
}

template <typename T>
const std::uint32_t* tile_sorter<T>::sort(const cuda_context& context, const tile_grid& grid,
                                          const point_placement<T>& points, std::size_t planned, bool ordered,
                                          tile_record<T>* records) {
  if (!kept_) kept_ = context;
  const std::size_t tiles = grid.tile_count();
  if (points.count > 0 && !(sorts_records(planned, tiles, ordered) && has_room_to_sort<T>(context, tiles))) {
    return gather(context, grid, points, ordered, records);
  }
  offsets_.resize_discarding(context, tiles + 1);
  if (points.count == 0) {
    fill_bytes(context, offsets_.data(), 0, (tiles + 1) * sizeof(std::uint32_t));
  } else {
    partition(context, grid, points, records, offsets_.data());
  }
  return offsets_.data();
}

template <typename T>
const std::uint32_t* tile_sorter<T>::gather(const cuda_context& context, const tile_grid& grid,
                                            const point_placement<T>& points, bool ordered, tile_record<T>* records) {
  const tile_locator<T> find(grid);
  buckets_.build(context_at(context, ordered), points.count, grid.tile_count(), tile_key<T>{find, points},
                 points.faults, put_record<T>{find, points, records});
  return buckets_.view().offsets;
}

template <typename T>
void tile_sorter<T>::prepare(const cuda_context& context, std::size_t count, std::size_t tiles) {
  tiles_.resize_discarding(context, count);
  grouped_.resize_discarding(context, count);
  low_keys_.resize_discarding(context, count);
  clean_ = clean_ && tile_counts_.bytes() >= tiles * sizeof(std::uint32_t);
  tile_counts_.resize_discarding(context, tiles);
  control_.resize_discarding(context, sizeof(sort_control) / sizeof(std::uint32_t));
  if (clean_) return;
  fill_bytes(context, tile_counts_.data(), 0, tile_counts_.bytes());
  fill_bytes(context, control_.data(), 0, control_.bytes());
}

template <typename T>
void tile_sorter<T>::partition(const cuda_context& context, const tile_grid& grid, const point_placement<T>& points,
                               tile_record<T>* records, std::uint32_t* offsets) {
  const std::size_t tiles = grid.tile_count();
  prepare(context, points.count, tiles);
  // Counts are zero again after the last kernel, if all kernels run.
  clean_ = false;
  const sort_job<T> job{with_all_axes(points),
                        tile_locator<T>(grid),
                        partition_shift(tiles),
                        static_cast<std::uint32_t>(points.count),
                        reinterpret_cast<sort_control*>(control_.data()),
                        tiles_.data(),
                        reinterpret_cast<uint4*>(grouped_.data()),
                        low_keys_.data(),
                        tile_counts_.data(),
                        offsets,
                        reinterpret_cast<uint4*>(records)};
  launch_group(context, job);
  launch_count_tiles(context, job);
  exclusive_scan_with_total(context, tile_counts_.data(), offsets, tiles, scratch_);
  launch_place(context, job);
  clean_ = true;
}

template class tile_sorter<float>;
template class tile_sorter<double>;

}  // namespace quadrat::detail
