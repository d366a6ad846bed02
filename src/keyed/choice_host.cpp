// SPDX-License-Identifier: BSD-3-Clause
#include "keyed/choice.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "core/method_choice.hpp"
#include "core/number_text.hpp"
#include "keyed/methods.hpp"
#include "quadrat/core/error.hpp"
#include "tune/choice.hpp"

namespace quadrat::detail {

namespace {

/// "of 4096 elements sampled 90 % have the same key as the element before, ...; 4.1 keys in 32 consecutive ones, ..."
[[nodiscard]] std::string text_of(const key_sample& sample) {
  if (sample.assumed) return "keys were not sampled, for so little work so far";
  if (sample.seen < 1) return "no elements with keys in range were sampled";
  std::string text = message("of ", sample.seen, " elements sampled ", std::round(100 * sample.same),
                             " % have the same key as the element before, ", std::round(100 * sample.descending),
                             " % a smaller key; ", two_digits(sample.warp_keys), " keys in 32 consecutive ones, ",
                             two_digits(sample.block_keys), " in 4096");
  if (sample.commonest >= 0.01) text += message("; ", two_digits(100 * sample.commonest), " % have the commonest key");
  return text;
}

constexpr std::array<std::string_view, 3> level_names{"none", "run_to_run", "canonical"};

[[nodiscard]] choice_task key_task(const key_request& request) {
  return {
      "keyed", {key_method_kind, request.cuda, request.level}, request.uses, static_cast<double>(request.free_bytes)};
}

}  // namespace

std::vector<expected_time> expected_key_times(const key_request& request, const device_profile& profile) {
  return times_by_profile<key_method_list>(key_task(request), request, profile);
}

key_choice choose_key_method(const key_request& request, const device_profile& profile) {
  const std::vector<expected_time> times = expected_key_times(request, profile);
  require(!times.empty(), "no method of reduction by key for keys in any order has ",
          request.compensated ? "compensated " : "", "sums of the level ",
          level_names[static_cast<std::size_t>(request.level)], " here",
          request.level == determinism::canonical ? "; ask for run_to_run" : "");
  // If memory suffices for no method, there is nothing to compare.
  const double ms = times[0].milliseconds;
  if (std::isinf(ms)) return {times[0].method, "no other method is possible here", request, ms};
  return {times[0].method, message(text_of(request.sample), "; ", comparison(times, request.uses)), request, ms};
}

explanation explain_key_method(const key_request& request, const device_profile& profile) {
  explanation result = explain<key_method_list>(key_task(request), request, profile);
  const key_sample& sample = request.sample;
  result.load = {{"elements", request.elements},
                 {"keys", request.keys},
                 {"row_bytes", request.row_bytes},
                 {"uses", request.uses},
                 {"seen", sample.seen},
                 {"same", sample.same},
                 {"warp_keys", sample.warp_keys},
                 {"block_keys", sample.block_keys},
                 {"commonest_key", sample.commonest}};
  return result;
}

template <typename Context>
key_request key_request_of(const Context& context, const key_setup& setup, std::size_t count,
                           const key_sample& sample) {
  constexpr bool cuda = std::is_same_v<Context, cuda_context>;
  int threads = 1;
  if constexpr (!cuda) threads = context.reproducibility() == determinism::none ? context.threads() : usual_threads;
  const key_reducer_options& options = setup.options;
  const bool free_counts = context.reproducibility() == determinism::none;
  const std::size_t room = options.most_bytes > 0 ? options.most_bytes
                           : free_counts          ? context.memory().available_bytes()
                                                  : ~std::size_t{0};
  return {cuda,
          threads,
          context.reproducibility(),
          room,
          options.compensated,
          static_cast<double>(count),
          static_cast<double>(setup.key_count),
          static_cast<double>(options.value_bytes),
          std::max(options.uses, 1.0),
          sample,
          static_cast<double>(options.value_components)};
}
template key_request key_request_of(const cpu_context&, const key_setup&, std::size_t, const key_sample&);
template key_request key_request_of(const cuda_context&, const key_setup&, std::size_t, const key_sample&);

template <typename Context>
key_choice choose_key_method(const Context& context, const key_setup& setup, const key_source& source,
                             workspace<Context>& scratch) {
  const auto layout = key_sample_layout::of(std::is_same_v<Context, cuda_context>, source.count);
  const auto keys = read_key_sample(context, source, layout, scratch);
  return choose_key_method(key_request_of(context, setup, source.count, summarize(layout, keys)), profile_of(context));
}

key_choice choose_unseen_key_method(key_request request, const device_profile& profile) {
  request.sample = even_keys(request.elements, request.keys);
  key_choice even = choose_key_method(request, profile);
  if (!std::isfinite(even.milliseconds)) return even;
  struct loss {
    double shares = 0, most_ms = 0;
  };
  std::map<std::string_view, loss> losses;  // of methods possible for all kinds of keys
  key_request supposed = request;
  const auto cases = supposed_keys(request.elements, request.keys);
  for (const auto& [weight, sample] : cases) {
    supposed.sample = sample;
    const auto times = expected_key_times(supposed, profile);
    for (const expected_time& one : times) {
      loss& here = losses[one.method];
      here.shares += weight * one.milliseconds / times[0].milliseconds;
      here.most_ms = std::max(here.most_ms, one.milliseconds - times[0].milliseconds);
    }
  }
  if (!request.cuda) {
    even.at_stake_ms = losses[even.method].most_ms;
    return even;
  }
  const auto best = std::ranges::min_element(losses, {}, [](const auto& one) { return one.second.shares; });
  even.method = best->first;
  even.at_stake_ms = best->second.most_ms;
  even.reason = message(text_of(request.sample), "; ", even.method,
                        " is expected to lose least, whether they are in order, in no order, or a single one");
  return even;
}

template key_choice choose_key_method(const cpu_context&, const key_setup&, const key_source&, workspace<cpu_context>&);
#if QUADRAT_HAS_CUDA
template key_choice choose_key_method(const cuda_context&, const key_setup&, const key_source&,
                                      workspace<cuda_context>&);
#endif

std::vector<named_cost> key_costs(const key_request& request) { return costs_of<key_method_list>(request); }

}  // namespace quadrat::detail
