// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstddef>
#include <random>

#include "mesh/support.hpp"
#include "quadrat/mesh/spread_plan.hpp"

// `tiles` on GPUs has kernels of its own for one and two dimensions: right for every order, density and boundary.

namespace quadrat::test {

namespace {

template <typename T>
class planar_spreading : public backend_test {};
using precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(planar_spreading, precisions);

template <typename T, int D>
void expect_planar(const spread_case<T, D>& it, double tolerance = spread_tolerance<T>) {
  SCOPED_TRACE(describe(it));
  const spread_input<T, D> input(it);
  const wanted_results wanted = wanted_of(it, input, problem_of(it));
  for (const determinism level : {determinism::none, determinism::run_to_run}) {
    expect_agreement(run_method(context_at(level), it, input, "tiles"), wanted, tolerance);
  }
}

template <typename T, int D>
spread_case<T, D> planar_case(std::uint64_t seed, int order, int extent, double density) {
  auto it = uniform_case<T, D>(seed, static_cast<std::size_t>(density * std::pow(extent, D)), extent);
  it.order = order;
  it.components = 1 + seed % 2;
  it.vectors = 1 + seed % 3;
  it.accumulate = seed % 4 == 1;
  it.signed_values = seed % 5 == 2;
  return it;
}

template <typename T, int D>
void expect_every_order(int extent) {
  std::uint64_t seed = 0;
  for (int order = 1; order <= 8; ++order) {
    for (const double density : {0.15, 0.8, 4.0}) {
      auto it = planar_case<T, D>(++seed, order, extent, density);
      const int open = static_cast<int>(seed % (D + 1));
      if (open < D) {
        it.domain.periodic[open] = false;
        it.options.clip = true;
        it.options.accept_outside = true;
        for (auto& point : it.points) point[open] *= T(1.2);
      }
      expect_planar(it);
    }
  }
}

TYPED_TEST(planar_spreading, is_right_for_every_order_and_density) {
  expect_every_order<TypeParam, 1>(150);
  expect_every_order<TypeParam, 2>(27);
}

/// Patches and footprints are longer than the mesh.
TYPED_TEST(planar_spreading, is_right_on_small_meshes) {
  for (const int extent : {1, 2, 5, 13}) {
    for (const int order : {1, 4, 7, 8}) {
      expect_planar(planar_case<TypeParam, 1>(static_cast<std::uint64_t>(order), order, extent, 6));
      expect_planar(planar_case<TypeParam, 2>(static_cast<std::uint64_t>(order + extent), order, extent, 6));
    }
  }
}

/// Several units in one tile, the last of which is not full.
TYPED_TEST(planar_spreading, is_right_for_crowds) {
  auto it = planar_case<TypeParam, 2>(5, 6, 40, 0.3);
  std::mt19937_64 random(7);
  for (std::size_t i = 0; i < 1500; ++i) {
    it.points.push_back(make_vec<TypeParam, 2>([&](int) { return TypeParam(0.03) * random_unit<TypeParam>(random); }));
  }
  expect_planar(it, 5 * spread_tolerance<TypeParam>);
}

}  // namespace

}  // namespace quadrat::test
