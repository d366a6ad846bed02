// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/cells/carry.hpp"

#include <cstdint>

#include "quadrat/core/error.hpp"

namespace quadrat::detail {

namespace {

/// The alignment needed to copy records of this size; 0 for an unsupported size.
std::uintptr_t alignment_of(std::uint32_t record_bytes) {
  switch (record_bytes) {
    case 4:
    case 12:
      return 4;
    case 8:
    case 24:
      return 8;
    case 16:
    case 32:
      return 16;
    default:
      return 0;
  }
}

bool aligned(const void* memory, std::uintptr_t alignment) {
  return reinterpret_cast<std::uintptr_t>(memory) % alignment == 0;
}

}  // namespace

carried_arrays checked_arrays(std::span<const carried_array> arrays, std::size_t count) {
  require(arrays.size() <= carried_arrays::most, "there are ", arrays.size(), " arrays to carry; at most ",
          carried_arrays::most, " are possible");
  carried_arrays result{};
  for (const carried_array& array : arrays) {
    const int number = result.count;
    const std::uintptr_t alignment = alignment_of(array.record_bytes);
    require(alignment != 0, "records of carried array ", number, " have ", array.record_bytes,
            " bytes; 4, 8, 12, 16, 24 and 32 are possible");
    require(count == 0 || (array.from != nullptr && array.to != nullptr), "carried array ", number, " is null");
    require(aligned(array.from, alignment) && aligned(array.to, alignment), "carried array ", number,
            " with records of ", array.record_bytes, " bytes must be aligned to ", alignment);
    require(count == 0 || array.from != array.to, "carried array ", number, " would be copied onto itself");
    result.array[result.count++] = array;
  }
  return result;
}

}  // namespace quadrat::detail
