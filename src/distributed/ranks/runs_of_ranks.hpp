// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <vector>

#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/distributed/communicator.hpp"
#include "quadrat/parallel/for_each.hpp"

/// Helpers of migration and halo plans: keys in order of rank, and messages of whole elements.
namespace quadrat::detail {

/// starts[r] = the first place in the sorted keys whose key is r or more, for r in [0, ranks]. One call for each of
/// count + 1 places.
struct find_run_starts {
  const std::uint32_t* keys;
  std::size_t count;
  std::uint32_t ranks;
  std::uint32_t* starts;

  QUADRAT_HD void operator()(std::size_t k) const {
    const std::uint32_t first = k == 0 ? 0 : keys[k - 1] + 1;
    const std::uint32_t last = k == count ? ranks : keys[k];
    for (std::uint32_t rank = first; rank <= last; ++rank) starts[rank] = static_cast<std::uint32_t>(k);
  }
};

/// The number of sorted keys of each rank. Waits.
template <typename Context>
[[nodiscard]] std::vector<std::size_t> counts_of_runs(const Context& context, const std::uint32_t* keys,
                                                      std::size_t count, int ranks) {
  const auto number = static_cast<std::size_t>(ranks);
  array<std::uint32_t, Context> starts(context, number + 1);
  for_each(context, "distributed.runs", count + 1,
           find_run_starts{keys, count, static_cast<std::uint32_t>(ranks), starts.data()});
  const auto found = to_host(context, starts);
  std::vector<std::size_t> counts(number);
  for (std::size_t rank = 0; rank < number; ++rank) counts[rank] = found[rank + 1] - found[rank];
  return counts;
}

/// How many elements come from each rank if counts[r] go to rank r. Throws argument_error on all ranks if one rank
/// would have more than 2^31 - 1, with the `own` that it has. `problem`: an error of counting, on which ranks agree in
/// the same message. Collective.
[[nodiscard]] std::vector<std::size_t> exchanged_counts(communicator& ranks, const std::vector<std::size_t>& counts,
                                                        std::size_t own, const char* what,
                                                        const std::exception_ptr& problem = nullptr);

/// Appends messages of whole elements, which are in order of rank.
void add_messages(std::vector<outgoing_message>& messages, const std::vector<std::size_t>& counts, const void* first,
                  std::size_t element_bytes);
void add_messages(std::vector<incoming_message>& messages, const std::vector<std::size_t>& counts, void* first,
                  std::size_t element_bytes);

/// Throws argument_error unless an element consists of whole 32-bit words.
void require_words(std::size_t element_bytes);

}  // namespace quadrat::detail
