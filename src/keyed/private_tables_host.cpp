// SPDX-License-Identifier: BSD-3-Clause
#include "keyed/private_tables.hpp"

#include <algorithm>

#include "keyed/element_values.hpp"
#include "keyed/folds.hpp"
#include "parallel/partition.hpp"

namespace quadrat::detail {

namespace {

/// Number of parts where sums must be the same with any number of threads.
constexpr std::size_t fixed_parts = 8;
/// The least number of elements per result of a table: clearing and joining tables then takes little of the time.
constexpr std::size_t elements_a_result = 8;

/// Parts of the elements that have a table each; 0: ranges of keys instead.
[[nodiscard]] std::size_t parts_with_tables(determinism level, int threads, std::size_t count, std::size_t key_count) {
  const std::size_t parts = level == determinism::none ? static_cast<std::size_t>(threads) : fixed_parts;
  return parts > 1 && count / elements_a_result / parts >= key_count ? parts : 0;
}

/// Joins elements to a table of rows. Components: their number, or 0 if it is only known at run time.
template <typename Fold, int Components, typename Source, typename T>
class table_join {
 public:
  table_join(const key_source& keys, const Source& source, int components)
      : keys_(keys), source_(source), components_(components) {}

  [[nodiscard]] std::size_t components() const {
    return static_cast<std::size_t>(Components > 0 ? Components : components_);
  }

  /// Fills a table from elements [first, last).
  template <typename Key>
  void fill(const Key* keys, std::size_t first, std::size_t last, T* table) const {
    std::fill_n(table, keys_.key_count * components(), Fold::template identity<T>());
    for (std::size_t i = first; i < last; ++i) {
      const std::uint32_t key = keys_.checked(narrow_key(keys[i]), i);
      if (key != no_key) join_row(i, table + key * components());
    }
  }
  /// Joins a part of the keys of all tables to the results.
  void collect(const T* tables, std::size_t parts, std::size_t first, std::size_t last,
               const component_values<T>& results) const {
    for (std::size_t key = first; key < last; ++key) {
      for (std::size_t c = 0; c < components(); ++c) {
        const T* const entry = tables + key * components() + c;
        T joined = *entry;
        for (std::size_t part = 1; part < parts; ++part) {
          joined = Fold::join(joined, entry[part * keys_.key_count * components()]);
        }
        T& result = results.component[c][key * results.stride];
        result = Fold::join(result, joined);
      }
    }
  }
  /// Joins the elements of a range of keys to the results. The range that starts at 0 finds the faults.
  template <typename Key>
  void join_range(const Key* keys, std::uint32_t first, std::uint32_t last, const component_values<T>& results) const {
    for (std::size_t i = 0; i < keys_.count; ++i) {
      const std::uint32_t key = narrow_key(keys[i]);
      if (key - first < last - first) {
        for (std::size_t c = 0; c < components(); ++c) {
          T& result = results.component[c][key * results.stride];
          result = Fold::join(result, Fold::taken(source_.load(i, static_cast<int>(c))));
        }
      } else if (first == 0) {
        static_cast<void>(keys_.checked(key, i));
      }
    }
  }

 private:
  void join_row(std::size_t i, T* row) const {
    for (std::size_t c = 0; c < components(); ++c) {
      row[c] = Fold::join(row[c], Fold::taken(source_.load(i, static_cast<int>(c))));
    }
  }

  key_source keys_;
  Source source_;
  int components_;
};

/// With fewer elements or keys, waking a team does not pay.
constexpr std::size_t least_work = 2048;

/// Calls f(part) for each part, one per thread.
template <typename F>
void for_each_part(const cpu_context& context, std::size_t parts, std::size_t work, const F& f) {
  const auto last = static_cast<std::int64_t>(parts);
#pragma omp parallel for schedule(static, 1) num_threads(context.threads()) if (last > 1 && work >= least_work)
  for (std::int64_t part = 0; part < last; ++part) f(static_cast<std::size_t>(part));
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

}  // namespace

std::size_t private_tables_engine::table_parts(std::size_t count) const {
  return parts_with_tables(context_.reproducibility(), context_.threads(), count, setup_.key_count);
}

double private_tables_method::cost(const key_request& request) {
  const std::size_t parts =
      parts_with_tables(request.level, request.threads, static_cast<std::size_t>(request.elements),
                        static_cast<std::size_t>(request.keys));
  return cpu_time({1000, 300, 0, 500}, request, static_cast<double>(parts));
}

void private_tables_engine::set_keys(const key_source& keys) {
  tables_.resize_discarding(context_, table_parts(keys.count) * part_words());
  keys_ = keys;
}

template <typename Fold, int Components, typename Source, typename T>
void private_tables_engine::join_components(const Source& source, const component_values<T>& results) {
  const table_join<Fold, Components, Source, T> joins(keys_, source, results.components);
  const std::size_t parts = table_parts(keys_.count);
  const partition key_ranges = partition_for(context_, setup_.key_count, 1);
  if (parts == 0) {
    return with_keys(keys_, [&](const auto* keys) {
      for_each_part(context_, key_ranges.parts, keys_.count, [&](std::size_t part) {
        joins.join_range(keys, static_cast<std::uint32_t>(key_ranges.first(part)),
                         static_cast<std::uint32_t>(key_ranges.last(part)), results);
      });
    });
  }
  T* const tables = reinterpret_cast<T*>(tables_.data());
  const partition elements{keys_.count, parts};
  with_keys(keys_, [&](const auto* keys) {
    for_each_part(context_, parts, keys_.count, [&](std::size_t part) {
      joins.fill(keys, elements.first(part), elements.last(part),
                 tables + part * setup_.key_count * joins.components());
    });
  });
  for_each_part(context_, key_ranges.parts, parts * setup_.key_count, [&](std::size_t part) {
    joins.collect(tables, parts, key_ranges.first(part), key_ranges.last(part), results);
  });
}

template <typename Fold, typename Source, typename T>
void private_tables_engine::join(const Source& source, const component_values<T>& results) {
  if (results.components == 1) {
    join_components<Fold, 1>(source, results);
  } else {
    join_components<Fold, 0>(source, results);
  }
}

template <typename T>
void private_tables_engine::run(const key_reduction<T>& reduction) {
  clear_results(context_, reduction);
  with_fold(reduction.fold,
            [&](auto fold) { join<decltype(fold)>(loaded_values<T>{reduction.values}, reduction.results); });
}

void private_tables_engine::count(std::uint64_t* results, bool accumulate) {
  clear_counts(context_, results, setup_.key_count, accumulate);
  join<sum_fold>(ones{}, packed_values(results, setup_.key_count));
}

template void private_tables_engine::run(const key_reduction<std::int32_t>&);
template void private_tables_engine::run(const key_reduction<std::int64_t>&);
template void private_tables_engine::run(const key_reduction<float>&);
template void private_tables_engine::run(const key_reduction<double>&);

}  // namespace quadrat::detail
