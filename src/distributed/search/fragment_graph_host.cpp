// SPDX-License-Identifier: BSD-3-Clause
#include "distributed/search/fragment_graph.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "distributed/ranks/runs_of_ranks.hpp"
#include "quadrat/core/context.hpp"

namespace quadrat::detail {

namespace {

/// What arrives from each rank if elements, which are in order of their rank, are sent there.
template <typename E>
struct arrived_elements {
  std::vector<E> elements;
  std::vector<std::size_t> sent, received;  ///< by rank
};

template <typename E>
void exchange_elements(communicator& ranks, const std::vector<E>& from, const std::vector<std::size_t>& sent,
                       std::vector<E>& to, const std::vector<std::size_t>& received) {
  std::vector<outgoing_message> sends;
  std::vector<incoming_message> receives;
  add_messages(sends, sent, from.data(), sizeof(E));
  add_messages(receives, received, to.data(), sizeof(E));
  ranks.exchange(cpu_context(), sends, receives);
}

template <typename E, typename RankOf>
[[nodiscard]] arrived_elements<E> send_elements(communicator& ranks, const std::vector<E>& elements,
                                                const RankOf& rank_of) {
  arrived_elements<E> result;
  result.sent.resize(static_cast<std::size_t>(ranks.size()));
  for (const E& one : elements) ++result.sent[static_cast<std::size_t>(rank_of(one))];
  result.received = exchanged_counts(ranks, result.sent, 0, "fragments of clusters");
  result.elements.resize(std::accumulate(result.received.begin(), result.received.end(), std::size_t{0}));
  exchange_elements(ranks, elements, result.sent, result.elements, result.received);
  return result;
}

[[nodiscard]] bool in_order_of_rank(fragment_id a, fragment_id b) {
  return std::tuple(a.rank(), a) < std::tuple(b.rank(), b);
}

template <typename E>
void make_unique(std::vector<E>& elements) {
  std::ranges::sort(elements);
  elements.erase(std::ranges::unique(elements).begin(), elements.end());
}

}  // namespace

std::vector<std::uint64_t> ask_ranks(communicator& ranks, const std::vector<fragment_id>& about,
                                     const std::function<std::uint64_t(fragment_id)>& answer) {
  std::vector<fragment_id> questions = about;
  std::ranges::sort(questions, in_order_of_rank);
  questions.erase(std::ranges::unique(questions).begin(), questions.end());
  const auto asked = send_elements(ranks, questions, [](fragment_id one) { return one.rank(); });
  std::vector<std::uint64_t> given(asked.elements.size()), answers(questions.size());
  std::ranges::transform(asked.elements, given.begin(), answer);
  exchange_elements(ranks, given, asked.received, answers, asked.sent);
  std::vector<std::uint64_t> result(about.size());
  std::ranges::transform(about, result.begin(), [&](fragment_id one) {
    return answers[static_cast<std::size_t>(std::ranges::lower_bound(questions, one, in_order_of_rank) -
                                            questions.begin())];
  });
  return result;
}

fragment_graph::fragment_graph(communicator& ranks, std::vector<fragment_link> links) : ranks_(ranks) {
  make_unique(links);
  std::vector<fragment_link> both = links;
  for (const fragment_link& one : links) both.push_back({one.other, one.mine});
  links = sent_to_owners(std::move(both));
  for (const fragment_link& one : links) fragments_.push_back(one.mine);
  make_unique(fragments_);
  parents_ = fragments_;
  std::vector<std::size_t> active;
  for (;;) {
    std::uint64_t left = links.size();
    ranks_.add_up(&left, 1);
    if (left == 0) break;
    choose(links, active);
    flatten(active);
    links = contracted(links);
  }
  if (rounds_ == 0) return;
  active.resize(fragments_.size());
  std::iota(active.begin(), active.end(), std::size_t{0});
  flatten(active);
  find_firsts();
}

std::size_t fragment_graph::place_of(fragment_id fragment) const {
  return static_cast<std::size_t>(std::ranges::lower_bound(fragments_, fragment) - fragments_.begin());
}

std::vector<fragment_id> fragment_graph::values_of(const std::vector<fragment_id>& about,
                                                   const std::vector<fragment_id>& values) {
  ++rounds_;
  const auto bits = ask_ranks(ranks_, about, [&](fragment_id one) { return values[place_of(one)].bits; });
  std::vector<fragment_id> result(bits.size());
  std::ranges::transform(bits, result.begin(), [](std::uint64_t one) { return fragment_id{one}; });
  return result;
}

std::vector<fragment_link> fragment_graph::sent_to_owners(std::vector<fragment_link> links) {
  std::ranges::sort(links, in_order_of_rank, &fragment_link::mine);
  auto arrived = send_elements(ranks_, links, [](const fragment_link& one) { return one.mine.rank(); }).elements;
  make_unique(arrived);
  return arrived;
}

/// Each fragment with links takes its smallest neighbor as its parent. The only cycles are pairs that choose each
/// other.
void fragment_graph::choose(const std::vector<fragment_link>& links, std::vector<std::size_t>& active) {
  active.clear();
  for (std::size_t k = 0; k < links.size(); ++k) {
    if (k > 0 && links[k].mine == links[k - 1].mine) continue;
    active.push_back(place_of(links[k].mine));
    parents_[active.back()] = links[k].other;
  }
}

/// Makes the root of each tree the parent of all in it. Of two that have chosen each other, the smaller becomes a root.
void fragment_graph::flatten(const std::vector<std::size_t>& active) {
  std::uint64_t changes = 1;
  while (changes > 0) {
    std::vector<fragment_id> about(active.size());
    std::ranges::transform(active, about.begin(), [&](std::size_t k) { return parents_[k]; });
    const std::vector<fragment_id> next = values_of(about, parents_);
    changes = 0;
    for (std::size_t i = 0; i < active.size(); ++i) {
      const fragment_id self = fragments_[active[i]], before = parents_[active[i]];
      parents_[active[i]] = next[i] == self ? std::min(self, before) : next[i];
      if (parents_[active[i]] != before) ++changes;
    }
    ranks_.add_up(&changes, 1);
  }
}

/// The links between different trees, as those of their roots.
std::vector<fragment_link> fragment_graph::contracted(const std::vector<fragment_link>& links) {
  std::vector<fragment_id> others(links.size());
  std::ranges::transform(links, others.begin(), &fragment_link::other);
  others = values_of(others, parents_);
  std::vector<fragment_link> kept;
  for (std::size_t k = 0; k < links.size(); ++k) {
    const fragment_id root = parents_[place_of(links[k].mine)];
    if (root != others[k]) kept.push_back({root, others[k]});
  }
  make_unique(kept);
  return sent_to_owners(std::move(kept));
}

void fragment_graph::find_firsts() {
  std::vector<fragment_link> members;  // root and member
  for (std::size_t k = 0; k < fragments_.size(); ++k) members.push_back({parents_[k], fragments_[k]});
  std::ranges::sort(members);
  const auto same_root = [](const fragment_link& a, const fragment_link& b) { return a.mine == b.mine; };
  members.erase(std::ranges::unique(members, same_root).begin(), members.end());
  firsts_ = fragments_;
  for (const fragment_link& one : sent_to_owners(std::move(members))) {
    fragment_id& first = firsts_[place_of(one.mine)];
    first = std::min(first, one.other);
  }
  firsts_ = values_of(parents_, firsts_);
}

}  // namespace quadrat::detail
