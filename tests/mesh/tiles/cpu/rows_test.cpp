// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "mesh/checks.hpp"
#include "mesh/particle/particle.hpp"
#include "mesh/tiles/cpu/engine.hpp"
#include "quadrat/mesh/window.hpp"

namespace quadrat::test {
namespace {

/// Points of one or two dimensions, most of them in a part of the mesh.
template <typename T, int D>
struct row_case {
  vec<int, D> mesh;
  int width;
  int components;
  std::size_t count;
  vec<bool, D> periodic;
  double crowded = 1;  ///< the part of each axis that has all points
  bool even = true;    ///< the window
};

template <typename T, int D>
class row_problem {
 public:
  explicit row_problem(const row_case<T, D>& it)
      : domain_(make_box<T, D>(vec<T, D>::filled(T(0)), vec<T, D>::filled(T(1)), it.periodic)), faults_(context_) {
    auto window = it.width <= 8 ? bspline_window<T>(it.width) : named_window<T>(window_shape::prolate, it.width, 2);
    if (!it.even) window.coefficient[0][0] += T(0.25), window.symmetric = false;
    setup_ = {detail::make_shape(domain_, it.mesh, window), window, {}};
    layout_ = {it.count, setup_.shape.size(), it.components, 2};
    std::mt19937_64 random(5);
    std::uniform_real_distribution<T> unit(T(0), T(1));
    points_.resize(D * it.count);
    for (T& x : points_) x = static_cast<T>(it.crowded) * unit(random);
    values_.resize(it.count * static_cast<std::size_t>(layout_.channels()));
    for (T& one : values_) one = unit(random) - T(0.5);
    mesh_.resize(layout_.mesh_values());
    for (T& one : mesh_) one = unit(random) - T(0.5);
  }

  [[nodiscard]] const detail::spread_setup<T>& setup() const { return setup_; }

  void set_points(detail::spread_engine<cpu_context, T>& engine) {
    detail::point_placement<T> placement{};
    for (int d = 0; d < D; ++d) {
      const int axis = 3 - D + d;
      placement.axis[axis] = detail::make_mesh_axis(domain_, d, setup_.shape.extent[axis], setup_.shape.width[axis]);
      placement.component[axis] = points_.data() + d;
    }
    placement.stride = D;
    placement.count = layout_.points;
    placement.clip = true;
    placement.faults = faults_.flag();
    engine.set_points(placement);
  }
  [[nodiscard]] std::vector<T> spread(detail::spread_engine<cpu_context, T>& engine, bool accumulate) {
    std::vector<T> mesh(mesh_.size(), std::numeric_limits<T>::quiet_NaN());
    if (accumulate) mesh = mesh_;
    engine.spread(layout_, values_.data(), mesh.data(), accumulate);
    return mesh;
  }
  [[nodiscard]] std::vector<T> interpolate(detail::spread_engine<cpu_context, T>& engine) {
    std::vector<T> values(values_.size());
    engine.interpolate(layout_, mesh_.data(), values.data(), false);
    return values;
  }

 private:
  cpu_context context_;
  box<T, D> domain_;
  fault_state<cpu_context> faults_;
  detail::spread_setup<T> setup_;
  detail::value_layout layout_;
  std::vector<T> points_, values_, mesh_;
};

template <typename T>
void expect_near(const std::vector<T>& found, const std::vector<T>& wanted, double allowed, const std::string& what) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    difference += std::pow(static_cast<double>(found[i]) - static_cast<double>(wanted[i]), 2);
    norm += std::pow(static_cast<double>(wanted[i]), 2);
  }
  EXPECT_LE(std::sqrt(difference), allowed * static_cast<double>(std::numeric_limits<T>::epsilon()) * std::sqrt(norm))
      << what;
}

