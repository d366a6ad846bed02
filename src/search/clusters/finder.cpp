// SPDX-License-Identifier: BSD-3-Clause
#include "search/clusters/finder.hpp"

#include "core/backend.hpp"

namespace quadrat {

template <typename Context, typename T, int D>
struct cluster_finder<Context, T, D>::implementation : detail::cluster_engine<Context, T, D> {
  using detail::cluster_engine<Context, T, D>::cluster_engine;
};

template <typename Context, typename T, int D>
cluster_finder<Context, T, D>::cluster_finder(const Context& context, const lattice<T, D>& box,
                                              const cluster_options<T>& options)
    : cluster_finder(context, std::vector<lattice<T, D>>{box}, options) {}

template <typename Context, typename T, int D>
cluster_finder<Context, T, D>::cluster_finder(const Context& context, const std::vector<lattice<T, D>>& boxes,
                                              const cluster_options<T>& options)
    : implementation_(std::make_unique<implementation>(context, boxes, options)) {}

template <typename Context, typename T, int D>
void cluster_finder<Context, T, D>::find(const points_view<T, D>& points, const std::uint32_t* system_of_point) {
  implementation_->find(points, system_of_point);
}

template <typename Context, typename T, int D>
void cluster_finder<Context, T, D>::find_async(const points_view<T, D>& points, const std::uint32_t* system_of_point) {
  implementation_->find_async(points, system_of_point);
}

template <typename Context, typename T, int D>
void cluster_finder<Context, T, D>::reserve(std::size_t clusters) {
  implementation_->reserve(clusters);
}

template <typename Context, typename T, int D>
void cluster_finder<Context, T, D>::check() {
  implementation_->check();
}

template <typename Context, typename T, int D>
cluster_view cluster_finder<Context, T, D>::view() const {
  return implementation_->view();
}

template <typename Context, typename T, int D>
cluster_members cluster_finder<Context, T, D>::members() {
  return implementation_->members();
}

template <typename Context, typename T, int D>
const vec<T, D>* cluster_finder<Context, T, D>::centers() {
  return implementation_->centers();
}

template <typename Context, typename T, int D>
cluster_catalog<T, D> cluster_finder<Context, T, D>::catalog(const cluster_catalog_options<T, D>& options) {
  return implementation_->catalog(options);
}

template <typename Context, typename T, int D>
std::size_t cluster_finder<Context, T, D>::bytes() const {
  return implementation_->bytes();
}

template <typename Context, typename T, int D>
const cluster_options<T>& cluster_finder<Context, T, D>::options() const {
  return implementation_->options;
}

template class cluster_finder<backend_context, float, 2>;
template class cluster_finder<backend_context, float, 3>;
template class cluster_finder<backend_context, double, 2>;
template class cluster_finder<backend_context, double, 3>;

}  // namespace quadrat
