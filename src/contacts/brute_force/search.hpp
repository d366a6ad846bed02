// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "contacts/bodies/placed.hpp"

namespace quadrat::detail {

/// Every pair: row j holds those of body j with bodies k > j (parallel-binning-collision, slides 5 to 11). Counting the
/// rows is step 1 and gives the paper's array dB. Step 2 is its inclusive scan; ours is exclusive, followed by the
/// total, so that offsets[j + 1] is the paper's dB[j] and row j begins at offsets[j], its dB[j - 1] (slide 9 has dB[j],
/// one row too far). Step 3, filling, ends when all contacts of j have been found.
template <typename T>
struct brute_search {
  const placed_body<T>* bodies;
  std::size_t count;

  /// Calls f(body, body) for each pair until it returns false.
  template <typename F>
  QUADRAT_HD void visit(std::size_t j, F&& f) const {
    const placed_body<T> body = bodies[j];
    for (std::size_t k = j + 1; k < count; ++k) {
      if (!f(body, bodies[k])) return;
    }
  }
};

}  // namespace quadrat::detail
