// SPDX-License-Identifier: BSD-3-Clause
#include "core/method_choice.hpp"

#include <string>

#include "core/suggestion.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::detail {

namespace {

using condition = bool (method_demand::*)(const method_info&) const;

/// The names of those methods that meet a condition.
[[nodiscard]] std::vector<std::string_view> names_where(condition holds, const method_demand& demand,
                                                        const std::vector<method_info>& methods) {
  std::vector<std::string_view> names;
  for (const method_info& method : methods) {
    if ((demand.*holds)(method)) names.push_back(method.name);
  }
  return names;
}

/// "; these are: a, b"
[[nodiscard]] std::string hint(std::string_view verb, const std::vector<std::string_view>& names) {
  return names.empty() ? message("; none ", verb, ", here") : message("; these ", verb, ": ", joined(names));
}

}  // namespace

void require_method(const method_demand& demand, std::string_view name, const std::vector<method_info>& methods) {
  std::vector<std::string_view> here = names_where(&method_demand::runs_here, demand, methods);
  const auto found = std::ranges::find(methods, name, &method_info::name);
  if (found == methods.end()) {
    if (demand.automatic) here.insert(here.begin(), "auto");
    throw_unknown_method(demand.kind, name, here);
  }
  if (!demand.runs_here(*found)) {
    throw argument_error(message("the ", demand.kind, " ", name, " does not run on ", demand.cuda ? "CUDA" : "the CPU",
                                 " in this build", hint("do", here)));
  }
  if (!demand.met_by(*found)) {
    throw argument_error(message("the ", demand.kind, " ", name, " is not reproducible at the level ",
                                 demand.level == determinism::canonical ? "canonical" : "run_to_run",
                                 hint("are", names_where(&method_demand::met_by, demand, methods))));
  }
}

}  // namespace quadrat::detail
