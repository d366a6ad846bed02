// SPDX-License-Identifier: BSD-3-Clause
#include "keyed/fixed_point/engine.hpp"

#include <type_traits>

#include "core/backend.hpp"
#include "keyed/fixed_point/numbers.hpp"
#include "keyed/plain_join.hpp"
#include "parallel/for_each_if.hpp"
#include "quadrat/parallel/reduce.hpp"

namespace quadrat::detail {

namespace {

/// Words of a sum. With 2^24 elements they hold all digits of values from the largest down to 2^-52 of it in float,
/// 2^-61 in double. Smaller values are few, or the largest is an outlier.
template <typename T>
constexpr int fixed_words = sizeof(T) == 4 ? 2 : 3;
constexpr std::size_t most_fixed_words = fixed_words<double>;
template <typename T>
constexpr int digits_of = sizeof(T) == 4 ? 24 : 53;

template <typename T>
[[nodiscard]] QUADRAT_HD bool is_number(T value) {
  return value - value == T{0};
}

template <typename T>
[[nodiscard]] QUADRAT_HD double size_of(T value) {
  return static_cast<double>(value < T{0} ? -value : value);
}

/// Map: element. Non-finite values count as 0.
template <typename T>
struct size_of_value {
  const T* values;
  std::size_t stride;
  QUADRAT_HD double operator()(std::size_t i) const {
    const T value = values[i * stride];
    return is_number(value) ? size_of(value) : 0;
  }
};

/// Atomic maximum; returns the old value. Usually the target is already large enough, and a plain load that shows this
/// is cheaper than an atomic operation on a GPU.
QUADRAT_HD inline std::uint32_t raise_to(std::uint32_t* target, std::uint32_t value) {
#if defined(__CUDA_ARCH__)
  const std::uint32_t seen = *static_cast<volatile std::uint32_t*>(target);
  if (seen >= value) return seen;
#endif
  return atomic_max(target, value);
}

/// Memory in which one component is summed. Words are stored as [word][key].
struct fixed_sums {
  int bits;                ///< of a word
  std::uint32_t keys;      ///< number of keys
  const double* largest;   ///< of all values
  std::uint64_t* common;   ///< sums of values that are exact on the scale of the largest value
  std::uint64_t* own;      ///< sums of the others, on the scale of the largest of them per key
  std::uint32_t* own_top;  ///< that scale's exponent + 1023; 0 if there are none
  std::uint32_t* any_own;  ///< whether there are any

  [[nodiscard]] QUADRAT_HD fixed_scale common_scale() const { return {bits, exponent_above(*largest)}; }
  template <typename T>
  [[nodiscard]] QUADRAT_HD bool is_common(T value, const fixed_scale& scale) const {
    return size_of(value) >= scale.least_exact(digits_of<T>, fixed_words<T>);
  }
  [[nodiscard]] QUADRAT_HD fixed_scale own_scale(std::uint32_t key) const {
    return {bits, static_cast<int>(own_top[key]) - 1023};
  }
};

template <bool Atomic, int Words>
QUADRAT_HD void add_words(std::uint64_t* words, std::size_t stride, const fixed_number<Words>& number) {
  QUADRAT_UNROLL
  for (std::size_t w = 0; w < Words; ++w) {
    if (number.word[w] == 0) continue;
    const auto word = static_cast<std::uint64_t>(number.word[w]);
    if constexpr (Atomic) {
      atomic_add(words + w * stride, word);
    } else {
      words[w * stride] += word;
    }
  }
}

/// Index: element. Non-finite values are added to the result directly.
template <typename T, bool Atomic>
struct add_common {
  key_source keys;
  const T* values;
  std::size_t stride;
  T* results;
  std::size_t result_stride;
  fixed_sums sums;

  QUADRAT_HD void operator()(std::size_t i) const {
    const std::uint32_t key = keys[i];
    if (key == no_key) return;
    const T value = values[i * stride];
    if (!is_number(value)) {
      atomic_add(results + key * result_stride, value);
      return;
    }
    if (value == T{0}) return;
    const fixed_scale common = sums.common_scale();
    if (sums.is_common(value, common)) {
      add_words<Atomic>(sums.common + key, sums.keys,
                        fixed_number<fixed_words<T>>::of(static_cast<double>(value), common));
    } else {
      const auto top = static_cast<std::uint32_t>(exponent_above(size_of(value)) + 1023);
      if (raise_to(sums.own_top + key, top) == 0) raise_to(sums.any_own, 1);
    }
  }
};

/// Index: element.
template <typename T, bool Atomic>
struct add_own {
  key_source keys;
  const T* values;
  std::size_t stride;
  fixed_sums sums;

