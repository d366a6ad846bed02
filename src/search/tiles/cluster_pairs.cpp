// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/search/cluster_pairs.hpp"

#include "core/backend.hpp"
#include "search/tiles/list.hpp"
#include "search/tiles/select.hpp"

namespace quadrat {

template <typename Context, typename T, int D>
cluster_pair_list<Context, T, D>::cluster_pair_list(const Context& context, const lattice<T, D>& box,
                                                    const cluster_pair_options<T>& options)
    : implementation_(std::make_unique<implementation>(context, box, options)) {}

template <typename Context, typename T, int D>
void cluster_pair_list<Context, T, D>::build(const points_view<T, D>& points) {
  implementation_->build(points);
}

template <typename Context, typename T, int D>
bool cluster_pair_list<Context, T, D>::update(const points_view<T, D>& points) {
  if (implementation_->follow(points)) return false;
  implementation_->build(points);
  return true;
}

template <typename Context, typename T, int D>
cluster_pair_view<T, D> cluster_pair_list<Context, T, D>::view() const {
  return implementation_->view();
}

template <typename Context, typename T, int D>
std::uint64_t cluster_pair_list<Context, T, D>::tiles() const {
  static_cast<void>(implementation_->view());
  return implementation_->tile_count;
}

template <typename Context, typename T, int D>
std::size_t cluster_pair_list<Context, T, D>::bytes() const {
  return implementation_->bytes();
}

template <typename Context, typename T, int D>
const cluster_pair_options<T>& cluster_pair_list<Context, T, D>::options() const {
  return implementation_->options;
}

template <typename Context, typename T, int D>
const Context& cluster_pair_list<Context, T, D>::context() const {
  return implementation_->context;
}

template <typename Context, typename T, int D>
workspace<Context>& cluster_pair_list<Context, T, D>::scratch() const {
  return implementation_->scratch;
}

template <typename Context, typename T, int D>
detail::select_tiles<T, D> cluster_pair_list<Context, T, D>::selection() {
  return detail::fastest_tile_selection<T, D>();
}

template <typename Context, typename T, int D>
detail::staged_turns cluster_pair_list<Context, T, D>::turns() const {
  return implementation_->turns();
}

template <typename Context, typename T, int D>
detail::staged_places cluster_pair_list<Context, T, D>::places() const {
  return implementation_->staged();
}

template class cluster_pair_list<backend_context, float, 2>;
template class cluster_pair_list<backend_context, float, 3>;
template class cluster_pair_list<backend_context, double, 2>;
template class cluster_pair_list<backend_context, double, 3>;

}  // namespace quadrat
