// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "quadrat/keyed/key_reducer.hpp"
#include "quadrat/parallel/fault.hpp"

/// Checks of arguments, and messages about faulty keys.
namespace quadrat::detail {

/// Throws argument_error for a number of keys or an option that is invalid for every method.
void check_key_options(std::uint64_t key_count, const key_reducer_options& options);

/// Throws argument_error for an unknown method (empty and "auto" are valid), and for one that does not support the
/// backend, the context's level of determinism, or compensated sums where they are requested.
void require_key_method(const key_reducer_options& options, const cpu_context& context);
void require_key_method(const key_reducer_options& options, const cuda_context& context);

/// The shape of values or results.
struct value_shape {
  std::size_t count;
  int components;
  std::size_t stride;
};
template <typename T>
[[nodiscard]] value_shape shape_of(const component_values<T>& values) {
  return {values.count, values.components, values.stride};
}

/// Throws argument_error when values and results do not fit the elements, the keys or each other.
void check_value_shapes(const value_shape& values, const value_shape& results, std::size_t count,
                        std::uint64_t key_count);

/// The caller's keys: of 32 or 64 bits, signed or unsigned.
struct key_type {
  bool wide;
  bool with_sign;
};

/// The message about invalid keys. `keys`: the bits of the element's key and, if there is one, of the key before it;
/// empty if other keys have been set since.
struct faulty_keys {
  std::uint64_t before;
  std::uint64_t key;
  key_type type;
};
[[nodiscard]] std::string key_complaint(const fault_report& fault, const std::optional<faulty_keys>& keys,
                                        std::uint64_t key_count);

}  // namespace quadrat::detail
