// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/search/pair_counts.hpp"

#include <algorithm>

#include "core/backend.hpp"
#include "search/pairs/counter.hpp"

namespace quadrat {

template <typename Context, typename T, int D>
struct pair_counts<Context, T, D>::implementation : detail::pair_counter<Context, T, D> {
  using detail::pair_counter<Context, T, D>::pair_counter;
};

template <typename Context, typename T, int D>
pair_counts<Context, T, D>::pair_counts(const Context& context, const lattice<T, D>& box,
                                        const pair_counts_options& options)
    : implementation_(std::make_unique<implementation>(context, detail::box_of_pairs<T, D>(options, &box), options)) {}
template <typename Context, typename T, int D>
pair_counts<Context, T, D>::pair_counts(const Context& context, const pair_counts_options& options)
    : implementation_(
          std::make_unique<implementation>(context, detail::box_of_pairs<T, D>(options, nullptr), options)) {}

template <typename Context, typename T, int D>
pair_counts_result pair_counts<Context, T, D>::count(const points_view<T, D>& points, const T* weights,
                                                     const std::uint32_t* regions) {
  implementation& self = *implementation_;
  const detail::counted_set<T, D> set{points, weights, regions, "point"};
  self.check_sets(set, set);
  const bool weighted = weights != nullptr;
  const double largest = weighted ? self.largest_weight(set) : 0;
  const detail::pair_sums sums = self.sums_of(weighted, largest, largest);
  return self.result_of(self.words_of(set, sums), sums);
}
template <typename Context, typename T, int D>
pair_counts_result pair_counts<Context, T, D>::count_between(const points_view<T, D>& points,
                                                             const points_view<T, D>& others, const T* weights,
                                                             const T* other_weights, const std::uint32_t* regions,
                                                             const std::uint32_t* other_regions) {
  implementation& self = *implementation_;
  const detail::counted_set<T, D> first{points, weights, regions, "point"};
  const detail::counted_set<T, D> second{others, other_weights, other_regions, "other point"};
  self.check_sets(first, second);
  const bool weighted = weights != nullptr || other_weights != nullptr;
  const detail::pair_sums sums = weighted ? self.sums_of(true, self.largest_weight(first), self.largest_weight(second))
                                          : self.sums_of(false, 0, 0);
  return self.result_of(self.words_between(first, second, sums), sums);
}
template <typename Context, typename T, int D>
std::size_t pair_counts<Context, T, D>::bytes() const {
  return implementation_->bytes();
}
template <typename Context, typename T, int D>
const pair_counts_options& pair_counts<Context, T, D>::options() const {
  return implementation_->options;
}

template class pair_counts<backend_context, float, 3>;
template class pair_counts<backend_context, double, 3>;

}  // namespace quadrat
