// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "mesh/support.hpp"
#include "quadrat/mesh/spread_plan.hpp"

// `tiles` reads the mesh in other ways below 0.02 and 1.5 points per mesh point, and if rows have an odd number of mesh
// points: each is correct on meshes of several patches, at their ends, and in crowds.

namespace quadrat::test {

namespace {

template <typename T>
class spread_patches : public backend_test {};
using precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(spread_patches, precisions);

/// Points per mesh point.
constexpr std::array<double, 4> densities{0.005, 0.05, 0.3, 1};

/// Uniform points on a periodic mesh.
template <typename T>
spread_case<T, 3> case_of(const vec<int, 3>& mesh, double density, int order) {
  const double nodes = static_cast<double>(mesh[0]) * mesh[1] * mesh[2];
  auto it = uniform_case<T, 3>(static_cast<std::uint64_t>(order), static_cast<std::size_t>(nodes * density), 8);
  it.mesh = mesh;
  it.order = order;
  return it;
}

template <typename T>
void make_open(spread_case<T, 3>& it, int axis) {
  it.domain.periodic[axis] = false;
  it.options.clip = true;
  it.options.accept_outside = true;
}

template <typename T>
void expect_right(const backend_context& context, const spread_case<T, 3>& it, double tolerance = spread_tolerance<T>) {
  SCOPED_TRACE(describe(it));
  const spread_input<T, 3> input(it);
  expect_agreement(run_method(context, it, input, "tiles"), wanted_of(it, input, problem_of(it)), tolerance);
}

/// Even and odd extents along the last axis, several patches, tiles cut by the end of the mesh, each axis open in turn.
TYPED_TEST(spread_patches, every_order_is_right_at_every_density) {
  const backend_context context;
  for (int order = 1; order <= 8; ++order) {
    for (std::size_t k = 0; k < densities.size(); ++k) {
      const int last = order % 3 == 0 ? 19 : 18;
      auto it = case_of<TypeParam>(densities[k] < 0.1 ? vec<int, 3>{23, 22, last + 14} : vec<int, 3>{10, 9, last},
                                   densities[k], order);
      it.components = 1 + (static_cast<std::size_t>(order) + k) % 2;
      it.vectors = k == 1 ? 3 : 1;
      it.accumulate = k % 2 == 1;
      it.signed_values = k == 2;
      if (order % 4 != 0) make_open(it, order % 4 - 1);
      expect_right(context, it);
    }
  }
}

/// The same orders with rows of real and of complex values, which have separate kernels.
TYPED_TEST(spread_patches, real_and_complex_values_are_right_for_every_order) {
  const backend_context context;
  for (int order = 1; order <= 8; ++order) {
    for (const double density : {0.01, 0.06, 0.2}) {
      for (const std::size_t components : {1u, 2u}) {
        auto it = case_of<TypeParam>({density < 0.1 ? 26 : 11, 12, 22}, density, order);
        it.components = components;
        expect_right(context, it);
      }
    }
  }
}

/// Patches and footprints are longer than the mesh, and mesh points are read several times.
TYPED_TEST(spread_patches, small_meshes_are_right) {
  const backend_context context;
  for (const vec<int, 3>& mesh : {vec<int, 3>{1, 1, 2}, vec<int, 3>{3, 2, 4}, vec<int, 3>{5, 9, 2},
                                  vec<int, 3>{2, 3, 20}, vec<int, 3>{17, 1, 6}, vec<int, 3>{7, 7, 7}}) {
    for (const int order : {2, 5, 6, 7}) {
      for (int open = order % 2 - 1; open < 3; open += 2) {
        auto it = case_of<TypeParam>(mesh, 0.9, order);
        it.components = 1 + static_cast<std::size_t>(mesh[0]) % 2;
        if (it.points.empty()) it.points.push_back({TypeParam(0.1), TypeParam(0.2), TypeParam(0.3)});
        if (open >= 0) make_open(it, open);
        expect_right(context, it);
      }
    }
  }
}

/// All axes open, footprints beyond every face.
TYPED_TEST(spread_patches, open_meshes_are_right) {
  const backend_context context;
  for (const double density : {0.01, 0.06, 0.3}) {
    for (const int order : {3, 6}) {
      auto it = case_of<TypeParam>({20, 19, 36}, density, order);
      it.components = 2;
      for (int axis = 0; axis < 3; ++axis) make_open(it, axis);
      for (vec<TypeParam, 3>& point : it.points) {
        for (int axis = 0; axis < 3; ++axis) point[axis] = TypeParam(1.2) * point[axis];
      }
      expect_right(context, it);
    }
  }
}

/// Crowds are divided among blocks: all points in one tile, and with others around.
TYPED_TEST(spread_patches, crowds_are_right) {
  const backend_context context;
  for (const vec<int, 3>& mesh : {vec<int, 3>{60, 48, 64}, vec<int, 3>{20, 18, 24}, vec<int, 3>{20, 18, 25}}) {
    for (const std::size_t around : {std::size_t{0}, size_or(300, 60)}) {
      auto it = case_of<TypeParam>(mesh, 0, 4);
      it.components = 2;
      std::mt19937_64 random(around + 3);
      for (std::size_t i = 0; i < size_or(2500, 1200) + around; ++i) {
        const TypeParam size = i < around ? TypeParam(3.6) : TypeParam(0.02);
        it.points.push_back(make_vec<TypeParam, 3>([&](int) { return size * random_unit<TypeParam>(random) - 1; }));
      }
      expect_right(context, it, 5 * spread_tolerance<TypeParam>);
    }
  }
}

/// A mesh whose address does not allow pairs of mesh points to be read in one access.
TYPED_TEST(spread_patches, meshes_anywhere_in_memory_give_the_same_after_points_have_changed) {
  using T = TypeParam;
  const backend_context context;
  for (const double density : {0.01, 0.06, 0.3}) {
    for (const std::size_t components : {1u, 2u}) {
      auto it = case_of<T>({22, 20, 24}, density, 6);
      it.components = components;
      const spread_input<T, 3> input(it);
      auto plan = make_plan(context, it, "tiles", it.order);
      auto earlier = it;
      for (vec<T, 3>& point : earlier.points) point = T(0.5) * point;
      set_points(context, plan, earlier);
      set_points(context, plan, it);
      const plan_calls<T, 3> calls(plan, components);
      std::vector<T> moved(components, T(0));
      moved.insert(moved.end(), input.mesh.begin(), input.mesh.end());
      const auto mesh = to_device(context, moved);
      auto values = to_device(context, input.before.values), gradients = to_device(context, input.before.gradients);
      calls.interpolate(mesh.data() + components, values.data(), it.call());
      calls.gradient(mesh.data() + components, gradients.data(), it.call());
      const auto wanted = wanted_of(it, input, problem_of(it));
      EXPECT_LT(relative_error(to_host(context, values), wanted.values), spread_tolerance<T>) << describe(it);
      EXPECT_LT(relative_error(to_host(context, gradients), wanted.gradients), spread_tolerance<T>) << describe(it);
    }
  }
}

/// Independent of the order of points in their tiles, and of crowded patches.
TYPED_TEST(spread_patches, interpolation_gives_the_same_bits_in_every_run) {
  using T = TypeParam;
  for (const double density : {0.01, 0.06, 0.3}) {
    auto it = case_of<T>({34, 33, 40}, density, 6);
    it.components = 2;
    for (std::size_t i = 0; i < it.points.size() / 2; ++i) it.points[i] = T(0.1) * it.points[i];
    const spread_input<T, 3> input(it);
    const auto first = run_method(backend_context(), it, input, "tiles");
    for (int run = 0; run < 3; ++run) {
      const auto again = run_method(backend_context(), it, input, "tiles");
      EXPECT_TRUE(same_bits(again.values, first.values)) << describe(it);
      EXPECT_TRUE(same_bits(again.gradients, first.gradients)) << describe(it);
    }
  }
}

}  // namespace

}  // namespace quadrat::test
