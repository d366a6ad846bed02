// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "parallel/host_mirror.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/parallel/scan.hpp"

namespace quadrat::detail {

/// Counts of rows, and the offsets computed from them.
template <typename Context>
class counted_rows {
 public:
  /// Room for the counts of `rows` rows, filled by the caller.
  [[nodiscard]] std::uint32_t* counts(const Context& context, std::size_t rows) {
    rows_ = rows;
    counts_.resize_discarding(context, rows);
    offsets_.resize_discarding(context, rows + 1);
    return counts_.data();
  }
  /// Computes the offsets; returns their total. Synchronizes.
  [[nodiscard]] std::uint64_t total(const Context& context) {
    exclusive_scan_with_total(context, counts_.data(), offsets_.data(), rows_, scratch_);
    return *mirror_.read(context, offsets_.data() + rows_, 1);
  }
  /// One more entry than rows.
  [[nodiscard]] const std::uint64_t* offsets() const { return offsets_.data(); }
  [[nodiscard]] std::size_t bytes() const { return counts_.bytes() + offsets_.bytes() + scratch_.bytes(); }

 private:
  std::size_t rows_ = 0;
  array<std::uint32_t, Context> counts_;
  array<std::uint64_t, Context> offsets_;
  host_mirror<Context> mirror_;
  workspace<Context> scratch_;
};

}  // namespace quadrat::detail
