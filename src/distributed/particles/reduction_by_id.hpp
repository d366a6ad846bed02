// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "quadrat/core/context.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/distributed/communicator.hpp"
#include "quadrat/parallel/reduce.hpp"

/// `reduce` over values with global ids, distributed over ranks. All ranks together make the joins in the order of
/// `reduce`, so the result has the bits of one rank. Each rank joins whole subtrees. Only one value per subtree, or per
/// block of a GPU's launch, travels to all ranks.
namespace quadrat::detail {

/// The order of `reduce` on the CPU: chunks of consecutive ids, then a tree. A rank has 2^k chunks, which form a
/// subtree.
struct chunk_shares {
  std::uint64_t count;
  std::uint64_t span = reduce_chunk;  ///< ids of a rank

  chunk_shares(std::uint64_t number, int ranks) : count(number) {
    while (span * static_cast<std::uint64_t>(ranks) < count) span *= 2;
  }
  QUADRAT_HD std::uint32_t operator()(std::uint64_t id) const { return static_cast<std::uint32_t>(id / span); }

  /// The number of entries in a rank's table.
  [[nodiscard]] std::size_t places(int rank) const {
    const std::uint64_t first = std::min(count, span * static_cast<std::uint64_t>(rank));
    return static_cast<std::size_t>(std::min(span, count - first));
  }
  [[nodiscard]] std::size_t place(std::uint64_t id) const { return static_cast<std::size_t>(id % span); }

  /// The joined value of this rank's table; none if it has no ids.
  template <typename T, typename Operation>
  [[nodiscard]] std::vector<T> joined(const std::vector<T>& table, int, const Operation& join,
                                      const T& identity) const {
    std::vector<T> partials;
    for (std::size_t first = 0; first < table.size(); first += reduce_chunk) {
      const std::size_t last = std::min(first + reduce_chunk, table.size());
      partials.push_back(reduce_range(
          first, last, [&](std::size_t i) { return table[i]; }, join, identity));
    }
    if (!partials.empty()) partials = {reduce_tree(partials.data(), partials.size(), join)};
    return partials;
  }
  [[nodiscard]] std::size_t most_values() const { return 1; }
  template <typename T, typename Operation>
  [[nodiscard]] T last_join(std::vector<T>& values, const Operation& join, const T&) const {
    return reduce_tree(values.data(), values.size(), join);
  }
};

/// The order of `reduce` on GPUs: each thread of the launch joins every width-th value, then each block joins those of
/// its threads. A rank has consecutive blocks.
struct block_shares {
  static constexpr std::uint64_t block = 256;
#if defined(__CUDACC__)
  static_assert(block == cuda_launch::block);
#endif
  std::uint64_t count, blocks, blocks_of_rank;

  block_shares(std::uint64_t number, int ranks)
      : count(number), blocks(std::min<std::uint64_t>((number + block - 1) / block, reduce_blocks)) {
    const auto all = static_cast<std::uint64_t>(ranks);
    blocks_of_rank = std::max<std::uint64_t>((blocks + all - 1) / all, 1);
  }
  QUADRAT_HD std::uint32_t operator()(std::uint64_t id) const {
    return static_cast<std::uint32_t>(id % (blocks * block) / block / blocks_of_rank);
  }

  [[nodiscard]] std::uint64_t blocks_at(int rank) const {
    const std::uint64_t first = std::min(blocks, blocks_of_rank * static_cast<std::uint64_t>(rank));
    return std::min(blocks_of_rank, blocks - first);
  }
  /// Entries [round of the launch][thread]; the last round may be incomplete.
  [[nodiscard]] std::size_t places(int rank) const {
    const std::uint64_t width = blocks * block;
    return blocks == 0 ? 0 : static_cast<std::size_t>((count + width - 1) / width * blocks_at(rank) * block);
  }
  [[nodiscard]] std::size_t place(std::uint64_t id) const {
    const std::uint64_t width = blocks * block, thread = id % width, rank = thread / block / blocks_of_rank;
    const std::uint64_t own = blocks_at(static_cast<int>(rank)) * block;
    return static_cast<std::size_t>(id / width * own + (thread - rank * blocks_of_rank * block));
  }

