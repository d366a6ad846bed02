// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "keyed/folds.hpp"
#include "quadrat/parallel/for_each.hpp"

/// Each thread joins one element to its result, on both backends.
namespace quadrat::detail {

/// Index: element. Atomic: false with a single thread.
template <typename Fold, typename T, bool Atomic>
struct join_element {
  key_source keys;
  component_values<const T> values;
  component_values<T> results;

  QUADRAT_HD void operator()(std::size_t i) const {
    const std::uint32_t key = keys[i];
    if (key == no_key) return;
    for (int c = 0; c < values.components; ++c) {
      T* const target = results.component[c] + key * results.stride;
      const T value = values.component[c][i * values.stride];
      if constexpr (Atomic) {
        Fold::join_atomic(target, value);
      } else {
        *target = Fold::join(*target, Fold::taken(value));
      }
    }
  }
};

/// Index: element.
template <bool Atomic>
struct count_element {
  key_source keys;
  std::uint64_t* results;

  QUADRAT_HD void operator()(std::size_t i) const {
    const std::uint32_t key = keys[i];
    if (key == no_key) return;
    if constexpr (Atomic) {
      atomic_add(results + key, 1);
    } else {
      ++results[key];
    }
  }
};

/// Calls f(std::bool_constant): whether joining must be atomic. On CUDA it always must.
template <typename Context, typename F>
void with_atomic(const Context& context, F&& f) {
  if constexpr (std::is_same_v<Context, cpu_context>) {
    if (context.threads() == 1) return f(std::false_type{});
  }
  f(std::true_type{});
}

/// One atomic operation per element and component. Results have been cleared.
template <typename Context, typename T>
void join_elements(const Context& context, const key_source& keys, const key_reduction<T>& reduction) {
  with_atomic(context, [&](auto atomic) {
    with_fold(reduction.fold, [&](auto fold) {
      for_each(context, "keyed.join", keys.count,
               join_element<decltype(fold), T, decltype(atomic)::value>{keys, reduction.values, reduction.results});
    });
  });
}

template <typename Context>
void count_elements(const Context& context, const key_source& keys, std::uint64_t* results) {
  with_atomic(context, [&](auto atomic) {
    for_each(context, "keyed.count", keys.count, count_element<decltype(atomic)::value>{keys, results});
  });
}

}  // namespace quadrat::detail
