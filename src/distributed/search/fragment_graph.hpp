// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "quadrat/distributed/communicator.hpp"

/// Which fragments of clusters, each on one rank, are parts of one cluster.
namespace quadrat::detail {

/// A fragment of a rank. Fragments are in order of rank, then of number; those of ghosts alone come last.
struct fragment_id {
  std::uint64_t bits;

  [[nodiscard]] int rank() const { return static_cast<int>(bits >> 32 & 0x7fffffffu); }
  [[nodiscard]] std::uint32_t number() const { return static_cast<std::uint32_t>(bits); }
  auto operator<=>(const fragment_id&) const = default;
};
[[nodiscard]] inline fragment_id make_fragment_id(int rank, std::uint32_t number, bool of_ghosts) {
  return {std::uint64_t{of_ghosts} << 63 | std::uint64_t{static_cast<std::uint32_t>(rank)} << 32 | number};
}

/// Two fragments of one cluster.
struct fragment_link {
  fragment_id mine;
  fragment_id other;
  auto operator<=>(const fragment_link&) const = default;
};

/// Answers of the ranks that have the fragments, in their order; each fragment is asked about once. `answer` must not
/// throw. Collective.
[[nodiscard]] std::vector<std::uint64_t> ask_ranks(communicator& ranks, const std::vector<fragment_id>& about,
                                                   const std::function<std::uint64_t(fragment_id)>& answer);

/// Fragments with links, and the first fragment of the cluster of each.
///
/// Each cluster of linked fragments chooses the neighbor with the smallest id, and so joins at least one other one in
/// each round (Boruvka). Trees of choices are flattened by pointer jumping, and links contracted, as in J. JaJa, *An
/// Introduction to Parallel Algorithms*, 1992, section 5.1. So the number of rounds grows with the logarithm of the
/// number of fragments, and messages with the number of links.
class fragment_graph {
 public:
  /// `links`: those of fragments of this rank, in any order, perhaps several times; the other rank need not give them.
  /// Collective.
  fragment_graph(communicator& ranks, std::vector<fragment_link> links);

  /// Of this rank, in increasing order.
  [[nodiscard]] const std::vector<fragment_id>& fragments() const { return fragments_; }
  /// For each of them the smallest id in its cluster.
  [[nodiscard]] const std::vector<fragment_id>& firsts() const { return firsts_; }
  /// How often ranks have asked each other.
  [[nodiscard]] int rounds() const { return rounds_; }

 private:
  [[nodiscard]] std::size_t place_of(fragment_id fragment) const;
  [[nodiscard]] std::vector<fragment_id> values_of(const std::vector<fragment_id>& about,
                                                   const std::vector<fragment_id>& values);
  [[nodiscard]] std::vector<fragment_link> sent_to_owners(std::vector<fragment_link> links);
  void choose(const std::vector<fragment_link>& links, std::vector<std::size_t>& active);
  void flatten(const std::vector<std::size_t>& active);
  [[nodiscard]] std::vector<fragment_link> contracted(const std::vector<fragment_link>& links);
  void find_firsts();

  communicator& ranks_;
  std::vector<fragment_id> fragments_, parents_, firsts_;
  int rounds_ = 0;
};

}  // namespace quadrat::detail
