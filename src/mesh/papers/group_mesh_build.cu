// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/papers/group_mesh.hpp"
#include "mesh/sparse/stage.cuh"
#include "quadrat/parallel/atomic.hpp"
#include "quadrat/parallel/cuda_launch.hpp"

namespace quadrat::detail {

namespace {

/// group_grid::slot in half the space.
struct packed_slot {
  int block;
  std::uint16_t local;
  std::uint8_t start;
  std::uint8_t length;
};
struct staged_slots {
  packed_slot at[most_staged][3][stage_width];
};

/// The most contributions of a block, clipped ones included. It sizes the array of beginnings of pieces.
constexpr unsigned most_contributions = 8 * stage_threads;

/// The place of one contribution in its footprint.
struct contribution_place {
  unsigned point;  ///< of the block
  unsigned index[3];

  __device__ contribution_place(const mesh_shape& shape, unsigned t) {
    const unsigned row = static_cast<unsigned>(shape.width[2]);
    const unsigned plane = static_cast<unsigned>(shape.width[1]) * row;
    const unsigned footprint = static_cast<unsigned>(shape.width[0]) * plane;
    point = t / footprint;
    const unsigned in_footprint = t - point * footprint;
    index[0] = in_footprint / plane;
    const unsigned in_plane = in_footprint - index[0] * plane;
    index[1] = in_plane / row;
    index[2] = in_plane - index[1] * row;
  }
};

/// The piece that a contribution belongs to.
struct piece_place {
  packed_slot slot[3];
  unsigned inner[3];  ///< its place in the piece

