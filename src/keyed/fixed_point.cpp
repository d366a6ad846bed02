// SPDX-License-Identifier: BSD-3-Clause
#include "keyed/fixed_point.hpp"

#include <type_traits>

#include "core/backend.hpp"
#include "keyed/fixed_numbers.hpp"
#include "keyed/plain_join.hpp"
#include "quadrat/parallel/reduce.hpp"

namespace quadrat::detail {

namespace {

template <typename T>
using fixed_number = std::conditional_t<sizeof(T) == 4, fixed_single, fixed_pair>;

template <typename T>
[[nodiscard]] QUADRAT_HD bool is_number(T value) {
  return value - value == T{0};
}

/// Map: element. What is not finite has no size.
template <typename T>
struct size_of_value {
  const T* values;
  std::size_t stride;
  QUADRAT_HD double operator()(std::size_t i) const {
    const T value = values[i * stride];
    return is_number(value) ? static_cast<double>(value < T{0} ? -value : value) : 0;
  }
};

/// Index: element. What is not finite goes to the result, where finite numbers leave it as it is.
template <typename T, bool Atomic>
struct add_fixed {
  key_source keys;
  const T* values;
  std::size_t stride;
  T* results;
  std::size_t result_stride;
  const double* largest;
  int bits;
  std::uint64_t* sums;

  QUADRAT_HD void add(std::uint64_t* sum, std::int64_t value) const {
    if constexpr (Atomic) {
      atomic_add(sum, static_cast<std::uint64_t>(value));
    } else {
      *sum += static_cast<std::uint64_t>(value);
    }
  }
  QUADRAT_HD void operator()(std::size_t i) const {
    const std::uint32_t key = keys[i];
    if (key == no_key) return;
    const T value = values[i * stride];
    if (!is_number(value)) {
      atomic_add(results + key * result_stride, value);
      return;
    }
    using number = fixed_number<T>;
    const number fixed = number::of(static_cast<double>(value), fixed_scale(bits, exponent_above(*largest)));
    std::uint64_t* const sum = sums + std::size_t{key} * number::words;
    add(sum, fixed.high);
    if constexpr (number::words == 2) add(sum + 1, fixed.low);
  }
};

/// Index: key.
template <typename T>
struct take_fixed {
  const std::uint64_t* sums;
  const double* largest;
  int bits;
  T* results;
  std::size_t result_stride;

  QUADRAT_HD void operator()(std::size_t key) const {
    const fixed_scale scale(bits, exponent_above(*largest));
    double sum = 0;
    if constexpr (sizeof(T) == 4) {
      sum = fixed_single{static_cast<std::int64_t>(sums[key])}.value(scale);
    } else {
      sum = fixed_pair{static_cast<std::int64_t>(sums[2 * key]), static_cast<std::int64_t>(sums[2 * key + 1])}.value(
          scale);
    }
    T& result = results[key * result_stride];
    result = static_cast<T>(static_cast<double>(result) + sum);
  }
};

}  // namespace

template <typename Context>
fixed_point_engine<Context>::fixed_point_engine(const Context& context, const key_setup& setup)
    : context_(context), setup_(setup) {}

template <typename Context>
std::size_t fixed_point_engine<Context>::bytes_needed(std::size_t count) const {
  return (2 * std::size_t{setup_.key_count} + 1) * sizeof(std::uint64_t) +
         reduce_partials_count(context_, count) * sizeof(double);
}

template <typename Context>
void fixed_point_engine<Context>::set_keys(const key_source& keys) {
  sums_.resize_discarding(context_, 2 * std::size_t{setup_.key_count} + 1);
  static_cast<void>(scratch_.request(context_, reduce_partials_count(context_, keys.count) * sizeof(double)));
  keys_ = keys;
}

template <typename Context>
template <typename T>
void fixed_point_engine<Context>::sum_component(const component_values<const T>& values,
                                                const component_values<T>& results, int component) {
  const T* const from = values.component[component];
  T* const to = results.component[component];
  const std::size_t words = std::size_t{setup_.key_count} * fixed_number<T>::words;
  auto* const largest = reinterpret_cast<double*>(sums_.data() + 2 * std::size_t{setup_.key_count});
  reduce_into(context_, "keyed.largest", keys_.count, size_of_value<T>{from, values.stride}, maximum_operation{}, 0.0,
              largest, scratch_);
  fill_bytes(context_, sums_.data(), 0, words * sizeof(std::uint64_t));
  const int bits = fixed_bits(keys_.count);
  with_atomic(context_, [&](auto atomic) {
    for_each(context_, "keyed.add_fixed", keys_.count,
             add_fixed<T, decltype(atomic)::value>{keys_, from, values.stride, to, results.stride, largest, bits,
                                                   sums_.data()});
  });
  for_each(context_, "keyed.take_fixed", setup_.key_count,
           take_fixed<T>{sums_.data(), largest, bits, to, results.stride});
}

template <typename Context>
template <typename T>
void fixed_point_engine<Context>::run(const key_reduction<T>& reduction) {
  clear_results(context_, reduction);
  if constexpr (std::is_floating_point_v<T>) {
    if (reduction.fold == key_fold::sum) {
      for (int c = 0; c < reduction.values.components; ++c) sum_component(reduction.values, reduction.results, c);
      return;
    }
  }
  join_elements(context_, keys_, reduction);
}

template <typename Context>
void fixed_point_engine<Context>::count(std::uint64_t* results, bool accumulate) {
  clear_counts(context_, results, setup_.key_count, accumulate);
  count_elements(context_, keys_, results);
}

template class fixed_point_engine<backend_context>;
template void fixed_point_engine<backend_context>::run(const key_reduction<std::int32_t>&);
template void fixed_point_engine<backend_context>::run(const key_reduction<std::int64_t>&);
template void fixed_point_engine<backend_context>::run(const key_reduction<float>&);
template void fixed_point_engine<backend_context>::run(const key_reduction<double>&);

}  // namespace quadrat::detail
