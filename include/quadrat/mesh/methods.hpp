// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string_view>

#include "quadrat/core/types.hpp"

namespace quadrat {

/// A way to spread.
struct spread_method {
  std::string_view name;
  std::string_view summary;  ///< one line
  bool on_cpu;
  bool on_cuda;              ///< in this build, on this machine
  determinism reproducible;  ///< the highest level that it has
  bool wrong_results;        ///< exists to be timed only: updates of one mesh point may be lost
};

/// All methods, in the order in which they are shown.
[[nodiscard]] std::span<const spread_method> spread_methods();

}  // namespace quadrat
