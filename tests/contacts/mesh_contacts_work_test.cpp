// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "contacts/bodies/place.hpp"
#include "contacts/triangle_surfaces.hpp"
#include "contacts/triangles/device.hpp"
#include "quadrat/core/context.hpp"

// What a search for contacts with triangles tests follows the spheres and the triangles near them.

namespace quadrat::test {

namespace {

/// Nodes of the tree that a search visits, and triangles that it tests.
template <typename T>
[[nodiscard]] std::pair<std::size_t, std::size_t> work_of(const triangle_surface& mesh,
                                                          const std::vector<vec<double, 3>>& centers, T radius) {
  const cpu_context context;
  const auto domain = detail::open_box<T>();
  const auto tables = detail::make_triangle_tables(mesh.view(), domain);
  const detail::triangles_on_device<cpu_context, T> there(context, tables, domain);
  std::size_t nodes = 0, tests = 0;
  for (const auto& center : centers) {
    there.store().for_each_near(cast<T>(center), radius, [&](std::uint32_t) { ++tests; });
    std::vector<std::size_t> open{1};
    while (!open.empty()) {
      const std::size_t node = open.back();
      open.pop_back();
      if (node >= tables.nodes.size()) continue;
      ++nodes;
      if (!tables.nodes[node].within(cast<T>(center), radius) || node >= std::size_t{1} << tables.height) continue;
      open.push_back(2 * node);
      open.push_back(2 * node + 1);
    }
  }
  return {nodes, tests};
}

}  // namespace

template <typename T>
class mesh_contacts_work : public testing::Test {};
using mesh_contacts_work_precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(mesh_contacts_work, mesh_contacts_work_precisions);

TYPED_TEST(mesh_contacts_work, is_that_of_the_triangles_near_a_sphere) {
  using T = TypeParam;
  std::vector<vec<double, 3>> near, far;
  std::mt19937_64 generator(1);
  for (int k = 0; k < 1000; ++k) {
    vec<double, 3> p = random_place(generator, -0.9, 0.9);
    far.push_back(p + vec<double, 3>{0, 0, 5});
    p[2] = 0.005;
    near.push_back(p);
  }
  triangle_surface mesh = square_floor(1, 200, 200);
  const auto [nodes, tests] = work_of(mesh, near, T(0.01));
  EXPECT_LT(tests, 20u * near.size());
  EXPECT_LT(nodes, 150u * near.size());
  EXPECT_EQ(work_of(mesh, far, T(0.01)).first, far.size());
  // One triangle as large as all adds a test, and at most a path down the tree.
  const auto base = static_cast<std::uint32_t>(mesh.vertices.size());
  mesh.vertices.insert(mesh.vertices.end(), {{-9, -9, -4}, {9, -9, -4}, {0, 9, 4}});
  mesh.triangles.push_back({base, base + 1, base + 2});
  const auto [more_nodes, more_tests] = work_of(mesh, near, T(0.01));
  EXPECT_LE(more_tests, 1.01 * static_cast<double>(tests + near.size()));
  EXPECT_LE(more_nodes, nodes + 2 * 17 * near.size());
}

}  // namespace quadrat::test
