// SPDX-License-Identifier: BSD-3-Clause
#include "keyed/papers/linked_lists.hpp"

#include "core/backend.hpp"
#include "quadrat/parallel/for_each.hpp"

namespace quadrat::detail {

namespace {

inline constexpr std::uint32_t list_end = no_key;

/// Index: element.
struct link_element {
  key_source keys;
  std::uint32_t* first;
  std::uint32_t* next;
  QUADRAT_HD void operator()(std::size_t i) const {
    const std::uint32_t key = keys[i];
    if (key != no_key) next[i] = atomic_exchange(first + key, static_cast<std::uint32_t>(i));
  }
};

/// Index: key. Sources and results: the components that are joined in one pass over the list.
template <typename Fold, typename T, int Components>
struct join_linked {
  const std::uint32_t* first;
  const std::uint32_t* next;
  component_values<const T> values;
  component_values<T> results;
  int component;  ///< the first of them

  QUADRAT_HD void operator()(std::size_t key) const {
    T joined[Components];
    for (int c = 0; c < Components; ++c) joined[c] = results.component[component + c][key * results.stride];
    for (std::uint32_t i = first[key]; i != list_end; i = next[i]) {
      QUADRAT_UNROLL
      for (int c = 0; c < Components; ++c) {
        joined[c] = Fold::join(joined[c], Fold::taken(values.component[component + c][i * values.stride]));
      }
    }
    for (int c = 0; c < Components; ++c) results.component[component + c][key * results.stride] = joined[c];
  }
};

/// Index: key.
struct count_list {
  const std::uint32_t* first;
  const std::uint32_t* next;
  std::uint64_t* results;
  QUADRAT_HD void operator()(std::size_t key) const {
    std::uint64_t count = 0;
    for (std::uint32_t i = first[key]; i != list_end; i = next[i]) ++count;
    results[key] += count;
  }
};

}  // namespace

template <typename Context>
void linked_lists_engine<Context>::set_keys(const key_source& keys) {
  first_.resize_discarding(context_, setup_.key_count);
  next_.resize_discarding(context_, keys.count);
  fill_bytes(context_, first_.data(), 0xff, first_.size() * sizeof(std::uint32_t));
  for_each(context_, "keyed.link", keys.count, link_element{keys, first_.data(), next_.data()});
}

template <typename Context>
template <typename T>
void linked_lists_engine<Context>::run(const key_reduction<T>& reduction) {
  clear_results(context_, reduction);
  with_fold(reduction.fold, [&](auto fold) {
    using fold_type = decltype(fold);
    const int components = reduction.values.components;
    int c = 0;
    for (; c + 4 <= components; c += 4) {
      for_each(context_, "keyed.join_lists", setup_.key_count,
               join_linked<fold_type, T, 4>{first_.data(), next_.data(), reduction.values, reduction.results, c});
    }
    for (; c < components; ++c) {
      for_each(context_, "keyed.join_lists", setup_.key_count,
               join_linked<fold_type, T, 1>{first_.data(), next_.data(), reduction.values, reduction.results, c});
    }
  });
}

template <typename Context>
void linked_lists_engine<Context>::count(std::uint64_t* results, bool accumulate) {
  clear_counts(context_, results, setup_.key_count, accumulate);
  for_each(context_, "keyed.count_lists", setup_.key_count, count_list{first_.data(), next_.data(), results});
}

template class linked_lists_engine<backend_context>;
template void linked_lists_engine<backend_context>::run(const key_reduction<std::int32_t>&);
template void linked_lists_engine<backend_context>::run(const key_reduction<std::int64_t>&);
template void linked_lists_engine<backend_context>::run(const key_reduction<float>&);
template void linked_lists_engine<backend_context>::run(const key_reduction<double>&);

}  // namespace quadrat::detail
