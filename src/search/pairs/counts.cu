// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/cuda_check.hpp"
#include "quadrat/parallel/cuda_launch.hpp"
#include "search/pairs/counting.hpp"

/// Pair counts on GPUs. A warp takes 8 successive sources, which are close together in most cases, and walks over the
/// rows of cells within reach of any of them: its threads find 32 rows at once, and then test all targets of each row,
/// four threads per source. More sources at once would spread further along their row of cells, and would test more
/// targets in vain. Sources far from each other, as at the end of a row of cells, are taken in turns.
namespace quadrat::detail {

namespace {

constexpr unsigned counting_block = 128, counting_warps = counting_block / 32, whole_warp = 0xffffffffu;
constexpr unsigned sources_at_once = 8, threads_of_source = 32 / sources_at_once;
/// Bytes of shared memory for the counters of a warp. Three blocks of such warps fit on a multiprocessor.
constexpr std::size_t most_counter_bytes = 16384;

/// Where a warp counts.
enum class counters {
  of_threads,  ///< a counter per bin and thread, in shared memory: without
               ///< atomic operations and bank conflicts
  of_warps,    ///< a counter per bin, in shared memory
  of_all,      ///< the totals
};

/// What is added up: numbers of distances whose bins are found in one step, numbers of pairs in bins of any kind, or
/// these with sums.
enum class work { distances, pairs, sums };

/// Tests of a thread after which counters in shared memory are added to the totals, before they overflow: 32 threads
/// add terms of up to 2^40 to the same word.
[[nodiscard]] QUADRAT_HD constexpr std::uint32_t most_tests(work what) {
  return what == work::sums ? 1u << 17 : 1u << 26;
}
constexpr std::uint32_t tests_at_once = 1u << 14;

/// Counters of a warp for each of its bins; of distances, also for those below the first bin and beyond the last.
[[nodiscard]] QUADRAT_HD constexpr std::size_t counters_of(counters where, work what, std::size_t bins) {
  return (where == counters::of_threads ? 32 : 1) * (what == work::distances ? bins + 2 : bins);
}
[[nodiscard]] constexpr std::size_t counter_bytes_of(counters where, work what, std::size_t bins) {
  const std::size_t bytes = sizeof(std::uint32_t) + (what == work::sums ? 2 * sizeof(std::int64_t) : 0);
  return where == counters::of_all ? 0 : counters_of(where, what, bins) * bytes;
}

template <typename T>
struct counting_launch {
  counted_pairs<T> pairs;
  std::uint64_t* totals;
  std::uint64_t* next;          ///< the next sources of a warp
  std::uint32_t table_bytes;    ///< of edges and starts, copied to shared memory;
                                ///< 0: not copied
  std::uint32_t counter_bytes;  ///< of a warp
};

__device__ inline void add_to_total(std::uint64_t* total, std::uint64_t value) {
  if (value != 0) atomic_add(total, value);
}

/// The counters of a warp. With regions they belong to that of its first source, too: the few pairs of other regions
/// are added to the totals of these, one by one.
template <typename T, counters Where, work What>
class warp_counters {
 public:
  /// The shared memory of the warp: sums first, which have larger words.
  __device__ warp_counters(const counting_launch<T>& a, std::byte* memory, unsigned lane)
      : a_(a), size_(a.pairs.bins.size()), lane_(lane) {
    if constexpr (Where == counters::of_all) return;
    const std::size_t words = counters_of(Where, What, size_);
    weights_ = reinterpret_cast<std::int64_t*>(memory);
    separations_ = weights_ + words;
    counts_ = reinterpret_cast<std::uint32_t*>(What == work::sums ? memory + 2 * words * sizeof(std::int64_t) : memory);
    for (std::size_t k = lane; k < words; k += 32) {
      counts_[k] = 0;
      if constexpr (What == work::sums) weights_[k] = separations_[k] = 0;
    }
    if constexpr (What == work::distances) counts_ += 32;
    __syncwarp();
  }

