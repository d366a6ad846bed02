// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/method_choice.hpp"
#include "quadrat/tune/device_profile.hpp"
#include "quadrat/tune/explanation.hpp"
#include "tune/cost.hpp"

/// Chooses methods, for all modules. Each descriptor that can be chosen gives the cost of its method for a load,
///   static method_cost cost(const Request&);
/// and the device profile turns costs into expected times.
namespace quadrat::detail {

/// What methods are compared for.
struct choice_task {
  std::string_view module;  ///< the first part of the names of constants
  method_demand demand;
  double uses = 1;
  /// Upper bound on the memory of a method. At run_to_run and canonical it does not depend on the memory that is free
  /// at the moment, since the choice must not.
  double free_bytes = std::numeric_limits<double>::infinity();
};

/// The device that parameters are chosen for.
struct choice_place {
  const device_profile* profile;
  int threads;  ///< of a CPU, which divide the work; 1 on a GPU
};

/// The device of a context. Does not wait.
template <typename Context>
[[nodiscard]] choice_place choice_place_of(const Context& context) {
  int threads = 1;
  if constexpr (std::is_same_v<Context, cpu_context>) {
    threads = context.reproducibility() == determinism::none ? context.threads() : usual_threads;
  }
  return {&profile_of(context), threads};
}

/// Expected milliseconds; infinite if the profile lacks a constant.
[[nodiscard]] double expected_ms(const device_profile& profile, std::string_view module, std::string_view method,
                                 const method_cost& cost, double uses);

/// The name of a term's constant in a profile.
[[nodiscard]] std::string constant_name(std::string_view module, std::string_view method, const cost_term& term);

[[nodiscard]] inline bool fits(const choice_task& task, const method_cost& cost) {
  return cost.bytes() <= task.free_bytes;
}

/// The methods that can be chosen, fastest first; ties in the order of the list. Methods of last resort come last, with
/// an infinite time.
template <typename List, typename Request>
[[nodiscard]] std::vector<expected_time> times_by_profile(const choice_task& task, const Request& request,
                                                          const device_profile& profile) {
  std::vector<expected_time> times;
  List::for_each([&](auto method) {
    using method_type = decltype(method);
    if constexpr (requires { method_type::cost(request); }) {
      if (has_wrong_results<method_type>() || !task.demand.met_by(info_of<method_type>())) return;
      if (!does_serve<method_type>(request)) return;
      const method_cost cost = method_type::cost(request);
      const bool possible = cost.why_last().empty() && fits(task, cost);
      times.push_back({method_type::name, possible
                                              ? expected_ms(profile, task.module, method_type::name, cost, task.uses)
                                              : std::numeric_limits<double>::infinity()});
    }
  });
  std::ranges::stable_sort(times, {}, &expected_time::milliseconds);
  return times;
}

/// The costs of all methods of a list that have one, even if they cannot serve the request.
template <typename List, typename Request>
[[nodiscard]] std::vector<named_cost> costs_of(const Request& request) {
  std::vector<named_cost> costs;
  List::for_each([&](auto method) {
    using method_type = decltype(method);
    if constexpr (requires { method_type::cost(request); }) {
      costs.push_back(
          {method_type::name, method_type::reproducible, does_serve<method_type>(request), method_type::cost(request)});
    }
  });
  return costs;
}

/// Why a method cannot be chosen; empty if it can.
template <typename Method, typename Request>
[[nodiscard]] std::string why_not(const choice_task& task, const Request& request) {
  if (has_wrong_results<Method>()) return "has wrong results";
  if (!task.demand.runs_here(info_of<Method>())) return task.demand.cuda ? "not on CUDA" : "not on CPUs";
  if (!task.demand.met_by(info_of<Method>())) return "not reproducible at this level";
  if (!does_serve<Method>(request)) {
    if constexpr (requires { Method::served; }) return "serves " + std::string(Method::served);
    return "does not serve this";
  }
  if constexpr (requires { Method::cost(request); }) {
    const method_cost cost = Method::cost(request);
    if (!fits(task, cost)) return "needs more memory than there is";
    return std::string(cost.why_last());
  } else {
    return "only if asked for";
  }
}

/// All methods of a list, those that can be chosen first. `chosen` is the first of them.
template <typename List, typename Request>
[[nodiscard]] explanation explain(const choice_task& task, const Request& request, const device_profile& profile) {
  explanation result;
  result.what = task.demand.kind;
  result.profile = profile.origin;
  List::for_each([&](auto method) {
    using method_type = decltype(method);
    candidate one{std::string(method_type::name), std::numeric_limits<double>::infinity(), 0,
                  why_not<method_type>(task, request)};
    if constexpr (requires { method_type::cost(request); }) {
      const method_cost cost = method_type::cost(request);
      one.bytes = cost.bytes();
      if (one.why_not.empty()) one.milliseconds = expected_ms(profile, task.module, one.method, cost, task.uses);
    }
    result.candidates.push_back(std::move(one));
  });
  std::ranges::stable_sort(result.candidates, {}, &candidate::milliseconds);
  const std::vector<expected_time> times = times_by_profile<List>(task, request, profile);
  if (!times.empty()) result.chosen = times.front().method;
  return result;
}

}  // namespace quadrat::detail
