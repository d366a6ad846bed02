// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "parallel/host_mirror.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/context.hpp"

#if defined(__CUDACC__)
#include "quadrat/parallel/cuda_launch.hpp"
#endif

/// Lists the elements that leave a rank, on a GPU, for the case of few elements and few ranks.
namespace quadrat::detail {

template <typename Context>
struct leaving_lists {
  array<std::uint32_t, Context> ascending, by_rank;  ///< the same elements; of one rank in ascending order
  std::vector<std::size_t> counts;                   ///< by rank; the last entry: of ranks that do not exist
};

template <typename Context>
class few_leaving {
 public:
  /// Fills the lists, if the case applies. Waits for the counts, but not for the end of the last kernel.
  [[nodiscard]] bool find(const Context& /*context*/, const std::uint32_t* /*destinations*/, int /*self*/,
                          int /*ranks*/, std::size_t /*count*/, leaving_lists<Context>& /*lists*/) {
    return false;
  }
  [[nodiscard]] std::size_t bytes() const { return 0; }
};

#if defined(__CUDACC__)

/// Each warp searches a part of the elements and notes those that leave. In the second kernel each warp writes its
/// elements behind those of all earlier warps; it reads only the notes.
struct leaving_search {
  static constexpr unsigned warps = 32;      ///< of a block
  static constexpr std::uint32_t most = 16;  ///< ranks
  static constexpr unsigned at_once = 8;     ///< loads in flight per thread

  const std::uint32_t* destinations;
  std::size_t count;
  std::uint32_t self, ranks;
  std::uint32_t length, room;  ///< elements of a part, and how many of them may leave
  std::uint32_t* noted;        ///< [part][room]
  std::uint32_t* of_parts;     ///< [part][rank, or one that does not exist]: number of leaving elements
  std::uint32_t* of_blocks;    ///< [as above, then a flag: a part has too many][block]

  [[nodiscard]] __host__ __device__ std::uint32_t bins() const { return ranks + 1; }
};

__global__ void __launch_bounds__(32 * leaving_search::warps, 2)
    note_leaving_kernel(const __grid_constant__ leaving_search search) {
  constexpr unsigned warps = leaving_search::warps, at_once = leaving_search::at_once;
  __shared__ std::uint32_t counts[warps][leaving_search::most + 1];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32, below = (1u << lane) - 1;
  const std::uint32_t bins = search.bins();
  if (lane < bins) counts[warp][lane] = 0;
  __syncwarp();
  const std::size_t part = std::size_t{blockIdx.x} * warps + warp;
  const std::size_t first = part * search.length, end = min(first + search.length, search.count);
  std::uint32_t* const noted = search.noted + part * search.room;
  std::uint32_t found = 0;
  for (std::size_t begin = first; begin < end; begin += 32 * at_once) {
    std::uint32_t to[at_once];
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k) {
      const std::size_t i = begin + 32 * k + lane;
      to[k] = i < end ? search.destinations[i] : search.self;
    }
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k) {
      const bool leaves = to[k] != search.self;
      const unsigned all = __ballot_sync(~0u, leaves);
      if (leaves) {
        const std::uint32_t place = found + static_cast<std::uint32_t>(__popc(all & below));
        if (place < search.room) noted[place] = static_cast<std::uint32_t>(begin + 32 * k + lane);
        atomicAdd(&counts[warp][min(to[k], search.ranks)], 1u);
      }
      found += static_cast<std::uint32_t>(__popc(all));
    }
  }
  const int too_many = __syncthreads_or(found > search.room);
  if (lane < bins) search.of_parts[part * bins + lane] = counts[warp][lane];
  if (warp > bins) return;
  // Each warp adds up one bin.
  std::uint32_t sum = warp == bins ? 0 : counts[lane][warp];
  for (int far = 16; far > 0; far /= 2) sum += __shfl_xor_sync(~0u, sum, far);
  if (lane == 0) search.of_blocks[warp * gridDim.x + blockIdx.x] = warp == bins ? (too_many != 0 ? 1 : 0) : sum;
}

