// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <new>
#include <string>
#include <vector>

#include "quadrat/core/context.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/distributed/communicator.hpp"

// What every communicator must do; throws where it does not.

namespace quadrat::test {

inline void require_that(bool holds, const char* what) {
  if (!holds) throw error(what);
}

/// Messages of many sizes from each to each, two between a pair, and one beyond what is sent eagerly.
inline void check_messages(communicator& ranks) {
  const int self = ranks.rank(), size = ranks.size();
  const auto value = [](int from, int to, std::size_t k) {
    return static_cast<std::uint32_t>(from) * 1000003u + static_cast<std::uint32_t>(to) * 1009u +
           static_cast<std::uint32_t>(k);
  };
  for (const std::size_t length : {std::size_t{1}, std::size_t{1000}, std::size_t{100000}}) {
    std::vector<std::vector<std::uint32_t>> out, in;
    std::vector<outgoing_message> sends;
    std::vector<incoming_message> receives;
    for (int peer = 0; peer < size; ++peer) {
      for (std::size_t part = 0; part < 2; ++part) {
        out.emplace_back();
        for (std::size_t k = 0; k < length + part; ++k) out.back().push_back(value(self, peer, k + part));
        in.emplace_back(length + part, 0u);
      }
    }
    for (std::size_t k = 0; k < out.size(); ++k) {
      sends.push_back({static_cast<int>(k / 2), out[k].data(), out[k].size() * sizeof(std::uint32_t)});
      receives.push_back({static_cast<int>(k / 2), in[k].data(), in[k].size() * sizeof(std::uint32_t)});
    }
    ranks.exchange(cpu_context(), sends, receives);
    for (std::size_t k = 0; k < in.size(); ++k) {
      for (std::size_t i = 0; i < in[k].size(); ++i) {
        require_that(in[k][i] == value(static_cast<int>(k / 2), self, i + k % 2), "a message has other contents");
      }
    }
  }
  ranks.exchange(cpu_context(), {}, {});
}

inline void check_communication(communicator& ranks) {
  const int self = ranks.rank(), size = ranks.size();
  require_that(self >= 0 && self < size, "the rank is not one of the group");
  for (int round = 0; round < 5; ++round) {
    const std::vector<int> all = all_values(ranks, 10 * self + round);
    for (int rank = 0; rank < size; ++rank) {
      require_that(all[static_cast<std::size_t>(rank)] == 10 * rank + round, "gathered values are not by rank");
    }
    ranks.barrier();
  }
  std::vector<std::uint64_t> sums{static_cast<std::uint64_t>(self), ~std::uint64_t{0}};
  ranks.add_up(sums.data(), sums.size());
  require_that(sums[0] == static_cast<std::uint64_t>(size * (size - 1) / 2), "the sum is wrong");
  require_that(sums[1] == std::uint64_t{0} - static_cast<std::uint64_t>(size), "the sum does not wrap around");

  std::vector<int> sent, received(static_cast<std::size_t>(size));
  for (int peer = 0; peer < size; ++peer) sent.push_back(100 * self + peer);
  ranks.all_to_all(sent.data(), received.data(), sizeof(int));
  for (int peer = 0; peer < size; ++peer) {
    require_that(received[static_cast<std::size_t>(peer)] == 100 * peer + self, "pieces are not where they belong");
  }

  double expected = 0;
  for (int rank = 0; rank < size; ++rank) expected += 1.0 / (3 + rank);
  require_that(sum_in_rank_order(ranks, 1.0 / (3 + self)) == expected, "the sum is not in order of rank");
  check_messages(ranks);
}

/// The words of the error that `agree` throws everywhere.
template <typename Error, typename F>
[[nodiscard]] std::string agreed(communicator& ranks, F&& f) {
  try {
    together(ranks, f);
  } catch (const Error& problem) {
    return problem.what();
  }
  return {};
}

inline void check_agreement(communicator& ranks) {
  const int self = ranks.rank(), last = ranks.size() - 1;
  together(ranks, [] {});
  const auto faulty = [&] {
    // The higher rank has the lower index.
    throw data_error(message("particle ", 10 - self, " is bad"), static_cast<std::uint64_t>(10 - self));
  };
  const std::string first = agreed<data_error>(ranks, faulty);
  require_that(first == message("particle ", 10 - last, " is bad"), "the first particle is not the one that is named");
  const std::string of_last = agreed<argument_error>(ranks, [&] {
    if (self == last) throw argument_error("that is impossible");
  });
  require_that(of_last == "that is impossible", "an error of one rank does not reach all");
  const auto without_memory = [&] {
    if (self == last) throw std::bad_alloc();
  };
  if (self == last) {
    require_that(!agreed<std::bad_alloc>(ranks, without_memory).empty(), "a rank does not get its own exception");
  } else {
    const std::string words = agreed<rank_error>(ranks, without_memory);
    require_that(words.find(message("rank ", last)) != std::string::npos, "the rank without memory is not named");
  }
  together(ranks, [] {});
}

}  // namespace quadrat::test
