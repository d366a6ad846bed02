// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "distributed/ranks/direct_ranks.hpp"
#include "models/srd/ranks/cell_window.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/distributed/communicator.hpp"
#include "quadrat/parallel/for_each.hpp"

/// Adds up the sums of cells in which several ranks have particles. Each rank sends its part to all others that have
/// the cell in their windows, and all add the parts in order of rank. So all get the same bits after one round of
/// messages, and nothing is sent back.
namespace quadrat::detail {

/// The sums of cells, [cell][width]. The first `used` values of a cell are sent.
template <typename V>
struct cell_values {
  static constexpr std::size_t most = 6;  ///< values per cell that can be sent

  V* data;
  std::size_t width;
  std::size_t used;
};

/// Two words of a rank that steps enqueued ahead check.
struct srd_step_words {
  std::uint64_t* halted;  ///< 0, or the number, counted from 1, of the step that could not be finished
  std::uint64_t* strays;  ///< number of the rank's particles that have left its window in the last step

  /// Work enqueued after a step that has halted does nothing.
  [[nodiscard]] QUADRAT_HD bool halted_before(std::uint64_t step) const {
    const std::uint64_t at = *halted;
    return at != 0 && at <= step;
  }
};

template <typename V>
struct pack_parts {
  cell_values<V> values;
  const std::uint32_t* places;
  V* out;

  QUADRAT_HD void operator()(std::size_t i) const {
    const std::size_t k = i / values.used;
    out[i] = values.data[places[k] * values.width + (i - k * values.used)];
  }
};

/// The places for a rank's parts in the memory of others, beginning with the rank after it. If all ranks began with the
/// first, they would share its links.
struct part_targets {
  static constexpr int most = 16;

  void* parts[most];           ///< the first value that comes from this rank
  std::uint64_t* flags[most];  ///< the word for this rank
  std::uint32_t first[most];   ///< the first of its cells
  int ranks;
};

/// Writes the parts to other ranks, and to all ranks the number of particles that have left the window. Few threads
/// take several cells each, and so leave room for other kernels while the links are busy.
template <typename V>
struct push_parts {
  cell_values<V> values;
  const std::uint32_t* places;
  std::size_t count;
  part_targets to;
  srd_step_words words;
  std::uint64_t step;
  std::uint32_t at_once;  ///< cells

  QUADRAT_HD void operator()(std::size_t i) const {
    if (words.halted_before(step)) return;
    if (i < static_cast<std::size_t>(to.ranks)) *to.flags[i] = *words.strays;
    const std::size_t first = i / values.used, c = i - first * values.used;
    int one = 0;
    for (std::size_t k = first; first < at_once && k < count; k += at_once) {
      while (one + 1 < to.ranks && k >= to.first[one + 1]) ++one;
      static_cast<V*>(to.parts[one])[(k - to.first[one]) * values.used + c] = values.data[places[k] * values.width + c];
    }
  }
};

/// The parts of each shared cell, in order of rank.
template <typename V>
struct cell_parts {
  static constexpr std::uint32_t own = 0xffffffffu;

  cell_values<V> values;
  const V* received;
  const std::uint32_t* first;  ///< the first part of each shared cell
  const std::uint32_t* parts;  ///< index of the cell among those received, or `own`

  /// Writes the sum of all parts into the rank's own values.
  QUADRAT_HD void add_up(std::size_t shared, std::uint32_t place) const {
    V* const cell = values.data + place * values.width;
    V sum[cell_values<V>::most] = {};
    for (std::uint32_t part = first[shared]; part < first[shared + 1]; ++part) {
      const V* const from = parts[part] == own ? cell : received + parts[part] * values.used;
      QUADRAT_UNROLL
      for (std::size_t c = 0; c < cell_values<V>::most; ++c) {
        if (c < values.used) sum[c] += from[c];
      }
    }
    QUADRAT_UNROLL
    for (std::size_t c = 0; c < cell_values<V>::most; ++c) {
      if (c < values.used) cell[c] = sum[c];
    }
  }
};

/// The words of all ranks, for ranks that write into each other's memory.
struct srd_step_flags {
  srd_step_words words;
  const std::uint64_t* of_ranks;
  int ranks;

  /// Whether the step must halt, because some particle is in no sum. The first thread records it for later steps.
  [[nodiscard]] QUADRAT_HD bool halts(std::uint64_t step, std::size_t i) const {
    if (words.halted_before(step)) return true;
    bool any = false;
    // Without branches, so that loads are concurrent.
    for (int rank = 0; rank < ranks; ++rank) any |= of_ranks[rank] != 0;
    if (any && i == 0) *words.halted = step + 1;
    return any;
  }
};

/// The plan of the exchange between the windows of all ranks. Collective.
template <typename Context, int D>
class shared_cells {
 public:
  shared_cells(const Context& context, communicator& ranks) : context_(context), ranks_(ranks) {}

