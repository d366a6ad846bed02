// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "harness/stopwatch.hpp"
#include "keyed/problem.hpp"
#include "keyed/variants.hpp"

namespace quadrat::bench {

/// Milliseconds per byte at the copy bandwidth that an H200 reaches.
inline constexpr double copied_byte_ms = 1 / 4.3e9;

/// Up to 10 consecutive calls per sample, launched by the host.
template <typename Context>
[[nodiscard]] timing time_calls(const Context& context, const timing_plan& plan, const std::function<void()>& work) {
  stopwatch<Context> watch(context);
  work();  // allocates what it needs
  watch.start();
  work();
  const int repetitions = static_cast<int>(std::clamp(10 / std::max(watch.stop_ms(), 1e-3), 1.0, 10.0));
  return repeat(plan, [&] {
    watch.start();
    for (int i = 0; i < repetitions; ++i) work();
    return watch.stop_ms() / repetitions;
  });
}

/// As time_repeated on a GPU. Nothing on a CPU, or if the work cannot be captured.
template <typename Context>
[[nodiscard]] std::optional<timing> time_captured(const Context& context, const timing_plan& plan,
                                                  const std::function<void()>& work) {
  if constexpr (std::is_same_v<Context, cuda_context>) {
    try {
      return time_repeated(context, plan, work);
    } catch (const backend_error&) {
      context.synchronize();
    }
  }
  return std::nullopt;
}

/// On the CPU a sample may take a second.
[[nodiscard]] inline timing_plan keyed_plan(const session& s) {
  timing_plan plan = s.plan();
  if (!s.on_cuda()) plan.least = 5;
  return plan;
}

/// A context with the level of determinism of the variant.
template <typename Context>
[[nodiscard]] Context context_for(const session& s, const Context& context, const key_variant& variant) {
  return variant.level == determinism::none ? context : make_context<Context>(s, variant.level);
}

/// Adds plain calls as `name`_ms, and replays of a graph as `name`_graph_ms.
template <typename Context>
void add_call_times(const session& s, const Context& context, row& out, const std::string& name,
                    const std::function<void()>& work) {
  out[name + "_ms"] = time_calls(context, keyed_plan(s), work).median_ms;
  const auto captured = time_captured(context, keyed_plan(s), work);
  if (captured) out[name + "_graph_ms"] = captured->median_ms;
}

/// Times reductions with keys set for each one, then with keys kept, and adds the row. Returns the median of the former
/// on the device (captured if possible); nothing if the row could not be measured.
template <typename Context, typename T>
std::optional<double> time_keyed(const session& s, const Context& given, keyed_problem<Context, T>& problem,
                                 const key_variant& variant, const row& identity) {
  std::optional<double> result;
  s.attempt(identity, [&](row& out) {
    const Context context = context_for(s, given, variant);
    auto fresh = detail::reducer_access::make(
        context, problem.key_count(), variant.options(1, problem.value_bytes(), problem.components()), variant.details);
    const auto work = [&] {
      problem.set_keys_async(fresh);
      problem.reduce_async(fresh);
    };
    problem.set_keys(fresh);
    problem.check(fresh, variant.method);
    if (variant.method == "auto") out["chosen"] = std::string(fresh.method());
    const timing called = time_calls(context, keyed_plan(s), work);
    add_timing(out, called, "elements_per_s", static_cast<double>(problem.count()));
    const auto captured = time_captured(context, keyed_plan(s), work);
    if (captured) out["graph_ms"] = captured->median_ms;
    auto kept =
        detail::reducer_access::make(context, problem.key_count(),
                                     variant.options(10, problem.value_bytes(), problem.components()), variant.details);
    problem.set_keys(kept);
    problem.check(kept, variant.method);
    if (variant.method == "auto") out["kept_chosen"] = std::string(kept.method());
    add_call_times(s, context, out, "kept", [&] { problem.reduce_async(kept); });
    add_call_times(s, context, out, "set_keys", [&] { problem.set_keys_async(kept); });
    if (s.on_cuda()) out["floor_ms"] = static_cast<double>(problem.bytes()) * copied_byte_ms;
    out["bytes"] = std::max(fresh.bytes(), kept.bytes());
    result = captured ? captured->median_ms : called.median_ms;
  });
  return result;
}

}  // namespace quadrat::bench