  /// Adds a distance in a row of pair_bins.
  __device__ void add_row(std::uint32_t row) {
    static_assert(Where == counters::of_threads && What == work::distances);
    counts_[static_cast<int>(row * 32 + lane_) - 32] += 1;
  }
  __device__ void add(std::uint32_t bin, std::uint32_t source, std::uint32_t target, T squared) {
    if constexpr (Where == counters::of_threads) {
      counts_[bin * 32 + lane_] += 1;
    } else if constexpr (Where == counters::of_warps) {
      atomicAdd(counts_ + bin, 1u);
    } else {
      atomic_add(a_.totals + bin, std::uint64_t{1});
    }
    if constexpr (What == work::sums) {
      const counted_pairs<T>& pairs = a_.pairs;
      std::int64_t product = 0;
      if (pairs.sums.weighted) {
        product = fixed_point(static_cast<double>(__ldg(pairs.sources.weights + source)) *
                                  static_cast<double>(__ldg(pairs.targets.weights + target)),
                              pairs.sums.weight_steps);
        add_term(weights_, weights_low, bin, product);
      }
      if (pairs.sums.regions > 0) {
        add_to_regions(__ldg(pairs.sources.regions + source), __ldg(pairs.targets.regions + target), bin, product);
      }
      if (pairs.sums.means) {
        const auto separation = static_cast<double>(pairs.bins.separation(squared));
        add_term(separations_, separations_low, bin, fixed_point(separation, pairs.sums.separation_steps));
      }
    }
  }

  /// All threads of the warp call this before they count pairs of sources that are mostly in this region.
  __device__ void set_region(std::uint32_t region) {
    if (Where == counters::of_all || region == region_) return;
    flush();
    region_ = region;
  }
  /// All threads of the warp call this before each of them makes `tests` more tests.
  __device__ void prepare(std::uint32_t tests) {
    if constexpr (Where == counters::of_all) return;
    tests_ += tests;
    if (tests_ <= most_tests(What)) return;
    flush();
    tests_ = tests;
  }
  /// Adds all to the totals.
  __device__ void flush() {
    if constexpr (Where == counters::of_all) return;
    __syncwarp();
    for (std::uint32_t bin = lane_; bin < size_; bin += 32) {
      const auto pairs = taken<std::uint64_t>(counts_, bin);
      add_to_total(a_.totals + bin, pairs);
      if constexpr (What == work::sums) {
        const auto weight = taken<std::int64_t>(weights_, bin);
        total_term(weights_low, bin, weight);
        total_term(separations_low, bin, taken<std::int64_t>(separations_, bin));
        if (a_.pairs.sums.regions > 0) add_to_region(region_, bin, pairs, weight);
      }
    }
    __syncwarp();
  }