  /// `windows`: of all ranks. `reaches`: the cells that particles may reach when they leave each rank's window; own
  /// cells there count as shared. `value_bytes`: sent per cell. Waits.
  void plan(const decomposition<D>& shares, const std::vector<cell_window<D>>& windows,
            const std::vector<cell_window<D>>& reaches, std::size_t value_bytes);

  /// Sends the parts. Until `finish`, only cells whose mark is 0 may change.
  template <typename V>
  void start(const cell_values<V>& values, const srd_step_words& words, std::uint64_t step);
  /// After it, the stream may read the parts of others, until the second next call of `start`.
  void finish();
  template <typename V>
  [[nodiscard]] cell_parts<V> parts(const cell_values<V>& values) const {
    return {values, reinterpret_cast<const V*>(in_[turn_].data()), first_.data(), parts_.data()};
  }
  /// Without flags if ranks do not write into each other's memory.
  [[nodiscard]] srd_step_flags flags(const srd_step_words& words) const {
    return {words, flags_[turn_].data(), direct_ == nullptr ? 0 : ranks_.size()};
  }

  /// Whether kernels write into other ranks' memory, so that steps can be enqueued ahead.
  [[nodiscard]] bool direct() const { return direct_ != nullptr; }
  /// The cells of the window that other ranks also have or reach, each once. `marks`: for each cell of the window,
  /// whether it is one of them.
  [[nodiscard]] std::span<const std::uint32_t> shared() const { return {shared_.data(), shared_.size()}; }
  [[nodiscard]] const std::uint8_t* marks() const { return marks_.data(); }
  [[nodiscard]] bool has(int place) const { return marks_here_[static_cast<std::size_t>(place)] != 0; }
  [[nodiscard]] std::size_t bytes() const {
    std::size_t sum =
        places_.bytes() + shared_.bytes() + first_.bytes() + parts_.bytes() + marks_.bytes() + out_.bytes();
    for (int turn = 0; turn < 2; ++turn) sum += in_[turn].bytes() + flags_[turn].bytes();
    return sum;
  }

 private:
  /// The n-th rank after this one.
  [[nodiscard]] std::size_t rank_after(std::size_t n) const {
    return (static_cast<std::size_t>(ranks_.rank()) + n) % static_cast<std::size_t>(ranks_.size());
  }
  void list_parts(const std::vector<std::uint32_t>& places, std::vector<std::uint32_t> shared);
  void find_targets();
  template <typename V>
  void push(const cell_values<V>& values, const srd_step_words& words, std::uint64_t step);
  template <typename V>
  void send(const cell_values<V>& values);

