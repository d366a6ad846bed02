// SPDX-License-Identifier: BSD-3-Clause
#include "keyed/key_choice.hpp"

namespace quadrat::detail {

namespace {

[[nodiscard]] key_circumstances circumstances_of(const cpu_context& context, const key_setup& setup) {
  const std::size_t room = setup.options.most_bytes > 0 ? setup.options.most_bytes : context.memory().available_bytes();
  return {false, context.threads(), context.reproducibility(), room, key_methods()};
}
[[nodiscard]] key_circumstances circumstances_of(const cuda_context& context, const key_setup& setup) {
  const std::size_t room = setup.options.most_bytes > 0 ? setup.options.most_bytes : context.memory().available_bytes();
  return {true, 1, context.reproducibility(), room, key_methods()};
}

}  // namespace

template <typename Context>
key_choice choose_key_method(const Context& context, const key_setup& setup, const key_source& source,
                             workspace<Context>& scratch) {
  const auto keys = read_key_sample(context, source, scratch);
  return choose_key_method(circumstances_of(context, setup), setup, source.count,
                           summarize(key_sample_layout(source.count), keys));
}

template key_choice choose_key_method(const cpu_context&, const key_setup&, const key_source&, workspace<cpu_context>&);
template key_choice choose_key_method(const cuda_context&, const key_setup&, const key_source&,
                                      workspace<cuda_context>&);

}  // namespace quadrat::detail
