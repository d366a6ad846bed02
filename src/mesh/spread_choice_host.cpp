// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/spread_choice.hpp"

namespace quadrat::detail {

namespace {

template <typename Context, typename T>
spread_choice choose(const Context& /*context*/, const spread_setup<T>& setup, std::size_t /*count*/) {
  const std::string& asked = setup.options.method;
  if (!asked.empty() && asked != "auto") return {asked, "asked for"};
  return {"particle", "the only method"};
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
