// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <type_traits>
#include <vector>

#include "distributed/ranks/direct_ranks.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/parallel/for_each.hpp"

/// Writes elements directly to their destinations in other devices' memory.
namespace quadrat::detail {

struct alignas(16) four_words {
  std::uint32_t word[4];
};

/// Copies elements of several arrays to their destination ranks. Entries are in order of rank; each is the index of an
/// element. One call per unit (four words, or one) of each element, array by array.
class push_elements {
 public:
  static constexpr int most_ranks = 16;
  static constexpr int most_arrays = 8;
  /// For each rank: the address of this rank's first element there.
  using targets = std::array<void*, most_ranks>;

  /// `counts`: the number of entries of each rank. `self`: this rank. Starts with the rank after it, since otherwise
  /// all would write to the same rank at a time.
  push_elements(std::span<const std::size_t> counts, int self, const std::uint32_t* indices)
      : indices_(indices), ranks_(static_cast<int>(counts.size())) {
    for (int rank = 0; rank < ranks_; ++rank) {
      first_[rank] = entries_;
      entries_ += static_cast<std::uint32_t>(counts[static_cast<std::size_t>(rank)]);
      if (rank == self) start_ = entries_;
    }
  }

  /// `bytes`: of an element, a multiple of 4.
  void add(const void* data, std::size_t bytes, const targets& to) {
    const auto wide = [](const void* place) {
      return reinterpret_cast<std::uintptr_t>(place) % sizeof(four_words) == 0;
    };
    pushed_array& one = arrays_[count_++];
    one.data = static_cast<const std::uint32_t*>(data);
    one.wide = bytes % sizeof(four_words) == 0 && wide(data);
    for (int rank = 0; rank < ranks_; ++rank) {
      void* const target = to[static_cast<std::size_t>(rank)];
      one.to[rank] = static_cast<std::uint32_t*>(target);
      one.wide = one.wide && wide(target);
    }
    one.width = static_cast<std::uint32_t>(bytes / (one.wide ? sizeof(four_words) : sizeof(std::uint32_t)));
    calls_ += std::size_t{entries_} * one.width;
    one.end = calls_;
  }

  [[nodiscard]] QUADRAT_HD std::size_t calls() const { return calls_; }

  /// What one call copies: four words, or one.
  struct unit {
    const std::uint32_t* from;
    std::uint32_t* to;
    bool wide;

    [[nodiscard]] QUADRAT_HD four_words load() const {
      if (wide) return *reinterpret_cast<const four_words*>(from);
      return {{*from, 0, 0, 0}};
    }
    QUADRAT_HD void store(const four_words& value) const {
      if (wide) {
        *reinterpret_cast<four_words*>(to) = value;
      } else {
        *to = value.word[0];
      }
    }
  };

  [[nodiscard]] QUADRAT_HD unit at(std::size_t i) const {
    int which = 0;
    std::size_t call = i;
    for (; i >= arrays_[which].end; ++which) call = i - arrays_[which].end;
    const pushed_array& array = arrays_[which];
    const std::uint32_t width = array.width, words = array.wide ? 4 : 1;
    const std::size_t element = width == 1 ? call : call / width, part = call - element * width;
    std::size_t k = element + start_;
    if (k >= entries_) k -= entries_;
    int rank = 0;
    while (rank + 1 < ranks_ && k >= first_[rank + 1]) ++rank;
    const std::size_t source = indices_[k] * std::size_t{width} + part, target = (k - first_[rank]) * width + part;
    return {array.data + source * words, array.to[rank] + target * words, array.wide};
  }
  QUADRAT_HD void operator()(std::size_t i) const {
    const unit one = at(i);
    one.store(one.load());
  }

 private:
  struct pushed_array {
    const std::uint32_t* data;
    std::uint32_t* to[most_ranks];
    std::size_t end;      ///< of the calls for this array
    std::uint32_t width;  ///< units of an element
    bool wide;            ///< units are four words
  };