 private:
  __device__ void add_term(std::int64_t* words, pair_word low, std::uint32_t bin, std::int64_t term) {
    if constexpr (Where == counters::of_threads) {
      words[bin * 32 + lane_] += term;
    } else if constexpr (Where == counters::of_warps) {
      atomic_add(words + bin, term);
    } else {
      total_term(low, bin, term);
    }
  }
  __device__ void total_term(pair_word low, std::uint32_t bin, std::int64_t term) {
    std::uint64_t* const to = a_.totals + low * std::size_t{size_} + bin;
    add_to_total(to, low_part(term));
    add_to_total(to + size_, high_part(term));
  }
  /// Nothing is added before the first region is set.
  __device__ void add_to_region(std::uint32_t region, std::uint32_t bin, std::uint64_t pairs, std::int64_t weight) {
    const counted_pairs<T>& all = a_.pairs;
    add_to_total(a_.totals + all.place(region_pairs, region, bin), pairs);
    add_to_total(a_.totals + all.place(region_weights_low, region, bin), low_part(weight));
    add_to_total(a_.totals + all.place(region_weights_high, region, bin), high_part(weight));
  }
  /// Makes up for what the counters, which have this pair, will add to `region_`.
  __device__ void add_to_regions(std::uint32_t one, std::uint32_t other, std::uint32_t bin, std::int64_t product) {
    if (one != region_) add_to_region(one, bin, 1, product);
    if (other != one && other != region_) add_to_region(other, bin, 1, product);
    if (Where != counters::of_all && one != region_ && other != region_) {
      add_to_region(region_, bin, ~std::uint64_t{0}, -product);
    }
  }
  /// The sum of the words of a bin, which become 0. Threads begin in different banks.
  template <typename Sum, typename Word>
  __device__ Sum taken(Word* words, std::uint32_t bin) {
    if constexpr (Where != counters::of_threads) {
      const Word value = words[bin];
      words[bin] = 0;
      return static_cast<Sum>(value);
    }
    Sum sum = 0;
    for (unsigned k = 0; k < 32; ++k) {
      Word& word = words[bin * 32 + ((k + lane_) & 31)];
      sum += static_cast<Sum>(word);
      word = 0;
    }
    return sum;
  }

  const counting_launch<T>& a_;
  std::uint32_t size_;
  unsigned lane_;
  std::uint32_t tests_ = 0;
  std::uint32_t region_ = 0xffffffffu;  ///< none
  std::uint32_t* counts_ = nullptr;
  std::int64_t* weights_ = nullptr;
  std::int64_t* separations_ = nullptr;
};

template <typename T>
__device__ vec<T, 3> position_of(const search_point<T, 3>* record) {
  if constexpr (sizeof(T) == 4) {
    const float4 words = __ldg(reinterpret_cast<const float4*>(record));
    return {{words.x, words.y, words.z}};
  } else {
    return record->position;
  }
}

/// The joined reach of the threads of a warp.
template <typename T>
__device__ group_reach<T, 3> joined(group_reach<T, 3> mine) {
  for (int axis = 0; axis < 3; ++axis) {
    mine.range.first[axis] = __reduce_min_sync(whole_warp, mine.range.first[axis]);
    mine.range.last[axis] = __reduce_max_sync(whole_warp, mine.range.last[axis]);
    for (int step = 16; step > 0; step /= 2) {
      mine.lower[axis] = fmin(mine.lower[axis], __shfl_xor_sync(whole_warp, mine.lower[axis], step));
      mine.upper[axis] = fmax(mine.upper[axis], __shfl_xor_sync(whole_warp, mine.upper[axis], step));
      mine.slack[axis] = fmax(mine.slack[axis], __shfl_xor_sync(whole_warp, mine.slack[axis], step));
    }
  }
  return mine;
}
/// The reach of another thread.
template <typename T>
__device__ group_reach<T, 3> reach_of_lane(group_reach<T, 3> mine, int lane) {
  mine.range.home = __shfl_sync(whole_warp, mine.range.home, lane);
  mine.range.all = __shfl_sync(whole_warp, static_cast<int>(mine.range.all), lane) != 0;
  for (int axis = 0; axis < 3; ++axis) {
    mine.range.first[axis] = __shfl_sync(whole_warp, mine.range.first[axis], lane);
    mine.range.last[axis] = __shfl_sync(whole_warp, mine.range.last[axis], lane);
    mine.lower[axis] = __shfl_sync(whole_warp, mine.lower[axis], lane);
    mine.upper[axis] = __shfl_sync(whole_warp, mine.upper[axis], lane);
    mine.slack[axis] = __shfl_sync(whole_warp, mine.slack[axis], lane);
  }
  return mine;
}

/// The targets of a row of cells, as slots, and the translation to their image.
template <typename T>
struct target_row {
  std::uint32_t begin = 0, end = 0;
  vec<T, 3> translation{};
};

/// Targets that a thread tests one after another.
constexpr std::uint32_t batch = 4;
static_assert(threads_of_source * batch <= placed_points<float>::lanes_beyond);

/// One thread's source, and what the warp does with it.
template <typename T, counters Where, work What>
struct source_of_thread {
  const counting_launch<T>& a;
  const pair_bins<T>& bins;
  warp_counters<T, Where, What>& to;
  std::uint32_t slot;
  std::uint32_t ahead;  ///< targets of a row before the first one of this thread
  vec<T, 3> point;
  /// Targets below it are counted by all threads of the warp, if they are in a row of the group.
  std::uint32_t for_all = 0;

