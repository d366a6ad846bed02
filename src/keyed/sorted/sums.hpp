// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "keyed/engine.hpp"
#include "quadrat/parallel/workspace.hpp"

namespace quadrat::detail {

/// Elements in order of their keys.
struct ordered_elements {
  key_source keys;             ///< in order; raises fault_kind::order if not, key_range if out of range
  const std::uint32_t* order;  ///< element at place i; nullptr: element i
};

/// Joins the values of each key, in an order that depends only on the keys; writes every result, also for keys without
/// elements. `compensated` sums carry the rounding error. Elements out of range come first or last and are left out.
/// Faults are raised with the element. Asynchronous; requests scratch memory of `ordered_bytes`.
template <typename T>
void reduce_ordered(const cpu_context& context, const ordered_elements& elements, const key_reduction<T>& reduction,
                    bool compensated, workspace<cpu_context>& scratch);
template <typename T>
void reduce_ordered(const cuda_context& context, const ordered_elements& elements, const key_reduction<T>& reduction,
                    bool compensated, workspace<cuda_context>& scratch);
void count_ordered(const cpu_context& context, const ordered_elements& elements, std::uint64_t* results,
                   bool accumulate, workspace<cpu_context>& scratch);
void count_ordered(const cuda_context& context, const ordered_elements& elements, std::uint64_t* results,
                   bool accumulate, workspace<cuda_context>& scratch);

/// Bytes of scratch memory that these functions request for `count` elements.
[[nodiscard]] std::size_t ordered_bytes(const cpu_context& context, std::size_t count);
[[nodiscard]] std::size_t ordered_bytes(const cuda_context& context, std::size_t count);

}  // namespace quadrat::detail
