// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "quadrat/parallel/cuda_launch.hpp"
#include "search/tiles/cuda/find.hpp"

namespace quadrat::detail {

inline constexpr unsigned tile_search_block = 128;

/// The tiles of one row. All lanes of a warp call every function together. `Sink` gets (translation, group, the bits of
/// this lane's point) for each tile, always in the same order.
template <typename T, int D, typename Sink>
class warp_tile_finder {
 public:
  __device__ warp_tile_finder(const tile_search<T, D>& search, std::size_t row, Sink& sink)
      : search_(search), sink_(sink), place_(row * points_of_row + threadIdx.x % 32) {
    used_ = place_ < search.tree.points;
    const std::size_t place = used_ ? place_ : row * points_of_row;
    from_ = search.tree.leaves[place / nearest_width].position(place % nearest_width);
    for (int axis = 0; axis < D; ++axis) {
      low_[axis] = high_[axis] = from_[axis];
      for (int step = 16; step > 0; step /= 2) {
        const T low = __shfl_xor_sync(~0u, low_[axis], step), high = __shfl_xor_sync(~0u, high_[axis], step);
        low_[axis] = low < low_[axis] ? low : low_[axis];
        high_[axis] = high > high_[axis] ? high : high_[axis];
      }
    }
  }

  __device__ void find() { nearest_shells<T, D, warp_tile_finder>(search_.images, low_, high_, *this).visit(); }

  /// The number of nodes and groups tested.
  [[nodiscard]] __device__ std::uint32_t visits() const { return visits_; }

  // For nearest_shells.
  [[nodiscard]] __device__ bool in_reach(T squared) const { return squared <= search_.squared_reach; }
  __device__ void find_in_image(const vec<int, D>& shift) {
    home_ = shift == vec<int, D>{};
    translation_ = image_translation(search_.images.shape, shift);
    walk();
  }

 private:
  __device__ void walk() {
    int level = search_.tree.levels - 1;
    std::size_t index = 0;
    unsigned children = near_children(level, index);
    for (;;) {
      while (children == 0) {
        if (++level == search_.tree.levels) return;
        children = __shfl_sync(~0u, pending_, level);
        index /= nearest_width;
      }
      const unsigned child = lowest_bit(children);
      children &= children - 1;
      const std::size_t below = index * nearest_width + child;
      if (level == 0) {
        test_group(below);
      } else if (is_near(level, index, child)) {
        if (static_cast<int>(threadIdx.x % 32) == level) pending_ = children;
        --level;
        index = below;
        children = near_children(level, index);
      }
    }
  }

  /// The children whose box is near that of the row, a lane for each.
  [[nodiscard]] __device__ unsigned near_children(int level, std::size_t index) {
    ++visits_;
    const T squared =
        squared_distance_to(search_.tree.node(level, index), threadIdx.x % nearest_width, low_, high_, translation_);
    return __ballot_sync(~0u, in_reach(squared)) & 0xffu;
  }

  /// Whether any point of the row is near the box of a child. (The box of a row with a stray point is near
  /// everything.)
  [[nodiscard]] __device__ bool is_near(int level, std::size_t index, unsigned child) const {
    const T squared = squared_distance_to(search_.tree.node(level, index), child, from_, from_, translation_);
    return __any_sync(~0u, used_ && in_reach(squared));
  }

  __device__ void test_group(std::size_t group) {
    ++visits_;
    const nearest_leaf<T, D> leaf = search_.tree.leaves[group];
    unsigned bits = 0;
#pragma unroll
    for (unsigned b = 0; b < nearest_width; ++b) {
      const T squared = squared_separation(
          make_vec<T, D>([&](int axis) { return image_offset(from_[axis], leaf.at[axis][b], translation_[axis]); }));
      bits |= static_cast<unsigned>(squared < search_.squared_reach) << b;
    }
    if (home_ && place_ / nearest_width == group) bits &= ~(1u << place_ % nearest_width);
    if (!used_) bits = 0;
    if (__any_sync(~0u, bits != 0)) sink_(translation_, static_cast<std::uint32_t>(group), bits);
  }

  const tile_search<T, D>& search_;
  Sink& sink_;
  std::size_t place_;
  bool used_;
  vec<T, D> from_{};
  vec<T, D> low_{}, high_{};
  vec<T, D> translation_{};  // of the image that is being searched
  bool home_ = true;
  unsigned pending_ = 0;  // lane k: children still to be visited, of the node above at level k
  std::uint32_t visits_ = 0;
};

template <typename T, int D>
__global__ void __launch_bounds__(tile_search_block)
    count_tiles_by_warp(const __grid_constant__ tile_search<T, D> search, std::size_t rows, std::uint32_t* counts) {
  const std::size_t row = (static_cast<std::size_t>(blockIdx.x) * tile_search_block + threadIdx.x) / 32;
  if (row >= rows) return;  // the whole warp
  std::uint32_t count = 0;
  const auto add = [&](const vec<T, D>&, std::uint32_t, unsigned) { ++count; };
  warp_tile_finder<T, D, decltype(add)> finder(search, row, add);
  finder.find();
  if (threadIdx.x % 32 == 0) {
    counts[row] = count;
    if (search.visits != nullptr) search.visits[row] = finder.visits();
  }
}

template <typename T, int D>
__global__ void __launch_bounds__(tile_search_block)
    fill_tiles_by_warp(const __grid_constant__ tile_search<T, D> search, std::size_t rows,
                       const __grid_constant__ tile_sink<T, D> sink) {
  const std::size_t row = (static_cast<std::size_t>(blockIdx.x) * tile_search_block + threadIdx.x) / 32;
  if (row >= rows) return;  // the whole warp
  std::uint64_t next = sink.offsets[row];
  const auto add = [&](const vec<T, D>& translation, std::uint32_t group, unsigned bits) {
    if (threadIdx.x % 32 == 0) sink.tiles[next] = {translation, group};
    sink.masks[points_of_row * next + threadIdx.x % 32] = static_cast<std::uint8_t>(bits);
    ++next;
  };
  warp_tile_finder<T, D, decltype(add)>(search, row, add).find();
}

template <typename T, int D>
void enqueue_tile_counts(const cuda_context& context, const tile_search<T, D>& search, std::size_t rows,
                         std::uint32_t* counts) {
  if (rows == 0) return;
  const cuda_launch launch(context, "search.count_tiles");
  const unsigned blocks = cuda_launch::blocks(std::size_t{32} * rows, tile_search_block);
  count_tiles_by_warp<T, D><<<blocks, tile_search_block, 0, context.stream()>>>(search, rows, counts);
  launch.check();
}

template <typename T, int D>
void enqueue_tiles(const cuda_context& context, const tile_search<T, D>& search, std::size_t rows,
                   const tile_sink<T, D>& sink) {
  if (rows == 0) return;
  const cuda_launch launch(context, "search.fill_tiles");
  const unsigned blocks = cuda_launch::blocks(std::size_t{32} * rows, tile_search_block);
  fill_tiles_by_warp<T, D><<<blocks, tile_search_block, 0, context.stream()>>>(search, rows, sink);
  launch.check();
}

}  // namespace quadrat::detail