  pushed_array arrays_[most_arrays]{};
  std::uint32_t first_[most_ranks]{};
  const std::uint32_t* indices_;
  int ranks_;
  int count_ = 0;
  std::uint32_t entries_ = 0;
  std::uint32_t start_ = 0;  ///< the entry to begin with
  std::size_t calls_ = 0;
};

/// The ranks with which elements are exchanged.
[[nodiscard]] inline std::vector<int> ranks_with_some(std::span<const std::size_t> counts) {
  std::vector<int> result;
  for (std::size_t rank = 0; rank < counts.size(); ++rank) {
    if (counts[rank] > 0) result.push_back(static_cast<int>(rank));
  }
  return result;
}

/// These ranks as a bit mask.
[[nodiscard]] inline std::uint32_t bits_of_some(std::span<const std::size_t> counts) {
  std::uint32_t bits = 0;
  for (const int rank : ranks_with_some(counts)) bits |= std::uint32_t{1} << rank;
  return bits;
}

/// Flags by which kernels of different ranks synchronize: each holds the number of the exchange it has reached.
struct direct_signals {
  static constexpr std::size_t pitch = 8;  ///< words from flag to flag: a sector

  std::uint32_t* flags;  ///< of this rank: [may be written to, has written][rank]
  std::uint32_t* of_others[push_elements::most_ranks];
  const std::uint32_t* stop;  ///< nonzero: a rank has failed, and nobody waits any more
  std::uint32_t* blocks;      ///< number of blocks of the kernel that have ended
  std::uint32_t number;       ///< of this exchange
  std::uint32_t self;
  std::uint32_t to, from;  ///< masks of the ranks written to, and of those that write here

  [[nodiscard]] QUADRAT_HD std::uint32_t* ready(std::uint32_t* all, std::uint32_t rank) const {
    return all + rank * pitch;
  }
  [[nodiscard]] QUADRAT_HD std::uint32_t* done(std::uint32_t* all, std::uint32_t rank) const {
    return all + (push_elements::most_ranks + rank) * pitch;
  }
  /// Words of the flags and `blocks`.
  static constexpr std::size_t words = std::size_t{2} * push_elements::most_ranks * pitch + 1;
};

#if defined(__CUDACC__)

__device__ __forceinline__ void set_flag(std::uint32_t* flag, std::uint32_t number) {
  asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(flag), "r"(number) : "memory");
}

/// Waits until a flag has reached a number; numbers may wrap around. Returns false if a rank has failed.
__device__ __forceinline__ bool wait_for_flag(const std::uint32_t* flag, std::uint32_t number,
                                              const std::uint32_t* stop) {
  constexpr unsigned patience = 1024;  // polls of the flag between two polls of the host's memory
  for (unsigned looks = 1;; ++looks) {
    std::uint32_t value;
    asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(flag) : "memory");
    if (static_cast<int>(value - number) >= 0) return true;
    if (looks % patience == 0 && *const_cast<const volatile std::uint32_t*>(stop) != 0) return false;
  }
}

/// Threads of a block. With at most one block per multiprocessor there is always room for kernels of other streams. So
/// a kernel that another rank waits for can start, whichever exchange comes first.
inline constexpr unsigned push_threads = 512;