template <typename T, int D>
void expect_as_the_particle_method(const row_case<T, D>& it) {
  row_problem<T, D> problem(it);
  // Thousands of values add up in one place, one after another in the particle method.
  const double allowed = it.crowded < 1 ? 128 : 16;
  detail::particle_engine<cpu_context, T> particle({}, problem.setup());
  problem.set_points(particle);
  for (const auto* functions :
       {detail::avx512_tile_functions(T{}), detail::avx2_tile_functions(T{}), detail::plain_tile_functions(T{})}) {
    if (functions == nullptr) continue;
    const std::string what = std::to_string(D) + " axes, width " + std::to_string(it.width) + ", components " +
                             std::to_string(it.components) + ", points " + std::to_string(it.count) + ", lanes " +
                             std::to_string(functions->lanes);
    std::vector<T> alone;
    for (const int threads : {1, 3}) {
      detail::cpu_tiles_engine<T> tiles(cpu_context({.threads = threads}), problem.setup(), *functions);
      problem.set_points(tiles);
      const auto found = problem.spread(tiles, false);
      expect_near(found, problem.spread(particle, false), allowed, "spread: " + what);
      expect_near(problem.spread(tiles, true), problem.spread(particle, true), allowed, "accumulate: " + what);
      expect_near(problem.interpolate(tiles), problem.interpolate(particle), allowed, "interpolate: " + what);
      if (threads == 1) alone = found;
      EXPECT_EQ(found, alone) << what;
    }
  }
}

template <typename T>
class cpu_tile_rows : public testing::Test {};
using precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(cpu_tile_rows, precisions);

TYPED_TEST(cpu_tile_rows, every_instruction_set_agrees_with_the_particle_method_in_two_dimensions) {
  for (const int width : {1, 2, 3, 7, 8}) {
    for (const int components : {1, 2}) {
      expect_as_the_particle_method<TypeParam, 2>({{300, 200}, width, components, 5000, {true, true}});
      expect_as_the_particle_method<TypeParam, 2>({{150, 333}, width, components, 3000, {false, true}});
      expect_as_the_particle_method<TypeParam, 2>({{5, 3}, width, components, 40, {true, false}});
    }
  }
}

TYPED_TEST(cpu_tile_rows, every_instruction_set_agrees_with_the_particle_method_in_one_dimension) {
  for (const int width : {1, 2, 3, 7, 8}) {
    for (const int components : {1, 2}) {
      expect_as_the_particle_method<TypeParam, 1>({{5000}, width, components, 5000, {true}});
      expect_as_the_particle_method<TypeParam, 1>({{3100}, width, components, 3000, {false}});
      expect_as_the_particle_method<TypeParam, 1>({{7}, width, components, 1, {true}});
    }
  }
}

TYPED_TEST(cpu_tile_rows, wide_windows_agree_with_the_particle_method) {
  for (const int width : {9, 12}) {
    expect_as_the_particle_method<TypeParam, 2>({{200, 300}, width, 2, 3000, {true, true}});
    expect_as_the_particle_method<TypeParam, 1>({{5000}, width, 2, 3000, {true}});
  }
}

/// A row is then moved to the mesh before it is done, and points of a tile are exchanged in place.
TYPED_TEST(cpu_tile_rows, crowded_points_agree_with_the_particle_method) {
  expect_as_the_particle_method<TypeParam, 2>({{300, 200}, 6, 2, 40000, {true, true}, 0.02});
  expect_as_the_particle_method<TypeParam, 1>({{5000}, 7, 2, 40000, {true}, 0.001});
}

TYPED_TEST(cpu_tile_rows, windows_that_are_not_even_agree_with_the_particle_method) {
  expect_as_the_particle_method<TypeParam, 2>({{300, 200}, 5, 2, 5000, {true, true}, 1, false});
  expect_as_the_particle_method<TypeParam, 1>({{5000}, 6, 1, 5000, {true}, 1, false});
}

TYPED_TEST(cpu_tile_rows, a_mesh_without_points_is_zero) {
  expect_as_the_particle_method<TypeParam, 2>({{300, 200}, 4, 2, 0, {true, true}});
  expect_as_the_particle_method<TypeParam, 1>({{5000}, 4, 2, 0, {true}});
}

}  // namespace
}  // namespace quadrat::test
