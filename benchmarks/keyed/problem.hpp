// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <vector>

#include "harness/session.hpp"
#include "keyed/sums.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/keyed/key_reducer.hpp"

namespace quadrat::bench {

template <typename T>
[[nodiscard]] constexpr std::string_view value_type_name() {
  if constexpr (std::is_same_v<T, float>) return "float";
  if constexpr (std::is_same_v<T, double>) return "double";
  if constexpr (std::is_same_v<T, std::int32_t>) return "int32";
  return "int64";
}

/// The magnitudes of values.
enum class value_sizes {
  alike,
  by_key  ///< times a power of two from 2^-100 to 2^100, one for each key
};

/// Keys and values in the memory of a context, memory for the sums, and the expected sums. Values are random multiples
/// of 1/128 in (-1, 1), or integers. Their sums are exact in any order, so that a single lost element is detected.
template <typename Context, typename T>
class keyed_problem {
 public:
  keyed_problem(const Context& context, const std::vector<std::uint32_t>& keys, std::uint32_t key_count,
                int components = 1, bool wide = false, value_sizes sizes = value_sizes::alike)
      : context_(context), count_(keys.size()), key_count_(key_count), components_(components), sizes_(sizes) {
    if (wide) {
      wide_keys_ = to_device(context, std::vector<std::int64_t>(keys.begin(), keys.end()));
    } else {
      keys_ = to_device(context, keys);
    }
    const auto parts = key_values(count_, components);
    std::vector<T> values(parts.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = in_unit(parts[i], keys[i / static_cast<std::size_t>(components)]);
    }
    values_ = to_device(context, values);
    results_ = array<T, Context>(context, std::size_t{key_count} * static_cast<std::size_t>(components));
    expected_ = sums_by_key(keys, parts, key_count, components);
    const auto ones = sums_by_key(keys, std::vector<std::int8_t>(count_, 1), key_count, 1);
    most_of_a_key_ = static_cast<std::size_t>(std::ranges::max(ones));
  }

  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] std::uint32_t key_count() const { return key_count_; }
  [[nodiscard]] int components() const { return components_; }
  [[nodiscard]] bool wide() const { return wide_keys_.size() > 0; }
  /// The number of elements of the most frequent key.
  [[nodiscard]] std::size_t most_of_a_key() const { return most_of_a_key_; }
  /// Bytes of a row of values.
  [[nodiscard]] int value_bytes() const { return static_cast<int>(sizeof(T)) * components_; }
  /// Bytes of keys, values and results, each once.
  [[nodiscard]] std::size_t bytes() const {
    return keys_.bytes() + wide_keys_.bytes() + values_.bytes() + results_.bytes();
  }

  void set_keys(key_reducer<Context>& reducer) const {
    if (wide()) return reducer.set_keys(wide_keys_.data(), count_);
    reducer.set_keys(keys_.data(), count_);
  }
  void set_keys_async(key_reducer<Context>& reducer) const {
    if (wide()) return reducer.set_keys_async(wide_keys_.data(), count_);
    reducer.set_keys_async(keys_.data(), count_);
  }
  void reduce_async(key_reducer<Context>& reducer) {
    reducer.reduce_async(packed_values<const T>(values_.data(), count_, components_),
                         packed_values(results_.data(), key_count_, components_));
  }
  /// Reduces into results that were filled with NaN. Throws disagreement for wrong sums. Waits.
  void check(key_reducer<Context>& reducer, std::string_view method) {
    // The reducer may have its own stream.
    fill_bytes(context_, results_.data(), 0xff, results_.bytes());
    context_.synchronize();
    reduce_async(reducer);
    reducer.check();
    const std::vector<T> found = to_host(context_, results_);
    for (std::size_t i = 0; i < found.size(); ++i) {
      const auto parts = static_cast<std::size_t>(components_);
      const T expected = in_unit(expected_[i], i / parts);
      if (found[i] == expected) continue;
      throw disagreement(message(method, " sums component ", i % parts, " of key ", i / parts, " to ", found[i],
                                 " where it should be ", expected));
    }
  }

 private:
  /// The unit is 1/128 for floating-point numbers.
  [[nodiscard]] T in_unit(std::int64_t parts, std::size_t key) const {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(parts);
    } else {
      const int exponent = sizes_ == value_sizes::by_key ? static_cast<int>(key * 7919 % 201) - 100 : 0;
      return std::ldexp(static_cast<T>(parts), exponent - 7);
    }
  }

  Context context_;
  std::size_t count_;
  std::uint32_t key_count_;
  int components_;
  value_sizes sizes_;
  std::size_t most_of_a_key_ = 0;
  array<std::uint32_t, Context> keys_;
  array<std::int64_t, Context> wide_keys_;
  array<T, Context> values_, results_;
  std::vector<std::int64_t> expected_;
};

}  // namespace quadrat::bench
