// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "contacts/engine.hpp"
#include "parallel/host_mirror.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/grid.hpp"
#include "quadrat/parallel/workspace.hpp"

namespace quadrat::detail {

/// Bodies in all bins that their boxes touch, ordered by bin, then by body: stages 1 to 4 of
/// parallel-binning-collision, with the paper's names of arrays.
template <typename Context, typename T>
class touched_bins {
 public:
  /// `edge` is the edge of bins, for messages. Synchronizes, because M determines the memory of B. Throws
  /// argument_error if M is too large.
  void find(const Context& context, const placed_bodies<T>& bodies, const grid<T, 3>& space, T edge);

  [[nodiscard]] std::size_t entries_M() const { return entries_M_; }
  [[nodiscard]] const cell_id* bin_of_B() const { return bin_of_B_[current_].data(); }
  [[nodiscard]] const particle_id* body_of_B() const { return body_of_B_[current_].data(); }
  [[nodiscard]] std::size_t bytes() const;

 private:
  void count(const Context& context, const placed_bodies<T>& bodies, const grid<T, 3>& space, T edge);
  void sort(const Context& context, const placed_bodies<T>& bodies, const grid<T, 3>& space);

  array<std::uint32_t, Context> bins_touched_T_;
  array<std::uint64_t, Context> offsets_of_T_;
  std::uint64_t entries_M_ = 0;
  array<cell_id, Context> bin_of_B_[2];  // keys, and room for the sort
  array<particle_id, Context> body_of_B_[2];
  int current_ = 0;
  host_mirror<Context> mirror_;
  workspace<Context> scratch_;
};

}  // namespace quadrat::detail
