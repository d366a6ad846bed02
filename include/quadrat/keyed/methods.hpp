// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "quadrat/core/method.hpp"

namespace quadrat {

/// A method of reduction by key. Its level of determinism is that of floating-point sums; everything else is exact in
/// any order.
struct key_method : method_info {
  bool any_order;    ///< takes keys in any order
  bool compensates;  ///< supports compensated sums
};

/// All methods, in the order in which they are shown.
[[nodiscard]] std::span<const key_method> key_methods();

}  // namespace quadrat
