// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/spread_choice.hpp"

#include <type_traits>

#include "quadrat/core/error.hpp"
#include "quadrat/mesh/methods.hpp"

namespace quadrat::detail {

namespace {

template <typename Context, typename T>
spread_choice choose(const Context& context, const spread_setup<T>& setup, std::size_t /*count*/) {
  const std::string& asked = setup.options.method;
  if (!asked.empty() && asked != "auto") return {asked, "asked for"};
  constexpr auto here = std::is_same_v<Context, cpu_context> ? &spread_method::on_cpu : &spread_method::on_cuda;
  for (const spread_method& method : spread_methods()) {
    const bool able = static_cast<int>(method.reproducible) >= static_cast<int>(context.reproducibility());
    if (method.*here && able && !method.wrong_results) {
      return {std::string(method.name), "the first method with the level of determinism that was asked for"};
    }
  }
  throw argument_error("no method of spreading has the level of determinism that was asked for, here");
}

}  // namespace

template <typename T>
spread_choice choose_spread_method(const cpu_context& context, const spread_setup<T>& setup, std::size_t count) {
  return choose(context, setup, count);
}
template <typename T>
spread_choice choose_spread_method(const cuda_context& context, const spread_setup<T>& setup, std::size_t count) {
  return choose(context, setup, count);
}

template spread_choice choose_spread_method(const cpu_context&, const spread_setup<float>&, std::size_t);
template spread_choice choose_spread_method(const cpu_context&, const spread_setup<double>&, std::size_t);
template spread_choice choose_spread_method(const cuda_context&, const spread_setup<float>&, std::size_t);
template spread_choice choose_spread_method(const cuda_context&, const spread_setup<double>&, std::size_t);

}  // namespace quadrat::detail
