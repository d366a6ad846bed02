// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string_view>

#include "quadrat/core/types.hpp"

namespace quadrat {

/// A way to reduce by key.
struct key_method {
  std::string_view name;
  std::string_view summary;  ///< one line
  bool on_cpu;
  bool on_cuda;              ///< in this build
  determinism reproducible;  ///< the highest level that its floating-point sums have; all else is exact in any order
  bool any_order;            ///< takes keys in any order
  bool compensates;          ///< has compensated sums
};

/// All methods, in the order in which they are shown.
[[nodiscard]] std::span<const key_method> key_methods();

}  // namespace quadrat
