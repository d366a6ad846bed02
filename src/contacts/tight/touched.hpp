// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "contacts/engine.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/grid.hpp"
#include "quadrat/parallel/workspace.hpp"

namespace quadrat::detail {

/// Bodies in all bins that their boxes touch, ordered by bin, then by body: stages 1 to 4 of
/// parallel-binning-collision, with the paper's names of arrays.
template <typename Context, typename T>
class touched_bins {
 public:
  /// `edge` is the edge of bins, for messages. Waits for M if the search does, because it determines the memory of B:
  /// see search_control. Throws argument_error if M is too large.
  void find(const Context& context, const placed_bodies<Context, T>& bodies, const grid<T, 3>& space, T edge);

  /// If there are fewer entries than `most`, the others have no bin and come last.
  [[nodiscard]] const device_count& entries_M() const { return entries_M_; }
  [[nodiscard]] const cell_id* bin_of_B() const { return bin_of_B_[current_].data(); }
  [[nodiscard]] const particle_id* body_of_B() const { return body_of_B_[current_].data(); }
  [[nodiscard]] std::size_t bytes() const;

 private:
  /// The sizes differ if an allocation failed while the arrays of B grew.
  [[nodiscard]] std::size_t room() const {
    return std::min({bin_of_B_[0].size(), bin_of_B_[1].size(), body_of_B_[0].size(), body_of_B_[1].size()});
  }
  void count(const Context& context, const placed_bodies<Context, T>& bodies, const grid<T, 3>& space, T edge);
  void grow(const Context& context, std::uint64_t entries, T edge);
  void sort(const Context& context, const placed_bodies<Context, T>& bodies, const grid<T, 3>& space);

  array<std::uint32_t, Context> bins_touched_T_;
  array<std::uint64_t, Context> offsets_of_T_;
  device_count entries_M_;
  array<cell_id, Context> bin_of_B_[2];  // keys, and room for the sort
  array<particle_id, Context> body_of_B_[2];
  int current_ = 0;
  workspace<Context> scratch_;
};

}  // namespace quadrat::detail