  /// Rows within reach of a group of threads, 32 at once. Targets of one set are slots below `end`.
  __device__ void count_rows(const layer_rows<T, 3>& rows, bool member, std::uint32_t end, unsigned lane) {
    const std::uint64_t count = rows.count();
    for (std::uint64_t base = 0; base < count; base += 32) {
      target_row<T> mine;
      if (base + lane < count) mine = row_of(rows[base + lane], end);
      for (unsigned some = __ballot_sync(whole_warp, mine.begin < mine.end); some != 0; some &= some - 1) {
        const int from = __ffs(static_cast<int>(some)) - 1;
        target_row<T> row;
        row.begin = __shfl_sync(whole_warp, mine.begin, from);
        row.end = __shfl_sync(whole_warp, mine.end, from);
        for (int axis = 0; axis < 3; ++axis) {
          row.translation[axis] = __shfl_sync(whole_warp, mine.translation[axis], from);
        }
        count_row(row, member);
      }
    }
  }

 private:
  __device__ target_row<T> row_of(const cell_run<3>& run, std::uint32_t end) const {
    target_row<T> row;
    if (run.last < run.first) return row;
    row.begin = __ldg(a.pairs.cell_offsets + run.first);
    row.end = min(__ldg(a.pairs.cell_offsets + run.last + 1), end);
    row.translation = a.pairs.system.shape.translation(run.shift);
    return row;
  }
  __device__ void count_row(const target_row<T>& row, bool member) {
    // Targets that this thread counts: none, those before its own slot, or all.
    const std::uint32_t limit = !member ? 0 : (a.pairs.own ? slot : row.end);
    for (std::uint32_t begin = row.begin; begin < row.end; begin += tests_at_once) {
      const std::uint32_t end = row.end - begin < tests_at_once ? row.end : begin + tests_at_once;
      to.prepare(end - begin);
      if constexpr (What != work::distances) {
        count_targets(begin, end, min(limit, end), row.translation);
      } else if (row.translation == vec<T, 3>{}) {
        count_distances(begin, end, min(limit, end), [&](const vec<T, 3>& to) { return to - point; });
      } else {
        count_distances(begin, end, min(limit, end), [&](const vec<T, 3>& to) {
          return neighbor_search<T, 3>::separation(point, to, row.translation);
        });
      }
      if (end == row.end) break;
    }
  }
  /// Targets from `limit` on count as beyond all bins. All targets are in some row: no thread waits for another.
  template <typename Separation>
  __device__ void count_distances(std::uint32_t begin, std::uint32_t end, std::uint32_t limit,
                                  const Separation& separation) {
    constexpr std::uint32_t step = threads_of_source * batch;
    const std::uint32_t unlimited = min(for_all, end);
    std::uint32_t first = begin;
    for (; first + step <= unlimited; first += step) count_batch<false>(first + ahead, limit, separation);
    for (; first < end; first += step) count_batch<true>(first + ahead, limit, separation);
  }
  /// The targets from `k` on.
  template <bool Limited, typename Separation>
  __device__ __forceinline__ void count_batch(std::uint32_t k, std::uint32_t limit, const Separation& separation) {
    const search_point<T, 3>* const from = a.pairs.targets.records + k;
    T squared[batch];
    bool near = false;
#pragma unroll
    for (std::uint32_t j = 0; j < batch; ++j) {
      squared[j] = squared_norm(separation(position_of(from + j)));
      if (Limited && k + j >= limit) squared[j] = bins.high;
      near = near || squared[j] < bins.high;
    }
    if (__any_sync(whole_warp, near) == 0) return;
    bin_start<T> start[batch];
#pragma unroll
    for (std::uint32_t j = 0; j < batch; ++j) start[j] = bins.start_of(squared[j]);
#pragma unroll
    for (std::uint32_t j = 0; j < batch; ++j) to.add_row(start[j].row + (squared[j] >= start[j].edge ? 1 : 0));
  }
  __device__ void count_targets(std::uint32_t begin, std::uint32_t end, std::uint32_t limit,
                                const vec<T, 3>& translation) {
    for (std::uint32_t k = begin + ahead; k < end; k += threads_of_source * batch) {
      const search_point<T, 3>* const from = a.pairs.targets.records + k;
      T squared[batch], along[batch];
#pragma unroll
      for (std::uint32_t j = 0; j < batch; ++j) {
        const vec<T, 3> r = neighbor_search<T, 3>::separation(point, position_of(from + j), translation);
        squared[j] = bins.squared(r);
        along[j] = r[2];
      }
#pragma unroll
      for (std::uint32_t j = 0; j < batch; ++j) {
        if (!(squared[j] < bins.high && squared[j] >= bins.low && k + j < limit)) continue;
        std::uint32_t bin = bins.first_bin(squared[j]);
        if (bins.add_second(squared[j], along[j], bin)) to.add(bin, slot, k + j, squared[j]);
      }
    }
  }
};

template <typename T, counters Where, work What>
__global__ void __launch_bounds__(counting_block, What == work::distances && sizeof(T) == 4 ? 8 : 3)
    count_pairs_by_warps(const __grid_constant__ counting_launch<T> a) {
  extern __shared__ __align__(16) std::byte memory[];
  pair_bins<T> bins = a.pairs.bins;
  if constexpr (Where != counters::of_all) {
    const auto* const from = reinterpret_cast<const std::uint32_t*>(a.pairs.bins.starts);
    for (std::uint32_t k = threadIdx.x; k < a.table_bytes / 4; k += counting_block) {
      reinterpret_cast<std::uint32_t*>(memory)[k] = from[k];
    }
    bins.starts = reinterpret_cast<const bin_start<T>*>(memory);
    bins.squared_edges = reinterpret_cast<const T*>(bins.starts + bins.last_start + 1);
    if (bins.second_edges != nullptr) bins.second_edges = bins.squared_edges + bins.bins + 1;
    __syncthreads();
  }
  const unsigned lane = threadIdx.x % 32;
  warp_counters<T, Where, What> to(a, memory + (a.table_bytes + 15) / 16 * 16 + threadIdx.x / 32 * a.counter_bytes,
                                   lane);
  const std::uint32_t count = a.pairs.sources.count;
  for (;;) {
    std::uint64_t taken = lane == 0 ? atomic_add(a.next, std::uint64_t{1}) : 0;
    taken = __shfl_sync(whole_warp, taken, 0);
    const std::uint64_t first = taken * sources_at_once;
    if (first >= count) break;
    if constexpr (What == work::sums) {
      if (a.pairs.sums.regions > 0) to.set_region(__ldg(a.pairs.sources.regions + first));
    }
    const unsigned own = lane % sources_at_once;
    const std::uint32_t slot = static_cast<std::uint32_t>(first) + own;
    const vec<T, 3> point = position_of(a.pairs.sources.records + min(slot, count - 1));
    const auto mine = group_reach<T, 3>::of_point(a.pairs.system, point, a.pairs.region.reach);
    source_of_thread<T, Where, What> source{a, bins, to, slot, lane / sources_at_once * batch, point};
    for (unsigned left = __ballot_sync(whole_warp, slot < count); left != 0;) {
      const int leader = __ffs(static_cast<int>(left)) - 1;
      const group_reach<T, 3> lead = reach_of_lane(mine, leader);
      const bool waits = (left >> lane & 1) != 0;
      const bool member = waits && (static_cast<int>(own) == leader || lead.takes(a.pairs.system, mine, a.pairs.span));
      const unsigned members = __ballot_sync(whole_warp, member);
      left &= ~members;
      const layer_rows<T, 3> rows(a.pairs.system, joined(member ? mine : lead), a.pairs.region);
      const std::uint32_t last = __reduce_max_sync(whole_warp, member ? slot : 0u);
      const std::uint32_t before_all = a.pairs.own ? static_cast<std::uint32_t>(first) : 0xffffffffu;
      source.for_all = members == whole_warp ? before_all : 0;
      source.count_rows(rows, member, a.pairs.own ? last : 0xffffffffu, lane);
    }
  }
  to.flush();
}

template <typename T, counters Where, work What>
void launch_count(const cuda_context& context, counting_launch<T> a) {
  const auto kernel = count_pairs_by_warps<T, Where, What>;
  if (Where == counters::of_all) a.table_bytes = 0;
  a.counter_bytes = static_cast<std::uint32_t>((counter_bytes_of(Where, What, a.pairs.bins.size()) + 15) / 16 * 16);
  const std::size_t shared = (a.table_bytes + 15) / 16 * 16 + counting_warps * std::size_t{a.counter_bytes};
  const cuda_launch launch(context, "search.pairs.count");
  check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)),
             "shared memory of pair counts");
  int resident = 0;
  check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, counting_block, shared),
             "blocks of pair counts");
  const auto most =
      static_cast<std::size_t>(std::max(resident, 1)) * static_cast<std::size_t>(context.multiprocessors());
  const std::size_t blocks = std::min(most, (std::size_t{a.pairs.sources.count} + counting_block - 1) / counting_block);
  kernel<<<static_cast<unsigned>(blocks), counting_block, shared, context.stream()>>>(a);
  launch.check();
}

