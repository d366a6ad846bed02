// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "keyed/cost.hpp"
#include "keyed/element_values.hpp"
#include "keyed/folds.hpp"
#include "keyed/source.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/parallel/for_each_part.hpp"

/// Shared by the CPU methods that join elements to rows private to a thread.
namespace quadrat::detail {

/// Rows of values without gaps. Components: their number, or 0 if it is only known at run time.
template <int Components, typename T>
struct packed_rows {
  T* rows;
  std::size_t components;  ///< if Components is 0

  [[nodiscard]] T& at(std::size_t row, int c) const {
    return rows[row * (Components > 0 ? Components : components) + static_cast<std::size_t>(c)];
  }
  [[nodiscard]] std::remove_const_t<T> load(std::size_t row, int c) const { return at(row, c); }
  /// Sets all values of the rows [first, last).
  void fill(std::size_t first, std::size_t last, T value) const { std::fill(&at(first, 0), &at(last, 0), value); }
  /// Rows from this one on.
  [[nodiscard]] packed_rows from(std::size_t row) const { return {&at(row, 0), components}; }
};

/// Rows of results anywhere.
template <typename T>
struct loose_rows {
  component_values<T> values;
  [[nodiscard]] T& at(std::size_t row, int c) const { return values.component[c][row * values.stride]; }
  void fill(std::size_t first, std::size_t last, T value) const {
    for (std::size_t row = first; row < last; ++row) {
      for (int c = 0; c < values.components; ++c) at(row, c) = value;
    }
  }
  [[nodiscard]] loose_rows from(std::size_t row) const {
    loose_rows later = *this;
    for (int c = 0; c < values.components; ++c) later.values.component[c] += row * values.stride;
    return later;
  }
};

/// Joins elements to rows. Source: `load(element, component)`; Rows: `at(row, component)`, `fill`. Components: their
/// number, or 0 if it is only known at run time.
template <typename Fold, int Components, typename Source, typename Rows>
class row_join {
 public:
  row_join(const Source& source, const Rows& rows, int components)
      : source_(source), rows_(rows), components_(components) {}

  [[nodiscard]] int components() const { return Components > 0 ? Components : components_; }

  /// Fills rows [first, last) with the identity.
  void clear(std::size_t first, std::size_t last) const {
    using type = std::remove_reference_t<decltype(rows_.at(0, 0))>;
    rows_.fill(first, last, Fold::template identity<type>());
  }
  void operator()(std::size_t element, std::size_t row) const {
    for (int c = 0; c < components(); ++c) join(row, c, Fold::taken(source_.load(element, c)));
  }
  /// Fetches a row that will be joined to.
  void prefetch(std::size_t row) const {
#if defined(__GNUC__)
    __builtin_prefetch(&rows_.at(row, 0), 1);
#else
    static_cast<void>(row);
#endif
  }
  template <typename T>
  void join(std::size_t row, int c, T value) const {
    T& entry = rows_.at(row, c);
    entry = Fold::join(entry, value);
  }

 private:
  Source source_;
  Rows rows_;
  int components_;
};
template <typename Fold, int Components, typename Source, typename Rows>
[[nodiscard]] row_join<Fold, Components, Source, Rows> make_row_join(const Source& source, const Rows& rows,
                                                                     int components) {
  return {source, rows, components};
}

template <typename T>
[[nodiscard]] bool is_packed(const component_values<T>& rows) {
  for (int c = 1; c < rows.components; ++c) {
    if (rows.component[c] != rows.component[0] + c) return false;
  }
  return rows.stride == static_cast<std::size_t>(rows.components);
}

/// Calls f(std::integral_constant, source, rows): the number of components if loops are compiled for it and values and
/// results are packed, otherwise 0. Sums have loops for up to four components; extremes of several are rare.
template <typename Fold, typename T, typename F>
void with_rows(const component_values<const T>& values, const component_values<T>& results, const F& f) {
  const auto packed = [&]<int Components>(std::integral_constant<int, Components> components) {
    f(components, packed_rows<Components, const T>{values.component[0], Components},
      packed_rows<Components, T>{results.component[0], Components});
  };
  if (is_packed(values) && is_packed(results)) {
    if (results.components == 1) return packed(std::integral_constant<int, 1>{});
    if constexpr (std::is_same_v<Fold, sum_fold>) {
      if (results.components == 2) return packed(std::integral_constant<int, 2>{});
      if (results.components == 3) return packed(std::integral_constant<int, 3>{});
      if (results.components == 4) return packed(std::integral_constant<int, 4>{});
    }
  }
  f(std::integral_constant<int, 0>{}, loaded_values<T>{values}, loose_rows<T>{results});
}

/// Calls f(part) for each part, by the threads of the context, or all in this thread if there is little work.
template <typename F>
void for_each_part_of(const cpu_context& context, std::size_t parts, std::size_t work, const F& f) {
  const std::size_t threads = std::min(parts, static_cast<std::size_t>(context.threads()));
  for_each_part(work >= cpu_tables_team ? static_cast<int>(threads) : 1, parts, f);
}

/// Calls f(keys) with a pointer of the keys' type.
template <typename F>
void with_keys(const key_source& source, const F& f) {
  if (source.wide) {
    f(static_cast<const std::uint64_t*>(source.keys));
  } else {
    f(static_cast<const std::uint32_t*>(source.keys));
  }
}

}  // namespace quadrat::detail
