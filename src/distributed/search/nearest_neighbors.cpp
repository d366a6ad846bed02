// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/distributed/nearest_neighbors.hpp"

#include <numeric>
#include <vector>

#include "core/backend.hpp"
#include "distributed/search/nearest_reach.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/distributed/migration.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/scan.hpp"
#include "quadrat/parallel/sort.hpp"

namespace quadrat {

namespace {

/// Index: point.
template <typename T, int D>
struct keep_point {
  points_view<T, D> from;
  vec<T, D>* to;

  QUADRAT_HD void operator()(std::size_t i) const { to[i] = from[i]; }
};

/// Index: place in an order.
struct place_copies {
  const std::uint32_t* copies;
  std::uint32_t* places;

  QUADRAT_HD void operator()(std::size_t k) const { places[copies[k]] = static_cast<std::uint32_t>(k); }
};

/// The ranks that elements come from, by element.
[[nodiscard]] std::vector<std::uint32_t> senders_of(const std::vector<std::size_t>& by_rank) {
  std::vector<std::uint32_t> senders;
  for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
    senders.insert(senders.end(), by_rank[rank], static_cast<std::uint32_t>(rank));
  }
  return senders;
}

/// Calls f(). Errors about a point get the number of this rank.
template <typename F>
void naming_rank(const communicator& ranks, const F& f) {
  try {
    f();
  } catch (const data_error& problem) {
    throw data_error(message("rank ", ranks.rank(), ": ", problem.what()), problem.index().value_or(0));
  }
}

}  // namespace

template <typename Context, typename T, int D>
struct distributed_nearest_neighbors<Context, T, D>::implementation {
  implementation(const Context& chosen, communicator& group, const lattice<T, D>& box,
                 const nearest_options<T>& options)
      : context(chosen),
        ranks(group),
        local(chosen, box, options),
        out(chosen, group),
        back(chosen, group),
        shape(box) {}

  void build(const points_view<T, D>& given);
  /// `given`: nullptr for the points themselves.
  void search(const points_view<T, D>* given);
  [[nodiscard]] std::size_t bytes() const;

  Context context;
  communicator& ranks;
  nearest_neighbors<Context, T, D> local;
  /// Rows of neighbors of a search.
  struct kept_rows {
    array<std::int64_t, Context> numbers;
    array<T, Context> squared;
    array<vec<int, D>, Context> shifts;

    void resize(const Context& where, std::size_t entries, bool with_shifts) {
      numbers.resize_discarding(where, entries);
      squared.resize_discarding(where, entries);
      shifts.resize_discarding(where, with_shifts ? entries : 0);
    }
    [[nodiscard]] detail::neighbor_rows<T, D> view() {
      return {numbers.data(), squared.data(), shifts.size() > 0 ? shifts.data() : nullptr};
    }
    [[nodiscard]] std::size_t bytes() const { return numbers.bytes() + squared.bytes() + shifts.bytes(); }
  };
  kept_rows own;  ///< the result
  std::size_t rows = 0;
  bool built = false, found = false;
  migration<Context> out, back;

 private:
  template <typename Search>
  void find(kept_rows& to, const Search& search);
  [[nodiscard]] detail::asked_ranks<T, D> asked_by(const points_view<T, D>& queries) const;
  void make_copies(const points_view<T, D>& queries);
  void send_copies();
  void answer();

  lattice<T, D> shape;
  array<vec<T, D>, Context> points;
  std::int64_t first_number = 0;
  detail::rank_extents<Context, T, D> extents;
  array<std::uint32_t, Context> counts, targets, order, places;
  array<std::uint64_t, Context> starts;
  array<vec<T, D>, Context> leaving, arriving;
  kept_rows asked, answers;
  workspace<Context> scratch;
};

