// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/distributed/migration.hpp"

#include <numeric>
#include <utility>

#include "core/backend.hpp"
#include "distributed/ranks/runs_of_ranks.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/parallel/fault.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/sort.hpp"

namespace quadrat {

namespace {

/// Keys for the sort. A rank that does not exist is a fault, and its key is replaced.
struct destination_keys {
  const std::uint32_t* destinations;
  std::uint32_t ranks;
  fault_flag fault;
  std::uint32_t* keys;

  QUADRAT_HD void operator()(std::size_t i) const {
    const bool sound = destinations[i] < ranks;
    if (!sound) fault.raise(fault_kind::key_range, i);
    keys[i] = sound ? destinations[i] : 0;
  }
};

/// Copies elements in the order of the plan, word by word.
struct pack_elements {
  const std::uint32_t* from;
  const std::uint32_t* order;
  std::size_t words;
  std::uint32_t* to;

  QUADRAT_HD void operator()(std::size_t k) const {
    const std::uint32_t* const source = from + order[k] * words;
    std::uint32_t* const target = to + k * words;
    for (std::size_t word = 0; word < words; ++word) target[word] = source[word];
  }
};

}  // namespace

template <typename Context>
struct migration<Context>::implementation {
  implementation(const Context& chosen, communicator& group) : context(chosen), ranks(group), fault(chosen) {}

  /// Sorts the elements by rank. Returns how many go to each rank.
  [[nodiscard]] std::vector<std::size_t> sort(const std::uint32_t* destinations, std::size_t count) {
    const int number = ranks.size();
    for (int copy = 0; copy < 2; ++copy) {
      keys[copy].resize_discarding(context, count);
      order[copy].resize_discarding(context, count);
    }
    fault.clear(context);
    for_each(context, "migration.keys", count,
             destination_keys{destinations, static_cast<std::uint32_t>(number), fault.flag(), keys[0].data()});
    const sort_buffers<std::uint32_t> buffers{{keys[0].data(), keys[1].data()}, {order[0].data(), order[1].data()}};
    sorted = sort_pairs(context, buffers, count, key_bits_for(static_cast<std::uint64_t>(number)), scratch,
                        sort_values::index);
    auto counts = detail::counts_of_runs(context, keys[sorted].data(), count, number);
    const fault_report report = fault.read(context);
    if (report.kind != fault_kind::none) {
      const std::uint32_t wrong = to_host(context, destinations + report.index, 1)[0];
      throw data_error(message("element ", report.index, " of rank ", ranks.rank(), " is to go to rank ", wrong,
                               "; there are ", number),
                       report.index);
    }
    return counts;
  }

  Context context;
  communicator& ranks;
  fault_state<Context> fault;
  workspace<Context> scratch;
  array<std::uint32_t, Context> keys[2], order[2];
  int sorted = 0;
  std::vector<std::size_t> sent, received;
  std::size_t leaving = 0, arriving = 0;
  array<std::uint32_t, Context> buffer;
};

template <typename Context>
migration<Context>::migration(const Context& context, communicator& ranks)
    : implementation_(std::make_unique<implementation>(context, ranks)) {}

template <typename Context>
void migration<Context>::build(const std::uint32_t* destinations, std::size_t count) {
  implementation& own = *implementation_;
  own.leaving = own.arriving = 0;
  own.received.clear();
  std::vector<std::size_t> counts;
  together(own.ranks, [&] {
    require(count <= max_count, "there are ", count, " elements; at most ", max_count, " are possible");
    require_pointer(destinations, count, "elements");
    counts = own.sort(destinations, count);
  });
  own.received = detail::exchanged_counts(own.ranks, counts, 0, "elements");
  own.sent = std::move(counts);
  own.leaving = count;
  own.arriving = std::accumulate(own.received.begin(), own.received.end(), std::size_t{0});
}

template <typename Context>
void migration<Context>::apply(const void* from, void* to, std::size_t element_bytes) {
  implementation& own = *implementation_;
  detail::require_words(element_bytes);
  const std::size_t words = element_bytes / sizeof(std::uint32_t);
  own.buffer.resize_discarding(own.context, own.leaving * words);
  for_each(
      own.context, "migration.pack", own.leaving,
      pack_elements{static_cast<const std::uint32_t*>(from), own.order[own.sorted].data(), words, own.buffer.data()});
  std::vector<outgoing_message> sends;
  std::vector<incoming_message> receives;
  detail::add_messages(sends, own.sent, own.buffer.data(), element_bytes);
  detail::add_messages(receives, own.received, to, element_bytes);
  own.ranks.exchange(own.context, sends, receives);
}

template <typename Context>
std::size_t migration<Context>::leaving() const {
  return implementation_->leaving;
}
template <typename Context>
std::size_t migration<Context>::arriving() const {
  return implementation_->arriving;
}
template <typename Context>
const std::vector<std::size_t>& migration<Context>::arriving_by_rank() const {
  return implementation_->received;
}
template <typename Context>
std::size_t migration<Context>::bytes() const {
  const implementation& own = *implementation_;
  std::size_t sum = own.scratch.bytes() + own.buffer.bytes();
  for (int copy = 0; copy < 2; ++copy) sum += own.keys[copy].bytes() + own.order[copy].bytes();
  return sum;
}

template class migration<backend_context>;

}  // namespace quadrat
