// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/distributed/key_reducer.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <type_traits>

#include "core/backend.hpp"
#include "distributed/keyed/key_groups.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/distributed/migration.hpp"
#include "quadrat/parallel/fault.hpp"
#include "quadrat/parallel/for_each.hpp"

namespace quadrat {

namespace {

/// Computes the owner of each key, and the key's number there.
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

/// Packs values into rows.
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

/// Makes the keys of elements for grouping.
struct join_keys {
  const std::uint32_t* owners;
  const std::uint32_t* numbers;
  std::uint64_t width;
  std::uint64_t* keys;

  QUADRAT_HD void operator()(std::size_t i) const { keys[i] = owners[i] * width + numbers[i]; }
};

/// The reverse of join_keys.
struct split_keys {
  const std::uint64_t* keys;
  std::uint64_t width;
  std::uint32_t* owners;
  std::uint32_t* numbers;

  QUADRAT_HD void operator()(std::size_t i) const {
    owners[i] = static_cast<std::uint32_t>(keys[i] / width);
    numbers[i] = static_cast<std::uint32_t>(keys[i] % width);
  }
};

struct fill_with_one {
  std::uint64_t* values;

  QUADRAT_HD void operator()(std::size_t i) const { values[i] = 1; }
};

}  // namespace

template <typename Context>
struct distributed_key_reducer<Context>::implementation {
  /// Moves rows to the owners of their keys, where a reducer takes them.
  struct route {
    route(const Context& context, communicator& ranks, std::uint64_t keys, const key_reducer_options& options)
        : reducer(context, keys, options), moves(context, ranks) {}

    /// Waits only if more rows have arrived than before.
    void set_keys() {
      const std::size_t count = moves.arriving();
      if (room && count <= *room) return reducer.set_keys_async(arrived.data(), count);
      reducer.set_keys(arrived.data(), count);
      room = count;
    }
    /// Waits only for the first mean.
    template <typename V>
    void reduce(const component_values<const V>& values, const component_values<V>& results, key_operation operation) {
      const bool first_mean = operation == key_operation::mean && !computes_means;
      computes_means = computes_means || first_mean;
      if (first_mean) return reducer.reduce(values, results, {operation, false});
      reducer.reduce_async(values, results, {operation, false});
    }

    key_reducer<Context> reducer;
    migration<Context> moves;
    array<std::uint32_t, Context> arrived;
    std::optional<std::size_t> room;  ///< rows that the reducer has room for
    bool computes_means = false;      ///< the reducer has room for means
    bool ready = false;               ///< valid for the present keys
  };

  implementation(const Context& chosen, communicator& group, std::uint64_t number, const key_reducer_options& asked)
      : context(chosen),
        ranks(group),
        key_count(number),
        share(keys_of_rank(number, group.rank(), group.size())),
        options(asked),
        // The reducer of a rank that owns no keys is made for one.
        all(chosen, group, own_keys(), asked),
        groups(chosen),
        fault(chosen) {}

  [[nodiscard]] std::uint64_t own_keys() const {
    return std::max<std::uint64_t>(share.end - share.first, key_count == 0 ? 0 : 1);
  }
  [[nodiscard]] std::uint64_t width() const { return keys_of_rank(key_count, 0, ranks.size()).end; }

  template <typename Key>
  void set_keys(const Key* keys, std::size_t count) {
    together(ranks, [&] {
      require_pointer(keys, count, "keys");
      owners.resize_discarding(context, count);
      numbers.resize_discarding(context, count);
      fault.clear(context);
      for_each(context, "distributed.keys", count,
               owners_of_keys<Key>{keys, key_count, width(), fault.flag(), owners.data(), numbers.data()});
      const fault_report report = fault.read(context);
      if (report.kind == fault_kind::none) return;
      throw data_error(message("the key of element ", report.index, " of rank ", ranks.rank(), " is ",
                               to_host(context, keys + report.index, 1)[0], "; there are ", key_count, " keys"),
                       report.index);
    });
    elements = count;
    all.ready = false;
    if (combined) combined->ready = false;
  }

  [[nodiscard]] route& prepare_all() {
    if (!all.ready) send_keys(all, owners.data(), numbers.data(), elements);
    last = &all;
    return all;
  }

  void send_keys(route& taken, const std::uint32_t* to, const std::uint32_t* keys, std::size_t count) {
    taken.moves.build(to, count);
    taken.arrived.resize_discarding(context, taken.moves.arriving());
    taken.moves.apply(keys, taken.arrived.data());
    together(ranks, [&] { taken.set_keys(); });
    taken.ready = true;
  }

  /// Whether a rank may combine its elements before it sends them: if that cannot change the result, or if the result
  /// need not be reproducible. The same on all ranks.
  template <typename V>
  [[nodiscard]] bool combines(key_operation operation) const {
    if (ranks.size() == 1 || operation == key_operation::mean) return false;
    if (operation != key_operation::sum || std::is_integral_v<V>) return true;
    return context.reproducibility() == determinism::none && !options.compensated;
  }

  /// Groups the elements of this rank and sends one key per group; one key per element if that is hardly more.
  [[nodiscard]] route& prepare_combined() {
    if (!combined) {
      together(ranks, [&] { combined = std::make_unique<route>(context, ranks, own_keys(), options); });
    }
    if (!combined->ready) combine_keys();
    last = combined.get();
    return *combined;
  }

