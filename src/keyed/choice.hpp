// SPDX-License-Identifier: BSD-3-Clause
#pragma once

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
  key_request request;      ///< that it was chosen for
  double milliseconds = 0;  ///< that all uses of a set of keys are expected to take
  double at_stake_ms = 0;   ///< that this choice loses at most, if keys were not seen
};

/// Whether a sample costs at most 2 % of the work. Where runs must be repeatable the first keys decide for all that
/// follow, of which there may be many, and equal keys cost some methods twenty times as much: three times what is at
/// stake. Only there a GPU is waited for.
[[nodiscard]] inline bool worth_key_sample(bool cuda, bool repeatable, std::size_t elements, double work_ms,
                                           double at_stake_ms) {
  const double worth_ms = repeatable ? 3 * at_stake_ms : 0.02 * work_ms;
  return worth_ms >= sample_ms(cuda, cuda && repeatable, key_sample_layout::of(cuda, elements));
}

/// The request for `count` elements whose sample is this one.
template <typename Context>
[[nodiscard]] key_request key_request_of(const Context& context, const key_setup& setup, std::size_t count,
                                         const key_sample& sample);

/// The method by counts alone; the sample of `request` does not count. On CPUs keys are taken to be equally frequent,
/// in random order. On GPUs a method that equal keys slow down may take a hundred times as long, so that it is the one
/// that is expected to lose least over keys in random order, keys in order, and a single one.
[[nodiscard]] key_choice choose_unseen_key_method(key_request request, const device_profile& profile);

/// The method for `auto`, by a sample of the keys; always one that takes keys in any order and supports the context's
/// level of determinism, and compensation where requested. Synchronizes.
template <typename Context>
[[nodiscard]] key_choice choose_key_method(const Context& context, const key_setup& setup, const key_source& source,
                                           workspace<Context>& scratch);

/// The choice itself, from the records of the methods; needs no device.
[[nodiscard]] key_choice choose_key_method(const key_request& request, const device_profile& profile);

/// The methods that can be chosen for a request, fastest first.
[[nodiscard]] std::vector<expected_time> expected_key_times(const key_request& request, const device_profile& profile);

/// All methods, as such a choice sees them.
[[nodiscard]] explanation explain_key_method(const key_request& request, const device_profile& profile);

/// What each method that can be chosen costs.
[[nodiscard]] std::vector<named_cost> key_costs(const key_request& request);

}  // namespace quadrat::detail
