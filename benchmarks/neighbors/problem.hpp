// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <numbers>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "harness/points.hpp"
#include "harness/session.hpp"
#include "harness/stopwatch.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/search/neighbor_list.hpp"

namespace quadrat::bench {

/// The cutoff that gives `neighbors` on average at `density`, neglecting boundaries.
[[nodiscard]] inline double cutoff_for(double neighbors, double density) {
  return std::cbrt(neighbors / (density * 4 / 3 * std::numbers::pi));
}

/// Points on the device, and the boxes around them.
template <typename Context, typename T>
struct problem {
  problem(const Context& where, const std::vector<T>& coordinates, std::vector<lattice<T, 3>> around, double distance,
          double wanted)
      : context(where),
        values(to_device(where, coordinates)),
        count(coordinates.size() / 3),
        boxes(std::move(around)),
        cutoff(static_cast<T>(distance)),
        neighbors(wanted) {}

  [[nodiscard]] neighbor_input<T, 3> input() const {
    neighbor_input<T, 3> result;
    result.points = strided_points<3>(values.data(), count);
    result.boxes = boxes;
    result.system_of_point = boxes.size() > 1 ? systems.data() : nullptr;
    result.radii = radii.size() > 0 ? radii.data() : nullptr;
    return result;
  }

  Context context;
  array<T, Context> values;
  array<std::uint32_t, Context> systems;
  array<T, Context> radii;  ///< for rules with radii
  std::size_t count;
  std::vector<lattice<T, 3>> boxes;
  T cutoff;
  double neighbors;
};

/// A cube of side 1 around the origin.
template <typename T>
[[nodiscard]] lattice<T, 3> unit_cube(bool periodic) {
  const auto half = vec<T, 3>::filled(T(0.5));
  return make_lattice(make_box(half * T(-1), half, vec<bool, 3>::filled(periodic)));
}

template <typename Context, typename T>
[[nodiscard]] problem<Context, T> uniform_problem(const Context& context, std::size_t n, double neighbors,
                                                  bool periodic) {
  return {context,
          random_points<T>(n, 0.5, n),
          {unit_cube<T>(periodic)},
          cutoff_for(neighbors, static_cast<double>(n)),
          neighbors};
}

/// Milliseconds of a call that builds a list.
template <typename Context, typename T>
[[nodiscard]] std::function<double()> list_builder(std::shared_ptr<const problem<Context, T>> what,
                                                   const neighbor_options<T>& options) {
  auto list = std::make_shared<neighbor_list<Context, T, 3>>(what->context, options);
  list->build(what->input());
  return [what = std::move(what), list = std::move(list)] {
    stopwatch<Context> watch(what->context);
    watch.start();
    list->build(what->input());
    return watch.stop_ms();
  };
}

/// Times a list with these options and adds the row. `expected`: the number of pairs that other methods have found, 0
/// at first. `beside`: other work, timed alternately with the list; the row also has the ratio of the list's time to
/// it. On machines whose speed varies, times measured one after the other are hard to compare.
template <typename Context, typename T>
void time_list(const session& s, const problem<Context, T>& what, std::string_view operation,
               const neighbor_options<T>& options, std::string_view distribution, std::uint64_t& expected,
               std::string_view variant = {}, const std::function<double()>& beside = {}) {
  row identity = identify(operation, options.method.empty() ? "auto" : options.method,
                          std::is_same_v<T, float> ? "float" : "double", what.count, 0, distribution);
  identity.erase("cells");
  identity["neighbors"] = what.neighbors;
  if (what.boxes.size() > 1) identity["systems"] = what.boxes.size();
  if (!variant.empty()) identity["output"] = std::string(variant);
  s.attempt(identity, [&](row& out) {
    neighbor_list<Context, T, 3> list(what.context, options);
    list.build(what.input());
    if (expected == 0) expected = list.size();
    if (list.size() != expected) {
      throw disagreement(message("found ", list.size(), " pairs where another method found ", expected));
    }
    out["chosen"] = std::string(list.method());
    out["pairs"] = list.size();
    stopwatch<Context> watch(what.context);
    std::vector<double> ratios;
    const timing measured = repeat(s.plan(), [&] {
      const double other_ms = beside ? beside() : 0;
      watch.start();
      list.build(what.input());
      const double own_ms = watch.stop_ms();
      if (beside) ratios.push_back(own_ms / other_ms);
      return own_ms;
    });
    add_timing(out, measured, "pairs_per_s", static_cast<double>(expected));
    if (beside) out["ratio"] = summarize(ratios, s.plan().tolerance).median_ms;
    if constexpr (std::is_same_v<Context, cuda_context>) {
      // Without the host: captured in a graph; the total stays on the device.
      out["graph_ms"] = time_repeated(what.context, s.plan(), [&] { list.build_async(what.input()); }).median_ms;
      list.check();
    }
    out["bytes"] = list.bytes();
  });
}

/// The selected methods that run on this device.
[[nodiscard]] std::vector<std::string_view> wanted_neighbor_methods(const session& s);

}  // namespace quadrat::bench
