// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/choice.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>

#include "quadrat/core/error.hpp"

namespace quadrat::detail {

namespace {

/// What a method takes on the machine that was measured, in milliseconds.
struct expected_cost {
  std::string_view method;
  double set_points;
  double spread;

  [[nodiscard]] double total(double uses) const { return set_points + uses * spread; }
};

/// What costs depend on.
struct spread_load {
  double points;
  double nodes;
  double bytes;  ///< of the mesh
  double work;   ///< contributions, in units of those of so many points of order 6 in three dimensions
};

template <typename T>
[[nodiscard]] spread_load load_of(const spread_setup<T>& setup, std::size_t count) {
  const auto points = static_cast<double>(count), nodes = static_cast<double>(setup.shape.size());
  return {points, nodes, nodes * sizeof(T), points * setup.shape.footprint_size() / 216};
}

/// The methods that are fastest nearly everywhere, by numbers that were measured on an H200 (float, real values; the
/// rows `costs` of benchmarks/results/h200/mesh.json). Where methods are close, the choice may be the second best.
[[nodiscard]] std::array<expected_cost, 3> cuda_costs(const spread_load& load) {
  const double clear = load.bytes / 3.3e9;
  const double beyond_cache = load.bytes > 40e6 ? 2.1 : 1.0;
  const bool sparse = load.points < 0.1 * load.nodes;
  return {
      {{"tiles", 0.060 + 4e-8 * load.points,
        sparse ? 0.004 + 3.2e-9 * load.nodes + 1.9e-7 * load.work
               : 0.012 + clear + 4.3e-8 * std::max(load.work, 0.9 * load.points)},
       {"particle_threads", 0.024 + 1.2e-8 * load.points, 0.004 + clear + 6.6e-7 * beyond_cache * load.work},
       {"single_mesh", 0.045 + 7e-9 * load.nodes + 9e-6 * load.work, 0.003 + 4e-9 * load.nodes + 6.6e-7 * load.work}}};
}

/// The answer where there is no choice to make.
[[nodiscard]] bool settle(const std::string& asked, determinism level, spread_choice& choice) {
  if (!asked.empty() && asked != "auto") {
    choice = {asked, "asked for"};
  } else if (level == determinism::canonical) {
    choice = {"single_mesh", "the only method whose sums are in the order of points, as canonical asks"};
  } else {
    return false;
  }
  return true;
}

}  // namespace

template <typename T>
spread_choice choose_spread_method(const cpu_context& context, const spread_setup<T>& setup, std::size_t /*count*/) {
  spread_choice choice;
  if (settle(setup.options.method, context.reproducibility(), choice)) return choice;
  return {"tiles", "on CPUs the fastest method for any number of points and uses"};
}

template <typename T>
spread_choice choose_cuda_spread_method(determinism level, const spread_setup<T>& setup, std::size_t count) {
  spread_choice choice;
  if (settle(setup.options.method, level, choice)) return choice;
  if (level != determinism::none) return {"tiles", "the fastest method that gives the same bits in every run"};
  auto costs = cuda_costs(load_of(setup, count));
  const double uses = setup.options.uses;
  std::sort(costs.begin(), costs.end(), [&](const auto& a, const auto& b) { return a.total(uses) < b.total(uses); });
  // Times would be those of another machine.
  const double ratio = std::round(10 * costs[1].total(uses) / costs[0].total(uses)) / 10;
  return {std::string(costs[0].method),
          message("for ", uses, uses == 1 ? " use " : " uses ", costs[0].method, " is expected to take least, ",
                  costs[1].method, " ", ratio, " times as long")};
}

template <typename T>
spread_choice choose_spread_method(const cuda_context& context, const spread_setup<T>& setup, std::size_t count) {
  return choose_cuda_spread_method(context.reproducibility(), setup, count);
}

template spread_choice choose_cuda_spread_method(determinism, const spread_setup<float>&, std::size_t);
template spread_choice choose_cuda_spread_method(determinism, const spread_setup<double>&, std::size_t);
template spread_choice choose_spread_method(const cpu_context&, const spread_setup<float>&, std::size_t);
template spread_choice choose_spread_method(const cpu_context&, const spread_setup<double>&, std::size_t);
template spread_choice choose_spread_method(const cuda_context&, const spread_setup<float>&, std::size_t);
template spread_choice choose_spread_method(const cuda_context&, const spread_setup<double>&, std::size_t);

}  // namespace quadrat::detail
