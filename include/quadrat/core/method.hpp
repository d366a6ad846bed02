// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include "quadrat/core/types.hpp"

namespace quadrat {

/// What is known of every method of any kind.
struct method_info {
  std::string_view name;
  std::string_view summary;  ///< one line
  bool on_cpu;
  bool on_cuda;              ///< in this build, on this machine
  determinism reproducible;  ///< the highest level that it supports
};

}  // namespace quadrat
