// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "quadrat/keyed/key_reducer.hpp"
#include "quadrat/keyed/reduce_with.hpp"

namespace quadrat {

/// A reducer for keys 0 to key_count - 1, without keys yet. Throws what the constructor of key_reducer throws.
template <typename Context>
[[nodiscard]] key_reducer<Context> make_key_reducer(const Context& context, std::uint64_t key_count,
                                                    const key_reducer_options& options = {}) {
  return {context, key_count, options};
}

/// A reducer for user-defined functors and types.
template <typename Context>
[[nodiscard]] functor_reducer<Context> make_functor_reducer(const Context& context) {
  return functor_reducer<Context>(context);
}

}  // namespace quadrat
