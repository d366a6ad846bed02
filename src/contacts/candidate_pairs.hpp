// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "contacts/counted_rows.hpp"
#include "contacts/engine.hpp"

namespace quadrat::detail {

/// Pairs whose boxes overlap, each once, first < second.
template <typename Context, typename T>
class candidate_pairs {
 public:
  /// Finds the pairs in the rows of an engine. Counts exactly, then fills. Synchronizes.
  void find(const Context& context, std::size_t rows, const box_passes<T>& passes, const box_family<T>& family);
  /// Sorts the pairs by (first, second). Asynchronous.
  void sort(const Context& context, std::size_t bodies);

  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] const particle_id* first() const { return first_.data(); }
  [[nodiscard]] const particle_id* second() const { return second_.data(); }
  [[nodiscard]] std::size_t bytes() const;

 private:
  std::uint64_t size_ = 0;
  counted_rows<Context> rows_;
  array<particle_id, Context> first_;
  array<particle_id, Context> second_;
  array<std::uint64_t, Context> keys_;
  array<std::uint32_t, Context> values_;
  workspace<Context> scratch_;
};

/// Rows of one pair each, found by a broad phase.
template <typename T>
struct listed_search {
  const placed_body<T>* bodies;
  const particle_id* first;
  const particle_id* second;

  template <typename F>
  QUADRAT_HD void visit(std::size_t pair, F&& f) const {
    f(bodies[first[pair]], bodies[second[pair]]);
  }
};

/// The new size of an array that has become too small, with room to spare.
[[nodiscard]] inline std::uint64_t roomy(std::uint64_t size) { return size + size / 16; }

}  // namespace quadrat::detail
