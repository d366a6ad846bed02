// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "harness/session.hpp"

namespace quadrat::bench {

/// One row: a transform of `n` points; type 3 has as many targets.
struct transform_case {
  int type;
  bool single;
  double tolerance;
  int dimension;
  int modes;  ///< along each axis
  std::size_t n;
  bool real = false;
  bool one_place = false;  ///< all points are at the position of the first
};

/// The rows in one to three dimensions for this device, quick or full.
[[nodiscard]] std::vector<transform_case> transform_cases(const session& s, int dimension);

}  // namespace quadrat::bench
