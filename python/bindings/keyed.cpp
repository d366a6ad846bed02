// SPDX-License-Identifier: BSD-3-Clause
#include <nanobind/stl/string.h>

#include <limits>
#include <memory>
#include <string>

#include "arrays.hpp"
#include "modules.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/keyed/key_reducer.hpp"

namespace quadrat::python {

namespace {

[[nodiscard]] given_array keys_from(nb::handle keys, const origin_of_arrays& where) {
  given_array array(keys, "keys", where);
  const number type = array.type();
  if (type != number::int32 && type != number::uint32 && type != number::int64 && type != number::uint64) {
    if ((!array.integer() || type == number::boolean) && array.size() > 0) {
      throw nb::type_error(message("keys have the type ", array.type_text(), "; integers are accepted").c_str());
    }
    array.convert(number::int64);
  }
  if (array.dimension() != 1) {
    throw nb::value_error(message("keys have the shape ", shape_text(array.shape()), "; (N,) is accepted").c_str());
  }
  return array;
}

[[nodiscard]] std::uint64_t key_count_from(nb::handle given, given_array& keys, const place& where) {
  if (given.is_none()) {
    const std::int64_t most = largest_of(keys, where);
    if (most >= 0x7fffffff) {
      const bool clamped = most == std::numeric_limits<std::int64_t>::max();
      throw nb::value_error(message("the largest key is ", most, clamped ? " or more" : "",
                                    "; key_count, one more, may be up to 2^31 - 1")
                                .c_str());
    }
    return static_cast<std::uint64_t>(most < 0 ? 0 : most + 1);
  }
  const auto count = nb::cast<std::int64_t>(nb::int_(nb::borrow(given)));
  if (count < 0 || count > 0x7fffffff) {
    throw nb::value_error(message("key_count is ", count, "; 0 to 2^31 - 1 is accepted").c_str());
  }
  return static_cast<std::uint64_t>(count);
}

[[nodiscard]] int operation_named(const std::string& name) {
  std::string accepted;
  for (std::size_t k = 0; k < key_operation_names.size(); ++k) {
    if (name == key_operation_names[k]) return static_cast<int>(k);
    accepted += (k > 0 ? ", " : "") + std::string(key_operation_names[k]);
  }
  throw nb::value_error(message("operation is '", name, "'; one of ", accepted, " is accepted").c_str());
}

/// Narrow integers and truth values count as int64, narrow floats as float32; uint64 stays until it is known to fit.
[[nodiscard]] given_array row_values(nb::handle values, const origin_of_arrays& where, bool mean) {
  given_array array(values, "values", where);
  const number type = array.type();
  const bool reduced = type == number::int32 || type == number::int64 || type == number::float32;
  if (array.integer() && (mean || array.from_numbers() || !reduced)) {
    if (mean || type != number::uint64) array.convert(mean ? number::float64 : number::int64);
  } else if (array.from_numbers()) {
    array.convert(number::float64);
  } else if (const std::string text = array.type_text(); text == "float16" || text == "bfloat16") {
    array.convert(number::float32);
  }
  if (!array.integer() && array.type() != number::float32 && array.type() != number::float64) {
    throw nb::type_error(
        message("values have the type ", array.type_text(), "; integers, float16, float32 and float64 are accepted")
            .c_str());
  }
  return array;
}

/// uint64 as the int64 that has the same bits, if all fit.
[[nodiscard]] number reduced_type(given_array& rows, const place& where) {
  if (rows.type() != number::uint64) return rows.type();
  if (rows.size() > 0 && largest_of(rows, where) == std::numeric_limits<std::int64_t>::max()) {
    throw nb::value_error("values are as large as 2^63 - 1 or more; integers below are accepted");
  }
  return number::int64;
}

/// Makes a reducer on the device of the keys, and sets them.
[[nodiscard]] std::unique_ptr<key_handle> reducer_of(const place& where, given_array& keys,
                                                     const quadrat_key_reducer_options& options) {
  std::unique_ptr<key_handle> reducer = made_at<key_handle>(where, &options);
  keys.receive(*reducer);
  const quadrat_integers given = keys.indices();
  unlocked([&] { reducer->call(&c_functions::key_reducer_set_keys, &given); });
  return reducer;
}

[[nodiscard]] nb::object reduce(nb::handle keys, nb::handle values, const std::string& operation, nb::handle key_count,
                                const std::string& method, bool compensated, int level, int threads) {
  auto call = sized<quadrat_key_call>();
  call.operation = operation_named(operation);
  const origin_of_arrays where = origin_of(values, "values");
  given_array ids = keys_from(keys, where);
  given_array rows = row_values(values, where, operation == "mean");
  const std::size_t axes = rows.dimension();
  if ((axes != 1 && axes != 2) || rows.shape()[0] != ids.size()) {
    throw nb::value_error(message("values have the shape ", shape_text(rows.shape()), "; one row for each of the ",
                                  ids.size(), " keys is needed")
                              .c_str());
  }
  const std::size_t components = axes == 1 ? 1 : rows.shape()[1];
  if (components < 1 || components > most_value_components) {
    throw nb::value_error(message("values have ", components, " components; 1 to 8 are accepted").c_str());
  }
  const place there = where.at(threads, level);
  const number type = reduced_type(rows, there);
  call.value_type = c_type(type);
  call.components = static_cast<int>(components);
  auto options = sized<quadrat_key_reducer_options>();
  options.key_count = key_count_from(key_count, ids, there);
  options.method = method.c_str();
  options.compensated = compensated ? 1 : 0;
  options.value_components = call.components;
  options.value_bytes = call.components * (type == number::int32 || type == number::float32 ? 4 : 8);
  std::vector<std::size_t> shape{static_cast<std::size_t>(options.key_count)};
  if (axes == 2) shape.push_back(components);
  results made(where);
  if (options.key_count == 0) {
    made.add(type, shape);
    return made.take(0);
  }
  const std::unique_ptr<key_handle> reducer = reducer_of(there, ids, options);
  rows.receive(*reducer);
  void* const memory = made.add(type, shape);
  made.prepare(*reducer);
  unlocked([&] { reducer->call(&c_functions::key_reducer_reduce, rows.data(), memory, &call); });
  return made.take(0);
}

[[nodiscard]] nb::object count(nb::handle keys, nb::handle key_count, const std::string& method, int threads) {
  const origin_of_arrays where = origin_of(keys, "keys");
  given_array ids = keys_from(keys, where);
  const place there = where.at(threads);
  auto options = sized<quadrat_key_reducer_options>();
  options.key_count = key_count_from(key_count, ids, there);
  options.method = method.c_str();
  results made(where);
  void* const memory = made.add(number::int64, {static_cast<std::size_t>(options.key_count)});
  if (options.key_count == 0) return made.take(0);
  const std::unique_ptr<key_handle> reducer = reducer_of(there, ids, options);
  made.prepare(*reducer);
  unlocked([&] { reducer->call(&c_functions::key_reducer_count, static_cast<std::uint64_t*>(memory)); });
  return made.take(0);
}

}  // namespace

void add_keyed(nb::module_& module) {
  module.def("reduce_by_key", &reduce, nb::arg("keys").none(), nb::arg("values").none(), nb::arg("operation"),
             nb::arg("key_count").none(), nb::arg("method"), nb::arg("compensated"), nb::arg("level"),
             nb::arg("threads"));
  module.def(
      "check_keys", [](nb::handle keys) { static_cast<void>(keys_from(keys, origin_of(keys, "keys"))); },
      nb::arg("keys").none());
  module.def("count_keys", &count, nb::arg("keys").none(), nb::arg("key_count").none(), nb::arg("method"),
             nb::arg("threads"));
}

}  // namespace quadrat::python
