// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace quadrat::detail {

/// Which thread takes which part: a share fixed from the start, or the next part as soon as it is free.
enum class part_order { fixed, as_threads_are_free };

/// Calls work(body, part) for parts 0, ..., parts - 1, on up to `threads` CPU threads. `work` may throw: when all have
/// ended, the exception of the lowest part that threw is rethrown. The region in which threads run is compiled here,
/// and not for each body.
void team_parts(int threads, std::size_t parts, part_order order, void (*work)(const void* body, std::size_t part),
                const void* body);

/// Calls work(body, first, last) for equal shares of [0, count), one for each thread, as team_parts does. A few
/// thousand indices are one share.
void team_shares(int threads, std::size_t count, void (*work)(const void* body, std::size_t first, std::size_t last),
                 const void* body);

/// Calls body(part) for a few parts of much work each, as team_parts does.
template <typename Body>
void for_each_part(int threads, std::size_t parts, const Body& body, part_order order = part_order::fixed) {
  team_parts(
      threads, parts, order, [](const void* of, std::size_t part) { (*static_cast<const Body*>(of))(part); }, &body);
}

}  // namespace quadrat::detail