/// Writes to other ranks once they no longer read the old data, and ends when all others have written here. If a rank
/// has failed, it ends at once.
template <typename Body>
__global__ void __launch_bounds__(push_threads)
    push_kernel(const __grid_constant__ Body body, const __grid_constant__ direct_signals signals) {
  constexpr int at_once = 4;
  const std::uint32_t rank = threadIdx.x;
  const bool reads = rank < push_elements::most_ranks && (signals.from >> rank & 1) != 0;
  const bool writes = rank < push_elements::most_ranks && (signals.to >> rank & 1) != 0;
  if (reads && blockIdx.x == 0) set_flag(signals.ready(signals.of_others[rank], signals.self), signals.number);
  const bool ready = !writes || wait_for_flag(signals.ready(signals.flags, rank), signals.number, signals.stop);
  if (__syncthreads_and(ready) == 0) return;
  const std::size_t all = body.calls(), width = static_cast<std::size_t>(gridDim.x) * push_threads;
  std::size_t i = static_cast<std::size_t>(blockIdx.x) * push_threads + threadIdx.x;
  // All loads are in flight before the first value is needed.
  for (; i + (at_once - 1) * width < all; i += at_once * width) {
    typename Body::unit units[at_once];
    four_words values[at_once];
#pragma unroll
    for (int k = 0; k < at_once; ++k) units[k] = body.at(i + static_cast<std::size_t>(k) * width);
#pragma unroll
    for (int k = 0; k < at_once; ++k) values[k] = units[k].load();
#pragma unroll
    for (int k = 0; k < at_once; ++k) units[k].store(values[k]);
  }
  for (; i < all; i += width) body(i);
  __syncthreads();
  __shared__ bool is_last;
  if (threadIdx.x == 0) {
    __threadfence_system();
    is_last = atomicAdd(signals.blocks, 1u) == gridDim.x - 1;
    __threadfence_system();
  }
  __syncthreads();
  if (!is_last) return;
  if (threadIdx.x == 0) *signals.blocks = 0;
  if (writes) set_flag(signals.done(signals.of_others[rank], signals.self), signals.number);
  if (reads) wait_for_flag(signals.done(signals.flags, rank), signals.number, signals.stop);
}

#endif

/// How ranks write into each other's memory, on one stream of each. Between ranks that share a device, streams wait for
/// each other's marks. Otherwise one kernel does everything; it replaces seven driver calls, in which threads wait for
/// each other. Threads meet before and after it. So what a kernel waits for is enqueued before any thread goes on, and
/// will run whatever a thread does next. All calls are collective.
class direct_channel {
 public:
  direct_channel(const cuda_context& context, communicator& ranks, direct_ranks& direct)
      : ranks_(ranks), direct_(direct), stop_(direct.stop_flag()) {
    if (stop_ == nullptr) return;
    flags_.resize_discarding(context, direct_signals::words);
    fill_bytes(context, flags_.data(), 0, flags_.bytes());
    context.synchronize();
    flags_of_all_ = all_values(ranks, flags_.data());
  }

  /// Called before anyone writes. Gathers `bytes` of host memory from all ranks.
  void open(const cuda_context& context, std::span<const std::size_t> sent, const void* mine, void* all,
            std::size_t bytes) {
    if (stop_ != nullptr) return ranks_.all_gather(mine, all, bytes);
    direct_.mark(context);
    direct_.pass_marks(context, ranks_with_some(sent), mine, all, bytes);
  }
  void push(const cuda_context& context, const char* name, const push_elements& body, std::size_t bytes,
            std::span<const std::size_t> sent, std::span<const std::size_t> received) {
    direct_.count_written(bytes);
    if (stop_ == nullptr) {
      for_each(context, name, body.calls(), body);
      return direct_.mark(context);
    }
    ++number_;
    launch(context, name, body, bits_of_some(sent), bits_of_some(received));
    ranks_.barrier();
  }
  /// Later work of the stream may read what other ranks have written.
  void finish(const cuda_context& context, std::span<const std::size_t> received) {
    if (stop_ == nullptr) direct_.pass_marks(context, ranks_with_some(received), nullptr, nullptr, 0);
  }
  [[nodiscard]] int self() const { return ranks_.rank(); }
  [[nodiscard]] std::size_t bytes() const { return flags_.bytes(); }

