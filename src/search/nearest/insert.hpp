// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "quadrat/search/nearest_neighbors.hpp"

/// Lists of nearest neighbors on a CPU, into which its vector units insert candidates without branches.
namespace quadrat::detail {

/// Places are added in groups, and come after one group of place holders.
inline constexpr std::size_t nearest_group = 8;

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

  void clear(std::size_t groups, double squared_cutoff) {
    for (std::size_t place = 0; place < (groups + 1) * nearest_group; ++place) {
      squared[place] = place < nearest_group ? -1 : squared_cutoff;
      key[place] = 0;  // nothing at this distance comes before
    }
  }
};

/// Inserts `count` candidates into the places of a list; what falls off the end is dropped.
using insert_nearest_function = void (*)(const double* squared, const std::uint64_t* keys, std::size_t count,
                                         nearest_list& list, std::size_t groups);

/// The variants that this CPU can run, fastest first.
[[nodiscard]] std::vector<insert_nearest_function> insert_nearest_functions();

}  // namespace quadrat::detail