template <typename Context, typename T, int D>
void distributed_nearest_neighbors<Context, T, D>::implementation::build(const points_view<T, D>& given) {
  built = found = false;
  together(ranks, [&] {
    naming_rank(ranks, [&] { local.build(given); });
    points.resize_discarding(context, given.count);
    for_each(context, "distributed.keep_points", given.count, keep_point<T, D>{given, points.data()});
  });
  const std::vector<std::int64_t> numbers = all_values(ranks, static_cast<std::int64_t>(given.count));
  first_number = std::accumulate(numbers.begin(), numbers.begin() + ranks.rank(), std::int64_t{0});
  extents.build(context, ranks, shape, given);
  built = true;
}

/// The rows of a search among the local points, with the numbers of all points.
template <typename Context, typename T, int D>
template <typename Search>
void distributed_nearest_neighbors<Context, T, D>::implementation::find(kept_rows& to, const Search& search) {
  naming_rank(ranks, search);
  const nearest_view<T, D> from = local.view();
  const std::size_t entries = from.rows * from.k;
  to.resize(context, entries, from.shifts != nullptr);
  for_each(context, "distributed.number_neighbors", entries,
           detail::number_neighbors{from.neighbors, first_number, to.numbers.data()});
  copy_bytes(context, from.squared_distances, to.squared.data(), entries * sizeof(T));
  if (from.shifts != nullptr) copy_bytes(context, from.shifts, to.shifts.data(), entries * sizeof(vec<int, D>));
}

template <typename Context, typename T, int D>
detail::asked_ranks<T, D> distributed_nearest_neighbors<Context, T, D>::implementation::asked_by(
    const points_view<T, D>& queries) const {
  const nearest_options<T>& options = local.options();
  return {extents.near(queries), own.squared.data(), options.k, options.cutoff * options.cutoff};
}

/// A copy of each query for each rank that it asks.
template <typename Context, typename T, int D>
void distributed_nearest_neighbors<Context, T, D>::implementation::make_copies(const points_view<T, D>& queries) {
  const detail::asked_ranks<T, D> asks = asked_by(queries);
  counts.resize_discarding(context, rows);
  starts.resize_discarding(context, rows + 1);
  for_each(context, "distributed.count_asked", rows, detail::count_asked<T, D>{asks, counts.data()});
  exclusive_scan_with_total(context, counts.data(), starts.data(), rows, scratch);
  const std::uint64_t copies = to_host(context, starts.data() + rows, 1)[0];
  require(copies < (std::uint64_t{1} << 31), "the ", rows, " rows of rank ", ranks.rank(), " ask other ranks ", copies,
          " times; at most ", (std::uint64_t{1} << 31) - 1, " are possible. Let ranks have points of blocks of space");
  targets.resize_discarding(context, copies);
  leaving.resize_discarding(context, copies);
  for_each(context, "distributed.write_copies", rows,
           detail::write_copies<T, D>{asks, starts.data(), targets.data(), leaving.data()});
}

/// Copies arrive in order of rank, and answers come back in the order in which copies were sent. Collective.
template <typename Context, typename T, int D>
void distributed_nearest_neighbors<Context, T, D>::implementation::send_copies() {
  const std::size_t copies = targets.size();
  out.build(targets.data(), copies);
  together(ranks, [&] {
    arriving.resize_discarding(context, out.arriving());
    order.resize_discarding(context, copies);
    places.resize_discarding(context, copies);
  });
  out.apply(leaving.data(), arriving.data());
  together(ranks, [&] {
    sort_pairs(context, targets.data(), order.data(), copies, key_bits_for(static_cast<std::uint64_t>(ranks.size())),
               scratch, sort_values::index);
    for_each(context, "distributed.place_copies", copies, place_copies{order.data(), places.data()});
  });
}

