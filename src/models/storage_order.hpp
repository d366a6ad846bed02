// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "quadrat/core/error.hpp"
#include "quadrat/core/types.hpp"

namespace quadrat::detail {

/// Throws argument_error unless the order is empty or a permutation of [0, count). `kind` names a particle in messages.
inline void check_storage_order(const std::vector<particle_id>& order, std::size_t count, const char* kind) {
  if (order.empty()) return;
  require(order.size() == count, "the storage order has ", order.size(), " ids for ", count, " ", kind, "s");
  std::vector<bool> seen(count, false);
  for (const particle_id id : order) {
    require(id < count && !seen[id], "the storage order is not a permutation: ", kind, " ", id,
            id < count ? " is in it twice" : " does not exist");
    seen[id] = true;
  }
}

}  // namespace quadrat::detail
