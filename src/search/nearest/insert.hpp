// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "quadrat/search/nearest_neighbors.hpp"

/// Lists of nearest neighbors on a CPU, into which its vector units insert candidates without branches.
namespace quadrat::detail {

/// A list has whole groups of places, after one group of placeholders.
inline constexpr std::size_t nearest_group = 8;

/// The most that are inserted in one call.
inline constexpr std::size_t most_nearest_candidates = 64;

/// The groups that hold k neighbors: 1, 2, 4 or 8.
[[nodiscard]] constexpr std::size_t nearest_groups(std::size_t k) {
  std::size_t groups = 1;
  while (groups * nearest_group < k) groups *= 2;
  return groups;
}

/// Squared distances, as double for every precision, and keys, in order.
struct nearest_list {
  alignas(64) double squared[nearest_group + most_nearest_neighbors];
  alignas(64) std::uint64_t key[nearest_group + most_nearest_neighbors];

  struct candidates {
    double squared[most_nearest_candidates];
    std::uint64_t key[most_nearest_candidates];

    void put(std::size_t place, double distance, std::uint64_t own) {
      squared[place] = distance;
      key[place] = own;
    }
  };

  void clear(std::size_t groups, double squared_cutoff) {
    for (std::size_t place = 0; place < (groups + 1) * nearest_group; ++place) {
      squared[place] = place < nearest_group ? -1 : squared_cutoff;
      key[place] = 0;  // nothing at this distance comes before
    }
  }
  [[nodiscard]] double squared_at(std::size_t place) const { return squared[nearest_group + place]; }
  [[nodiscard]] std::uint64_t key_at(std::size_t place) const { return key[nearest_group + place]; }
};

/// The same for squared distances in float and keys of 32 bits, as one word each. Nonnegative floats compare like their
/// bits.
struct packed_nearest_list {
  alignas(64) std::uint64_t word[nearest_group + most_nearest_neighbors];

  struct candidates {
    std::uint64_t word[most_nearest_candidates];

    void put(std::size_t place, float distance, std::uint32_t own) { word[place] = packed(distance, own); }
  };

  [[nodiscard]] static std::uint64_t packed(float squared, std::uint32_t key) {
    return static_cast<std::uint64_t>(std::bit_cast<std::uint32_t>(squared)) << 32 | key;
  }
  void clear(std::size_t groups, float squared_cutoff) {
    for (std::size_t place = 0; place < (groups + 1) * nearest_group; ++place) {
      word[place] = place < nearest_group ? 0 : packed(squared_cutoff, 0);
    }
  }
  [[nodiscard]] float squared_at(std::size_t place) const {
    return std::bit_cast<float>(static_cast<std::uint32_t>(word[nearest_group + place] >> 32));
  }
  [[nodiscard]] std::uint32_t key_at(std::size_t place) const {
    return static_cast<std::uint32_t>(word[nearest_group + place]);
  }
};

/// Inserts `count` candidates into the places of a list; drops those beyond its end.
template <typename List>
using insert_nearest_function = void (*)(const typename List::candidates& candidates, std::size_t count, List& list,
                                         std::size_t groups);

/// The variants that this CPU can run, fastest first.
template <typename List>
[[nodiscard]] std::vector<insert_nearest_function<List>> insert_nearest_functions();

}  // namespace quadrat::detail
