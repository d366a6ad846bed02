// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "quadrat/core/macros.hpp"

/// The slots of the hash tables in which `shared_bins` bins the elements of a block. A key is stored as its slot and
/// its high bits.
namespace quadrat::detail {

inline constexpr int bin_slot_bits = 11;
inline constexpr unsigned bin_slots = 1u << bin_slot_bits;

/// The slot of the first key with these high bits. Not linear: with a multiplicative hash, keys at some stride (packed
/// numbers) would share few slots, and one thread would join a list of all elements of a block.
[[nodiscard]] QUADRAT_HD constexpr unsigned first_bin_slot(std::uint32_t high) {
  std::uint32_t mixed = high * 2654435769u;
  mixed = (mixed ^ mixed >> 15) * 2246822519u;
  return mixed >> (32 - bin_slot_bits);
}
/// Neighboring keys have neighboring slots, so that their results are written together.
[[nodiscard]] QUADRAT_HD constexpr unsigned bin_slot_of(std::uint32_t key) {
  return (key + first_bin_slot(key >> bin_slot_bits)) % bin_slots;
}
[[nodiscard]] QUADRAT_HD constexpr std::uint32_t key_of_bin_slot(unsigned slot, std::uint32_t high) {
  return high << bin_slot_bits | (slot - first_bin_slot(high)) % bin_slots;
}

}  // namespace quadrat::detail
