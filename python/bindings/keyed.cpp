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

[[nodiscard]] std::uint64_t key_count_from(nb::handle given, session& worker, const given_array& keys) {
  if (given.is_none()) {
    const std::int64_t most = worker.largest(keys.indices());
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

[[nodiscard]] given_array row_values(nb::handle values, const origin_of_arrays& where, bool mean) {
  given_array array(values, "values", where);
  if (array.type() == number::boolean) {
    array.convert(number::int64);
  } else if (array.from_numbers() && array.type() != number::int64) {
    array.convert(number::float64);
  }
  const bool integer = array.type() == number::int32 || array.type() == number::int64;
  if (mean && integer) array.convert(number::float64);
  if (!integer && array.type() != number::float32 && array.type() != number::float64) {
    throw nb::type_error(
        message("values have the type ", array.type_text(), "; int32, int64, float32 and float64 are accepted")
            .c_str());
  }
  return array;
}

[[nodiscard]] nb::object reduce(nb::handle keys, nb::handle values, const std::string& operation, nb::handle key_count,
                                std::string method, bool compensated, bool run_to_run, int threads) {
  const int number_of_operation = operation_named(operation);
  const origin_of_arrays where = origin_of(values, "values");
  given_array ids = keys_from(keys, where);
  given_array rows = row_values(values, where, operation == "mean");
  const std::size_t axes = rows.dimension();
  if ((axes != 1 && axes != 2) || rows.shape()[0] != ids.size()) {
    throw nb::value_error(message("values have the shape ", shape_text(rows.shape()), "; one row for each of the ",
                                  ids.size(), " keys is needed")
                              .c_str());
  }
  const std::unique_ptr<session> worker = made_by(where, [&](backend& engine) {
    return engine.make_session({where.device, threads, run_to_run});
  });
  ids.receive(*worker);
  rows.receive(*worker);
  const std::size_t components = axes == 1 ? 1 : rows.shape()[1];
  if (components > most_value_components) {
    throw nb::value_error(message("values have ", components, " components; 1 to 8 are accepted").c_str());
  }
  reduction wanted;
  wanted.keys = ids.data();
  wanted.key_type = ids.type();
  wanted.count = ids.size();
  wanted.key_count = key_count_from(key_count, *worker, ids);
  wanted.values = rows.data();
  wanted.value_type = rows.type();
  wanted.components = static_cast<int>(components);
  wanted.operation = number_of_operation;
  wanted.method = std::move(method);
  wanted.compensated = compensated;
  results made(where, where.engine());
  std::vector<std::size_t> shape{static_cast<std::size_t>(wanted.key_count)};
  if (axes == 2) shape.push_back(components);
  void* const memory = made.add(rows.type(), shape);
  made.prepare(*worker);
  static const double nothing = 0;  // a null pointer would ask for counts
  if (wanted.values == nullptr) wanted.values = &nothing;
  if (wanted.key_count > 0) unlocked([&] { worker->reduce(wanted, memory); });
  return made.take(0);
}

[[nodiscard]] nb::object count(nb::handle keys, nb::handle key_count, std::string method, int threads) {
  const origin_of_arrays where = origin_of(keys, "keys");
  given_array ids = keys_from(keys, where);
  const std::unique_ptr<session> worker = made_by(where, [&](backend& engine) {
    return engine.make_session({where.device, threads, false});
  });
  ids.receive(*worker);
  reduction wanted;
  wanted.keys = ids.data();
  wanted.key_type = ids.type();
  wanted.count = ids.size();
  wanted.key_count = key_count_from(key_count, *worker, ids);
  wanted.method = std::move(method);
  results made(where, where.engine());
  void* const memory = made.add(number::int64, {static_cast<std::size_t>(wanted.key_count)});
  made.prepare(*worker);
  if (wanted.key_count > 0) unlocked([&] { worker->reduce(wanted, memory); });
  return made.take(0);
}

}  // namespace

void add_keyed(nb::module_& module) {
  module.def("reduce_by_key", &reduce, nb::arg("keys").none(), nb::arg("values").none(), nb::arg("operation"),
             nb::arg("key_count").none(), nb::arg("method"), nb::arg("compensated"), nb::arg("run_to_run"),
             nb::arg("threads"));
  module.def("count_keys", &count, nb::arg("keys").none(), nb::arg("key_count").none(), nb::arg("method"),
             nb::arg("threads"));
}

}  // namespace quadrat::python
