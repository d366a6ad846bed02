// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "keyed/details.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/keyed/key_reducer.hpp"
#include "quadrat/keyed/methods.hpp"
#include "reference/keyed.hpp"
#include "support/backend.hpp"
#include "support/random.hpp"

namespace quadrat::test {

/// The options of a reducer, and what comparisons vary besides.
struct key_form : key_reducer_options {
  detail::key_details details{};
};

struct reducer : key_reducer<backend_context> {
  reducer(const backend_context& context, std::uint64_t key_count, const key_form& form = {})
      : key_reducer<backend_context>(detail::reducer_access::make(context, key_count, form, form.details)) {}
};

#if QUADRAT_BACKEND_CUDA
inline constexpr auto keyed_on_this_backend = &key_method::on_cuda;
#else
inline constexpr auto keyed_on_this_backend = &key_method::on_cpu;
#endif

/// The methods of this backend that support at least this level of determinism.
[[nodiscard]] inline std::vector<key_method> key_methods_here(determinism level = determinism::none) {
  std::vector<key_method> methods;
  for (const key_method& method : key_methods()) {
    if (method.*keyed_on_this_backend && method.reproducible >= level) methods.push_back(method);
  }
  return methods;
}

[[nodiscard]] inline key_form options_of(std::string_view method) {
  key_form options;
  options.method = std::string(method);
  return options;
}

/// Every method of this backend, in all its forms.
[[nodiscard]] inline std::vector<key_form> method_forms() {
  std::vector<key_form> forms;
  for (const key_method& method : key_methods_here()) {
    key_form options = options_of(method.name);
    forms.push_back(options);
    if (method.compensates) {
      options.compensated = true;
      forms.push_back(options);
    }
    if (method.name != "warp_peers") continue;
    forms.pop_back();
    for (const double uses : {1.0, 3.0}) {
      for (const detail::peer_finder finder :
           {detail::peer_finder::vote, detail::peer_finder::match, detail::peer_finder::hash}) {
        for (const detail::peer_combination combination :
             {detail::peer_combination::tree, detail::peer_combination::switched}) {
          options.uses = uses;
          options.details.finder = finder;
          options.details.combination = combination;
          forms.push_back(options);
        }
      }
    }
  }
  return forms;
}

[[nodiscard]] inline bool takes_any_order(std::string_view name) {
  for (const key_method& method : key_methods()) {
    if (method.name == name) return method.any_order;
  }
  return true;
}

[[nodiscard]] inline std::string text_of(const key_form& options) {
  std::string text = options.method.empty() ? "auto" : options.method;
  if (options.compensated) text += ", compensated";
  if (options.method != "warp_peers") return text;
  return text + ", " + std::string(detail::peer_finder_names[static_cast<std::size_t>(options.details.finder)]) + ", " +
         std::string(detail::peer_combination_names[static_cast<std::size_t>(options.details.combination)]) + ", " +
         std::to_string(options.uses) + " uses";
}

/// Keys in some order.
struct keyed_elements {
  std::string name;
  std::size_t key_count;
  std::vector<std::uint64_t> keys;

  [[nodiscard]] keyed_elements in_order() const {
    keyed_elements copy = *this;
    std::sort(copy.keys.begin(), copy.keys.end());
    return copy;
  }
  /// The same, sorted if the method needs it.
  [[nodiscard]] keyed_elements for_method(std::string_view method) const {
    return takes_any_order(method) ? *this : in_order();
  }
};

[[nodiscard]] inline keyed_elements random_keys(std::size_t count, std::size_t key_count, std::uint64_t seed) {
  return {"random", key_count, random_words<std::uint64_t>(count, seed, key_count)};
}
[[nodiscard]] inline keyed_elements ordered_keys(std::size_t count, std::size_t key_count, std::uint64_t seed) {
  keyed_elements elements = random_keys(count, key_count, seed);
  std::sort(elements.keys.begin(), elements.keys.end());
  elements.name = "ordered";
  return elements;
}

/// The paper's third test: in order by cell, then moved with probability 1/2 to the next cell in each direction of a
/// periodic grid of side^3 cells. Source: voting-and-shuffling, "Performance tests".
[[nodiscard]] inline keyed_elements shifted_keys(std::size_t count, std::size_t side, std::uint64_t seed) {
  keyed_elements elements = ordered_keys(count, side * side * side, seed);
  std::mt19937_64 generator(seed + 1);
  for (std::uint64_t& key : elements.keys) {
    std::size_t cell[3] = {key % side, key / side % side, key / (side * side)};
    for (std::size_t& place : cell) place = (place + generator() % 2) % side;
    key = (cell[2] * side + cell[1]) * side + cell[0];
  }
  elements.name = "shifted";
  return elements;
}

/// Key k with a frequency proportional to 1 / (k + 1).
[[nodiscard]] inline keyed_elements zipf_keys(std::size_t count, std::size_t key_count, std::uint64_t seed) {
  keyed_elements elements{"zipf", key_count, std::vector<std::uint64_t>(count)};
  std::mt19937_64 generator(seed);
  const double range = std::log(static_cast<double>(key_count) + 1);
  for (std::uint64_t& key : elements.keys) {
    const double drawn = std::exp(range * random_unit<double>(generator)) - 1;
    key = std::min(static_cast<std::size_t>(drawn), key_count - 1);
  }
  return elements;
}

[[nodiscard]] inline keyed_elements one_key(std::size_t count, std::size_t key_count, std::uint64_t key) {
  return {"one key", key_count, std::vector<std::uint64_t>(count, key)};
}

/// All keys different, in random order.
[[nodiscard]] inline keyed_elements different_keys(std::size_t count, std::uint64_t seed) {
  keyed_elements elements{"all different", std::max<std::size_t>(count, 1), std::vector<std::uint64_t>(count)};
  for (std::size_t i = 0; i < count; ++i) elements.keys[i] = i;
  std::mt19937_64 generator(seed);
  std::shuffle(elements.keys.begin(), elements.keys.end(), generator);
  return elements;
}

/// The memory layout of rows of values.
enum class value_memory {
  packed,
  unaligned,  ///< packed, one element past the start of memory
  rows,       ///< of a wider table
  arrays      ///< one per component
};
inline constexpr value_memory all_value_memories[] = {value_memory::packed, value_memory::unaligned, value_memory::rows,
                                                      value_memory::arrays};

/// Values in the memory of a context, surrounded by other data.
template <typename T>
class stored_values {
 public:
  static constexpr T filler = T(77);

