// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "parallel/count_limit.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/parallel/scan.hpp"

namespace quadrat::detail {

/// Counts of rows, and the offsets computed from them.
template <typename Context>
class counted_rows {
 public:
  /// Room for the counts of `rows` rows, which the caller fills up to the limit: that of results of the given bytes
  /// each, in free memory plus the memory held for them. `grows`: whether more than the held memory may be used.
  [[nodiscard]] std::uint32_t* counts(const Context& context, std::size_t rows, std::size_t bytes_each,
                                      std::size_t held, bool grows) {
    rows_ = rows;
    bytes_each_ = bytes_each;
    const bool limited = grows && std::is_same_v<Context, cpu_context> && rows >= count_limit::worth_asking;
    limit_.allow(limited ? held / bytes_each + context.memory().available_bytes() / bytes_each : count_limit::none);
    counts_.resize_discarding(context, rows);
    offsets_.resize_discarding(context, rows + 1);
    return counts_.data();
  }
  [[nodiscard]] count_limit& limit() { return limit_; }
  /// Computes the offsets; returns where their total is. Asynchronous. Throws out_of_memory if the limit was passed.
  [[nodiscard]] const std::uint64_t* sum(const Context& context) {
    if (limit_.passed()) throw out_of_memory(limit_.seen() * bytes_each_, context.memory().available_bytes());
    exclusive_scan_with_total(context, counts_.data(), offsets_.data(), rows_, scratch_);
    return offsets_.data() + rows_;
  }
  /// Allocates all memory for this many rows.
  void reserve(const Context& context, std::size_t rows) {
    fill_bytes(context, counts(context, rows, 1, 0, false), 0, rows * sizeof(std::uint32_t));
    static_cast<void>(sum(context));
  }
  /// One more entry than rows.
  [[nodiscard]] const std::uint64_t* offsets() const { return offsets_.data(); }
  [[nodiscard]] std::size_t bytes() const { return counts_.bytes() + offsets_.bytes() + scratch_.bytes(); }

 private:
  std::size_t rows_ = 0;
  std::size_t bytes_each_ = 0;
  count_limit limit_;
  array<std::uint32_t, Context> counts_;
  array<std::uint64_t, Context> offsets_;
  workspace<Context> scratch_;
};

/// The new size of an array that has become too small, with spare room, unless that takes gigabytes or more than
/// kernels can index.
[[nodiscard]] inline std::uint64_t roomy(std::uint64_t size) {
  constexpr std::uint64_t many = std::uint64_t{1} << 30;
  return size < many ? size + size / 16 : size;
}

}  // namespace quadrat::detail
