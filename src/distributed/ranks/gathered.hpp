// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <numeric>
#include <vector>

#include "quadrat/core/context.hpp"
#include "quadrat/distributed/communicator.hpp"

namespace quadrat::detail {

/// The elements of all ranks, in order of rank, on rank 0; nothing on the others. Host memory. Collective.
template <typename E>
[[nodiscard]] std::vector<E> gathered(communicator& ranks, const std::vector<E>& mine) {
  const std::vector<std::size_t> counts = all_values(ranks, mine.size());
  std::vector<E> all;
  std::vector<outgoing_message> sends;
  std::vector<incoming_message> receives;
  together(ranks, [&] {
    if (ranks.rank() == 0) all.resize(std::accumulate(counts.begin(), counts.end(), std::size_t{0}));
  });
  if (!mine.empty()) sends.push_back({0, mine.data(), mine.size() * sizeof(E)});
  E* place = all.data();
  for (int rank = 0; rank < ranks.size() && ranks.rank() == 0; ++rank) {
    const std::size_t count = counts[static_cast<std::size_t>(rank)];
    if (count > 0) receives.push_back({rank, place, count * sizeof(E)});
    place += count;
  }
  ranks.exchange(cpu_context(), sends, receives);
  return all;
}

/// The elements of rank 0, on all ranks. Host memory. Collective.
template <typename E>
[[nodiscard]] std::vector<E> given_by_rank_0(communicator& ranks, std::vector<E> elements) {
  const std::size_t count = all_values(ranks, elements.size())[0];
  std::vector<outgoing_message> sends;
  std::vector<incoming_message> receives;
  together(ranks, [&] { elements.resize(count); });
  const std::size_t bytes = count * sizeof(E);
  if (ranks.rank() > 0 && count > 0) receives.push_back({0, elements.data(), bytes});
  for (int rank = 1; rank < ranks.size() && ranks.rank() == 0 && count > 0; ++rank) {
    sends.push_back({rank, elements.data(), bytes});
  }
  ranks.exchange(cpu_context(), sends, receives);
  return elements;
}

}  // namespace quadrat::detail
