// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/distributed/key_reducer.hpp"

#include <algorithm>

#include "core/backend.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/distributed/migration.hpp"
#include "quadrat/parallel/fault.hpp"
#include "quadrat/parallel/for_each.hpp"

namespace quadrat {

namespace {

/// The owner of each key, and its number there.
template <typename Key>
struct owners_of_keys {
  const Key* keys;
  std::uint64_t key_count;
  std::uint64_t width;
  fault_flag fault;
  std::uint32_t* owners;
  std::uint32_t* numbers;

  QUADRAT_HD void operator()(std::size_t i) const {
    const bool sound = keys[i] < key_count;
    if (!sound) fault.raise(fault_kind::key_range, i);
    const std::uint64_t key = sound ? keys[i] : 0;
    owners[i] = static_cast<std::uint32_t>(key / width);
    numbers[i] = static_cast<std::uint32_t>(key % width);
  }
};

/// Rows of values, one after the other.
template <typename V>
struct pack_values {
  component_values<const V> values;
  V* rows;

  QUADRAT_HD void operator()(std::size_t i) const {
    for (int c = 0; c < values.components; ++c) {
      rows[i * static_cast<std::size_t>(values.components) + static_cast<std::size_t>(c)] =
          values.component[c][i * values.stride];
    }
  }
};

}  // namespace

template <typename Context>
struct distributed_key_reducer<Context>::implementation {
  implementation(const Context& chosen, communicator& group, std::uint64_t number, const key_reducer_options& options)
      : context(chosen),
        ranks(group),
        key_count(number),
        share(keys_of_rank(number, group.rank(), group.size())),
        // A rank without keys reduces nothing for one.
        reducer(chosen, std::max<std::uint64_t>(share.end - share.first, number == 0 ? 0 : 1), options),
        moves(chosen, group),
        fault(chosen) {}

  template <typename Key>
  void set_keys(const Key* keys, std::size_t count) {
    together(ranks, [&] {
      require_pointer(keys, count, "keys");
      owners.resize_discarding(context, count);
      numbers.resize_discarding(context, count);
      fault.clear(context);
      const std::uint64_t width = keys_of_rank(key_count, 0, ranks.size()).end;
      for_each(context, "distributed.keys", count,
               owners_of_keys<Key>{keys, key_count, width, fault.flag(), owners.data(), numbers.data()});
      const fault_report report = fault.read(context);
      if (report.kind == fault_kind::none) return;
      throw data_error(message("the key of element ", report.index, " of rank ", ranks.rank(), " is ",
                               to_host(context, keys + report.index, 1)[0], "; there are ", key_count, " keys"),
                       report.index);
    });
    moves.build(owners.data(), count);
    arrived.resize_discarding(context, moves.arriving());
    moves.apply(numbers.data(), arrived.data());
    together(ranks, [&] { reducer.set_keys(arrived.data(), moves.arriving()); });
  }

  /// Sends the rows of values after the keys.
  template <typename V>
  [[nodiscard]] component_values<const V> arrived_rows(const component_values<const V>& values) {
    require(values.count == moves.leaving(), "there are ", values.count, " values for ", moves.leaving(), " keys");
    require(values.components >= 1 && values.components <= most_value_components, "values have ", values.components,
            " components; 1 to ", most_value_components, " are possible");
    const std::size_t row = static_cast<std::size_t>(values.components) * sizeof(V);
    rows.resize_discarding(context, values.count * row);
    arrived_values.resize_discarding(context, moves.arriving() * row);
    for_each(context, "distributed.values", values.count, pack_values<V>{values, reinterpret_cast<V*>(rows.data())});
    moves.apply(rows.data(), arrived_values.data(), row);
    return packed_values(reinterpret_cast<const V*>(arrived_values.data()), moves.arriving(), values.components);
  }

  Context context;
  communicator& ranks;
  std::uint64_t key_count;
  key_share share;
  key_reducer<Context> reducer;
  migration<Context> moves;
  fault_state<Context> fault;
  array<std::uint32_t, Context> owners, numbers, arrived;
  array<std::byte, Context> rows, arrived_values;
};

template <typename Context>
distributed_key_reducer<Context>::distributed_key_reducer(const Context& context, communicator& ranks,
                                                          std::uint64_t key_count, const key_reducer_options& options) {
  together(ranks, [&] { implementation_ = std::make_unique<implementation>(context, ranks, key_count, options); });
}
template <typename Context>
distributed_key_reducer<Context>::distributed_key_reducer(distributed_key_reducer&&) noexcept = default;
template <typename Context>
distributed_key_reducer<Context>& distributed_key_reducer<Context>::operator=(distributed_key_reducer&&) noexcept =
    default;
template <typename Context>
distributed_key_reducer<Context>::~distributed_key_reducer() = default;

template <typename Context>
void distributed_key_reducer<Context>::set_keys(const std::uint32_t* keys, std::size_t count) {
  implementation_->set_keys(keys, count);
}
template <typename Context>
void distributed_key_reducer<Context>::set_keys(const std::uint64_t* keys, std::size_t count) {
  implementation_->set_keys(keys, count);
}

template <typename Context>
template <typename V>
void distributed_key_reducer<Context>::reduce(const component_values<const V>& values,
                                              const component_values<V>& results, key_operation operation) {
  implementation& own = *implementation_;
  const auto rows = own.arrived_rows(values);
  if (own.share.end == own.share.first) return;
  own.reducer.reduce(rows, results, {operation, false});
}

template <typename Context>
void distributed_key_reducer<Context>::count(std::uint64_t* results) {
  implementation& own = *implementation_;
  if (own.share.end > own.share.first) own.reducer.count(results);
}

template <typename Context>
key_share distributed_key_reducer<Context>::share() const {
  return implementation_->share;
}
template <typename Context>
std::size_t distributed_key_reducer<Context>::element_count() const {
  return implementation_->moves.arriving();
}

#define QUADRAT_INSTANTIATE(V)                                                                     \
  template void distributed_key_reducer<backend_context>::reduce(const component_values<const V>&, \
                                                                 const component_values<V>&, key_operation);
template class distributed_key_reducer<backend_context>;
QUADRAT_INSTANTIATE(std::int32_t)
QUADRAT_INSTANTIATE(std::int64_t)
QUADRAT_INSTANTIATE(float)
QUADRAT_INSTANTIATE(double)
#undef QUADRAT_INSTANTIATE

}  // namespace quadrat
