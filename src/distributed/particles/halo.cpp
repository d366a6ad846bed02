// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/distributed/halo.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <type_traits>
#include <utility>

#include "core/backend.hpp"
#include "distributed/particles/halo_kernels.hpp"
#include "distributed/ranks/direct_push.hpp"
#include "distributed/ranks/runs_of_ranks.hpp"
#include "parallel/select.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/scan.hpp"
#include "quadrat/parallel/sort.hpp"

namespace quadrat {

template <typename Context, typename T, int D>
struct halo<Context, T, D>::implementation {
  implementation(const Context& chosen, communicator& group) : context(chosen), ranks(group), number(chosen, 2) {}

  void check(const grid<T, D>& space, const decomposition_view<D>& shares, const halo_reach<T>& reach) const;
  static void require_reach(T one) {
    require(one >= T(0) && std::isfinite(one), "the reach of a halo is ", one, "; it must be finite and not negative");
  }
  template <typename Near>
  void list_copies(const Near& near, std::size_t count);
  void agree_on_counts(std::size_t count);
  void find_direct_channel();
  void push(std::span<const halo_array> arrays);
  [[nodiscard]] std::size_t total_sent() const { return keys[0].size(); }
  [[nodiscard]] const std::uint32_t* entries() const { return indices[sorted].data(); }