  QUADRAT_HD void operator()(std::size_t i) const {
    const T value = values[i * stride];
    if (!is_number(value) || value == T{0} || sums.is_common(value, sums.common_scale())) return;
    const std::uint32_t key = keys[i];
    if (key == no_key) return;
    add_words<Atomic>(sums.own + key, sums.keys,
                      fixed_number<fixed_words<T>>::of(static_cast<double>(value), sums.own_scale(key)));
  }
};

/// Index: key. Clears the keys' own sums for the next reduction.
template <typename T>
struct take_fixed {
  fixed_sums sums;
  T* results;
  std::size_t result_stride;

  QUADRAT_HD void operator()(std::size_t key) const {
    T& result = results[key * result_stride];
    const double sum = total(static_cast<std::uint32_t>(key));
    if (is_number(result)) {
      result = static_cast<T>(static_cast<double>(result) + sum);
    } else if (result != result) {
      result = static_cast<T>(__builtin_nan(""));  // one fixed NaN: among several, the result would depend on order
    }
  }

 private:
  [[nodiscard]] QUADRAT_HD double total(std::uint32_t key) const {
    constexpr int words = fixed_words<T>;
    const fixed_scale common = sums.common_scale();
    wide_sum sum{0, 0, common.exponent};
    sum.add<words>(sums.common + key, sums.keys, common);
    if (sums.own_top[key] == 0) return sum.value();
    const fixed_scale own = sums.own_scale(key);
    if (sum.high == 0) sum.exponent = own.exponent;
    sum.add<words>(sums.own + key, sums.keys, own);
    for (std::size_t w = 0; w < words; ++w) sums.own[w * sums.keys + key] = 0;
    return sum.value();
  }
};

}  // namespace

template <typename Context>
fixed_point_engine<Context>::fixed_point_engine(const Context& context, const key_setup& setup)
    : context_(context), setup_(setup) {}

/// Words of 64 bits: common sums, exponents and the flag for own sums, the largest size; then own sums.
template <typename Context>
typename fixed_point_engine<Context>::layout fixed_point_engine<Context>::places() const {
  const std::size_t keys = setup_.key_count;
  const std::size_t tops = most_fixed_words * keys, largest = tops + keys / 2 + 1;
  return {tops, largest, largest + 1, largest + 1 + most_fixed_words * keys};
}

template <typename Context>
std::size_t fixed_point_engine<Context>::bytes_needed(std::size_t count) const {
  return places().words * sizeof(std::uint64_t) + reduce_partials_count(context_, count) * sizeof(double);
}

template <typename Context>
void fixed_point_engine<Context>::set_keys(const key_source& keys) {
  if (sums_.size() != places().words) {
    sums_.resize_discarding(context_, places().words);
    fill_bytes(context_, sums_.data(), 0, sums_.bytes());
  }
  static_cast<void>(scratch_.request(context_, reduce_partials_count(context_, keys.count) * sizeof(double)));
  keys_ = keys;
}

template <typename Context>
template <typename T>
void fixed_point_engine<Context>::sum_component(const component_values<const T>& values,
                                                const component_values<T>& results, int component) {
  const T* const from = values.component[component];
  T* const to = results.component[component];
  const layout at = places();
  auto* const largest = reinterpret_cast<double*>(sums_.data() + at.largest);
  auto* const tops = reinterpret_cast<std::uint32_t*>(sums_.data() + at.tops);
  const fixed_sums sums{fixed_bits(keys_.count), setup_.key_count, largest, sums_.data(), sums_.data() + at.own, tops,
                        tops + setup_.key_count};
  reduce_into(context_, "keyed.largest", keys_.count, size_of_value<T>{from, values.stride}, maximum_operation{}, 0.0,
              largest, scratch_);
  fill_bytes(context_, sums.common, 0, fixed_words<T> * std::size_t{setup_.key_count} * sizeof(std::uint64_t));
  fill_bytes(context_, tops, 0, (std::size_t{setup_.key_count} + 1) * sizeof(std::uint32_t));
  with_atomic(context_, [&](auto atomic) {
    constexpr bool is_atomic = decltype(atomic)::value;
    for_each(context_, "keyed.add_common", keys_.count,
             add_common<T, is_atomic>{keys_, from, values.stride, to, results.stride, sums});
    for_each_if(context_, sums.any_own, "keyed.add_own", keys_.count,
                add_own<T, is_atomic>{keys_, from, values.stride, sums});
  });
  for_each(context_, "keyed.take_fixed", setup_.key_count, take_fixed<T>{sums, to, results.stride});
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