  Context context_;
  communicator& ranks_;
  std::size_t value_bytes_ = 0;
  std::vector<std::size_t> counts_;       ///< the number of cells in common with the n-th rank after this one
  std::vector<std::size_t> begins_;       ///< the first of these in the list of all common cells
  array<std::uint32_t, Context> places_;  ///< the numbers of these cells in the window
  array<std::uint32_t, Context> shared_, first_, parts_;
  array<std::uint8_t, Context> marks_;
  std::vector<std::uint8_t> marks_here_;
  array<std::byte, Context> out_, in_[2];  ///< double buffer: others may write into one while the other is read
  array<std::uint64_t, Context> flags_[2];
  int turn_ = 0;
  bool looked_ = false;
  direct_ranks* direct_ = nullptr;
  part_targets targets_[2]{};
  std::vector<outgoing_message> sends_;
  std::vector<incoming_message> receives_;
};

template <typename Context, int D>
void shared_cells<Context, D>::plan(const decomposition<D>& shares, const std::vector<cell_window<D>>& windows,
                                    const std::vector<cell_window<D>>& reaches, std::size_t value_bytes) {
  const auto self = static_cast<std::size_t>(ranks_.rank());
  const auto place_of = [&](const vec<int, D>& cell) { return static_cast<std::uint32_t>(windows[self].index(cell)); };
  value_bytes_ = value_bytes;
  counts_.assign(windows.size(), 0);
  begins_.assign(windows.size(), 0);
  std::vector<std::uint32_t> places, shared;
  for (std::size_t n = 1; n < windows.size(); ++n) {
    const auto common = common_cells(windows[self], windows[rank_after(n)]);
    begins_[n] = places.size();
    counts_[n] = common.size();
    for (const auto& cell : common) places.push_back(place_of(cell));
    for (const auto& cell : common_cells(windows[self], reaches[rank_after(n)])) {
      if (shares.blocks[self].holds(cell)) shared.push_back(place_of(cell));
    }
  }
  shared.insert(shared.end(), places.begin(), places.end());
  // After this, others no longer write by the previous plan.
  context_.synchronize();
  places_ = to_device(context_, places);
  marks_here_.assign(windows[self].size(), 0);
  list_parts(places, std::move(shared));
  for (auto& one : in_) one.resize_discarding(context_, places.size() * value_bytes);
  find_targets();
}

/// `shared`: unsorted, with duplicates.
template <typename Context, int D>
void shared_cells<Context, D>::list_parts(const std::vector<std::uint32_t>& places, std::vector<std::uint32_t> shared) {
  std::sort(shared.begin(), shared.end());
  shared.erase(std::unique(shared.begin(), shared.end()), shared.end());
  std::vector<std::uint32_t> number(marks_here_.size());  // of each shared cell
  for (std::size_t k = 0; k < shared.size(); ++k) {
    marks_here_[shared[k]] = 1;
    number[shared[k]] = static_cast<std::uint32_t>(k);
  }
  std::vector<std::uint32_t> first(shared.size() + 1), parts(places.size() + shared.size());
  for (const std::uint32_t place : places) ++first[number[place] + 1];
  for (std::size_t k = 0; k < shared.size(); ++k) first[k + 1] += first[k] + 1;
  std::vector<std::uint32_t> next = first;
  const std::size_t size = counts_.size(), self = static_cast<std::size_t>(ranks_.rank());
  for (std::size_t rank = 0; rank < size; ++rank) {
    if (rank == self) {
      for (std::size_t k = 0; k < shared.size(); ++k) parts[next[k]++] = cell_parts<float>::own;
    }
    const std::size_t n = (rank + size - self) % size;
    for (std::size_t k = begins_[n]; k < begins_[n] + counts_[n]; ++k) {
      parts[next[number[places[k]]]++] = static_cast<std::uint32_t>(k);
    }
  }
  shared_ = to_device(context_, shared);
  first_ = to_device(context_, first);
  parts_ = to_device(context_, parts);
  marks_ = to_device(context_, marks_here_);
}

/// If ranks can write into each other's memory, exchanges the addresses to write to.
template <typename Context, int D>
void shared_cells<Context, D>::find_targets() {
  if (!looked_) direct_ = ranks_.size() <= part_targets::most ? find_direct_ranks(ranks_, context_) : nullptr;
  looked_ = true;
  if (direct_ == nullptr) return;
  struct place {
    std::byte* parts;
    std::uint64_t* flag;
  };
  const std::size_t size = counts_.size();
  for (int turn = 0; turn < 2; ++turn) {
    flags_[turn].resize_discarding(context_, size);
    std::vector<place> here(size), there(size);
    for (std::size_t n = 0; n < size; ++n) {
      const std::size_t rank = rank_after(n);
      here[rank] = {in_[turn].data() + begins_[n] * value_bytes_, flags_[turn].data() + rank};
    }
    // Others may use the memory only when the stream has allocated it.
    context_.synchronize();
    ranks_.all_to_all(here.data(), there.data(), sizeof(place));
    part_targets& to = targets_[turn];
    to.ranks = ranks_.size();
    for (std::size_t n = 0; n < size; ++n) {
      to.parts[n] = there[rank_after(n)].parts;
      to.flags[n] = there[rank_after(n)].flag;
      to.first[n] = static_cast<std::uint32_t>(begins_[n]);
    }
  }
}

template <typename Context, int D>
template <typename V>
void shared_cells<Context, D>::push(const cell_values<V>& values, const srd_step_words& words, std::uint64_t step) {
  // No rank still reads this buffer: a rank marks the previous exchange only after it has read the one before.
  constexpr std::size_t threads = 1u << 17;
  const std::size_t at_once = std::min(places_.size(), threads / values.used);
  for_each(context_, "srd.push parts", std::max(at_once * values.used, counts_.size()),
           push_parts<V>{values, places_.data(), places_.size(), targets_[turn_], words, step,
                         static_cast<std::uint32_t>(at_once)});
  if constexpr (std::is_same_v<Context, cuda_context>) {
    direct_->count_written(places_.size() * value_bytes_);
    direct_->mark(context_);
  }
}

template <typename Context, int D>
template <typename V>
void shared_cells<Context, D>::send(const cell_values<V>& values) {
  out_.resize_discarding(context_, places_.size() * value_bytes_);
  for_each(context_, "srd.pack parts", places_.size() * values.used,
           pack_parts<V>{values, places_.data(), reinterpret_cast<V*>(out_.data())});
  sends_.clear();
  receives_.clear();
  for (std::size_t n = 1; n < counts_.size(); ++n) {
    const std::size_t first = begins_[n] * value_bytes_, bytes = counts_[n] * value_bytes_;
    if (bytes == 0) continue;
    const int rank = static_cast<int>(rank_after(n));
    sends_.push_back({rank, out_.data() + first, bytes});
    receives_.push_back({rank, in_[turn_].data() + first, bytes});
  }
  ranks_.start(context_, sends_, receives_);
}

template <typename Context, int D>
template <typename V>
void shared_cells<Context, D>::start(const cell_values<V>& values, const srd_step_words& words, std::uint64_t step) {
  turn_ = 1 - turn_;
  direct_ != nullptr ? push(values, words, step) : send(values);
}

template <typename Context, int D>
void shared_cells<Context, D>::finish() {
  if constexpr (std::is_same_v<Context, cuda_context>) {
    if (direct_ != nullptr) return direct_->pass_marks(context_, nullptr, nullptr, 0);
  }
  ranks_.finish(context_);
}

}  // namespace quadrat::detail