 private:
  void launch(const cuda_context& context, const char* name, const push_elements& body, std::uint32_t to,
              std::uint32_t from) {
#if defined(__CUDACC__)
    if (to == 0 && from == 0) return;
    direct_signals signals{};
    signals.flags = flags_.data();
    std::copy(flags_of_all_.begin(), flags_of_all_.end(), signals.of_others);
    signals.stop = stop_;
    signals.blocks = flags_.data() + (direct_signals::words - 1);
    signals.number = number_;
    signals.self = static_cast<std::uint32_t>(self());
    signals.to = to;
    signals.from = from;
    const cuda_launch launch(context, name);
    const std::size_t needed = (body.calls() + push_threads - 1) / push_threads;
    const auto most = static_cast<std::size_t>(context.multiprocessors());
    const auto blocks = static_cast<unsigned>(std::clamp<std::size_t>(needed, 1, most));
    push_kernel<<<blocks, push_threads, 0, context.stream()>>>(body, signals);
    launch.check();
#else
    static_cast<void>(to);
    static_cast<void>(from);
    for_each(context, name, body.calls(), body);  // throws: this build has no CUDA
#endif
  }

  communicator& ranks_;
  direct_ranks& direct_;
  const std::uint32_t* stop_;  ///< nullptr: ranks share devices
  array<std::uint32_t, cuda_context> flags_;
  std::vector<std::uint32_t*> flags_of_all_;
  std::uint32_t number_ = 0;
};

/// The direct_channel, if ranks can write to each other; otherwise nullptr. Collective.
template <typename Context>
[[nodiscard]] std::unique_ptr<direct_channel> find_direct_channel(const Context& context, communicator& ranks) {
  if constexpr (std::is_same_v<Context, cuda_context>) {
    if (ranks.size() > 1 && ranks.size() <= push_elements::most_ranks) {
      if (direct_ranks* const direct = find_direct_ranks(ranks, context); direct != nullptr) {
        return std::make_unique<direct_channel>(context, ranks, *direct);
      }
    }
  }
  return nullptr;
}

/// An array with elements for other ranks, and the place for those that arrive, in order of the sending rank.
struct direct_array {
  const void* data;
  std::size_t bytes;  ///< of an element
  void* arrivals;
};

/// Exchanges elements that ranks write directly into each other's memory.
class direct_exchange {
 public:
  /// By rank: the numbers of elements sent there and received from there.
  direct_exchange(direct_channel& channel, std::span<const std::size_t> sent, std::span<const std::size_t> received)
      : channel_(channel), sent_(sent), received_(received) {}

  /// Writes when all targets have read their old data. At most push_elements::most_arrays arrays. Collective.
  void start(const cuda_context& context, const char* name, std::span<const direct_array> arrays,
             const std::uint32_t* indices) const {
    arrival mine{}, all[push_elements::most_ranks];
    for (std::size_t k = 0; k < arrays.size(); ++k) mine.data[k] = static_cast<std::byte*>(arrays[k].arrivals);
    std::exclusive_scan(received_.begin(), received_.end(), mine.first.begin(), std::size_t{0});
    channel_.open(context, sent_, &mine, all, sizeof(mine));
    const auto self = static_cast<std::size_t>(channel_.self());
    push_elements body(sent_, channel_.self(), indices);
    std::size_t bytes = 0;
    for (std::size_t k = 0; k < arrays.size(); ++k) {
      push_elements::targets to{};
      for (std::size_t rank = 0; rank < sent_.size(); ++rank) {
        if (sent_[rank] > 0) to[rank] = all[rank].data[k] + all[rank].first[self] * arrays[k].bytes;
      }
      body.add(arrays[k].data, arrays[k].bytes, to);
      bytes += arrays[k].bytes;
    }
    channel_.push(context, name, body, std::accumulate(sent_.begin(), sent_.end(), std::size_t{0}) * bytes, sent_,
                  received_);
  }
  /// Later work of the stream may read what has arrived. Collective.
  void finish(const cuda_context& context) const { channel_.finish(context, received_); }

 private:
  struct arrival {
    std::array<std::byte*, push_elements::most_arrays> data;
    std::array<std::size_t, push_elements::most_ranks> first;  ///< by rank: its first element
  };

  direct_channel& channel_;
  std::span<const std::size_t> sent_, received_;
};

}  // namespace quadrat::detail
