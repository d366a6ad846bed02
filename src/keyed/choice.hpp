// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "core/method_choice.hpp"
#include "keyed/cost.hpp"
#include "keyed/engine.hpp"
#include "keyed/source.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/parallel/workspace.hpp"
#include "quadrat/tune/device_profile.hpp"
#include "quadrat/tune/explanation.hpp"

namespace quadrat::detail {

struct key_choice {
  std::string_view method;  ///< one of key_methods()
  std::string reason;       ///< one line
  key_request request;      ///< for which it was chosen
  double milliseconds = 0;  ///< expected time of all uses of a set of keys
  double at_stake_ms = 0;   ///< the most that this choice may lose if keys were not sampled
};

/// Whether a sample costs at most 2 % of the work, or on a GPU, which does not wait for it, a tenth of the time at
/// stake. If runs must be repeatable, the first keys decide for all later ones, and equal keys cost some methods twenty
/// times as much: then a sample may cost three times the time at stake, and waits for a GPU.
[[nodiscard]] inline bool worth_key_sample(bool cuda, bool repeatable, std::size_t elements, double work_ms,
                                           double at_stake_ms) {
  const double worth_ms = repeatable ? 3 * at_stake_ms : std::max(0.02 * work_ms, cuda ? 0.1 * at_stake_ms : 0);
  return worth_ms >= sample_ms(cuda, cuda && repeatable, key_sample_layout::of(cuda, elements));
}

/// The request for `count` elements with this sample.
template <typename Context>
[[nodiscard]] key_request key_request_of(const Context& context, const key_setup& setup, std::size_t count,
                                         const key_sample& sample);

/// Chooses by counts alone; ignores the sample of `request`. On CPUs it assumes equally frequent keys in random order.
/// On GPUs equal keys may slow a method down a hundred times, so it chooses the method with the least expected loss
/// over keys in random order, keys in order, and a single key.
[[nodiscard]] key_choice choose_unseen_key_method(key_request request, const device_profile& profile);

/// The method for `auto`, by a sample of the keys; always one that takes keys in any order and supports the context's
/// level of determinism, and compensation where requested. Synchronizes.
template <typename Context>
[[nodiscard]] key_choice choose_key_method(const Context& context, const key_setup& setup, const key_source& source,
                                           workspace<Context>& scratch);

/// The choice itself, from the descriptors of the methods; needs no device.
[[nodiscard]] key_choice choose_key_method(const key_request& request, const device_profile& profile);

/// The methods that can be chosen for a request, fastest first.
[[nodiscard]] std::vector<expected_time> expected_key_times(const key_request& request, const device_profile& profile);

/// All methods, with what the choice knows of each.
[[nodiscard]] explanation explain_key_method(const key_request& request, const device_profile& profile);

/// The cost of each method that can be chosen.
[[nodiscard]] std::vector<named_cost> key_costs(const key_request& request);

}  // namespace quadrat::detail