/// Writes the totals of all bins, and whether any part has too many; they are sent early. With too many, nothing is
/// listed.
__global__ void __launch_bounds__(32 * leaving_search::warps)
    list_leaving_kernel(const __grid_constant__ leaving_search search, std::uint64_t* totals, early_words early,
                        std::uint32_t* ascending, std::uint32_t* by_rank) {
  constexpr unsigned warps = leaving_search::warps, most_bins = leaving_search::most + 1;
  __shared__ std::uint32_t counts[warps][most_bins], starts[warps][most_bins];
  __shared__ std::uint32_t total[most_bins + 1], before[most_bins + 1], starts_of_all[warps];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32, below = (1u << lane) - 1;
  const std::uint32_t bins = search.bins();
  const std::size_t part = std::size_t{blockIdx.x} * warps + warp;
  if (lane < bins) counts[warp][lane] = search.of_parts[part * bins + lane];
  if (warp <= bins) {
    std::uint32_t sum = 0, sum_before = 0;
    for (unsigned block = lane; block < gridDim.x; block += 32) {
      const std::uint32_t one = search.of_blocks[warp * gridDim.x + block];
      sum += one;
      if (block < blockIdx.x) sum_before += one;
    }
    for (int far = 16; far > 0; far /= 2) {
      sum += __shfl_xor_sync(~0u, sum, far);
      sum_before += __shfl_xor_sync(~0u, sum_before, far);
    }
    if (lane == 0) total[warp] = sum, before[warp] = sum_before;
  }
  __syncthreads();
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    for (std::uint32_t bin = 0; bin <= bins; ++bin) totals[bin] = total[bin];
    early.send();
  }
  if (total[bins] != 0) return;
  if (warp <= bins) {
    // One warp per bin adds up the parts of this block; one more warp adds up all bins.
    std::uint32_t own = 0, start = 0;
    for (std::uint32_t bin = 0; bin < bins; ++bin) {
      if (warp == bins) {
        own += counts[lane][bin];
        start += before[bin];
      } else if (bin < warp) {
        start += total[bin];
      }
    }
    if (warp < bins) {
      own = counts[lane][warp];
      start += before[warp];
    }
    std::uint32_t upto = own;
    for (unsigned far = 1; far < 32; far *= 2) {
      const std::uint32_t lower = __shfl_up_sync(~0u, upto, far);
      if (lane >= far) upto += lower;
    }
    (warp == bins ? starts_of_all[lane] : starts[lane][warp]) = start + upto - own;
  }
  __syncthreads();
  std::uint32_t found = lane < bins ? counts[warp][lane] : 0;
  for (int far = 16; far > 0; far /= 2) found += __shfl_xor_sync(~0u, found, far);
  const std::uint32_t* const noted = search.noted + part * search.room;
  for (std::uint32_t k = lane; k - lane < found; k += 32) {
    const bool is_one = k < found;
    const std::uint32_t element = is_one ? noted[k] : 0;
    const std::uint32_t bin = is_one ? min(search.destinations[element], search.ranks) : most_bins;
    const unsigned peers = __match_any_sync(~0u, bin);
    if (is_one) {
      by_rank[starts[warp][bin] + static_cast<std::uint32_t>(__popc(peers & below))] = element;
      ascending[starts_of_all[warp] + k] = element;
    }
    __syncwarp();
    if (is_one && (peers & below) == 0) starts[warp][bin] += static_cast<std::uint32_t>(__popc(peers));
    __syncwarp();
  }
}

template <>
class few_leaving<cuda_context> {
 public:
  [[nodiscard]] bool find(const cuda_context& context, const std::uint32_t* destinations, int self, int ranks,
                          std::size_t count, leaving_lists<cuda_context>& lists) {
    if (ranks > static_cast<int>(leaving_search::most) || count == 0) return false;
    constexpr unsigned threads = 32 * leaving_search::warps, least_length = 128, least_room = 128;
    const auto most_blocks = static_cast<std::size_t>(2 * context.multiprocessors());
    const std::size_t blocks = std::min(most_blocks, (count + 8 * threads - 1) / (8 * threads));
    const std::size_t parts = blocks * leaving_search::warps;
    leaving_search search{};
    search.destinations = destinations;
    search.count = count;
    search.self = static_cast<std::uint32_t>(self);
    search.ranks = static_cast<std::uint32_t>(ranks);
    const std::size_t each = (count + parts - 1) / parts;
    search.length = static_cast<std::uint32_t>((each + least_length - 1) / least_length * least_length);
    search.room = std::max(search.length / 8, least_room);
    make_room(context, search, blocks);
    lists.ascending.resize_discarding(context, parts * search.room);
    lists.by_rank.resize_discarding(context, parts * search.room);
    const std::size_t answers = search.bins() + 1;
    totals_.resize_discarding(context, answers);
    const early_words early = answer_.expect(context, totals_.data(), answers);
    const cuda_launch launch(context, "migration.leaving");
    const auto grid = static_cast<unsigned>(blocks);
    note_leaving_kernel<<<grid, threads, 0, context.stream()>>>(search);
    launch.check();
    list_leaving_kernel<<<grid, threads, 0, context.stream()>>>(search, totals_.data(), early, lists.ascending.data(),
                                                                lists.by_rank.data());
    launch.check();
    const std::uint64_t* const found = answer_.wait(context);
    lists.counts.assign(found, found + search.bins());
    return found[search.bins()] == 0;
  }
  [[nodiscard]] std::size_t bytes() const { return noted_.bytes() + counts_.bytes() + totals_.bytes(); }

 private:
  void make_room(const cuda_context& context, leaving_search& search, std::size_t blocks) {
    const std::size_t parts = blocks * leaving_search::warps;
    noted_.resize_discarding(context, parts * search.room);
    counts_.resize_discarding(context, parts * search.bins() + blocks * (search.bins() + 1));
    search.noted = noted_.data();
    search.of_parts = counts_.data();
    search.of_blocks = counts_.data() + parts * search.bins();
  }

  array<std::uint32_t, cuda_context> noted_, counts_;
  array<std::uint64_t, cuda_context> totals_;
  host_mirror<cuda_context> answer_;
};

#endif

}  // namespace quadrat::detail
