// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "quadrat/keyed/key_reducer.hpp"

namespace quadrat::detail {

/// The way in which lanes of a warp that share a key ("peers") find each other. Source: voting-and-shuffling, "Finding
/// groups of keys within a warp".
enum class peer_finder {
  vote,   ///< a loop over the keys of the warp: shuffle, ballot
  match,  ///< the hardware instruction, __match_any_sync
  hash    ///< a hash table in shared memory
};
inline constexpr std::array<std::string_view, 3> peer_finder_names{"vote", "match", "hash"};

/// The way in which peers are combined. Source: voting-and-shuffling, "Pre-combining peers".
enum class peer_combination {
  tree,     ///< interleaved trees, read from the bit patterns
  switched  ///< permutes elements so that peers are neighbors, and back
};
inline constexpr std::array<std::string_view, 2> peer_combination_names{"tree", "switched"};

/// Settings for comparisons of the paper's methods, beyond the options of a reducer.
struct key_details {
  peer_finder finder = peer_finder::match;                ///< warp_peers
  peer_combination combination = peer_combination::tree;  ///< warp_peers
};

struct reducer_access {
  template <typename Context>
  [[nodiscard]] static key_reducer<Context> make(const Context& context, std::uint64_t key_count,
                                                 const key_reducer_options& options, const key_details& details) {
    return {context, key_count, options, details};
  }
};

}  // namespace quadrat::detail
