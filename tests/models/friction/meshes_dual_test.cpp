// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

#include "contacts/triangle_surfaces.hpp"
#include "models/friction/support.hpp"
#include "quadrat/core/error.hpp"
#include "support/errors.hpp"

// Grains on walls of triangles feel what they feel on planes.

namespace quadrat::test {

namespace {

class granular_friction_meshes : public backend_test {};

[[nodiscard]] granular_mesh mesh_of(const triangle_surface& from, std::size_t material = 0) {
  return {from.vertices, from.triangles, material};
}

/// A grain that slides, then rolls down the plane z = 0, which is inclined, over many triangles.
template <typename T>
[[nodiscard]] granular_friction<backend_context, T> rolling_grain(const granular_friction_options& options) {
  const points positions{{-0.052, 0.003, 0.0049}}, velocities{{0.4, 0.1, 0}}, spins{{3, 2, 9}};
  return {make_context(), options, std::vector<double>{0.005}, positions, velocities, spins};
}

[[nodiscard]] granular_friction_options inclined() {
  granular_friction_options options;
  options.gravity = {1, 0.2, -9.7};
  options.lower = {-0.1, -0.1, -0.01};
  options.upper = {0.1, 0.1, 0.03};
  options.material.restitution = 0.5;
  return options;
}

template <typename T>
void expect_same_roll(const granular_mesh& floor, granular_friction_options options, double close) {
  options.walls = {{{0, 0, 0}, {0, 0, 1}}};
  auto on_plane = rolling_grain<T>(options);
  options.walls.clear();
  options.meshes = {floor};
  auto on_mesh = rolling_grain<T>(options);
  const auto steps = static_cast<std::size_t>(0.01 / on_plane.options().time_step);
  for (int part = 0; part < 20; ++part) {
    on_plane.advance(steps);
    on_mesh.advance(steps);
    ASSERT_NO_THROW(on_mesh.check());
    const double way = norm(on_mesh.positions()[0] - on_plane.positions()[0]);
    EXPECT_LT(way, close * 0.1) << part;
    EXPECT_LT(norm(on_mesh.velocities()[0] - on_plane.velocities()[0]), close) << part;
    EXPECT_LT(norm(on_mesh.angular_velocities()[0] - on_plane.angular_velocities()[0]), close / 0.005) << part;
    const auto here = on_mesh.measure(), there = on_plane.measure();
    EXPECT_NEAR(total_energy(here), total_energy(there), close * total_energy(there));
  }
  EXPECT_GT(on_mesh.positions()[0][0], 0.01);
}

TEST_F(granular_friction_meshes, roll_as_planes_do_whatever_the_triangles) {
  const triangle_surface floors[] = {square_floor(0.1, 1, 1), square_floor(0.1, 30, 20, 0.2), square_floor(0.1, 3, 200),
                                     fan_floor(0.3, 100)};
  for (const triangle_surface& floor : floors) {
    SCOPED_TRACE(floor.triangles.size());
    expect_same_roll<double>(mesh_of(floor), inclined(), 1e-9);
    expect_same_roll<float>(mesh_of(floor), inclined(), 1e-6);
  }
  granular_friction_options springs = inclined();
  springs.rolling = rolling_resistance::sds;
  springs.material.rolling_friction = 0.02;
  springs.material.twisting_friction = 0.01;
  expect_same_roll<double>(mesh_of(floors[1]), springs, 1e-9);
}

TEST_F(granular_friction_meshes, make_boxes_like_six_planes) {
  const loose_grains grains(4, 0.5, 3);
  const double half = grains.upper[0] / 2;
  granular_friction_options options = grains.in_box();
  auto on_planes = grains.simulate<double>(options);
  options.walls.clear();
  options.meshes = {mesh_of(placed(closed_box(half, 3), {1, 0, 0, 0}, {half, half, half}))};
  auto on_mesh = grains.simulate<double>(options);
  // Before collisions have spread rounding.
  const auto steps = static_cast<std::size_t>(0.01 / on_planes.options().time_step);
  on_planes.advance(steps);
  on_mesh.advance(steps);
  const auto wanted = on_planes.positions(), found = on_mesh.positions();
  for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_LT(norm(found[i] - wanted[i]), 1e-9) << i;
  EXPECT_NEAR(total_energy(on_mesh.measure()), total_energy(on_planes.measure()), 1e-9);
  on_mesh.advance(20 * steps);
  ASSERT_NO_THROW(on_mesh.check());
  for (const auto& p : on_mesh.positions()) {
    for (int axis = 0; axis < 3; ++axis) EXPECT_NEAR(p[axis], half, half);
  }
}

TEST_F(granular_friction_meshes, go_on_with_the_same_bits_after_a_restore) {
  const loose_grains grains(3, 0.5, 4);
  const double half = grains.upper[0] / 2;
  granular_friction_options options = grains.in_box();
  options.walls.resize(2);
  options.rolling = rolling_resistance::sds;
  options.material.rolling_friction = 0.1;
  options.meshes = {mesh_of(placed(closed_box(half, 4), {1, 0, 0, 0}, {half, half, half}))};
  auto first = grains.simulate<float>(options);
  first.advance(4000);
  const auto middle = first.state();
  std::size_t on_triangles = 0;
  for (const auto& one : middle.contacts) on_triangles += one.second >= first_granular_triangle ? 1 : 0;
  EXPECT_GT(on_triangles, 1u);
  first.advance(777);
  auto second = grains.simulate<float>(options);
  second.restore(middle);
  EXPECT_TRUE(same_bits(second.state(), middle));
  second.advance(777);
  EXPECT_TRUE(same_bits(first.state(), second.state()));
  auto wrong = middle;
  wrong.contacts.back().second = first_granular_triangle + 192;
  expect_words(error_of<argument_error>([&] { second.restore(wrong); }), {"192 triangles", "contact of"});
}

TEST_F(granular_friction_meshes, have_materials) {
  granular_friction_options options = inclined();
  options.gravity = {3, 0, -9};
  options.further_materials.resize(1, options.material);
  options.further_materials[0].friction = 0;
  options.meshes = {mesh_of(square_floor(0.1, 5, 5), 1)};
  auto grain = rolling_grain<double>(options);
  grain.advance(static_cast<std::size_t>(0.05 / grain.options().time_step));
  EXPECT_NEAR(grain.angular_velocities()[0][1], 2, 1e-9);
}

TEST_F(granular_friction_meshes, that_are_impossible_are_named) {
  granular_friction_options options = inclined();
  options.meshes = {mesh_of(square_floor(0.1, 1, 1)), mesh_of(square_floor(0.1, 1, 1), 1)};
  expect_words(error_of<argument_error>([&] { static_cast<void>(rolling_grain<double>(options)); }),
               {"mesh 1 is of material 1"});
  options.meshes[1].material = 0;
  options.meshes[1].triangles[1][2] = 4;
  expect_words(error_of<data_error>([&] { static_cast<void>(rolling_grain<double>(options)); }),
               {"mesh 1: triangle 1 has the vertex 4; there are 4"});
}

}  // namespace

}  // namespace quadrat::test
