// SPDX-License-Identifier: BSD-3-Clause
#include "core/method_choice.hpp"

#include <cmath>
#include <string>

#include "core/number_text.hpp"
#include "core/suggestion.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::detail {

namespace {

using condition = bool (method_demand::*)(const method_info&) const;

/// The names of the methods that satisfy a condition.
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

void throw_not_linked(const method_demand& demand, std::string_view name) {
  throw argument_error(message("the ", demand.kind, " ", name,
                               " is one of the component quadrat::papers, which is not linked with this program"));
}

std::string comparison(const std::vector<expected_time>& times, double uses) {
  std::string text =
      message("for ", uses, uses == 1 ? " use " : " uses ", times[0].method, " is expected to take least");
  if (times.size() > 1 && std::isfinite(times[1].milliseconds)) {
    text += message(", ", times[1].method, " ", two_digits(times[1].milliseconds / times[0].milliseconds),
                    " times as long");
  }
  return text;
}

}  // namespace quadrat::detail
