// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/distributed/cluster_finder.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "core/backend.hpp"
#include "distributed/particles/own_points.hpp"
#include "distributed/particles/points_with_ghosts.hpp"
#include "distributed/search/fragment_graph.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/sort.hpp"
#include "search/clusters/fragments.hpp"

namespace quadrat {

namespace {

/// Index: fragment. The label of its cluster. Those that are not among the linked ones are a cluster each.
struct label_fragments {
  const std::uint32_t* linked;         ///< numbers of linked fragments, increasing
  const std::uint64_t* linked_labels;  ///< of their clusters
  const std::uint32_t* later_before;   ///< by linked fragment, and at the end: those before that are not the first of
                                       ///< their cluster
  std::size_t linked_count;
  std::uint64_t first_label;
  std::uint64_t* labels;

  QUADRAT_HD void operator()(std::size_t fragment) const {
    std::size_t low = 0, high = linked_count;
    while (low < high) {
      const std::size_t middle = (low + high) / 2;
      if (linked[middle] < fragment) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    const bool is_linked = low < linked_count && linked[low] == fragment;
    labels[fragment] = is_linked ? linked_labels[low] : first_label + fragment - later_before[low];
  }
};

/// Index: place in an order.
struct invert_order {
  const std::uint32_t* elements;
  std::uint32_t* places;

  QUADRAT_HD void operator()(std::size_t k) const { places[elements[k]] = static_cast<std::uint32_t>(k); }
};

/// Index: own point.
struct label_own_points {
  const std::int32_t* found;
  const std::uint64_t* labels;
  std::int64_t* labels_of_points;

  QUADRAT_HD void operator()(std::size_t i) const {
    labels_of_points[i] = found[i] == noise_label ? noise_label : static_cast<std::int64_t>(labels[found[i]]);
  }
};

}  // namespace

template <typename Context, typename T, int D>
struct distributed_cluster_finder<Context, T, D>::implementation {
  implementation(const Context& chosen, communicator& group, const lattice<T, D>& shape,
                 const std::optional<grid<T, D>>& cells, const cluster_options<T>& options)
      : context(chosen),
        ranks(group),
        box(shape),
        space(cells),
        finder(chosen, {shape}, options),
        local(chosen, group) {}

  void bring(const decomposition<D>& shares, const points_view<T, D>& points);
  void bring(const points_view<T, D>& points);
  void find();

  Context context;
  communicator& ranks;
  lattice<T, D> box;
  std::optional<grid<T, D>> space;  ///< none: points come without a decomposition
  detail::fragment_finder<Context, T, D> finder;
  detail::points_with_ghosts<Context, T, D> local;
  array<std::int64_t, Context> labels;
  std::uint64_t clusters = 0;
  std::size_t linked_fragments = 0;
  int rounds = 0;
  bool found = false;

 private:
  void find_core_points();
  void find_fragments();
  [[nodiscard]] std::vector<detail::fragment_link> links();
  void label(const detail::fragment_graph& graph);
  void label_points();

