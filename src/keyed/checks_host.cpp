// SPDX-License-Identifier: BSD-3-Clause
#include "keyed/checks.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "core/method_choice.hpp"
#include "core/suggestion.hpp"
#include "keyed/methods.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/keyed/methods.hpp"

namespace quadrat::detail {

namespace {

void require_named(const key_reducer_options& options, const method_demand& demand) {
  const std::string& name = options.method;
  require_method<key_method_list>(demand, name);
  if (!options.compensated || is_automatic(name)) return;
  std::vector<std::string_view> able;
  for (const key_method& method : key_methods()) {
    if (demand.met_by(method) && method.compensates) able.push_back(method.name);
  }
  require(std::ranges::find(able, name) != able.end(), "the method ", name, " cannot compensate its sums; ",
          able.empty() ? "no method can, here" : "these can: " + joined(able));
}

[[nodiscard]] std::string key_text(std::uint64_t bits, key_type type) {
  if (!type.with_sign) return std::to_string(bits);
  return type.wide ? std::to_string(static_cast<std::int64_t>(bits))
                   : std::to_string(static_cast<std::int32_t>(static_cast<std::uint32_t>(bits)));
}

}  // namespace

void check_key_options(std::uint64_t key_count, const key_reducer_options& options) {
  require(key_count >= 1 && key_count <= max_count, "the number of keys is ", key_count, "; it must be from 1 to ",
          max_count);
  require(options.uses > 0, "the number of uses is ", options.uses, "; it must be positive");
  require(options.value_bytes > 0, "a row of values has ", options.value_bytes, " bytes; there must be at least 1");
  const int components = options.value_components;
  require(components >= 1 && components <= options.value_bytes, "a row of ", options.value_bytes, " bytes has ",
          components, " values; it must have 1 to one value per byte");
}

void require_key_method(const key_reducer_options& options, const cpu_context& context) {
  require_named(options, {key_method_kind, false, context.reproducibility(), true});
}
void require_key_method(const key_reducer_options& options, const cuda_context& context) {
  require_named(options, {key_method_kind, true, context.reproducibility(), true});
}

void check_value_shapes(const value_shape& values, const value_shape& results, std::size_t count,
                        std::uint64_t key_count) {
  require(values.components >= 1 && values.components <= most_value_components, "the values have ", values.components,
          " components; 1 to ", most_value_components, " are possible");
  require(values.components == results.components, "the values have ", values.components,
          " components and the results ", results.components, "; they must have as many");
  require(values.count == count, "there are ", values.count, " values for ", count, " keys that have been set");
  require(results.count == key_count, "there is room for ", results.count, " results; it must be for ", key_count,
          ", the number of keys");
  require(results.stride >= 1, "the stride of the results is 0; rows must not overlap");
}

std::string key_complaint(const fault_report& fault, const std::optional<faulty_keys>& keys, std::uint64_t key_count) {
  const std::string element =
      message("element ", fault.index, keys ? "" : " of keys that have been set since the last check");
  const std::string key = keys ? " " + key_text(keys->key, keys->type) : "";
  if (fault.kind == fault_kind::order) {
    return message(element, " has the key", key, ", less than the key",
                   keys ? " " + key_text(keys->before, keys->type) : "",
                   " before it; the method ordered needs keys in order");
  }
  return message(element, " has the key", key, keys ? "" : " out of range", "; keys must be 0 to ", key_count - 1);
}

}  // namespace quadrat::detail
