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
nearest_neighbors<Context, T, D>::nearest_neighbors(const Context& context, const std::vector<lattice<T, D>>& boxes,
                                                    const nearest_options<T>& options)
    : implementation_(std::make_unique<implementation>(context, boxes, options)) {}

template <typename Context, typename T, int D>
void nearest_neighbors<Context, T, D>::build(const points_view<T, D>& points, const std::uint32_t* system_of_point) {
  implementation_->build(points, system_of_point, true);
}

template <typename Context, typename T, int D>
void nearest_neighbors<Context, T, D>::build_async(const points_view<T, D>& points,
                                                   const std::uint32_t* system_of_point) {
  implementation_->build(points, system_of_point, false);
}

template <typename Context, typename T, int D>
void nearest_neighbors<Context, T, D>::search() {
  implementation_->search(nullptr, nullptr, true);
}

template <typename Context, typename T, int D>
void nearest_neighbors<Context, T, D>::search(const points_view<T, D>& queries, const std::uint32_t* system_of_query) {
  implementation_->search(&queries, system_of_query, true);
}

template <typename Context, typename T, int D>
void nearest_neighbors<Context, T, D>::search_async() {
  implementation_->search(nullptr, nullptr, false);
}

template <typename Context, typename T, int D>
void nearest_neighbors<Context, T, D>::search_async(const points_view<T, D>& queries,
                                                    const std::uint32_t* system_of_query) {
  implementation_->search(&queries, system_of_query, false);
}

template <typename Context, typename T, int D>
void nearest_neighbors<Context, T, D>::check() {
  implementation_->systems ? implementation_->systems->check() : implementation_->check();
}

template <typename Context, typename T, int D>
nearest_view<T, D> nearest_neighbors<Context, T, D>::view() const {
  return implementation_->systems ? implementation_->systems->view() : implementation_->view();
}

template <typename Context, typename T, int D>
std::size_t nearest_neighbors<Context, T, D>::point_count() const {
  const implementation& state = *implementation_;
  if (state.systems) return state.systems->point_count();
  return state.built ? state.points.tree().points : 0;
}

template <typename Context, typename T, int D>
std::size_t nearest_neighbors<Context, T, D>::bytes() const {
  return implementation_->systems ? implementation_->systems->bytes() : implementation_->bytes();
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
