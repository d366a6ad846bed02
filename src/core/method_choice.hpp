// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/automatic.hpp"
#include "core/paper_methods.hpp"
#include "quadrat/core/config.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/core/method.hpp"
#include "quadrat/core/method_list.hpp"
#include "quadrat/core/types.hpp"

/// How descriptors of methods are read. A descriptor is an empty type in the header of its engine, with
///   static constexpr std::string_view name, summary;
///   static constexpr bool on_cpu, on_cuda;            in whatever build
///   static constexpr determinism reproducible;        the highest level that it supports
/// and optionally
///   static bool present();                            whether this machine has what it needs
///   static constexpr bool wrong_results;              exists to be timed: never suggested, never chosen
///   static bool serves(const Request&);               whether it can do what is requested
///   static method_cost cost(const Request&);          tune/cost.hpp; without it, never chosen. Cell lists and engines
///                                                     of models: double, expected milliseconds, may be infinite
/// `Request` is a type of the module: the options, and what is known of the input.

namespace quadrat::detail {

template <typename Method>
[[nodiscard]] constexpr bool is_present() {
  if constexpr (of_papers<Method>) {
    if (!papers_linked) return false;
  }
  if constexpr (requires { Method::present(); }) {
    return Method::present();
  } else {
    return true;
  }
}

template <typename Method>
[[nodiscard]] constexpr bool has_wrong_results() {
  if constexpr (requires { Method::wrong_results; }) {
    return Method::wrong_results;
  } else {
    return false;
  }
}

template <typename Method, typename Request>
[[nodiscard]] constexpr bool does_serve(const Request& request) {
  if constexpr (requires { Method::serves(request); }) {
    return Method::serves(request);
  } else {
    return true;
  }
}

/// Whether a method runs on the backend of a context, in any build.
template <typename Context, typename Method>
inline constexpr bool runs_on = std::is_same_v<Context, cpu_context> ? Method::on_cpu : Method::on_cuda;

/// The method's properties on this machine, in a build with all backends.
template <typename Method>
[[nodiscard]] constexpr method_info info_of() {
  const bool present = is_present<Method>();
  return {Method::name, Method::summary, Method::on_cpu && present, Method::on_cuda && present, Method::reproducible};
}

/// The method's properties on this machine, in this build.
template <typename Method>
[[nodiscard]] constexpr method_info built_info_of() {
  method_info info = info_of<Method>();
  info.on_cuda = info.on_cuda && QUADRAT_HAS_CUDA != 0;
  return info;
}

/// The properties of the methods of a list, in its order. Computed once.
template <typename List>
[[nodiscard]] std::span<const method_info> listed() {
  static const auto infos = [] {
    std::array<method_info, List::size> result{};
    std::size_t next = 0;
    List::for_each([&](auto method) { result[next++] = built_info_of<decltype(method)>(); });
    return result;
  }();
  return infos;
}

/// The requirements on a method in this context.
struct method_demand {
  std::string_view kind;  ///< what is named, in messages: "method of spreading"
  bool cuda;
  determinism level = determinism::none;
  bool automatic = false;  ///< whether is_automatic(name) is accepted

  [[nodiscard]] constexpr bool runs_here(const method_info& method) const {
    return cuda ? method.on_cuda : method.on_cpu;
  }
  [[nodiscard]] constexpr bool met_by(const method_info& method) const {
    return runs_here(method) && static_cast<int>(method.reproducible) >= static_cast<int>(level);
  }
};

/// Throws argument_error unless `methods` contains one of that name that meets the demand. The message names those that
/// do.
void require_method(const method_demand& demand, std::string_view name, const std::vector<method_info>& methods);

/// Throws for a method of quadrat::papers when that library is not linked.
[[noreturn]] void throw_not_linked(const method_demand& demand, std::string_view name);

/// The same for the methods of a list. Methods with wrong results are accepted, but never suggested.
template <typename List>
void require_method(const method_demand& demand, std::string_view name) {
  if (demand.automatic && is_automatic(name)) return;
  std::vector<method_info> methods;
  List::for_each([&](auto method) {
    using method_type = decltype(method);
    if (of_papers<method_type> && !papers_linked && method_type::name == name) throw_not_linked(demand, name);
    if (!has_wrong_results<method_type>() || method_type::name == name) methods.push_back(info_of<method_type>());
  });
  require_method(demand, name, methods);
}

/// The time that a method is expected to take. Good only for comparing methods on one machine.
struct expected_time {
  std::string_view method;
  double milliseconds;
};

/// The methods of a list that meet the demand and serve the request, fastest first; ties in the order of the list.
/// Methods without a `cost` are left out, and those with an infinite cost come last.
template <typename List, typename Request>
[[nodiscard]] std::vector<expected_time> expected_times(const method_demand& demand, const Request& request) {
  std::vector<expected_time> times;
  List::for_each([&](auto method) {
    using method_type = decltype(method);
    if constexpr (requires { method_type::cost(request); }) {
      if (has_wrong_results<method_type>() || !demand.met_by(info_of<method_type>())) return;
      if (!does_serve<method_type>(request)) return;
      times.push_back({method_type::name, method_type::cost(request)});
    }
  });
  std::ranges::stable_sort(times, {}, &expected_time::milliseconds);
  return times;
}

/// "for 5 uses tiles is expected to take least, particle_threads 12 times as long". Without absolute times, since those
/// would be of another machine. `times` must not be empty.
[[nodiscard]] std::string comparison(const std::vector<expected_time>& times, double uses);

}  // namespace quadrat::detail
