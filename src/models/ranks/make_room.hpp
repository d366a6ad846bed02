// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>

#include "quadrat/core/array.hpp"

namespace quadrat::detail {

/// Makes room for this many elements plus a sixteenth, if there is less. Keeps the first `kept`.
template <typename Context, typename E>
void make_room(const Context& context, array<E, Context>& elements, std::size_t kept, std::size_t room) {
  if (elements.size() >= room) return;
  array<E, Context> larger(context, room + room / 16);
  copy_bytes(context, elements.data(), larger.data(), std::min(elements.size(), kept) * sizeof(E));
  // The copy is enqueued; memory of the context is released in order.
  elements.swap(larger);
}

}  // namespace quadrat::detail
