// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace quadrat::detail {

/// Ends counting on a CPU when there are more pairs than the memory can hold: of points that crowd together, counting
/// alone would take time quadratic in their number.
class count_limit {
 public:
  static constexpr std::uint64_t none = ~std::uint64_t{0};

  /// Asking for the free memory takes as long as counting some thousand rows: fewer need no limit.
  static constexpr std::size_t worth_asking = std::size_t{1} << 16;

  /// Of the counts that follow.
  void allow(std::uint64_t pairs) {
    most_ = pairs;
    seen_.store(0, std::memory_order_relaxed);
  }
  /// Rows with few pairs are left out: adding each up would slow down many threads.
  void add(std::uint64_t pairs) {
    constexpr std::uint64_t many = 1024;
    if (most_ != none && pairs >= many) seen_.fetch_add(pairs, std::memory_order_relaxed);
  }
  /// Whether counting may end; counts are then incomplete.
  [[nodiscard]] bool passed() const { return seen() > most_; }
  [[nodiscard]] std::uint64_t seen() const { return seen_.load(std::memory_order_relaxed); }

 private:
  std::uint64_t most_ = none;
  std::atomic<std::uint64_t> seen_{0};
};

/// Index: that of `Body`, which returns the pairs of a row.
template <typename Body>
struct limited_rows {
  Body body;
  count_limit* limit;

  void operator()(std::size_t i) const {
    if (!limit->passed()) limit->add(body(i));
  }
};

}  // namespace quadrat::detail
