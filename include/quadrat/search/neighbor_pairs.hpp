// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace quadrat {

/// Which of a pair (i, j, S) and its mirror image (j, i, -S) are visited or listed; S says through which periodic image
/// they meet, where more than one can.
enum class neighbor_pairs {
  full,  ///< both
  half   ///< exactly one: that with i < j; of the images of a particle itself, that whose first nonzero S is positive
};

}  // namespace quadrat
