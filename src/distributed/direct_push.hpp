// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "distributed/direct_ranks.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/parallel/for_each.hpp"

/// Elements that a kernel writes where they arrive, in other devices' memory.
namespace quadrat::detail {

struct alignas(16) four_words {
  std::uint32_t word[4];
};

/// Copies elements of several arrays to the ranks that get them: entries in order of rank, each the index of an
/// element. One call for each unit (four words, or one) of each element, array by array.
class push_elements {
 public:
  static constexpr int most_ranks = 16;
  static constexpr int most_arrays = 8;
  /// By rank: where its first element from here goes.
  using targets = std::array<void*, most_ranks>;

  /// `counts`: the entries of each rank. `self`: this one; the ranks after it come first, since all would otherwise
  /// write to one at a time.
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

  [[nodiscard]] std::size_t calls() const { return calls_; }

  QUADRAT_HD void operator()(std::size_t i) const {
    int which = 0;
    std::size_t call = i;
    for (; i >= arrays_[which].end; ++which) call = i - arrays_[which].end;
    const pushed_array& array = arrays_[which];
    const std::uint32_t width = array.width;
    const std::size_t element = width == 1 ? call : call / width, unit = call - element * width;
    std::size_t k = element + start_;
    if (k >= entries_) k -= entries_;
    int rank = 0;
    while (rank + 1 < ranks_ && k >= first_[rank + 1]) ++rank;
    const std::size_t source = indices_[k] * std::size_t{width} + unit, target = (k - first_[rank]) * width + unit;
    if (array.wide) {
      reinterpret_cast<four_words*>(array.to[rank])[target] = reinterpret_cast<const four_words*>(array.data)[source];
    } else {
      array.to[rank][target] = array.data[source];
    }
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
  std::uint32_t start_ = 0;  ///< the entry with which to begin
  std::size_t calls_ = 0;
};

/// The ranks with which any elements are exchanged.
[[nodiscard]] inline std::vector<int> ranks_with_some(std::span<const std::size_t> counts) {
  std::vector<int> result;
  for (std::size_t rank = 0; rank < counts.size(); ++rank) {
    if (counts[rank] > 0) result.push_back(static_cast<int>(rank));
  }
  return result;
}

/// Elements of one array that ranks write into a buffer of each, in order of the sending rank.
class direct_exchange {
 public:
  /// By rank: the elements that go there, and that come from there.
  direct_exchange(direct_ranks& ranks, int self, std::span<const std::size_t> sent,
                  std::span<const std::size_t> received)
      : ranks_(ranks), self_(self), sent_(sent), received_(received) {}

  /// When all that are written to have read what was in their buffers before. Collective.
  void start(const cuda_context& context, const char* name, const void* data, std::size_t bytes,
             const std::uint32_t* indices, void* buffer) const {
    arrival mine{static_cast<std::byte*>(buffer), {}}, all[push_elements::most_ranks];
    std::exclusive_scan(received_.begin(), received_.end(), mine.first.begin(), std::size_t{0});
    ranks_.mark(context);
    ranks_.pass_marks(context, ranks_with_some(sent_), &mine, all, sizeof(mine));
    push_elements::targets to{};
    for (std::size_t rank = 0; rank < sent_.size(); ++rank) {
      if (sent_[rank] > 0) to[rank] = all[rank].data + all[rank].first[static_cast<std::size_t>(self_)] * bytes;
    }
    push_elements body(sent_, self_, indices);
    body.add(data, bytes, to);
    for_each(context, name, body.calls(), body);
    ranks_.count_written(std::accumulate(sent_.begin(), sent_.end(), std::size_t{0}) * bytes);
    ranks_.mark(context);
  }
  /// Later work of the stream may read the buffer. Collective.
  void finish(const cuda_context& context) const {
    ranks_.pass_marks(context, ranks_with_some(received_), nullptr, nullptr, 0);
  }

 private:
  struct arrival {
    std::byte* data;
    std::array<std::size_t, push_elements::most_ranks> first;  ///< by rank: of its elements
  };

  direct_ranks& ranks_;
  int self_;
  std::span<const std::size_t> sent_, received_;
};

}  // namespace quadrat::detail
