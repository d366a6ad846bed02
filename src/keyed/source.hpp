// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/parallel/fault.hpp"

namespace quadrat::detail {

/// Marks a key that is out of range.
inline constexpr std::uint32_t no_key = 0xffffffffu;

/// A key in 32 bits; no_key for one that does not fit.
[[nodiscard]] QUADRAT_HD constexpr std::uint32_t narrow_key(std::uint32_t key) { return key; }
[[nodiscard]] QUADRAT_HD constexpr std::uint32_t narrow_key(std::uint64_t key) {
  return key < no_key ? static_cast<std::uint32_t>(key) : no_key;
}

/// The caller's keys. Their width is known only at run time, so that kernels need not exist twice.
struct key_source {
  const void* keys;
  std::size_t count;
  std::uint32_t key_count;
  bool wide;  ///< 64 bits
  fault_flag faults;

  /// The key of element i, or no_key for one that does not fit in 32 bits; negative ones become large.
  [[nodiscard]] QUADRAT_HD std::uint32_t raw(std::size_t i) const {
    if (!wide) return static_cast<const std::uint32_t*>(keys)[i];
    return narrow_key(static_cast<const std::uint64_t*>(keys)[i]);
  }
  /// Returns `key`, the key of element i, or raises a fault and returns no_key if it is out of range.
  [[nodiscard]] QUADRAT_HD std::uint32_t checked(std::uint32_t key, std::size_t i) const {
    if (key < key_count) return key;
    faults.raise(fault_kind::key_range, i);
    return no_key;
  }
  [[nodiscard]] QUADRAT_HD std::uint32_t operator[](std::size_t i) const { return checked(raw(i), i); }
};

}  // namespace quadrat::detail
