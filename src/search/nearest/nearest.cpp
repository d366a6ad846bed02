// SPDX-License-Identifier: BSD-3-Clause
#include "core/backend.hpp"
#include "quadrat/search/nearest_neighbors.hpp"
#include "search/nearest/state.hpp"

namespace quadrat {

template <typename Context, typename T, int D>
nearest_neighbors<Context, T, D>::nearest_neighbors(const Context& context, const lattice<T, D>& box,
                                                    const nearest_options<T>& options)
    : implementation_(std::make_unique<implementation>(context, box, options)) {}

template <typename Context, typename T, int D>
void nearest_neighbors<Context, T, D>::build(const points_view<T, D>& points) {
  implementation_->build(points, true);
}

template <typename Context, typename T, int D>
void nearest_neighbors<Context, T, D>::build_async(const points_view<T, D>& points) {
  implementation_->build(points, false);
}

template <typename Context, typename T, int D>
void nearest_neighbors<Context, T, D>::search() {
  implementation_->search(nullptr, true);
}

template <typename Context, typename T, int D>
void nearest_neighbors<Context, T, D>::search(const points_view<T, D>& queries) {
  implementation_->search(&queries, true);
}

template <typename Context, typename T, int D>
void nearest_neighbors<Context, T, D>::search_async() {
  implementation_->search(nullptr, false);
}

template <typename Context, typename T, int D>
void nearest_neighbors<Context, T, D>::search_async(const points_view<T, D>& queries) {
  implementation_->search(&queries, false);
}

template <typename Context, typename T, int D>
void nearest_neighbors<Context, T, D>::check() {
  implementation_->check();
}

template <typename Context, typename T, int D>
nearest_view<T, D> nearest_neighbors<Context, T, D>::view() const {
  const implementation& state = *implementation_;
  require(state.searched,
          "there is no result: nothing has been searched since the last build, or the search has failed");
  return {state.rows, state.options.k, state.neighbors.data(), state.squared_distances.data(),
          state.options.shifts ? state.shifts.data() : nullptr};
}

template <typename Context, typename T, int D>
std::size_t nearest_neighbors<Context, T, D>::point_count() const {
  return implementation_->built ? implementation_->points.tree().points : 0;
}

template <typename Context, typename T, int D>
std::size_t nearest_neighbors<Context, T, D>::bytes() const {
  return implementation_->bytes();
}

template <typename Context, typename T, int D>
const nearest_options<T>& nearest_neighbors<Context, T, D>::options() const {
  return implementation_->options;
}

template class nearest_neighbors<backend_context, float, 2>;
template class nearest_neighbors<backend_context, float, 3>;
template class nearest_neighbors<backend_context, double, 2>;
template class nearest_neighbors<backend_context, double, 3>;

}  // namespace quadrat