template <typename T, work What>
void launch_counts(const cuda_context& context, const counting_launch<T>& a) {
  const std::size_t size = a.pairs.bins.size();
  if (counter_bytes_of(counters::of_threads, What, size) <= most_counter_bytes) {
    launch_count<T, counters::of_threads, What>(context, a);
  } else if (counter_bytes_of(counters::of_warps, What, size) <= most_counter_bytes) {
    launch_count<T, counters::of_warps, What>(context, a);
  } else {
    launch_count<T, counters::of_all, What>(context, a);
  }
}

}  // namespace

template <typename T>
void count_pairs(const cuda_context& context, const counted_pairs<T>& pairs, std::uint64_t* totals) {
  const pair_bins<T>& bins = pairs.bins;
  counting_launch<T> a{pairs, totals, totals + pairs.words(), 0, 0};
  const T* const end =
      bins.second_edges != nullptr ? bins.second_edges + bins.second_bins + 1 : bins.squared_edges + bins.bins + 1;
  a.table_bytes = static_cast<std::uint32_t>(reinterpret_cast<const std::byte*>(end) -
                                             reinterpret_cast<const std::byte*>(bins.starts));
  constexpr auto few = counters::of_threads;
  if (pairs.sums.any()) {
    launch_counts<T, work::sums>(context, a);
  } else if (bins.second_edges == nullptr && bins.single &&
             counter_bytes_of(few, work::distances, bins.bins) <= most_counter_bytes) {
    launch_count<T, few, work::distances>(context, a);
  } else {
    launch_counts<T, work::pairs>(context, a);
  }
}

template void count_pairs(const cuda_context&, const counted_pairs<float>&, std::uint64_t*);
template void count_pairs(const cuda_context&, const counted_pairs<double>&, std::uint64_t*);

}  // namespace quadrat::detail