  __device__ piece_place(const staged_slots& slots, const contribution_place& place) {
#pragma unroll
    for (int axis = 0; axis < 3; ++axis) {
      slot[axis] = slots.at[place.point][axis][place.index[axis]];
      inner[axis] = place.index[axis] - slot[axis].start;
    }
  }
  [[nodiscard]] __device__ bool clipped() const { return (slot[0].block | slot[1].block | slot[2].block) < 0; }
  [[nodiscard]] __device__ bool first() const { return (inner[0] | inner[1] | inner[2]) == 0; }
  [[nodiscard]] __device__ unsigned size() const { return slot[0].length * slot[1].length * slot[2].length; }
  [[nodiscard]] __device__ unsigned rank() const {
    return (inner[0] * slot[1].length + inner[1]) * slot[2].length + inner[2];
  }
  [[nodiscard]] __device__ std::size_t group(const group_grid& grid) const {
    return grid.group(slot[0].block, slot[1].block, slot[2].block);
  }
};

/// The number, within its point, of the piece that begins at a place.
__device__ unsigned number_of(const mesh_shape& shape, const staged_slots& slots, const contribution_place& place) {
  unsigned number = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const packed_slot(&along)[stage_width] = slots.at[place.point][axis];
    unsigned before = 0;
    unsigned all = 0;
    for (unsigned j = 0; j < static_cast<unsigned>(shape.width[axis]); ++j) {
      if (along[j].block < 0 || along[j].start != j) continue;
      ++all;
      if (j < place.index[axis]) ++before;
    }
    number = number * all + before;
  }
  return number;
}

/// Points of this block, from `first` on.
template <typename T>
__device__ unsigned stage_slots(const contribution_source<T>& source, const group_grid& grid, std::size_t first,
                                unsigned per_block, staged_slots& slots) {
  const std::size_t rest = source.count - first;
  const unsigned here = rest < per_block ? static_cast<unsigned>(rest) : per_block;
  for_each_staged(grid.shape, here, [&](unsigned point, unsigned axis, unsigned j) {
    const auto slot =
        grid.locate(source.points[first + point].first[axis], static_cast<int>(axis), static_cast<int>(j));
    slots.at[point][axis][j] = {slot.block, static_cast<std::uint16_t>(slot.local),
                                static_cast<std::uint8_t>(slot.start), static_cast<std::uint8_t>(slot.length)};
  });
  return here;
}

template <typename T>
__global__ void __launch_bounds__(stage_threads)
    count_kernel(const __grid_constant__ contribution_source<T> source, const __grid_constant__ group_grid grid,
                 unsigned per_block, std::uint64_t* counts) {
  __shared__ staged_slots slots;
  const std::size_t first = static_cast<std::size_t>(blockIdx.x) * per_block;
  const unsigned here = stage_slots(source, grid, first, per_block, slots);
  __syncthreads();
  const unsigned footprint = static_cast<unsigned>(grid.shape.footprint_size());
  for (unsigned t = threadIdx.x; t < here * footprint; t += stage_threads) {
    const piece_place piece(slots, contribution_place(grid.shape, t));
    if (!piece.clipped() && piece.first()) atomic_add(counts + piece.group(grid), piece.size());
  }
}

/// The first thread of each piece reserves space in its group, then all contributions are written.
template <typename T>
__global__ void __launch_bounds__(stage_threads)
    insert_kernel(const __grid_constant__ contribution_source<T> source, const __grid_constant__ group_grid grid,
                  unsigned per_block, piece_places places, group_entries<T> entries) {
  __shared__ staged_slots slots;
  __shared__ staged_weights<T> weights;
  __shared__ std::uint64_t base[most_contributions];
  const std::size_t first = static_cast<std::size_t>(blockIdx.x) * per_block;
  const unsigned here = stage_slots(source, grid, first, per_block, slots);
  for_each_staged(grid.shape, here, [&](unsigned point, unsigned axis, unsigned j) {
    weights.at[point][axis][j] =
        source.weight(source.points[first + point], static_cast<int>(axis), static_cast<int>(j));
  });
  __syncthreads();
  const unsigned footprint = static_cast<unsigned>(grid.shape.footprint_size());
  for (unsigned t = threadIdx.x; t < here * footprint; t += stage_threads) {
    const piece_place piece(slots, contribution_place(grid.shape, t));
    if (piece.clipped() || !piece.first()) continue;
    if (places.base == nullptr) {
      base[t] = atomic_add(places.cursors + piece.group(grid), piece.size());
    } else {
      const contribution_place place(grid.shape, t);
      base[t] = places.base[places.first[first + place.point] + number_of(grid.shape, slots, place)];
    }
  }
  __syncthreads();
  for (unsigned t = threadIdx.x; t < here * footprint; t += stage_threads) {
    const contribution_place place(grid.shape, t);
    const piece_place piece(slots, place);
    if (piece.clipped()) continue;
    const unsigned width1 = static_cast<unsigned>(grid.shape.width[1]);
    const unsigned width2 = static_cast<unsigned>(grid.shape.width[2]);
    const unsigned back = (piece.inner[0] * width1 + piece.inner[1]) * width2 + piece.inner[2];
    const std::uint64_t at = base[t - back] + piece.rank();
    const T(&w)[3][stage_width] = weights.at[place.point];
    entries.weights[at] = w[0][place.index[0]] * w[1][place.index[1]] * w[2][place.index[2]];
    entries.columns[at] =
        static_cast<std::uint32_t>(first + place.point) | (piece.first() ? group_entries<T>::first_of_piece : 0u);
    entries.rows[at] = static_cast<std::uint16_t>(
        (piece.slot[0].local * grid.block[1] + piece.slot[1].local) * grid.block[2] + piece.slot[2].local);
  }
}

}  // namespace

template <typename T>
void count_groups(const cuda_context& context, const contribution_source<T>& source, const group_grid& grid,
                  std::uint64_t* counts) {
  if (source.count == 0) return;
  const cuda_launch launch(context, "mesh.count_groups");
  const unsigned per_block = staged_points(source.shape);
  count_kernel<<<cuda_launch::blocks(source.count, per_block), stage_threads, 0, context.stream()>>>(source, grid,
                                                                                                     per_block, counts);
  launch.check();
}

template <typename T>
void insert_in_groups(const cuda_context& context, const contribution_source<T>& source, const group_grid& grid,
                      const piece_places& places, const group_entries<T>& entries) {
  if (source.count == 0) return;
  const cuda_launch launch(context, "mesh.insert_in_groups");
  const unsigned per_block = staged_points(source.shape);
  insert_kernel<<<cuda_launch::blocks(source.count, per_block), stage_threads, 0, context.stream()>>>(
      source, grid, per_block, places, entries);
  launch.check();
}

#define QUADRAT_INSTANTIATE(T)                                                                                       \
  template void count_groups(const cuda_context&, const contribution_source<T>&, const group_grid&, std::uint64_t*); \
  template void insert_in_groups(const cuda_context&, const contribution_source<T>&, const group_grid&,              \
                                 const piece_places&, const group_entries<T>&);
QUADRAT_INSTANTIATE(float)
QUADRAT_INSTANTIATE(double)
#undef QUADRAT_INSTANTIATE

}  // namespace quadrat::detail
