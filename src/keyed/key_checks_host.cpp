// SPDX-License-Identifier: BSD-3-Clause
#include "keyed/key_checks.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "quadrat/core/error.hpp"
#include "quadrat/core/method_list.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/keyed/methods.hpp"

namespace quadrat::detail {

namespace {

/// Where a method runs, and what must be among its properties.
struct key_demands {
  bool key_method::*here;
  const char* backend;
  determinism level;
  bool compensated;

  [[nodiscard]] bool has_level(const key_method& method) const {
    return static_cast<int>(method.reproducible) >= static_cast<int>(level);
  }
  [[nodiscard]] bool has_sums(const key_method& method) const { return method.compensates || !compensated; }
};

/// "a, b": the methods that meet all demands.
[[nodiscard]] std::string able_methods(const key_demands& demands) {
  std::string able;
  for (const key_method& method : key_methods()) {
    if (!(method.*demands.here) || !demands.has_level(method) || !demands.has_sums(method)) continue;
    able += (able.empty() ? "" : ", ") + std::string(method.name);
  }
  return able.empty() ? "no method is, here" : "these are: " + able;
}

void require_method(std::string_view name, const key_demands& demands) {
  if (name.empty() || name == "auto") return;
  const auto methods = key_methods();
  const auto found = std::find_if(methods.begin(), methods.end(), [&](const auto& m) { return m.name == name; });
  if (found == methods.end()) {
    std::vector<std::string_view> names{"auto"};
    for (const key_method& method : methods) {
      if (method.*demands.here) names.push_back(method.name);
    }
    throw_unknown_method("method of keyed reduction", name, names);
  }
  require((*found).*demands.here, "the method ", name, " does not run on ", demands.backend, " in this build");
  require(demands.has_level(*found), "the method ", name, " is not reproducible at the level ",
          demands.level == determinism::canonical ? "canonical" : "run_to_run", "; ", able_methods(demands));
  require(demands.has_sums(*found), "the method ", name, " is not able to compensate its sums; ",
          able_methods(demands));
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
  const auto finder = static_cast<std::size_t>(options.finder);
  require(finder < peer_finder_names.size(), "there is no way number ", finder, " to find peers");
  const auto combination = static_cast<std::size_t>(options.combination);
  require(combination < peer_combination_names.size(), "there is no way number ", combination, " to combine peers");
}

void require_key_method(const key_reducer_options& options, const cpu_context& context) {
  require_method(options.method, {&key_method::on_cpu, "the CPU", context.reproducibility(), options.compensated});
}
void require_key_method(const key_reducer_options& options, const cuda_context& context) {
  require_method(options.method, {&key_method::on_cuda, "CUDA", context.reproducibility(), options.compensated});
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
