// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "quadrat/core/array.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/parallel/atomic.hpp"

namespace quadrat {

/// Errors that kernels can find in their data.
enum class fault_kind : std::uint32_t {
  none = 0,
  not_finite,   ///< a coordinate is NaN or infinite
  outside,      ///< a point is outside an open axis of the box
  key_range,    ///< a key is not below the number of buckets
  overflow,     ///< a fixed capacity was too small
  value_range,  ///< another value of an element is beyond its limit
  order         ///< keys that must be in order are not
};

/// The device side: two words that kernels write when they find bad data. Costs nothing while data are good.
struct fault_flag {
  std::uint64_t* first;   ///< smallest (index << 8 | kind) found; all ones: none
  std::uint64_t* needed;  ///< largest capacity requested

  QUADRAT_HD void raise(fault_kind kind, std::uint64_t index) const {
    atomic_min(first, index << 8 | static_cast<std::uint64_t>(kind));
  }
  QUADRAT_HD void raise_overflow(std::uint64_t index, std::uint64_t capacity_needed) const {
    raise(fault_kind::overflow, index);
    atomic_max(needed, capacity_needed);
  }
};

/// The fault, read back to the host.
struct fault_report {
  fault_kind kind;
  std::uint64_t index;   ///< of the first offender
  std::uint64_t needed;  ///< for overflow: the capacity that would have sufficed
};

/// Owns the two words of a fault_flag.
template <typename Context>
class fault_state {
 public:
  explicit fault_state(const Context& context) : words_(context, 2) { clear(context); }

  /// For kernels. Does not wait. Allocates nothing.
  [[nodiscard]] fault_flag flag() { return {words_.data(), words_.data() + 1}; }
  /// Does not wait. Allocates nothing. Can be captured.
  void clear(const Context& context) {
    fill_bytes(context, words_.data(), 0xff, sizeof(std::uint64_t));
    fill_bytes(context, words_.data() + 1, 0, sizeof(std::uint64_t));
  }
  /// Waits. Allocates nothing. The state stays until it is cleared.
  [[nodiscard]] fault_report read(const Context& context) const {
    const auto words = to_host(context, words_);
    if (words[0] == ~std::uint64_t{0}) return {fault_kind::none, 0, words[1]};
    return {static_cast<fault_kind>(words[0] & 0xff), words[0] >> 8, words[1]};
  }

 private:
  array<std::uint64_t, Context> words_;
};

}  // namespace quadrat
