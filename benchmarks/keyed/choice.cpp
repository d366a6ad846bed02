// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "harness/points.hpp"
#include "keyed/distributions.hpp"
#include "keyed/operations.hpp"
#include "keyed/times.hpp"

namespace quadrat::bench {

namespace {

struct key_combination {
  std::string_view order;
  std::uint32_t keys;
  std::size_t n;
  std::string_view type;
  int components;
  bool wide;  ///< keys of 64 bits
};

/// `count` combinations. Each option occurs about equally often, in random order.
template <typename Options>
[[nodiscard]] auto deal(const Options& options, std::size_t count, std::uint64_t seed) {
  std::vector<std::size_t> place(count);
  std::iota(place.begin(), place.end(), std::size_t{0});
  std::ranges::sort(place, {}, [&](std::size_t i) { return random_word(seed, i); });
  std::vector<typename Options::value_type> dealt(count);
  for (std::size_t i = 0; i < count; ++i) dealt[place[i]] = options[i % options.size()];
  return dealt;
}

struct value_kind {
  std::string_view type;
  int components;
};

/// A Latin hypercube over all properties that a choice may depend on.
std::vector<key_combination> combinations_for(const session& s) {
  const std::size_t count = s.full() ? 100 : 10;
  constexpr std::array<std::uint32_t, 7> key_counts{16, 512, 4096, 32768, 262144, 1'000'000, 8'000'000};
  constexpr std::array<value_kind, 6> kinds{
      {{"float", 1}, {"double", 1}, {"float", 4}, {"double", 4}, {"int32", 1}, {"int64", 1}}};
  std::vector<std::size_t> sizes{100'000, 1'000'000};
  if (s.on_cuda()) sizes.push_back(10'000'000);
  if (!s.full()) sizes = {2000, 10'000};
  const std::size_t small_keys = s.full() ? key_counts.size() : 4;
  const auto orders = deal(key_orders, count, 71);
  const auto keys =
      deal(std::vector(key_counts.begin(), key_counts.begin() + static_cast<std::ptrdiff_t>(small_keys)), count, 72);
  const auto n = deal(sizes, count, 73);
  const auto kind = deal(kinds, count, 74);
  const auto wide = deal(std::array{0, 0, 1}, count, 75);
  std::vector<key_combination> all;
  for (std::size_t i = 0; i < count; ++i) {
    all.push_back({orders[i], keys[i], n[i], kind[i].type, kind[i].components, wide[i] == 1});
  }
  return all;
}

template <typename Context>
struct key_rival {
  std::string method;
  std::unique_ptr<key_reducer<Context>> reducer;
  double ms;
};

/// A reducer that has been used twice, and the time of the second use; none if a limit of the method is exceeded.
/// Throws disagreement.
template <typename Context, typename T>
std::unique_ptr<key_reducer<Context>> try_method(const Context& context, keyed_problem<Context, T>& problem,
                                                 const key_variant& variant, double& ms) {
  try {
    auto reducer = std::make_unique<key_reducer<Context>>(
        context, problem.key_count(), variant.options(1, problem.value_bytes(), problem.components()));
    problem.set_keys(*reducer);
    problem.check(*reducer, variant.method);
    stopwatch<Context> watch(context);
    watch.start();
    problem.set_keys_async(*reducer);
    problem.reduce_async(*reducer);
    ms = watch.stop_ms();
    return reducer;
  } catch (const argument_error&) {
    return nullptr;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

timing_plan choice_plan(const session& s) {
  timing_plan plan;
  plan.least = s.full() ? 15 : 3;
  plan.most = plan.least;
  return plan;
}

template <typename Context, typename T>
timing time_choice(const session& s, const Context& context, keyed_problem<Context, T>& problem,
                   key_reducer<Context>& reducer) {
  const auto work = [&] {
    problem.set_keys_async(reducer);
    problem.reduce_async(reducer);
  };
  const auto captured = time_captured(context, choice_plan(s), work);
  return captured ? *captured : time_calls(context, choice_plan(s), work);
}

/// Times the candidates of the choice. Methods that need ordered keys are not among them, since a sample cannot
/// guarantee order. Only methods within three times of the best in a first run are timed precisely; the others are only
/// named in the row.
template <typename Context, typename T>
std::vector<key_rival<Context>> time_rivals(const session& s, const Context& context,
                                            keyed_problem<Context, T>& problem, row& left_out) {
  constexpr double hopeless = 3;
  constexpr std::size_t queue_worth_seeing = 1000;
  std::vector<key_rival<Context>> found;
  double best = std::numeric_limits<double>::infinity();
  for (const key_variant& variant : key_variants(s, false)) {
    if (variant.method == "auto") continue;
    if (queues_for_a_key(variant.method) && problem.most_of_a_key() > queue_worth_seeing) continue;
    double ms = 0;
    auto reducer = try_method(context, problem, variant, ms);
    if (!reducer) continue;
    best = std::min(best, ms);
    found.push_back({variant.method, std::move(reducer), ms});
  }
  for (const key_rival<Context>& one : found) {
    if (one.ms > hopeless * best) left_out[one.method] = one.ms;
  }
  std::erase_if(found, [&](const key_rival<Context>& one) { return one.ms > hopeless * best; });
  for (key_rival<Context>& one : found) one.ms = time_choice(s, context, problem, *one.reducer).median_ms;
  return found;
}

/// Times set_keys with sampling of the keys, the host's waiting included.
template <typename Context, typename T>
double time_choosing(const Context& context, keyed_problem<Context, T>& problem, key_reducer<Context>& reducer) {
  problem.set_keys(reducer);
  reducer.choose_again();
  context.synchronize();
  const auto begin = std::chrono::steady_clock::now();
  problem.set_keys_async(reducer);
  context.synchronize();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

/// Appends the ratio auto / best.
template <typename T, typename Context>
void compare_choice(const session& s, const Context& context, const key_combination& what,
                    std::vector<double>& ratios) {
  key_variant automatic;
  automatic.method = "auto";
  row identity =
      identify_keyed("auto", automatic, value_type_name<T>(), what.n, what.keys, what.order, what.components);
  identity["key_bits"] = what.wide ? 64 : 32;
  s.attempt(identity, [&](row& out) {
    keyed_problem<Context, T> problem(context, make_keys(what.order, what.n, what.keys), what.keys, what.components,
                                      what.wide);
    row left_out = row::object();
    const auto rivals = time_rivals(s, context, problem, left_out);
    key_reducer<Context> chooser(context, what.keys, automatic.options(1, problem.value_bytes(), problem.components()));
    const double choosing_ms = time_choosing(context, problem, chooser);
    problem.check(chooser, "auto");
    const timing measured = time_choice(s, context, problem, chooser);
    const auto best = std::ranges::min_element(rivals, {}, &key_rival<Context>::ms);
    require(best != rivals.end(), "no method was left to compare with");
    out["chosen"] = std::string(chooser.method());
    out["best"] = best->method;
    out["ratio"] = measured.median_ms / best->ms;
    add_timing(out, measured, "elements_per_s", static_cast<double>(what.n));
    out["best_ms"] = best->ms;
    out["choose_ms"] = choosing_ms;
    out["reason"] = std::string(chooser.reason());
    for (const key_rival<Context>& one : rivals) out["methods_ms"][one.method] = one.ms;
    out["left_out_ms"] = left_out;
    ratios.push_back(measured.median_ms / best->ms);
  });
}

template <typename Context>
void compare_choices(const session& s, const Context& context) {
  std::vector<double> ratios;
  for (const key_combination& what : combinations_for(s)) {
    if (what.type == "float") compare_choice<float>(s, context, what, ratios);
    if (what.type == "double") compare_choice<double>(s, context, what, ratios);
    if (what.type == "int32") compare_choice<std::int32_t>(s, context, what, ratios);
    if (what.type == "int64") compare_choice<std::int64_t>(s, context, what, ratios);
  }
  if (ratios.empty()) return;
  const auto within = [&](double most) {
    return std::ranges::count_if(ratios, [=](double ratio) { return ratio <= most; });
  };
  s.out().add({{"op", "auto_summary"},
               {"method", "auto"},
               {"combinations", ratios.size()},
               {"within_5_percent", within(1.05)},
               {"within_15_percent", within(1.15)},
               {"worst_ratio", std::ranges::max(ratios)}});
}

}  // namespace

void run_keyed_auto(const session& s) {
  with_context(s, [&](const auto& context) { compare_choices(s, context); });
}

}  // namespace quadrat::bench
