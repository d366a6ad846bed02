// SPDX-License-Identifier: BSD-3-Clause
#include <nanobind/stl/string.h>

#include <optional>
#include <string>

#include "arrays.hpp"
#include "modules.hpp"
#include "quadrat/keyed/key_reducer.hpp"

namespace quadrat::python {

namespace {

template <typename Key>
using keys_in = nb::ndarray<const Key, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T>
using rows_in = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

[[nodiscard]] key_reducer_options options_of(const std::string& method, bool compensated) {
  key_reducer_options options;
  options.method = method;
  options.compensated = compensated;
  return options;
}

/// Values (N, C); result (keys, C). Operation: its number in key_operation_names.
template <typename Key, typename T>
nb::object reduce(const keys_in<Key>& keys, const rows_in<T>& values, std::uint64_t key_count, int operation,
                  const std::string& method, bool compensated, bool run_to_run, int threads) {
  std::optional<new_array<T>> result;
  {
    const nb::gil_scoped_release unlocked;
    const std::size_t components = values.shape(1);
    result.emplace(std::vector<std::size_t>{static_cast<std::size_t>(key_count), components});
    reduce_by_key<cpu_context, Key, T>(
        context_with(threads, run_to_run), keys.data(),
        packed_values(values.data(), values.shape(0), static_cast<int>(components)),
        packed_values(result->data(), static_cast<std::size_t>(key_count), static_cast<int>(components)),
        static_cast<key_operation>(operation), options_of(method, compensated));
  }
  return result->release();
}

template <typename Key>
nb::object count(const keys_in<Key>& keys, std::uint64_t key_count, const std::string& method, int threads) {
  std::optional<new_array<std::int64_t>> result;
  {
    const nb::gil_scoped_release unlocked;
    key_reducer<cpu_context> reducer(context_with(threads), key_count, options_of(method, false));
    reducer.set_keys(keys.data(), keys.shape(0));
    result.emplace(std::vector<std::size_t>{static_cast<std::size_t>(key_count)});
    reducer.count(reinterpret_cast<std::uint64_t*>(result->data()));
    reducer.check();
  }
  return result->release();
}

template <typename Key>
void add_keys(nb::module_& module) {
  module.def("reduce_by_key", &reduce<Key, std::int32_t>);
  module.def("reduce_by_key", &reduce<Key, std::int64_t>);
  module.def("reduce_by_key", &reduce<Key, float>);
  module.def("reduce_by_key", &reduce<Key, double>);
  module.def("count_keys", &count<Key>);
}

}  // namespace

void add_keyed(nb::module_& module) {
  add_keys<std::int32_t>(module);
  add_keys<std::uint32_t>(module);
  add_keys<std::int64_t>(module);
  add_keys<std::uint64_t>(module);
}

}  // namespace quadrat::python
