// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"

namespace quadrat::detail {

/// The common form of insertion by atomic operations: find the bucket, reserve a place in it with one atomic operation,
/// store. The result of the atomic operation is needed only in `store`.
template <typename KeyOf, typename Target>
struct insertion {
  KeyOf key_of;
  Target target;

  QUADRAT_HD void operator()(std::size_t i) const {
    const cell_id bucket = key_of(i);
    const auto element = static_cast<particle_id>(i);
    const std::uint32_t place = target.reserve(bucket, element);
    target.store(bucket, element, place);
  }
};

template <typename KeyOf, typename Target>
insertion(KeyOf, Target) -> insertion<KeyOf, Target>;

/// Overflows are raised for bucket number + this. So faults of the data, numbered by element, are reported first; they
/// may have caused the overflow.
inline constexpr std::uint64_t overflow_fault_base = std::uint64_t{1} << 40;

}  // namespace quadrat::detail
