// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/spread_choice.hpp"

#include <cmath>
#include <string>

#include "quadrat/core/error.hpp"

namespace quadrat::detail {

namespace {

/// "0.48"
[[nodiscard]] std::string density_text(double points, double nodes) {
  return message(std::round(points / nodes * 1e3) / 1e3);
}

template <typename T>
spread_choice choose(determinism asked_level, const spread_setup<T>& setup, std::size_t count) {
  const std::string& asked = setup.options.method;
  if (!asked.empty() && asked != "auto") return {asked, "asked for"};
  if (asked_level == determinism::canonical) {
    return {"single_mesh", "the only method whose sums are in the order of points, as canonical asks"};
  }
  const std::string density = density_text(static_cast<double>(count), static_cast<double>(setup.shape.size()));
  return {"tiles", "fastest at " + density +
                       " points a mesh point, for any number of uses: its points are sorted sooner "
                       "than matrices are built, and spread sooner than these are multiplied"};
}

}  // namespace

template <typename T>
spread_choice choose_spread_method(const cpu_context& context, const spread_setup<T>& setup, std::size_t count) {
  return choose(context.reproducibility(), setup, count);
}
template <typename T>
spread_choice choose_spread_method(const cuda_context& context, const spread_setup<T>& setup, std::size_t count) {
  return choose(context.reproducibility(), setup, count);
}

template spread_choice choose_spread_method(const cpu_context&, const spread_setup<float>&, std::size_t);
template spread_choice choose_spread_method(const cpu_context&, const spread_setup<double>&, std::size_t);
template spread_choice choose_spread_method(const cuda_context&, const spread_setup<float>&, std::size_t);
template spread_choice choose_spread_method(const cuda_context&, const spread_setup<double>&, std::size_t);

}  // namespace quadrat::detail
