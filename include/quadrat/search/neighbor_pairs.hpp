// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace quadrat {

/// Whether a pair (i, j, S) and its mirror image (j, i, -S) are both visited or listed. S is the shift to the periodic
/// image of j, if there can be more than one.
enum class neighbor_pairs {
  full,  ///< both
  half   ///< exactly one: i < j; for images of the particle itself, the first nonzero component of S is positive
};

}  // namespace quadrat
