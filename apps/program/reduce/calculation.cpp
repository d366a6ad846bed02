// SPDX-License-Identifier: BSD-3-Clause
#include "program/reduce/calculation.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "program/data_place.hpp"
#include "program/process/stopwatch.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::program {
namespace {

key_operation operation_named(const std::string& name) {
  const auto found = std::find(key_operation_names.begin(), key_operation_names.end(), name);
  return static_cast<key_operation>(found - key_operation_names.begin());
}

/// Bytes of all values of one element.
std::size_t bytes_of_row(const value_array& values) {
  return values.components * std::visit([](const auto& numbers) { return sizeof(numbers[0]); }, values.numbers);
}

template <typename Context>
void count_keys(const Context& context, key_reducer<Context>& reducer, reduce_outcome& result) {
  array<std::uint64_t, Context> out(context, reducer.key_count());
  {
    const stopwatch time(result.reduce_seconds);
    reducer.count(out.data());
  }
  result.memory_bytes += reducer.bytes() + out.bytes();
  const auto counts = to_host(context, out);
  // Signed integers, as NumPy's counts.
  result.results.numbers = std::vector<std::int64_t>(counts.begin(), counts.end());
}

template <typename T, typename Context>
void reduce_numbers(const Context& context, key_reducer<Context>& reducer, const reduce_task& task,
                    const value_array& values, const std::vector<T>& numbers, reduce_outcome& result) {
  const int components = static_cast<int>(values.components);
  const auto in = to_device(context, numbers);
  array<T, Context> out(context, reducer.key_count() * values.components);
  {
    const stopwatch time(result.reduce_seconds);
    reducer.reduce(packed_values<const T>(in.data(), reducer.element_count(), components),
                   packed_values(out.data(), reducer.key_count(), components),
                   {operation_named(task.operation), false});
  }
  result.memory_bytes += reducer.bytes() + in.bytes() + out.bytes();
  result.results.components = values.components;
  result.results.columns = values.columns;
  result.results.numbers = to_host(context, out);
}

/// Results in the memory of the context and on the host.
template <typename Context>
void require_room(const Context& context, const reduce_task& task, const value_array* values) {
  const std::size_t each = values == nullptr ? sizeof(std::uint64_t) : bytes_of_row(*values);
  const std::size_t bytes = task.key_count * each;
  constexpr bool on_host = std::is_same_v<Context, cpu_context>;
  const std::size_t needed = on_host ? 2 * bytes : bytes;
  const std::size_t free = std::min(context.memory().available_bytes(), host_memory().available_bytes());
  require(needed <= free, task.key_count, " results, one for each key from 0 to ", task.key_count - 1, ", need ",
          needed, " bytes of memory; ", free, " are free. Keys that leave out no number need the least: with NumPy, ",
          "numpy.unique(keys, return_inverse=True)");
}

template <typename Context>
reduce_outcome reduce_on(const Context& context, const reduce_task& task, const key_array& keys,
                         const value_array* values) {
  reduce_outcome result;
  result.device = used(context);
  key_reducer_options options = task.options;
  if (values != nullptr) {
    options.value_bytes = static_cast<int>(bytes_of_row(*values));
    options.value_components = static_cast<int>(values->components);
  }
  require_room(context, task, values);
  key_reducer<Context> reducer(context, task.key_count, options);
  std::visit(
      [&](const auto& all) {
        const auto on_device = to_device(context, all);
        {
          const stopwatch time(result.setting_seconds);
          reducer.set_keys(on_device.data(), all.size());
        }
        result.memory_bytes = on_device.bytes();
        if (values == nullptr) return count_keys(context, reducer, result);
        std::visit([&](const auto& numbers) { reduce_numbers(context, reducer, task, *values, numbers, result); },
                   values->numbers);
      },
      keys.keys);
  result.method = reducer.method();
  result.reason = reducer.reason();
  result.explanation = reducer.explanation();
  return result;
}

}  // namespace

reduce_outcome reduce_arrays(const reduce_task& task, const device_options& device, const key_array& keys,
                             const value_array* values) {
  return naming_places(keys.file, {}, [&] {
    return on_device(device, [&](const auto& context) { return reduce_on(context, task, keys, values); });
  });
}

}  // namespace quadrat::program
