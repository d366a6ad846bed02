// SPDX-License-Identifier: BSD-3-Clause
#include "core/backend.hpp"
#include "keyed/engine.hpp"
#include "keyed/folds.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/parallel/for_each.hpp"

namespace quadrat::detail {

namespace {

/// Index: key.
template <typename T>
struct set_results {
  component_values<T> results;
  T value;

  QUADRAT_HD void operator()(std::size_t key) const {
    for (int c = 0; c < results.components; ++c) results.component[c][key * results.stride] = value;
  }
};

/// Index: key. Clears NaNs before accumulation; otherwise the method would decide whether one survives.
template <typename T>
struct replace_nans {
  component_values<T> results;
  T value;

  QUADRAT_HD void operator()(std::size_t key) const {
    for (int c = 0; c < results.components; ++c) {
      T& result = results.component[c][key * results.stride];
      if (result != result) result = value;
    }
  }
};

/// Whether all components are contiguous in memory.
template <typename T>
[[nodiscard]] bool in_one_piece(const component_values<T>& results) {
  if (results.stride != static_cast<std::size_t>(results.components)) return false;
  for (int c = 1; c < results.components; ++c) {
    if (results.component[c] != results.component[0] + c) return false;
  }
  return true;
}

template <typename Context, typename T>
void clear_sums(const Context& context, const component_values<T>& results) {
  if (in_one_piece(results)) {
    fill_bytes(context, results.component[0], 0, results.count * results.stride * sizeof(T));
  } else if (results.stride == 1) {
    for (int c = 0; c < results.components; ++c) {
      fill_bytes(context, results.component[c], 0, results.count * sizeof(T));
    }
  } else {
    for_each(context, "keyed.clear", results.count, set_results<T>{results, T{0}});
  }
}

}  // namespace

template <typename Context, typename T>
void clear_results(const Context& context, const key_reduction<T>& reduction) {
  if (reduction.fold == key_fold::sum) {
    if (!reduction.accumulate) clear_sums(context, reduction.results);
    return;
  }
  const T identity = reduction.fold == key_fold::minimum ? greatest_value<T>() : least_value<T>();
  if (!reduction.accumulate) {
    for_each(context, "keyed.clear", reduction.results.count, set_results<T>{reduction.results, identity});
  } else if constexpr (std::is_floating_point_v<T>) {
    for_each(context, "keyed.replace_nans", reduction.results.count, replace_nans<T>{reduction.results, identity});
  }
}

template <typename Context>
void clear_counts(const Context& context, std::uint64_t* results, std::uint32_t key_count, bool accumulate) {
  if (!accumulate) fill_bytes(context, results, 0, key_count * sizeof(std::uint64_t));
}

template void clear_results(const backend_context&, const key_reduction<std::int32_t>&);
template void clear_results(const backend_context&, const key_reduction<std::int64_t>&);
template void clear_results(const backend_context&, const key_reduction<float>&);
template void clear_results(const backend_context&, const key_reduction<double>&);
template void clear_counts(const backend_context&, std::uint64_t*, std::uint32_t, bool);

}  // namespace quadrat::detail
