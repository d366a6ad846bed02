// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

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
};

/// Whether a sample of this layout costs at most 2 % of that work on a CPU.
[[nodiscard]] inline bool worth_key_sample(const key_sample_layout& layout, double work_ms) {
  return 0.02 * work_ms >= cpu_sample_ms(layout);
}

/// On a CPU: the method by counts alone, for keys that are all as frequent and in random order.
[[nodiscard]] key_choice choose_unseen_key_method(const cpu_context& context, const key_setup& setup,
                                                  std::size_t count);

/// The method for `auto`, by a sample of the keys; always one that takes keys in any order and supports the context's
/// level of determinism, and compensation where requested. Synchronizes.
template <typename Context>
[[nodiscard]] key_choice choose_key_method(const Context& context, const key_setup& setup, const key_source& source,
                                           workspace<Context>& scratch);

/// The choice itself, from the records of the methods; needs no device.
[[nodiscard]] key_choice choose_key_method(const key_request& request, const device_profile& profile);

/// All methods, as such a choice sees them.
[[nodiscard]] explanation explain_key_method(const key_request& request, const device_profile& profile);

/// What each method that can be chosen costs.
[[nodiscard]] std::vector<named_cost> key_costs(const key_request& request);

}  // namespace quadrat::detail
