// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/papers/group_mesh.hpp"
#include "quadrat/parallel/cuda_launch.hpp"

namespace quadrat::detail {

namespace {

constexpr unsigned most_warps = 8;
/// Shared memory for the sums of a block: at least four blocks fit on a multiprocessor.
constexpr std::size_t most_sum_bytes = 32'768;
/// Contributions of a group per warp from which a further warp pays, although its sums must be cleared and joined.
constexpr double worth_a_warp = 512;

struct group_launch {
  unsigned warps_per_group;
  unsigned groups_per_block;
};

/// The entries that 32 lanes read at a time.
template <typename T, int Channels>
struct lane_entry {
  T product[Channels];
  unsigned row;
  bool valid;
  bool first;  ///< of its piece

  __device__ lane_entry(const group_entries<T>& entries, const channel_pair<T>& channels, std::uint64_t e,
                        std::uint64_t end)
      : row(0), valid(e < end), first(false) {
    if (!valid) return;
    const std::uint32_t marked = __ldcs(entries.columns + e);
    const T weight = __ldcs(entries.weights + e);
    row = __ldcs(entries.rows + e);
    first = (marked & group_entries<T>::first_of_piece) != 0;
    const std::size_t point = marked & ~group_entries<T>::first_of_piece;
#pragma unroll
    for (int c = 0; c < Channels; ++c) product[c] = weight * __ldg(channels.value[c] + point * channels.stride);
  }
};

/// Adds the pieces one after another: the rows of a piece differ, so its lanes cannot collide.
template <typename T, int Channels>
__device__ void add_pieces(const lane_entry<T, Channels>& entry, unsigned lane, T* sums) {
  const unsigned firsts = __ballot_sync(0xffffffffu, entry.first) | 1u;
  const int piece = __popc(firsts & (0xffffffffu >> (31 - lane)));
  const int pieces = __popc(firsts);
  for (int p = 1; p <= pieces; ++p) {
    if (entry.valid && piece == p) {
#pragma unroll
      for (int c = 0; c < Channels; ++c) sums[entry.row * Channels + c] += entry.product[c];
    }
    __syncwarp();
  }
}

/// Warp `part` of a group adds its share of the group's contributions to its sums.
template <typename T, int Channels>
__device__ void add_share(const group_entries<T>& entries, const channel_pair<T>& channels, std::size_t group,
                          unsigned part, unsigned parts, unsigned lane, T* sums) {
  const std::uint64_t begin = entries.offsets[group];
  const std::uint64_t end = entries.offsets[group + 1];
  const std::uint64_t chunks = (end - begin + 31) / 32;
  const std::uint64_t share = (chunks + parts - 1) / parts * 32;
  const std::uint64_t from = begin + part * share;
  const std::uint64_t to = from + share < end ? from + share : end;
  if (from >= to) return;
  lane_entry<T, Channels> entry(entries, channels, from + lane, to);
  for (std::uint64_t e = from + 32; e < to; e += 32) {
    // Loaded before the current ones are summed.
    const lane_entry<T, Channels> next(entries, channels, e + lane, to);
    add_pieces<T, Channels>(entry, lane, sums);
    entry = next;
  }
  add_pieces<T, Channels>(entry, lane, sums);
}

/// A block has groups_per_block groups of warps_per_group warps; each warp has its own sums.
template <typename T, int Channels>
__global__ void __launch_bounds__(32 * most_warps)
    multiply_kernel(const __grid_constant__ group_grid grid, group_entries<T> entries, channel_pair<T> channels,
                    group_launch shape) {
  extern __shared__ double memory[];
  const unsigned rows = static_cast<unsigned>(grid.group_size());
  const unsigned lane = threadIdx.x % 32;
  const unsigned warp = threadIdx.x / 32;
  const unsigned part = warp % shape.warps_per_group;
  const std::size_t group =
      static_cast<std::size_t>(blockIdx.x) * shape.groups_per_block + warp / shape.warps_per_group;
  const bool here = group < grid.groups();
  T* sums = reinterpret_cast<T*>(memory) + static_cast<std::size_t>(warp) * rows * Channels;
  for (unsigned i = lane; i < rows * Channels; i += 32) sums[i] = T(0);
  __syncwarp();
  if (here) add_share<T, Channels>(entries, channels, group, part, shape.warps_per_group, lane, sums);
  __syncthreads();
  if (!here) return;
  const T* of_group = sums - static_cast<std::size_t>(part) * rows * Channels;
  for (unsigned row = part * 32 + lane; row < rows; row += 32 * shape.warps_per_group) {
    const std::int64_t node = grid.node(group, static_cast<int>(row));
    if (node < 0) continue;
#pragma unroll
    for (int c = 0; c < Channels; ++c) {
      T sum = T(0);
      for (unsigned w = 0; w < shape.warps_per_group; ++w) sum += of_group[(w * rows + row) * Channels + c];
      channels.store(c, static_cast<std::size_t>(node), sum);
    }
  }
}

template <int Channels, typename T>
void launch_product(const cuda_context& context, const group_grid& grid, const group_entries<T>& entries,
                    const channel_pair<T>& channels, double average) {
  const cuda_launch launch(context, "mesh.multiply_groups");
  const std::size_t warp_bytes = static_cast<std::size_t>(grid.group_size()) * Channels * sizeof(T);
  unsigned warps = most_warps;
  while (warps > 1 && warps * warp_bytes > most_sum_bytes) warps /= 2;
  unsigned per_group = 1;
  while (per_group < warps && average > worth_a_warp * per_group) per_group *= 2;
  const group_launch shape{per_group, warps / per_group};
  multiply_kernel<T, Channels><<<cuda_launch::blocks(grid.groups(), shape.groups_per_block), 32 * warps,
                                 warps * warp_bytes, context.stream()>>>(grid, entries, channels, shape);
  launch.check();
}

}  // namespace

template <typename T>
void multiply_groups(const cuda_context& context, const group_grid& grid, const group_entries<T>& entries,
                     const channel_pair<T>& channels, double average) {
  if (channels.count == 2) {
    launch_product<2>(context, grid, entries, channels, average);
  } else {
    launch_product<1>(context, grid, entries, channels, average);
  }
}

template void multiply_groups(const cuda_context&, const group_grid&, const group_entries<float>&,
                              const channel_pair<float>&, double);
template void multiply_groups(const cuda_context&, const group_grid&, const group_entries<double>&,
                              const channel_pair<double>&, double);

}  // namespace quadrat::detail