  detail::own_points_check<Context> check_own;
  array<std::uint32_t, Context> cores, fragments, fragments_of_owners, order, places;
  array<std::uint64_t, Context> labels_of_fragments;
  std::size_t own_fragments = 0, all_fragments = 0;
  workspace<Context> scratch;
};

/// Of own points and ghosts. Ghosts within the cutoff suffice to know the core points among own ones; owners say it of
/// ghosts.
template <typename Context, typename T, int D>
void distributed_cluster_finder<Context, T, D>::implementation::find_core_points() {
  together(ranks, [&] {
    cores.resize_discarding(context, local.all());
    try {
      finder.find_core_points(points_of(local.positions.data(), local.all()), cores.data());
    } catch (const data_error& problem) {
      // The owner of a ghost reports it.
      if (problem.index().value_or(0) >= local.own()) return;
      throw data_error(message("rank ", ranks.rank(), ": ", problem.what()), problem.index().value_or(0));
    }
  });
  if (finder.options.min_points > 1) local.borders.forward(cores.data());
}

template <typename Context, typename T, int D>
void distributed_cluster_finder<Context, T, D>::implementation::find_fragments() {
  together(ranks, [&] {
    fragments.resize_discarding(context, local.all());
    fragments_of_owners.resize_discarding(context, local.all());
    finder.find_fragments(cores.data(), fragments.data());
    own_fragments = finder.fragments_before(local.own());
    all_fragments = finder.fragments_before(local.all());
    copy_bytes(context, fragments.data(), fragments_of_owners.data(), local.own() * sizeof(std::uint32_t));
  });
  local.borders.forward(fragments_of_owners.data());
}

/// A ghost that is a core point links its fragment here and that on the rank of its owner.
template <typename Context, typename T, int D>
std::vector<detail::fragment_link> distributed_cluster_finder<Context, T, D>::implementation::links() {
  const auto mine = to_host(context, fragments.data() + local.own(), local.ghosts());
  const auto others = to_host(context, fragments_of_owners.data() + local.own(), local.ghosts());
  std::vector<detail::fragment_link> result;
  std::size_t k = 0;
  for (int rank = 0; rank < ranks.size(); ++rank) {
    for (const std::size_t end = k + local.borders.ghosts_by_rank()[static_cast<std::size_t>(rank)]; k < end; ++k) {
      if (mine[k] == no_particle) continue;
      const auto self = detail::make_fragment_id(ranks.rank(), mine[k], mine[k] >= own_fragments);
      const auto other = detail::make_fragment_id(rank, others[k], false);
      // Neighbors in memory are often neighbors in space.
      if (result.empty() || result.back() != detail::fragment_link{self, other}) result.push_back({self, other});
    }
  }
  return result;
}

/// The label of a cluster is the number of clusters whose first fragment comes before its first one.
template <typename Context, typename T, int D>
void distributed_cluster_finder<Context, T, D>::implementation::label(const detail::fragment_graph& graph) {
  const std::vector<detail::fragment_id>& linked = graph.fragments();
  std::vector<std::uint32_t> numbers, later_before{0}, later;
  for (std::size_t k = 0; k < linked.size(); ++k) {
    numbers.push_back(linked[k].number());
    if (numbers.back() < own_fragments && graph.firsts()[k] != linked[k]) later.push_back(numbers.back());
    later_before.push_back(static_cast<std::uint32_t>(later.size()));
  }
  const std::vector<std::uint64_t> counts = all_values(ranks, std::uint64_t{own_fragments - later.size()});
  const std::uint64_t first_label = std::accumulate(counts.begin(), counts.begin() + ranks.rank(), std::uint64_t{0});
  clusters = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  std::vector<std::uint64_t> linked_labels;
  if (graph.rounds() > 0) {
    linked_labels = ask_ranks(ranks, graph.firsts(), [&](detail::fragment_id one) {
      const auto before = std::ranges::lower_bound(later, one.number()) - later.begin();
      return first_label + one.number() - static_cast<std::uint64_t>(before);
    });
  }
  together(ranks, [&] {
    labels_of_fragments.resize_discarding(context, all_fragments);
    const auto numbers_there = to_device(context, numbers), before_there = to_device(context, later_before);
    const auto labels_there = to_device(context, linked_labels);
    for_each(context, "distributed.label_fragments", all_fragments,
             label_fragments{numbers_there.data(), labels_there.data(), before_there.data(), numbers.size(),
                             first_label, labels_of_fragments.data()});
    context.synchronize();
  });
}

/// Border points take the smallest label, so fragments must be in order of the labels of their clusters.
template <typename Context, typename T, int D>
void distributed_cluster_finder<Context, T, D>::implementation::label_points() {
  const bool ordered = finder.options.min_points > 1;
  if (ordered) {
    order.resize_discarding(context, all_fragments);
    places.resize_discarding(context, all_fragments);
    sort_pairs(context, labels_of_fragments.data(), order.data(), all_fragments, key_bits_for(clusters), scratch,
               sort_values::index);
    for_each(context, "distributed.order_fragments", all_fragments, invert_order{order.data(), places.data()});
  }
  const std::int32_t* const labeled = finder.label_by(ordered ? places.data() : nullptr);
  labels.resize_discarding(context, local.own());
  for_each(context, "distributed.label_points", local.own(),
           label_own_points{labeled, labels_of_fragments.data(), labels.data()});
  context.synchronize();
}

template <typename Context, typename T, int D>
void distributed_cluster_finder<Context, T, D>::implementation::bring(const decomposition<D>& shares,
                                                                      const points_view<T, D>& points) {
  found = false;
  together(ranks, [&] {
    require(space.has_value(), "the finder was made for a box without a grid; it takes points without a decomposition");
    check_own(context, ranks, *space, shares, points);
  });
  local.bring(context, *space, shares, points, nullptr, false, finder.options.cutoff);
}

template <typename Context, typename T, int D>
void distributed_cluster_finder<Context, T, D>::implementation::bring(const points_view<T, D>& points) {
  found = false;
  together(ranks, [&] { detail::require_points(points, "points"); });
  local.bring(context, box, points, points, nullptr, false, finder.options.cutoff);
}

/// In the points that have been brought.
template <typename Context, typename T, int D>
void distributed_cluster_finder<Context, T, D>::implementation::find() {
  find_core_points();
  find_fragments();
  std::vector<detail::fragment_link> to_others;
  together(ranks, [&] { to_others = links(); });
  const detail::fragment_graph graph(ranks, std::move(to_others));
  linked_fragments = graph.fragments().size();
  rounds = graph.rounds();
  label(graph);
  together(ranks, [&] { label_points(); });
  found = true;
}

template <typename Context, typename T, int D>
distributed_cluster_finder<Context, T, D>::distributed_cluster_finder(const Context& context, communicator& ranks,
                                                                      const grid<T, D>& space,
                                                                      const cluster_options<T>& options) {
  together(ranks, [&] {
    implementation_ =
        std::make_unique<implementation>(context, ranks, make_lattice(space.domain), std::optional(space), options);
  });
}
template <typename Context, typename T, int D>
distributed_cluster_finder<Context, T, D>::distributed_cluster_finder(const Context& context, communicator& ranks,
                                                                      const lattice<T, D>& box,
                                                                      const cluster_options<T>& options) {
  together(ranks,
           [&] { implementation_ = std::make_unique<implementation>(context, ranks, box, std::nullopt, options); });
}

template <typename Context, typename T, int D>
void distributed_cluster_finder<Context, T, D>::find(const decomposition<D>& shares, const points_view<T, D>& points) {
  implementation_->bring(shares, points), implementation_->find();
}
template <typename Context, typename T, int D>
void distributed_cluster_finder<Context, T, D>::find(const points_view<T, D>& points) {
  implementation_->bring(points), implementation_->find();
}
template <typename Context, typename T, int D>
distributed_cluster_view distributed_cluster_finder<Context, T, D>::view() const {
  const implementation& self = *implementation_;
  require(self.found, "there are no clusters: find has not been called, or its last call failed");
  return {self.local.own(), self.labels.data(), self.clusters};
}
template <typename Context, typename T, int D>
std::size_t distributed_cluster_finder<Context, T, D>::ghosts() const {
  return implementation_->local.ghosts();
}
template <typename Context, typename T, int D>
std::size_t distributed_cluster_finder<Context, T, D>::linked_fragments() const {
  return implementation_->linked_fragments;
}
template <typename Context, typename T, int D>
int distributed_cluster_finder<Context, T, D>::rounds() const {
  return implementation_->rounds;
}
template <typename Context, typename T, int D>
const cluster_options<T>& distributed_cluster_finder<Context, T, D>::options() const {
  return implementation_->finder.options;
}

template class distributed_cluster_finder<backend_context, float, 2>;
template class distributed_cluster_finder<backend_context, float, 3>;
template class distributed_cluster_finder<backend_context, double, 2>;
template class distributed_cluster_finder<backend_context, double, 3>;

}  // namespace quadrat
