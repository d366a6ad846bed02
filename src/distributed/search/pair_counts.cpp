// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/distributed/pair_counts.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "core/backend.hpp"
#include "distributed/particles/own_points.hpp"
#include "distributed/particles/points_with_ghosts.hpp"
#include "quadrat/core/error.hpp"
#include "search/pairs/counter.hpp"

namespace quadrat {

namespace {

/// What a rank gives of one set.
struct given_set {
  bool any_points;
  bool weighted;
  double largest;  ///< weight
};
struct given_sets {
  given_set of[2];
};

}  // namespace

template <typename Context, typename T, int D>
struct distributed_pair_counts<Context, T, D>::implementation {
  using set_type = detail::counted_set<T, D>;

  implementation(const Context& chosen, communicator& group, const lattice<T, D>& shape,
                 const std::optional<grid<T, D>>& cells, const pair_counts_options& options)
      : context(chosen),
        ranks(group),
        box(shape),
        space(cells),
        counter(chosen, box_of(shape, options), options),
        targets(chosen, group) {}

  [[nodiscard]] static lattice<T, D> box_of(const lattice<T, D>& box, const pair_counts_options& options);
  /// The pairs of the first set with the second, or with itself if that is the same object. `shares`: nullptr: none.
  [[nodiscard]] pair_counts_result count(const decomposition<D>* shares, const set_type& first, const set_type& second);

  Context context;
  communicator& ranks;
  lattice<T, D> box;
  std::optional<grid<T, D>> space;  ///< none: points come without a decomposition
  detail::pair_counter<Context, T, D> counter;
  detail::own_points_check<Context> check_own;
  detail::points_with_ghosts<Context, T, D> targets;

