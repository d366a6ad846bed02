// SPDX-License-Identifier: BSD-3-Clause
#include "distributed/ranks/runs_of_ranks.hpp"

#include <algorithm>

namespace quadrat::detail {

std::vector<std::size_t> exchanged_counts(communicator& ranks, const std::vector<std::size_t>& counts, std::size_t own,
                                          const char* what, const std::exception_ptr& problem) {
  constexpr std::uint64_t failed = ~std::uint64_t{0};
  const auto all = static_cast<std::size_t>(ranks.size());
  std::vector<std::uint64_t> sent(counts.begin(), counts.end()), received(all);
  if (problem != nullptr) sent.assign(all, failed);
  ranks.all_to_all(sent.data(), received.data(), sizeof(std::uint64_t));
  if (std::ranges::find(received, failed) != received.end()) agree(ranks, problem);
  together(ranks, [&] {
    std::uint64_t total = own;
    for (const std::uint64_t one : received) total += one;
    require(total <= max_count, "rank ", ranks.rank(), " would hold ", total, " ", what, "; at most ", max_count,
            " are possible");
  });
  return {received.begin(), received.end()};
}

void add_messages(std::vector<outgoing_message>& messages, const std::vector<std::size_t>& counts, const void* first,
                  std::size_t element_bytes) {
  const auto* place = static_cast<const std::byte*>(first);
  for (std::size_t rank = 0; rank < counts.size(); ++rank) {
    const std::size_t bytes = counts[rank] * element_bytes;
    if (bytes > 0) messages.push_back({static_cast<int>(rank), place, bytes});
    place += bytes;
  }
}

void add_messages(std::vector<incoming_message>& messages, const std::vector<std::size_t>& counts, void* first,
                  std::size_t element_bytes) {
  auto* place = static_cast<std::byte*>(first);
  for (std::size_t rank = 0; rank < counts.size(); ++rank) {
    const std::size_t bytes = counts[rank] * element_bytes;
    if (bytes > 0) messages.push_back({static_cast<int>(rank), place, bytes});
    place += bytes;
  }
}

void require_words(std::size_t element_bytes) {
  require(element_bytes > 0 && element_bytes % sizeof(std::uint32_t) == 0, "an element has ", element_bytes,
          " bytes; a multiple of 4 is needed");
}

}  // namespace quadrat::detail
