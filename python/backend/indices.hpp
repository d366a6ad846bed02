// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "quadrat/core/array.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/parallel/for_each.hpp"

/// The library's indices as Python's: int64 or int32.
namespace quadrat::python {

/// to[i] = from[i], as Python has indices: -1 for none.
template <typename From, typename To>
struct widened {
  const From* from;
  To* to;
  QUADRAT_HD void operator()(std::size_t i) const {
    to[i] = from[i] == static_cast<From>(no_particle) ? To(-1) : static_cast<To>(from[i]);
  }
};

template <typename From, typename To>
struct copied {
  const From* from;
  To* to;
  QUADRAT_HD void operator()(std::size_t i) const { to[i] = static_cast<To>(from[i]); }
};

template <typename Context, typename From>
void write_indices(const Context& context, const From* from, std::size_t count, bool long_indices, void* to) {
  if (long_indices) {
    auto* const wide = static_cast<std::int64_t*>(to);
    for_each(context, "python.indices", count, widened<From, std::int64_t>{from, wide});
  } else {
    for_each(context, "python.indices", count, widened<From, std::int32_t>{from, static_cast<std::int32_t*>(to)});
  }
}

/// Shifts: integers that may be negative.
template <typename Context>
void write_integers(const Context& context, const int* from, std::size_t count, bool long_indices, void* to) {
  if (long_indices) {
    auto* const wide = static_cast<std::int64_t*>(to);
    for_each(context, "python.integers", count, copied<int, std::int64_t>{from, wide});
  } else {
    copy_bytes(context, from, to, count * sizeof(int));
  }
}

}  // namespace quadrat::python