 private:
  array<std::uint32_t, Context> target_regions;
  [[nodiscard]] given_set given(const decomposition<D>* shares, const set_type& set);
  [[nodiscard]] detail::pair_sums agreed_sums(const given_sets& mine);
  [[nodiscard]] std::vector<std::uint64_t> own_words(const set_type& first, const set_type& second,
                                                     const detail::pair_sums& sums);
};

template <typename Context, typename T, int D>
lattice<T, D> distributed_pair_counts<Context, T, D>::implementation::box_of(const lattice<T, D>& box,
                                                                             const pair_counts_options& options) {
  const bool sky = options.coordinates == pair_coordinates::theta;
  for (int axis = 0; axis < D; ++axis) {
    require(!sky || !box.periodic[axis], "the box is periodic along axis ", axis,
            "; theta is counted between unit vectors, whose box must be open along all axes");
  }
  return detail::box_of_pairs<T, D>(options, sky ? nullptr : &box);
}

template <typename Context, typename T, int D>
given_set distributed_pair_counts<Context, T, D>::implementation::given(const decomposition<D>* shares,
                                                                        const set_type& set) {
  require(shares == nullptr || space.has_value(),
          "the counter was made for a box without a grid; it takes points without a decomposition");
  detail::require_points(set.points, "points");
  if (shares != nullptr) check_own(context, ranks, *space, *shares, set.points);
  counter.check_regions(set);
  if (set.points.count == 0) return {};
  const bool weighted = set.weights != nullptr;
  return {true, weighted, weighted ? counter.largest_weight(set) : 0};
}

template <typename Context, typename T, int D>
detail::pair_sums distributed_pair_counts<Context, T, D>::implementation::agreed_sums(const given_sets& mine) {
  double largest[2] = {0, 0};
  int kinds[2] = {-1, -1};  // the first ranks without and with weights
  const std::vector<given_sets> all = all_values(ranks, mine);
  for (int rank = 0; rank < ranks.size(); ++rank) {
    for (int which = 0; which < 2; ++which) {
      const given_set& set = all[static_cast<std::size_t>(rank)].of[which];
      int& kind = kinds[set.weighted ? 1 : 0];
      if (set.any_points && kind < 0) kind = rank;
      largest[which] = std::max(largest[which], set.largest);
    }
  }
  require(kinds[0] < 0 || kinds[1] < 0, "rank ", kinds[1], " gives weights and rank ", kinds[0],
          " points without; give weights for all points of both sets, or for none");
  return counter.sums_of(kinds[1] >= 0, largest[0], largest[1]);
}

/// The pairs of points that are on this rank.
template <typename Context, typename T, int D>
std::vector<std::uint64_t> distributed_pair_counts<Context, T, D>::implementation::own_words(
    const set_type& first, const set_type& second, const detail::pair_sums& sums) {
  try {
    return &first == &second ? counter.words_of(first, sums) : counter.words_between(first, second, sums);
  } catch (const data_error& problem) {
    throw data_error(message("rank ", ranks.rank(), ": ", problem.what()), problem.index().value_or(0));
  }
}

template <typename Context, typename T, int D>
pair_counts_result distributed_pair_counts<Context, T, D>::implementation::count(const decomposition<D>* shares,
                                                                                 const set_type& first,
                                                                                 const set_type& second) {
  given_sets sets{};
  together(ranks, [&] {
    sets.of[0] = given(shares, first);
    sets.of[1] = &first == &second ? sets.of[0] : given(shares, second);
  });
  const detail::pair_sums sums = agreed_sums(sets);
  std::vector<std::uint64_t> words;
  together(ranks, [&] { words = own_words(first, second, sums); });
  if (shares != nullptr) {
    targets.bring(context, *space, *shares, second.points, second.weights, sums.weighted, counter.reach());
  } else {
    targets.bring(context, box, second.points, first.points, second.weights, sums.weighted, counter.reach());
  }
  if (sums.regions > 0) targets.bring_values(context, second.regions, target_regions);
  together(ranks, [&] {
    if (targets.ghosts() == 0) return;
    const std::size_t own = targets.own();
    // The time follows the ghosts, which are few, if they are the first set.
    const auto ghosts = points_of(targets.positions.data() + own, targets.ghosts());
    const set_type others{ghosts, sums.weighted ? targets.numbers.data() + own : nullptr,
                          sums.regions > 0 ? target_regions.data() + own : nullptr, "ghost"};
    const auto found = counter.words_between(others, first, sums);
    for (std::size_t k = 0; k < found.size(); ++k) words[k] += found[k];
  });
  ranks.add_up(words.data(), words.size());
  return counter.result_of(words, sums);
}

template <typename Context, typename T, int D>
distributed_pair_counts<Context, T, D>::distributed_pair_counts(const Context& context, communicator& ranks,
                                                                const grid<T, D>& space,
                                                                const pair_counts_options& options) {
  together(ranks, [&] {
    implementation_ =
        std::make_unique<implementation>(context, ranks, make_lattice(space.domain), std::optional(space), options);
  });
}
template <typename Context, typename T, int D>
distributed_pair_counts<Context, T, D>::distributed_pair_counts(const Context& context, communicator& ranks,
                                                                const lattice<T, D>& box,
                                                                const pair_counts_options& options) {
  together(ranks,
           [&] { implementation_ = std::make_unique<implementation>(context, ranks, box, std::nullopt, options); });
}

template <typename Context, typename T, int D>
pair_counts_result distributed_pair_counts<Context, T, D>::count(const decomposition<D>& shares,
                                                                 const points_view<T, D>& points, const T* weights,
                                                                 const std::uint32_t* regions) {
  const detail::counted_set<T, D> set{points, weights, regions, "point"};
  return implementation_->count(&shares, set, set);
}
template <typename Context, typename T, int D>
pair_counts_result distributed_pair_counts<Context, T, D>::count(const points_view<T, D>& points, const T* weights,
                                                                 const std::uint32_t* regions) {
  const detail::counted_set<T, D> set{points, weights, regions, "point"};
  return implementation_->count(nullptr, set, set);
}
template <typename Context, typename T, int D>
pair_counts_result distributed_pair_counts<Context, T, D>::count_between(
    const decomposition<D>& shares, const points_view<T, D>& points, const points_view<T, D>& others, const T* weights,
    const T* other_weights, const std::uint32_t* regions, const std::uint32_t* other_regions) {
  return implementation_->count(&shares, {points, weights, regions, "point"},
                                {others, other_weights, other_regions, "other point"});
}
template <typename Context, typename T, int D>
pair_counts_result distributed_pair_counts<Context, T, D>::count_between(const points_view<T, D>& points,
                                                                         const points_view<T, D>& others,
                                                                         const T* weights, const T* other_weights,
                                                                         const std::uint32_t* regions,
                                                                         const std::uint32_t* other_regions) {
  return implementation_->count(nullptr, {points, weights, regions, "point"},
                                {others, other_weights, other_regions, "other point"});
}
template <typename Context, typename T, int D>
std::size_t distributed_pair_counts<Context, T, D>::ghosts() const {
  return implementation_->targets.ghosts();
}
template <typename Context, typename T, int D>
const pair_counts_options& distributed_pair_counts<Context, T, D>::options() const {
  return implementation_->counter.options;
}

template class distributed_pair_counts<backend_context, float, 3>;
template class distributed_pair_counts<backend_context, double, 3>;

}  // namespace quadrat
