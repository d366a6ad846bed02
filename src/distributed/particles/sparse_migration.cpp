// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/distributed/sparse_migration.hpp"

#include <algorithm>
#include <exception>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/backend.hpp"
#include "distributed/particles/few_leaving.hpp"
#include "distributed/ranks/direct_push.hpp"
#include "distributed/ranks/runs_of_ranks.hpp"
#include "parallel/select.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/sort.hpp"

namespace quadrat {

namespace {

/// The rank of each element that leaves; `ranks` for one that does not exist.
struct leaving_keys {
  const std::uint32_t* destinations;
  const std::uint32_t* leaving;
  std::uint32_t ranks;
  std::uint32_t* keys;
  std::uint32_t* order;

  QUADRAT_HD void operator()(std::size_t k) const {
    const std::uint32_t to = destinations[leaving[k]];
    keys[k] = to < ranks ? to : ranks;
    order[k] = leaving[k];
  }
};

struct flag_staying {
  const std::uint32_t* destinations;
  std::uint32_t self;
  std::uint32_t* flags;

  QUADRAT_HD void operator()(std::size_t i) const { flags[i] = destinations[i] == self ? 1 : 0; }
};

/// Copies elements as rows of 32-bit words. One call per word, so that neighboring threads access neighboring words.
struct element_words {
  std::uint32_t* data;
  std::size_t words;
};

struct pack_leaving {
  element_words from;
  const std::uint32_t* order;
  std::uint32_t* to;

  QUADRAT_HD void operator()(std::size_t i) const {
    const std::size_t k = i / from.words;
    to[i] = from.data[order[k] * from.words + (i - k * from.words)];
  }
};

/// Puts arriving elements into the places of those that have left, then at the end.
struct place_arriving {
  const std::uint32_t* from;
  const std::uint32_t* gaps;
  std::size_t gap_count, end;
  element_words to;

  QUADRAT_HD void operator()(std::size_t i) const {
    const std::size_t k = i / to.words;
    const std::size_t place = k < gap_count ? gaps[k] : end + (k - gap_count);
    to.data[place * to.words + (i - k * to.words)] = from[i];
  }
};

/// Moves the last elements into the remaining gaps; there are *number of them.
struct fill_gaps {
  element_words all;
  std::size_t first;  ///< the first element of the tail
  const std::uint32_t* in_tail;
  const std::uint32_t* gaps;
  const std::uint32_t* number;

  QUADRAT_HD void operator()(std::size_t k) const {
    if (k >= *number) return;
    const std::uint32_t* const from = all.data + (first + in_tail[k]) * all.words;
    std::uint32_t* const to = all.data + gaps[k] * all.words;
    for (std::size_t word = 0; word < all.words; ++word) to[word] = from[word];
  }
};

}  // namespace

template <typename Context>
struct sparse_migration<Context>::implementation {
  implementation(const Context& chosen, communicator& group) : context(chosen), ranks(group), number(chosen, 2) {}

  [[nodiscard]] std::vector<std::size_t> find_leaving(const std::uint32_t* destinations, std::size_t elements);
  void sort_leaving(const std::uint32_t* destinations, std::size_t elements);
  void find_tail(const std::uint32_t* destinations);
  void exchange(std::span<const element_words> arrays);
  void place(const element_words& all, const std::uint32_t* arrived);
  [[nodiscard]] std::size_t size() const { return count - leaving + arriving; }

