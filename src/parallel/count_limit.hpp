// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace quadrat::detail {

/// Stops counting on a CPU when there are more pairs than memory can hold. For crowded points, counting alone would
/// take quadratic time.
class count_limit {
 public:
  static constexpr std::uint64_t none = ~std::uint64_t{0};

  /// Querying the free memory takes as long as counting some thousand rows: fewer rows need no limit.
  static constexpr std::size_t worth_asking = std::size_t{1} << 16;

  /// Sets the limit for the counts that follow.
  void allow(std::uint64_t pairs) {
    most_ = pairs;
    seen_.store(0, std::memory_order_relaxed);
  }
  /// Rows with few pairs are not added: adding each row would slow down many threads.
  void add(std::uint64_t pairs) {
    constexpr std::uint64_t many = 1024;
    if (most_ != none && pairs >= many) seen_.fetch_add(pairs, std::memory_order_relaxed);
  }
  /// Whether counting may stop. The counts are then incomplete.
  [[nodiscard]] bool passed() const { return seen() > most_; }
  [[nodiscard]] std::uint64_t seen() const { return seen_.load(std::memory_order_relaxed); }

 private:
  std::uint64_t most_ = none;
  std::atomic<std::uint64_t> seen_{0};
};

/// The index is that of `Body`, which returns the number of pairs of a row.
template <typename Body>
struct limited_rows {
  Body body;
  count_limit* limit;

  void operator()(std::size_t i) const {
    if (!limit->passed()) limit->add(body(i));
  }
};

}  // namespace quadrat::detail