  Context context;
  communicator& ranks;
  workspace<Context> scratch;
  array<T, Context> reach_of_rank;
  detail::rank_extents<Context, T, D> extents;  ///< in boxes of any shape
  array<std::uint32_t, Context> copies;         ///< number of copies of each own particle
  array<std::uint32_t, Context> number;
  array<std::uint32_t, Context> some, counts;  ///< the particles that have copies, and how many each has
  array<std::uint64_t, Context> offsets;       ///< the first copy of each of these in the lists below
  array<std::uint32_t, Context> keys[2], indices[2];
  int sorted = 0;
  std::vector<std::size_t> sent, received;
  std::size_t own = 0, ghosts = 0;
  array<std::uint32_t, Context> out, in;
  detail::halo_rows rows{};
  bool looked = false;
  std::unique_ptr<detail::direct_channel> direct;  ///< set if this rank writes ghosts directly to their places
  std::vector<std::uint64_t> places;               ///< of this rank's ghosts, in the arrays of each rank
};

template <typename Context, typename T, int D>
void halo<Context, T, D>::implementation::check(const grid<T, D>& space, const decomposition_view<D>& shares,
                                                const halo_reach<T>& reach) const {
  detail::require_decomposable(space, ranks.size());
  require(shares.ranks == ranks.size(), "the decomposition is for ", shares.ranks, " ranks; there are ", ranks.size());
  require(shares.cells == space.cells, "the decomposition has ", detail::joined_counts(shares.cells),
          " cells, the grid ", detail::joined_counts(space.cells));
  require(reach.of_rank.empty() || reach.of_rank.size() == static_cast<std::size_t>(ranks.size()),
          "there are reaches for ", reach.of_rank.size(), " ranks; there are ", ranks.size());
  require_reach(reach.reach);
  for (const T one : reach.of_rank) require_reach(one);
}

/// Counts the copies of each particle, then lists the copies by rank.
template <typename Context, typename T, int D>
template <typename Near>
void halo<Context, T, D>::implementation::list_copies(const Near& near, std::size_t count) {
  require(count <= max_count, "there are ", count, " particles; at most ", max_count, " are possible");
  copies.resize_discarding(context, count);
  some.resize_discarding(context, count);
  for_each(context, "halo.count", count, detail::count_copies<Near>{near, copies.data()});
  detail::select_others(context, copies.data(), 0, no_particle, count, some.data(), number.data(), scratch);
  const std::size_t bordering = to_host(context, number.data(), 1)[0];
  counts.resize_discarding(context, bordering);
  offsets.resize_discarding(context, bordering + 1);
  for_each(context, "halo.bordering", bordering, detail::copies_of_some{copies.data(), some.data(), counts.data()});
  exclusive_scan_with_total(context, counts.data(), offsets.data(), bordering, scratch);
  const std::uint64_t total = to_host(context, offsets.data() + bordering, 1)[0];
  require(total <= max_count, "rank ", ranks.rank(), " would send ", total, " ghosts; at most ", max_count,
          " are possible");
  for (int copy = 0; copy < 2; ++copy) {
    keys[copy].resize_discarding(context, total);
    indices[copy].resize_discarding(context, total);
  }
  for_each(context, "halo.list", bordering,
           detail::fill_copies<Near>{near, some.data(), offsets.data(), keys[0].data(), indices[0].data()});
  const sort_buffers<std::uint32_t> buffers{{keys[0].data(), keys[1].data()}, {indices[0].data(), indices[1].data()}};
  sorted = sort_pairs(context, buffers, total, key_bits_for(static_cast<std::uint64_t>(ranks.size())), scratch);
  sent = detail::counts_of_runs(context, keys[sorted].data(), total, ranks.size());
}

/// Called when the copies of this many own particles are listed. Collective.
template <typename Context, typename T, int D>
void halo<Context, T, D>::implementation::agree_on_counts(std::size_t count) {
  received = detail::exchanged_counts(ranks, sent, count, "particles with ghosts");
  own = count;
  ghosts = std::accumulate(received.begin(), received.end(), std::size_t{0});
  find_direct_channel();
}

/// Called when counts have been exchanged: decides whether ranks write directly, and where to.
template <typename Context, typename T, int D>
void halo<Context, T, D>::implementation::find_direct_channel() {
  if (!looked) direct = detail::find_direct_channel(context, ranks);
  looked = true;
  if (direct == nullptr) return;
  std::vector<std::uint64_t> here;
  std::uint64_t place = own;
  for (const std::size_t count : received) {
    here.push_back(place);
    place += count;
  }
  places.resize(here.size());
  ranks.all_to_all(here.data(), places.data(), sizeof(std::uint64_t));
}

/// Writes ghosts into the arrays of other ranks when they no longer read the previous ones.
template <typename Context, typename T, int D>
void halo<Context, T, D>::implementation::push(std::span<const halo_array> arrays) {
  if constexpr (std::is_same_v<Context, cuda_context>) {
    static_assert(detail::halo_rows::most <= detail::push_elements::most_arrays);
    using pointers = std::array<void*, detail::halo_rows::most>;
    pointers mine{}, all[detail::push_elements::most_ranks];
    for (std::size_t k = 0; k < arrays.size(); ++k) mine[k] = arrays[k].data;
    direct->open(context, sent, mine.data(), all, sizeof(mine));
    detail::push_elements body(sent, ranks.rank(), entries());
    for (std::size_t k = 0; k < arrays.size(); ++k) {
      const std::size_t bytes = arrays[k].element_bytes;
      detail::push_elements::targets there{};
      for (std::size_t rank = 0; rank < sent.size(); ++rank) {
        if (sent[rank] > 0) there[rank] = static_cast<std::byte*>(all[rank][k]) + places[rank] * bytes;
      }
      body.add(arrays[k].data, bytes, there);
    }
    direct->push(context, "halo.push", body, total_sent() * rows.words * sizeof(std::uint32_t), sent, received);
  }
}

template <typename Context, typename T, int D>
halo<Context, T, D>::halo(const Context& context, communicator& ranks)
    : implementation_(std::make_unique<implementation>(context, ranks)) {}

template <typename Context, typename T, int D>
void halo<Context, T, D>::build(const grid<T, D>& space, const decomposition_view<D>& shares,
                                const points_view<T, D>& points, const halo_reach<T>& reach) {
  implementation& self = *implementation_;
  self.own = self.ghosts = 0;
  self.received.clear();
  together(self.ranks, [&] {
    self.check(space, shares, reach);
    T largest = 0;
    for (const T one : reach.of_rank) largest = std::max(largest, one);
    if (!reach.of_rank.empty()) {
      self.reach_of_rank.resize_discarding(self.context, reach.of_rank.size());
      copy_bytes(self.context, reach.of_rank.data(), self.reach_of_rank.data(), reach.of_rank.size_bytes());
    }
    const detail::ranks_near<T, D> near{space,
                                        shares,
                                        points,
                                        reach.reach,
                                        reach.of_rank.empty() ? nullptr : self.reach_of_rank.data(),
                                        reach.of_point,
                                        largest,
                                        self.ranks.rank()};
    self.list_copies(near, points.count);
  });
  self.agree_on_counts(points.count);
}

template <typename Context, typename T, int D>
void halo<Context, T, D>::build(const lattice<T, D>& box, const points_view<T, D>& points,
                                const points_view<T, D>& around, T reach) {
  implementation& self = *implementation_;
  self.own = self.ghosts = 0;
  self.received.clear();
  self.extents.build(self.context, self.ranks, box, around);
  together(self.ranks, [&] {
    implementation::require_reach(reach);
    const auto distance = static_cast<double>(reach);
    self.list_copies(detail::ranks_with_points_near<T, D>{self.extents.near(points), distance * distance},
                     points.count);
  });
  self.agree_on_counts(points.count);
}

template <typename Context, typename T, int D>
void halo<Context, T, D>::start_forward(std::span<const halo_array> arrays) {
  implementation& self = *implementation_;
  self.rows = detail::rows_of(arrays);
  if (self.direct != nullptr) return self.push(arrays);
  const std::size_t bytes = self.rows.words * sizeof(std::uint32_t);
  self.out.resize_discarding(self.context, self.total_sent() * self.rows.words);
  for_each(self.context, "halo.pack", self.total_sent(), detail::pack_rows{self.rows, self.entries(), self.out.data()});
  std::vector<outgoing_message> sends;
  std::vector<incoming_message> receives;
  detail::add_messages(sends, self.sent, self.out.data(), bytes);
  if (self.rows.arrays == 1) {
    // If there is one array, its elements are the rows.
    detail::add_messages(receives, self.received, self.rows.data[0] + self.own * self.rows.words, bytes);
  } else {
    self.in.resize_discarding(self.context, self.ghosts * self.rows.words);
    detail::add_messages(receives, self.received, self.in.data(), bytes);
  }
  self.ranks.start(self.context, sends, receives);
}

template <typename Context, typename T, int D>
void halo<Context, T, D>::finish_forward() {
  implementation& self = *implementation_;
  if constexpr (std::is_same_v<Context, cuda_context>) {
    if (self.direct != nullptr) return self.direct->finish(self.context, self.received);
  }
  self.ranks.finish(self.context);
  if (self.rows.arrays == 1) return;
  for_each(self.context, "halo.unpack", self.ghosts, detail::unpack_rows{self.rows, self.own, self.in.data()});
}

template <typename Context, typename T, int D>
void halo<Context, T, D>::forward(std::span<const halo_array> arrays) {
  start_forward(arrays);
  finish_forward();
}

template <typename Context, typename T, int D>
template <typename V>
void halo<Context, T, D>::reverse(V* values, int components) {
  implementation& self = *implementation_;
  require(components >= 1, "values have ", components, " components; at least 1 is needed");
  const auto width = static_cast<std::size_t>(components);
  const std::size_t bytes = width * sizeof(V);
  self.in.resize_discarding(self.context, self.total_sent() * bytes / sizeof(std::uint32_t));
  std::vector<outgoing_message> sends;
  std::vector<incoming_message> receives;
  detail::add_messages(sends, self.received, values + self.own * width, bytes);
  detail::add_messages(receives, self.sent, self.in.data(), bytes);
  self.ranks.exchange(self.context, sends, receives);
  // One rank after the other: each names a particle at most once, so nothing is added concurrently.
  std::size_t first = 0;
  for (const std::size_t count : self.sent) {
    const V* const received = reinterpret_cast<const V*>(self.in.data()) + first * width;
    for_each(self.context, "halo.add", count, detail::add_rows<V>{received, self.entries() + first, width, values});
    first += count;
  }
}

template <typename Context, typename T, int D>
std::size_t halo<Context, T, D>::own() const {
  return implementation_->own;
}
template <typename Context, typename T, int D>
std::size_t halo<Context, T, D>::ghosts() const {
  return implementation_->ghosts;
}
template <typename Context, typename T, int D>
std::size_t halo<Context, T, D>::sent() const {
  return implementation_->total_sent();
}
template <typename Context, typename T, int D>
const std::uint32_t* halo<Context, T, D>::copies() const {
  return implementation_->copies.data();
}
template <typename Context, typename T, int D>
std::span<const std::uint32_t> halo<Context, T, D>::bordering() const {
  return {implementation_->some.data(), implementation_->counts.size()};
}
template <typename Context, typename T, int D>
const std::vector<std::size_t>& halo<Context, T, D>::ghosts_by_rank() const {
  return implementation_->received;
}
template <typename Context, typename T, int D>
std::size_t halo<Context, T, D>::bytes() const {
  const implementation& self = *implementation_;
  std::size_t sum = self.scratch.bytes() + self.reach_of_rank.bytes() + self.extents.bytes() + self.copies.bytes() +
                    self.number.bytes() + self.some.bytes() + self.counts.bytes() + self.offsets.bytes() +
                    self.out.bytes() + self.in.bytes();
  for (int copy = 0; copy < 2; ++copy) sum += self.keys[copy].bytes() + self.indices[copy].bytes();
  return sum;
}

#define QUADRAT_INSTANTIATE(T, D)                                          \
  template class halo<backend_context, T, D>;                              \
  template void halo<backend_context, T, D>::reverse(float*, int);         \
  template void halo<backend_context, T, D>::reverse(double*, int);        \
  template void halo<backend_context, T, D>::reverse(std::uint32_t*, int); \
  template void halo<backend_context, T, D>::reverse(std::uint64_t*, int);
QUADRAT_INSTANTIATE(float, 2)
QUADRAT_INSTANTIATE(float, 3)
QUADRAT_INSTANTIATE(double, 2)
QUADRAT_INSTANTIATE(double, 3)
#undef QUADRAT_INSTANTIATE

}  // namespace quadrat