  void combine_keys() {
    together(ranks, [&] {
      for_each(context, "distributed.join", elements,
               join_keys{owners.data(), numbers.data(), width(), groups.room(elements)});
      groups.build(key_count);
      const bool worth = 4 * groups.size() <= 3 * elements;
      within.reset();
      if (!worth || elements == 0) return;
      key_reducer_options automatic;
      automatic.uses = options.uses;
      automatic.value_bytes = options.value_bytes;
      automatic.value_components = options.value_components;
      within = std::make_unique<key_reducer<Context>>(context, groups.size(), automatic);
      within->set_keys(groups.groups(), elements);
      group_owners.resize_discarding(context, groups.size());
      group_numbers.resize_discarding(context, groups.size());
      for_each(context, "distributed.split", groups.size(),
               split_keys{groups.keys(), width(), group_owners.data(), group_numbers.data()});
    });
    if (within != nullptr) {
      send_keys(*combined, group_owners.data(), group_numbers.data(), groups.size());
    } else {
      send_keys(*combined, owners.data(), numbers.data(), elements);
    }
  }

  /// Makes room for the rows that leave and for those that arrive.
  template <typename V>
  [[nodiscard]] V* room(const route& taken, int components) {
    const std::size_t row = static_cast<std::size_t>(components) * sizeof(V);
    rows.resize_discarding(context, taken.moves.leaving() * row);
    arrived_values.resize_discarding(context, taken.moves.arriving() * row);
    return reinterpret_cast<V*>(rows.data());
  }
  /// Sends the rows to the owners of their keys, and reduces what arrives.
  template <typename V>
  void send_and_reduce(route& taken, const component_values<V>& results, key_operation operation) {
    taken.moves.apply(rows.data(), arrived_values.data(), static_cast<std::size_t>(results.components) * sizeof(V));
    if (share.end == share.first) return;
    const V* const first = reinterpret_cast<const V*>(arrived_values.data());
    taken.reduce(packed_values(first, taken.moves.arriving(), results.components), results, operation);
  }

  template <typename V>
  void reduce(const component_values<const V>& values, const component_values<V>& results, key_operation operation) {
    require(values.count == elements, "there are ", values.count, " values for ", elements, " keys");
    require(values.components >= 1 && values.components <= most_value_components, "values have ", values.components,
            " components; 1 to ", most_value_components, " are possible");
    require(results.components == values.components, "values have ", values.components, " components, but results ",
            results.components);
    const bool combine = combines<V>(operation);
    route& taken = combine ? prepare_combined() : prepare_all();
    V* const packed = room<V>(taken, values.components);
    if (combine && within != nullptr) {
      within->reduce_async(values, packed_values(packed, groups.size(), values.components), {operation, false});
    } else {
      for_each(context, "distributed.values", values.count, pack_values<V>{values, packed});
    }
    send_and_reduce(taken, results, operation);
  }

  /// Counts by summing the sizes of groups.
  void count(std::uint64_t* results) {
    if (ranks.size() == 1) return prepare_all().reducer.count_async(results);
    route& taken = prepare_combined();
    auto* const packed = reinterpret_cast<std::uint64_t*>(room<std::int64_t>(taken, 1));
    if (within != nullptr) {
      within->count_async(packed);
    } else {
      for_each(context, "distributed.ones", elements, fill_with_one{packed});
    }
    const auto rows_of_results = static_cast<std::size_t>(share.end - share.first);
    send_and_reduce(taken, packed_values(reinterpret_cast<std::int64_t*>(results), rows_of_results),
                    key_operation::sum);
  }

  Context context;
  communicator& ranks;
  std::uint64_t key_count;
  key_share share;
  key_reducer_options options;
  route all;                        ///< for one row per element
  std::unique_ptr<route> combined;  ///< for combined rows; made when first needed
  route* last = &all;
  detail::key_groups<Context> groups;
  std::unique_ptr<key_reducer<Context>> within;  ///< of this rank's elements; none if there is little to combine
  fault_state<Context> fault;
  std::size_t elements = 0;
  array<std::uint32_t, Context> owners, numbers, group_owners, group_numbers;
  array<std::byte, Context> rows, arrived_values;
};

template <typename Context>
distributed_key_reducer<Context>::distributed_key_reducer(const Context& context, communicator& ranks,
                                                          std::uint64_t key_count, const key_reducer_options& options) {
  together(ranks, [&] { implementation_ = std::make_unique<implementation>(context, ranks, key_count, options); });
}

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
void distributed_key_reducer<Context>::reduce_async(const component_values<const V>& values,
                                                    const component_values<V>& results, key_operation operation) {
  implementation_->reduce(values, results, operation);
}

template <typename Context>
void distributed_key_reducer<Context>::count_async(std::uint64_t* results) {
  implementation_->count(results);
}

template <typename Context>
void distributed_key_reducer<Context>::wait() const {
  implementation_->context.synchronize();
}

template <typename Context>
key_share distributed_key_reducer<Context>::share() const {
  return implementation_->share;
}
template <typename Context>
std::size_t distributed_key_reducer<Context>::element_count() const {
  return implementation_->last->moves.arriving();
}

#define QUADRAT_INSTANTIATE(V)                                                                           \
  template void distributed_key_reducer<backend_context>::reduce_async(const component_values<const V>&, \
                                                                       const component_values<V>&, key_operation);
template class distributed_key_reducer<backend_context>;
QUADRAT_INSTANTIATE(std::int32_t)
QUADRAT_INSTANTIATE(std::int64_t)
QUADRAT_INSTANTIATE(float)
QUADRAT_INSTANTIATE(double)
#undef QUADRAT_INSTANTIATE

}  // namespace quadrat
