// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "quadrat/core/context.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/tune/device_profile.hpp"
#include "quadrat/tune/explanation.hpp"

namespace quadrat {

/// What a method is wanted for.
enum class method_task : std::uint8_t { spread, reduce, neighbors, contacts };
inline constexpr std::array<std::string_view, 4> method_task_names{"spread", "reduce", "neighbors", "contacts"};

/// A load without data: points distributed evenly, in random order; keys in random order, all equally frequent.
struct described_load {
  double count = 0;                    ///< of points, elements or bodies: a whole number up to 1e15
  std::vector<int> cells{64, 64, 64};  ///< along 1 to 3 axes: mesh points, or cells as large as the cutoff
  int order = 6;                       ///< of the window of spreading, 1 to 8
  double uses = 1;                     ///< of what is prepared once, 1 or more
  double keys = 0;                     ///< of a reduction, below 2^31; 0: as many as cells
  bool wide = false;                   ///< double precision instead of float
  double contacts = -1;                ///< of a body, as an earlier search has found; below 0: not known
};

/// Which method would be chosen for a load, and why, by the profile of a device; the device itself is not needed, nor
/// does the build have to have its kernels. `threads`: of a CPU, 0 for those of the profile; at run_to_run and
/// canonical a choice does not depend on them. The method is empty if none serves. Throws argument_error that names
/// the number that is out of range. Docs: docs/concepts/choosing.md.
[[nodiscard]] explanation choose_method(method_task task, const described_load& load, const device_profile& profile,
                                        determinism level = determinism::none, int threads = 0);

/// The same on the device of a context, by its profile. Does not synchronize.
[[nodiscard]] explanation choose_method(method_task task, const described_load& load, const cpu_context& context);
[[nodiscard]] explanation choose_method(method_task task, const described_load& load, const cuda_context& context);

}  // namespace quadrat
