// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "contacts/bodies/placed.hpp"
#include "contacts/control.hpp"
#include "contacts/counted_rows.hpp"
#include "contacts/rows.hpp"

namespace quadrat::detail {

/// Pairs whose boxes overlap, each once, first < second.
template <typename Context, typename T>
class candidate_pairs {
 public:
  /// Finds the pairs in the rows of an engine.
  void find(const Context& context, search_control<Context>& control, const row_passes<pair_sink>& rows);
  /// Sorts the pairs by (first, second). Asynchronous.
  void sort(const Context& context, std::size_t bodies);
  /// Makes room for this many pairs.
  void reserve(const Context& context, std::uint64_t pairs);
  /// Makes `sort` allocate for the whole room.
  void take_room() { size_.most = room(); }
  /// The result for no boxes.
  void clear(search_control<Context>& control) { size_ = {0, control.data(search_control<Context>::pairs_word)}; }

  [[nodiscard]] const device_count& size() const { return size_; }
  [[nodiscard]] std::size_t room() const { return std::min(first_.size(), second_.size()); }
  [[nodiscard]] const particle_id* first() const { return first_.data(); }
  [[nodiscard]] const particle_id* second() const { return second_.data(); }
  [[nodiscard]] std::size_t bytes() const;

 private:
  device_count size_;
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
  const std::uint64_t* count;

  template <typename F>
  QUADRAT_HD void visit(std::size_t pair, F&& f) const {
    if (pair < *count) f(bodies[first[pair]], bodies[second[pair]]);
  }
};

}  // namespace quadrat::detail
