// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "quadrat/distributed/key_reducer.hpp"

namespace quadrat {

key_share keys_of_rank(std::uint64_t key_count, int rank, int ranks) {
  const auto number = static_cast<std::uint64_t>(ranks), self = static_cast<std::uint64_t>(rank);
  const std::uint64_t width = key_count / number + (key_count % number != 0 ? 1 : 0);
  return {std::min(self * width, key_count), std::min((self + 1) * width, key_count)};
}

}  // namespace quadrat