  /// As reduce_kernel; map(k) is the k-th value of a thread.
  template <typename T, typename Map, typename Operation>
  [[nodiscard]] static T joined_by_thread(std::uint64_t values, const Map& map, const Operation& join, T value) {
    std::uint64_t k = 0;
    for (; k + 3 < values; k += 4) value = join(value, join(join(map(k), map(k + 1)), join(map(k + 2), map(k + 3))));
    for (; k < values; ++k) value = join(value, map(k));
    return value;
  }
  template <typename T, typename Operation>
  [[nodiscard]] static T joined_by_block(std::vector<T>& shared, const Operation& join) {
    for (std::size_t half = block / 2; half > 0; half /= 2) {
      for (std::size_t i = 0; i < half; ++i) shared[i] = join(shared[i], shared[i + half]);
    }
    return shared[0];
  }

  template <typename T, typename Operation>
  [[nodiscard]] std::vector<T> joined(const std::vector<T>& table, int rank, const Operation& join,
                                      const T& identity) const {
    const std::uint64_t own = blocks_at(rank) * block, width = blocks * block;
    const std::uint64_t before = blocks_of_rank * static_cast<std::uint64_t>(rank) * block;
    std::vector<T> partials, shared(block, identity);
    for (std::uint64_t first = 0; first < own; first += block) {
      for (std::uint64_t i = 0; i < block; ++i) {
        const std::uint64_t thread = before + first + i;
        const std::uint64_t values = thread < count ? (count - thread - 1) / width + 1 : 0;
        const auto value_of = [&](std::uint64_t k) { return table[static_cast<std::size_t>(k * own + first + i)]; };
        shared[static_cast<std::size_t>(i)] = joined_by_thread(values, value_of, join, identity);
      }
      partials.push_back(joined_by_block(shared, join));
    }
    return partials;
  }
  [[nodiscard]] std::size_t most_values() const { return static_cast<std::size_t>(blocks_of_rank); }
  template <typename T, typename Operation>
  [[nodiscard]] T last_join(std::vector<T>& values, const Operation& join, const T& identity) const {
    std::vector<T> shared(block, identity);
    for (std::size_t i = 0; i < block; ++i) {
      const std::size_t own = i < values.size() ? (values.size() - i - 1) / block + 1 : 0;
      shared[i] = joined_by_thread(
          own, [&](std::uint64_t k) { return values[static_cast<std::size_t>(k * block) + i]; }, join, identity);
    }
    return joined_by_block(shared, join);
  }
};

template <typename Context>
struct reduction_shares_of;
template <>
struct reduction_shares_of<cpu_context> {
  using type = chunk_shares;
};
template <>
struct reduction_shares_of<cuda_context> {
  using type = block_shares;
};

/// Joins all values in the order of `reduce` over 0 to count - 1, on every rank. `table`: the values of this rank's
/// ids, each at shares.place(id). Collective.
template <typename Shares, typename T, typename Operation>
[[nodiscard]] T reduce_by_id(communicator& ranks, const Shares& shares, const std::vector<T>& table,
                             const Operation& join, const T& identity) {
  if (shares.count == 0) return identity;
  std::vector<T> mine = shares.joined(table, ranks.rank(), join, identity);
  const std::vector<std::size_t> counts = all_values(ranks, mine.size());
  const std::size_t most = shares.most_values();
  mine.resize(most, identity);
  std::vector<T> padded(most * counts.size(), identity), values;
  ranks.all_gather(mine.data(), padded.data(), most * sizeof(T));
  for (std::size_t rank = 0; rank < counts.size(); ++rank) {
    const auto first = padded.begin() + static_cast<std::ptrdiff_t>(rank * most);
    values.insert(values.end(), first, first + static_cast<std::ptrdiff_t>(counts[rank]));
  }
  return shares.last_join(values, join, identity);
}

}  // namespace quadrat::detail