  Context context;
  communicator& ranks;
  workspace<Context> scratch;
  array<std::uint32_t, Context> number;
  detail::few_leaving<Context> few;
  detail::leaving_lists<Context> lists;
  array<std::uint32_t, Context> keys[2], order;
  array<std::uint32_t, Context> flags, tail;  ///< the elements of the tail that stay
  std::vector<std::size_t> sent, received;
  std::size_t count = 0, leaving = 0, arriving = 0;
  array<std::uint32_t, Context> out, in;
  bool looked = false;
  std::unique_ptr<detail::direct_channel> direct;  ///< set if this rank writes directly to where elements arrive
};

/// Lists the leaving elements. Returns how many go to each rank.
template <typename Context>
std::vector<std::size_t> sparse_migration<Context>::implementation::find_leaving(const std::uint32_t* destinations,
                                                                                 std::size_t elements) {
  if (!few.find(context, destinations, ranks.rank(), ranks.size(), elements, lists)) {
    sort_leaving(destinations, elements);
  }
  std::vector<std::size_t> counts = lists.counts;
  const std::size_t wrong = counts.back();
  counts.pop_back();
  if (wrong > 0) {
    const std::size_t right = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
    const std::uint32_t first = to_host(context, lists.by_rank.data() + right, 1)[0];
    const std::uint32_t to = to_host(context, destinations + first, 1)[0];
    throw data_error(
        message("element ", first, " of rank ", ranks.rank(), " is to go to rank ", to, "; there are ", ranks.size()),
        first);
  }
  return counts;
}

/// The general case: any number of elements and ranks.
template <typename Context>
void sparse_migration<Context>::implementation::sort_leaving(const std::uint32_t* destinations, std::size_t elements) {
  const auto self = static_cast<std::uint32_t>(ranks.rank()), all = static_cast<std::uint32_t>(ranks.size());
  lists.ascending.resize_discarding(context, elements);
  detail::select_others(context, destinations, self, all, elements, lists.ascending.data(), number.data(), scratch);
  const auto words = to_host(context, number);
  const std::size_t found = words[0];
  if (found == 0 || (all == 2 && words[1] == 0)) {
    // With two ranks all go to the other one.
    lists.by_rank.resize_discarding(context, found);
    copy_bytes(context, lists.ascending.data(), lists.by_rank.data(), found * sizeof(std::uint32_t));
    lists.counts.assign(all + 1, 0);
    lists.counts[self == 0 ? 1 : 0] = found;
    return;
  }
  for (array<std::uint32_t, Context>* const one : {&keys[0], &keys[1], &order, &lists.by_rank}) {
    one->resize_discarding(context, found);
  }
  for_each(context, "migration.keys", found,
           leaving_keys{destinations, lists.ascending.data(), all, keys[0].data(), order.data()});
  const sort_buffers<std::uint32_t> buffers{{keys[0].data(), keys[1].data()}, {order.data(), lists.by_rank.data()}};
  const int sorted = sort_pairs(context, buffers, found, key_bits_for(std::uint64_t{all} + 1), scratch);
  if (sorted == 0) order.swap(lists.by_rank);
  lists.counts = detail::counts_of_runs(context, keys[sorted].data(), found, ranks.size() + 1);
}

/// If more leave than arrive: finds which of the last elements stay.
template <typename Context>
void sparse_migration<Context>::implementation::find_tail(const std::uint32_t* destinations) {
  if (leaving <= arriving) return;
  const std::size_t length = leaving - arriving;
  flags.resize_discarding(context, length);
  tail.resize_discarding(context, length);
  for_each(context, "migration.tail", length,
           flag_staying{destinations + (count - length), static_cast<std::uint32_t>(ranks.rank()), flags.data()});
  detail::select_others(context, flags.data(), 0, 2, length, tail.data(), number.data(), scratch);
}

template <typename Context>
sparse_migration<Context>::sparse_migration(const Context& context, communicator& ranks)
    : implementation_(std::make_unique<implementation>(context, ranks)) {}

template <typename Context>
void sparse_migration<Context>::build(const std::uint32_t* destinations, std::size_t count) {
  implementation& own = *implementation_;
  own.count = own.leaving = own.arriving = 0;
  std::vector<std::size_t> counts;
  std::exception_ptr problem;
  try {
    require(count <= max_count, "there are ", count, " elements; at most ", max_count, " are possible");
    require_pointer(destinations, count, "elements");
    counts = own.find_leaving(destinations, count);
  } catch (...) {
    problem = std::current_exception();
  }
  const std::size_t leaving = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
  own.received = detail::exchanged_counts(own.ranks, counts, count - leaving, "elements", problem);
  own.sent = std::move(counts);
  own.count = count;
  own.leaving = leaving;
  own.arriving = std::accumulate(own.received.begin(), own.received.end(), std::size_t{0});
  own.find_tail(destinations);
  if (!own.looked) own.direct = detail::find_direct_channel(own.context, own.ranks);
  own.looked = true;
}

/// Sends leaving elements into `in` of their ranks, array after array.
template <typename Context>
void sparse_migration<Context>::implementation::exchange(std::span<const element_words> arrays) {
  if constexpr (std::is_same_v<Context, cuda_context>) {
    if (direct != nullptr) {
      std::vector<detail::direct_array> all;
      std::uint32_t* arrivals = in.data();
      for (const element_words& one : arrays) {
        all.push_back({one.data, one.words * sizeof(std::uint32_t), arrivals});
        arrivals += arriving * one.words;
      }
      const detail::direct_exchange messages(*direct, sent, received);
      messages.start(context, "migration.push", all, lists.by_rank.data());
      return messages.finish(context);
    }
  }
  std::uint32_t* arrivals = in.data();
  for (const element_words& one : arrays) {
    const std::size_t element_bytes = one.words * sizeof(std::uint32_t);
    out.resize_discarding(context, leaving * one.words);
    for_each(context, "migration.pack", leaving * one.words, pack_leaving{one, lists.by_rank.data(), out.data()});
    std::vector<outgoing_message> sends;
    std::vector<incoming_message> receives;
    detail::add_messages(sends, sent, out.data(), element_bytes);
    detail::add_messages(receives, received, arrivals, element_bytes);
    ranks.exchange(context, sends, receives);
    arrivals += arriving * one.words;
  }
}

/// Puts arrived elements, and the last elements, into the open places.
template <typename Context>
void sparse_migration<Context>::implementation::place(const element_words& all, const std::uint32_t* arrived) {
  for_each(context, "migration.place", arriving * all.words,
           place_arriving{arrived, lists.ascending.data(), leaving, count, all});
  if (leaving <= arriving) return;
  for_each(context, "migration.fill", leaving - arriving,
           fill_gaps{all, size(), tail.data(), lists.ascending.data() + arriving, number.data()});
}

template <typename Context>
void sparse_migration<Context>::apply(std::span<const migrated_array> arrays) {
  implementation& own = *implementation_;
  std::vector<element_words> all;
  for (const migrated_array& one : arrays) {
    detail::require_words(one.element_bytes);
    all.push_back({static_cast<std::uint32_t*>(one.data), one.element_bytes / sizeof(std::uint32_t)});
  }
  constexpr std::size_t most = detail::push_elements::most_arrays;
  for (std::size_t first = 0; first < all.size(); first += most) {
    const auto some = std::span(all).subspan(first, std::min(most, all.size() - first));
    std::size_t words = 0;
    for (const element_words& one : some) words += one.words;
    own.in.resize_discarding(own.context, own.arriving * words);
    own.exchange(some);
    const std::uint32_t* arrived = own.in.data();
    for (const element_words& one : some) {
      own.place(one, arrived);
      arrived += own.arriving * one.words;
    }
  }
}

template <typename Context>
std::size_t sparse_migration<Context>::leaving() const {
  return implementation_->leaving;
}
template <typename Context>
std::size_t sparse_migration<Context>::arriving() const {
  return implementation_->arriving;
}
template <typename Context>
std::size_t sparse_migration<Context>::size() const {
  return implementation_->size();
}
template <typename Context>
std::size_t sparse_migration<Context>::bytes() const {
  const implementation& own = *implementation_;
  return own.scratch.bytes() + own.number.bytes() + own.few.bytes() + own.lists.ascending.bytes() +
         own.lists.by_rank.bytes() + own.keys[0].bytes() + own.keys[1].bytes() + own.order.bytes() + own.flags.bytes() +
         own.tail.bytes() + own.out.bytes() + own.in.bytes();
}

template class sparse_migration<backend_context>;

}  // namespace quadrat