  /// columns[c][i]
  stored_values(const backend_context& context, const std::vector<std::vector<T>>& columns, value_memory memory)
      : context_(context), memory_(memory), components_(columns.size()), count_(columns[0].size()) {
    words_.assign(2 + (count_ + 1) * (components_ + 3), filler);
    for (std::size_t c = 0; c < components_; ++c) {
      for (std::size_t i = 0; i < count_; ++i) words_[place(i, c)] = columns[c][i];
    }
    stored_ = to_device(context, words_);
  }

  [[nodiscard]] component_values<T> view() {
    T* const first = stored_.data();
    component_values<T> result{{}, static_cast<int>(components_), memory_ == value_memory::arrays ? 1 : row(), count_};
    for (std::size_t c = 0; c < components_; ++c) result.component[c] = first + place(0, c);
    return result;
  }
  [[nodiscard]] component_values<const T> const_view() {
    const component_values<T> from = view();
    component_values<const T> result{{}, from.components, from.stride, from.count};
    for (int c = 0; c < from.components; ++c) result.component[c] = from.component[c];
    return result;
  }

  /// columns[c][i]; fails if anything between them has changed.
  [[nodiscard]] std::vector<std::vector<T>> columns() const {
    const std::vector<T> words = to_host(context_, stored_);
    std::vector<std::vector<T>> result(components_, std::vector<T>(count_));
    std::vector<T> rest = words;
    for (std::size_t c = 0; c < components_; ++c) {
      for (std::size_t i = 0; i < count_; ++i) {
        result[c][i] = words[place(i, c)];
        rest[place(i, c)] = filler;
      }
    }
    EXPECT_TRUE(std::all_of(rest.begin(), rest.end(), [](T word) { return word == filler; }))
        << "something beside the results was written";
    return result;
  }

 private:
  [[nodiscard]] std::size_t row() const { return memory_ == value_memory::rows ? components_ + 3 : components_; }
  [[nodiscard]] std::size_t place(std::size_t i, std::size_t c) const {
    if (memory_ == value_memory::arrays) return c * (count_ + 1) + i;
    return i * row() + c + (memory_ == value_memory::packed ? 0 : 1);
  }

  backend_context context_;
  value_memory memory_;
  std::size_t components_;
  std::size_t count_;
  std::vector<T> words_;
  array<T, backend_context> stored_;
};

/// Integers of all magnitudes; floating-point numbers from -1 to 1.
template <typename T>
[[nodiscard]] std::vector<T> keyed_values(std::size_t count, std::uint64_t seed) {
  if constexpr (std::is_integral_v<T>) {
    return random_words<T>(count, seed);
  } else {
    std::mt19937_64 generator(seed);
    std::vector<T> values(count);
    for (T& value : values) value = 2 * random_unit<T>(generator) - 1;
    return values;
  }
}

template <typename T>
[[nodiscard]] std::vector<std::vector<T>> keyed_columns(std::size_t count, std::size_t components, std::uint64_t seed) {
  std::vector<std::vector<T>> columns;
  for (std::size_t c = 0; c < components; ++c) columns.push_back(keyed_values<T>(count, seed + c));
  return columns;
}

/// Sums to rounding, which grows about as the square root of the number of terms; everything else exactly.
template <typename T>
void expect_keyed(const std::vector<T>& found, const std::vector<reference::key_statistics<T>>& wanted,
                  key_operation operation) {
  ASSERT_EQ(found.size(), wanted.size());
  const bool exact =
      std::is_integral_v<T> || operation == key_operation::minimum || operation == key_operation::maximum;
  for (std::size_t k = 0; k < found.size(); ++k) {
    const T value = wanted[k].result(operation);
    if (found[k] == value || (found[k] != found[k] && value != value)) continue;
    const long double terms = static_cast<long double>(wanted[k].count);
    const long double share = operation == key_operation::mean ? terms : 1;
    const long double tolerance = static_cast<long double>(std::numeric_limits<T>::epsilon()) *
                                  (2 + 2 * std::sqrt(terms)) * wanted[k].magnitude / share;
    const long double error = std::abs(static_cast<long double>(found[k]) - static_cast<long double>(value));
    EXPECT_TRUE(!exact && error <= tolerance)
        << "key " << k << " of " << wanted[k].count << " elements: " << found[k] << " instead of " << value;
    if (testing::Test::HasFailure()) return;
  }
}

/// Keys of one of the four types.
template <typename Key>
[[nodiscard]] array<Key, backend_context> stored_keys(const backend_context& context,
                                                      const std::vector<std::uint64_t>& keys) {
  return to_device(context, std::vector<Key>(keys.begin(), keys.end()));
}

}  // namespace quadrat::test
