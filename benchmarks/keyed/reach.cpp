// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <optional>
#include <string_view>

#include "keyed/distributions.hpp"
#include "keyed/operations.hpp"
#include "keyed/paper_size.hpp"
#include "keyed/times.hpp"

namespace quadrat::bench {

namespace {

/// Every variant on one problem, or only `atomic` and the automatic choice; with `noise`, `atomic` once more.
template <typename T, typename Context>
void time_reach(const session& s, const Context& context, std::string_view order, int components, bool noise = false,
                bool two_alone = false) {
  const paper_problem size = paper_problem_for(s);
  keyed_problem<Context, T> problem(context, paper_keys(s, order), size.keys, components);
  const auto time = [&](const key_variant& variant) {
    return time_keyed(s, context, problem, variant,
                      identify_keyed("reach", variant, value_type_name<T>(), size.n, size.keys, order, components));
  };
  std::optional<double> first;
  for (const key_variant& variant : key_variants(s, order == "ordered")) {
    if (two_alone && variant.method != "atomic" && variant.method != "auto") continue;
    const auto measured = time(variant);
    if (variant.method == "atomic") first = measured;
  }
  if (!noise || !first) return;
  key_variant atomic;
  atomic.method = "atomic";
  const auto second = time(atomic);
  if (second) {
    s.out().add_noise(identify_keyed("reach", atomic, value_type_name<T>(), size.n, size.keys, order, components),
                      *first, *second);
  }
}

template <typename Context>
void time_deterministic(const session& s, const Context& context, std::string_view order) {
  const paper_problem size = paper_problem_for(s);
  const auto time_type = [&]<typename T>(T) {
    const auto time = [&](value_sizes sizes, determinism level, bool compensated) {
      keyed_problem<Context, T> problem(context, paper_keys(s, order), size.keys, 1, false, sizes);
      for (const key_variant& variant : key_variants(s, order == "ordered", level, compensated)) {
        row identity = identify_keyed("deterministic", variant, value_type_name<T>(), size.n, size.keys, order, 1);
        if (sizes == value_sizes::by_key) identity["sizes"] = "by_key";
        time_keyed(s, context, problem, variant, identity);
      }
    };
    time(value_sizes::alike, determinism::run_to_run, false);
    time(value_sizes::by_key, determinism::run_to_run, false);
    time(value_sizes::alike, determinism::none, true);
  };
  time_type(float{});
  time_type(double{});
}

}  // namespace

paper_problem paper_problem_for(const session& s) {
  const std::uint32_t side = !s.full() ? 10 : (s.on_cuda() ? 100 : 50);
  return {side * side * side, std::size_t{10} * side * side * side};
}

const std::vector<std::uint32_t>& paper_keys(const session& s, std::string_view order) {
  const paper_problem size = paper_problem_for(s);
  return s.once<std::vector<std::uint32_t>>(message("keys of the paper, ", order),
                                            [&] { return make_keys(order, size.n, size.keys); });
}

void run_keyed_reach(const session& s) {
  with_context(s, [&](const auto& context) {
    for (const std::string_view order : paper_orders) {
      time_reach<float>(s, context, order, 1, order == "random");
      time_reach<double>(s, context, order, 1);
    }
    time_reach<float>(s, context, "random", 4);
    for (const int components : {2, 3, 5, 6, 7, 8}) {
      time_reach<float>(s, context, "random", components, false, true);
      if (components < 5) time_reach<double>(s, context, "random", components, false, true);
    }
  });
}

void run_keyed_deterministic(const session& s) {
  with_context(s, [&](const auto& context) {
    for (const std::string_view order : paper_orders) time_deterministic(s, context, order);
  });
}

}  // namespace quadrat::bench