/// Collective.
template <typename Context, typename T, int D>
void distributed_nearest_neighbors<Context, T, D>::implementation::answer() {
  array<std::uint32_t, Context> senders;
  together(ranks, [&] {
    find(asked, [&] { local.search(points_of(arriving)); });
    senders = to_device(context, senders_of(out.arriving_by_rank()));
  });
  back.build(senders.data(), senders.size());
  const std::size_t k = local.options().k;
  together(ranks, [&] { answers.resize(context, back.arriving() * k, local.options().shifts); });
  back.apply(asked.numbers.data(), answers.numbers.data(), k * sizeof(std::int64_t));
  back.apply(asked.squared.data(), answers.squared.data(), k * sizeof(T));
  if (!local.options().shifts) return;
  back.apply(asked.shifts.data(), answers.shifts.data(), k * sizeof(vec<int, D>));
}

template <typename Context, typename T, int D>
void distributed_nearest_neighbors<Context, T, D>::implementation::search(const points_view<T, D>* given) {
  found = false;
  together(ranks, [&] {
    require(built, "there are no points: build has not been called, or its last call failed");
    find(own, [&] { given == nullptr ? local.search() : local.search(*given); });
    rows = local.view().rows;
    make_copies(given == nullptr ? points_of(points) : *given);
  });
  send_copies();
  answer();
  together(ranks, [&] {
    for_each(context, "distributed.merge_answers", rows,
             detail::merge_answers<T, D>{starts.data(), places.data(), own.view(), answers.view(), local.options().k});
    context.synchronize();
  });
  found = true;
}

template <typename Context, typename T, int D>
std::size_t distributed_nearest_neighbors<Context, T, D>::implementation::bytes() const {
  return local.bytes() + own.bytes() + asked.bytes() + answers.bytes() + out.bytes() + back.bytes() + points.bytes() +
         extents.bytes() + counts.bytes() + targets.bytes() + order.bytes() + places.bytes() + starts.bytes() +
         leaving.bytes() + arriving.bytes() + scratch.bytes();
}

template <typename Context, typename T, int D>
distributed_nearest_neighbors<Context, T, D>::distributed_nearest_neighbors(const Context& context, communicator& ranks,
                                                                            const lattice<T, D>& box,
                                                                            const nearest_options<T>& options) {
  together(ranks, [&] { implementation_ = std::make_unique<implementation>(context, ranks, box, options); });
}

template <typename Context, typename T, int D>
void distributed_nearest_neighbors<Context, T, D>::build(const points_view<T, D>& points) {
  implementation_->build(points);
}
template <typename Context, typename T, int D>
void distributed_nearest_neighbors<Context, T, D>::search() {
  implementation_->search(nullptr);
}
template <typename Context, typename T, int D>
void distributed_nearest_neighbors<Context, T, D>::search(const points_view<T, D>& queries) {
  implementation_->search(&queries);
}
template <typename Context, typename T, int D>
distributed_nearest_view<T, D> distributed_nearest_neighbors<Context, T, D>::view() const {
  implementation& self = *implementation_;
  require(self.found, "there are no neighbors: nothing was searched since the last build, or the last search failed");
  const detail::neighbor_rows<T, D> rows = self.own.view();
  return {self.rows, self.local.options().k, rows.numbers, rows.squared, rows.shifts};
}
template <typename Context, typename T, int D>
std::size_t distributed_nearest_neighbors<Context, T, D>::sent() const {
  return implementation_->out.leaving();
}
template <typename Context, typename T, int D>
const nearest_options<T>& distributed_nearest_neighbors<Context, T, D>::options() const {
  return implementation_->local.options();
}
template <typename Context, typename T, int D>
std::size_t distributed_nearest_neighbors<Context, T, D>::bytes() const {
  return implementation_->bytes();
}

template class distributed_nearest_neighbors<backend_context, float, 2>;
template class distributed_nearest_neighbors<backend_context, float, 3>;
template class distributed_nearest_neighbors<backend_context, double, 2>;
template class distributed_nearest_neighbors<backend_context, double, 3>;

}  // namespace quadrat
