// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "quadrat/core/array.hpp"
#include "quadrat/search/make_cluster_finder.hpp"
#include "reference/clusters.hpp"
#include "support/backend.hpp"

namespace quadrat::test {

/// Labels and sizes on the host.
struct found_clusters {
  std::vector<std::int32_t> labels;
  std::vector<std::uint32_t> sizes;

  bool operator==(const found_clusters&) const = default;
};

template <typename T, int D>
[[nodiscard]] found_clusters find_on(const backend_context& context, cluster_finder<backend_context, T, D>& finder,
                                     const std::vector<vec<T, D>>& points) {
  const auto there = to_device(context, points);
  finder.find(points_of(there));
  const cluster_view view = finder.view();
  EXPECT_EQ(view.points, points.size());
  return {to_host(context, view.labels, view.points), to_host(context, view.sizes, view.clusters)};
}

template <typename T, int D>
[[nodiscard]] found_clusters find_clusters(const backend_context& context, const lattice<T, D>& box,
                                           const cluster_options<T>& options, const std::vector<vec<T, D>>& points) {
  auto finder = make_cluster_finder(context, box, options);
  return find_on(context, finder, points);
}

/// An orthorhombic box of these lengths at the origin.
template <typename T, int D>
[[nodiscard]] lattice<T, D> box_of(const vec<T, D>& lengths, const vec<bool, D>& periodic = {}) {
  return make_lattice(make_box<T, D>({}, lengths, periodic));
}

}  // namespace quadrat::test
