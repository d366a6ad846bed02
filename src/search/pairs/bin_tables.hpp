// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "quadrat/search/pair_counts.hpp"
#include "search/levels/layer_rows.hpp"
#include "search/pairs/bins.hpp"

namespace quadrat::detail {

/// The tables of pair_bins, made on the host in one block of bytes, which may be copied elsewhere.
template <typename T>
class bin_tables {
 public:
  /// Throws argument_error for edges that are not possible.
  explicit bin_tables(const pair_counts_options& options);

  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }
  /// The bins with tables in a copy of `bytes()`.
  [[nodiscard]] pair_bins<T> view(const std::byte* copy) const;
  [[nodiscard]] pair_region<T> region() const { return region_; }

 private:
  void make_starts(const std::vector<T>& squares);

  pair_bins<T> bins_{};  ///< without pointers
  pair_region<T> region_{};
  std::size_t edges_ = 0;
  std::vector<bin_start<T>> starts_;
  std::vector<std::byte> bytes_;
};

}  // namespace quadrat::detail
