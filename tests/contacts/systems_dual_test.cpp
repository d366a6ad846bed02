// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "contacts/support.hpp"

// Bodies of several systems in one search: the contacts are those of each system alone.

namespace quadrat::test {

namespace {

/// Gives the bodies of a random scene systems in any order, some of them empty, and one domain to all or one to each.
template <typename T>
body_scene<T> in_systems(body_scene<T> scene, std::uint64_t seed) {
  std::mt19937_64 random(seed * 77 + 5);
  const auto systems = static_cast<std::uint32_t>(1 + random() % 6);
  for (std::size_t i = 0; i < scene.centers.size(); ++i) {
    scene.systems.push_back(static_cast<std::uint32_t>(random() % systems));
  }
  if (random() % 3 == 0) return scene;
  const box<T, 3> domain = scene.options.domain.value_or(box<T, 3>{{}, {{8, 8, 8}}, {}});
  for (std::uint32_t system = 0; system < systems + 1; ++system) {
    box<T, 3> own = domain;
    for (int axis = 0; axis < 3; ++axis) {
      own.lower[axis] += random_unit<T>(random) * domain.length[axis];
      own.length[axis] *= T(1) + random_unit<T>(random);
      own.periodic[axis] = domain.periodic[axis] && random() % 4 != 0;
    }
    scene.options.domains.push_back(own);
  }
  scene.options.domain.reset();
  return scene;
}

template <typename T>
class contact_systems : public backend_test {
 protected:
  using value = T;
  static std::size_t found(const backend_context& context, const body_scene<T>& scene, bool sorted) {
    const auto wanted = reference::contacts(scene);
    check_method(context, scene, wanted, "", sorted);
    check_method(context, scene, wanted, "hashed", sorted);
    return wanted.size();
  }
};
using contact_systems_precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(contact_systems, contact_systems_precisions);

TYPED_TEST(contact_systems, have_the_contacts_of_each_alone) {
  using T = TypeParam;
  const auto contexts = all_contexts();
  std::size_t contacts = 0;
  const std::size_t scenes = size_or(600, 40);
  for (std::uint64_t seed = 1; seed <= scenes; ++seed) {
    const auto scene = in_systems(body_scene_maker<T>(seed).make(static_cast<scene_bodies>(seed % 5)), seed);
    SCOPED_TRACE(message("seed ", seed, ", ", scene.options.domains.size(), " domains: ", describe(scene)));
    contacts += this->found(contexts[seed % contexts.size()], scene, seed % 2 == 0);
    if (this->HasFailure()) return;
  }
  EXPECT_GT(contacts, 5 * scenes);
}

/// Systems of 100 spheres in periodic cubes of their own size, at one place, in an order that mixes them.
template <typename T>
body_scene<T> many_systems(std::uint32_t systems) {
  std::mt19937_64 random(3);
  body_scene<T> scene;
  for (std::uint32_t system = 0; system < systems; ++system) {
    const T side = T(4) + T(2) * random_unit<T>(random);
    const bool periodic = system % 5 != 0;
    scene.options.domains.push_back({{}, vec<T, 3>::filled(side), vec<bool, 3>::filled(periodic)});
    for (int k = 0; k < (system % 7 == 3 ? 0 : 100); ++k) {
      scene.centers.push_back(make_vec<T, 3>([&](int) { return side * random_unit<T>(random); }));
      scene.radii.push_back(T(0.2) + T(0.3) * random_unit<T>(random));
      scene.systems.push_back(system);
    }
  }
  for (std::size_t i = scene.centers.size(); i > 1; --i) {
    const std::size_t other = random() % i;
    std::swap(scene.centers[i - 1], scene.centers[other]);
    std::swap(scene.radii[i - 1], scene.radii[other]);
    std::swap(scene.systems[i - 1], scene.systems[other]);
  }
  return scene;
}

TYPED_TEST(contact_systems, of_a_large_batch_are_each_searched_alone) {
  using T = TypeParam;
  const auto systems = static_cast<std::uint32_t>(size_or(200, 30));
  EXPECT_GT(this->found(backend_context(), many_systems<T>(systems), true), 50u * systems);
}

TYPED_TEST(contact_systems, need_no_bodies_and_no_more_than_one_system) {
  using T = TypeParam;
  body_scene<T> scene = many_systems<T>(1);
  EXPECT_GT(this->found(backend_context(), scene, true), 0u);
  scene.systems.clear();
  EXPECT_GT(this->found(backend_context(), scene, true), 0u) << "the systems may be left out";
  body_scene<T> none;
  none.options.domains = many_systems<T>(5).options.domains;
  none.radius = T(1);
  EXPECT_EQ(this->found(backend_context(), none, true), 0u);
  none.centers = {{T(1), T(1), T(1)}};
  none.systems = {4};
  EXPECT_EQ(this->found(backend_context(), none, true), 0u);
}

TYPED_TEST(contact_systems, at_one_place_meet_the_same_walls_but_not_each_other) {
  using T = TypeParam;
  body_scene<T> scene;
  scene.centers.assign(1000, {T(1), T(2), T(0.25)});
  scene.radius = T(0.5);
  for (std::uint32_t k = 0; k < 1000; ++k) scene.systems.push_back(k * 268435u);  // up to 2^28
  scene.planes.push_back({{T(0), T(0), T(1)}, T(0)});
  EXPECT_EQ(this->found(backend_context(), scene, true), 1000u);
}

TYPED_TEST(contact_systems, may_hold_bodies_anywhere_along_open_axes) {
  using T = TypeParam;
  body_scene<T> scene;
  scene.radius = T(0.5);
  // Cells 2^32 apart have the same name; beyond, positions are coarser than bodies, and some have no index.
  for (const double place : {0.0, 0x1p32, -0x1p32, 0x1p40, 1e18, -1e18, 3e38, -3e38}) {
    for (const double apart : {0.0, 0.75, 1.5}) {
      for (std::uint32_t system = 0; system < 2; ++system) {
        scene.centers.push_back({static_cast<T>(place + apart), T(0), static_cast<T>(-place)});
        scene.systems.push_back(system);
      }
    }
  }
  EXPECT_GT(this->found(backend_context(), scene, true), 0u);
}

TYPED_TEST(contact_systems, are_found_again_without_waiting_after_bodies_have_moved_and_grown) {
  using T = TypeParam;
  const backend_context context;
  const auto systems = static_cast<std::uint32_t>(size_or(40, 10));
  const body_scene<T> scene = many_systems<T>(systems);
  body_scene<T> later = scene;
  std::mt19937_64 random(9);
  for (auto& center : later.centers) {
    for (int axis = 0; axis < 3; ++axis) center[axis] += T(3) * random_unit<T>(random);
  }
  later.radii[5] = T(0.9);
  const bodies_on_device<T> stored(context, scene), stored_later(context, later);
  contact_options<T> options = scene.options;
  options.sorted = true;
  contact_detector<backend_context, T> detector(context, options);
  detector.build(stored.view());
  EXPECT_EQ(detector.method(), "hashed");
  detector.reserve(2 * detector.size() + 1000);
  detector.build_async(stored_later.view());
  expect_contacts(bring_home(context, detector.view()), reference::contacts(later), T(8), true);
  detector.build_async(stored.view());
  expect_contacts(bring_home(context, detector.view()), reference::contacts(scene), T(8), true);
}

using contact_system_faults = backend_test;

TEST_F(contact_system_faults, name_the_body_its_system_and_what_is_accepted) {
  const backend_context context;
  body_scene<float> scene = many_systems<float>(3);
  const auto complaint = [&](const body_scene<float>& wrong) {
    contact_detector<backend_context, float> detector(context, wrong.options);
    const bodies_on_device<float> stored(context, wrong);
    return error_of<data_error>([&] { detector.build(stored.view()); });
  };
  body_scene<float> wrong = scene;
  wrong.systems[17] = 3;
  EXPECT_EQ(complaint(wrong), "body 17 is of system 3; systems are below 3");
  wrong = scene;
  wrong.options.domains.clear();
  wrong.systems[4] = 1u << 28;
  EXPECT_EQ(complaint(wrong), "body 4 is of system 268435456; systems are below 268435456");
  wrong = scene;
  const std::uint32_t system = wrong.systems[11] == 0 ? wrong.systems[12] : wrong.systems[11];
  const std::size_t body = wrong.systems[11] == 0 ? 12 : 11;
  ASSERT_NE(system, 0u);
  wrong.radii[body] = 3;
  expect_words(complaint(wrong), {message("body ", body, " is 6 long"), "periodic axis 0"});
}

TEST_F(contact_system_faults, are_reported_by_check_after_a_build_that_did_not_wait) {
  const backend_context context;
  body_scene<float> scene = many_systems<float>(3);
  contact_detector<backend_context, float> detector(context, scene.options);
  const bodies_on_device<float> stored(context, scene);
  detector.build(stored.view());
  const std::uint64_t size = detector.size();
  scene.systems[29] = 0xffffffffu;
  const bodies_on_device<float> wrong(context, scene);
  detector.build_async(wrong.view());
  EXPECT_EQ(error_of<data_error>([&] { detector.check(); }), "body 29 is of system 4294967295; systems are below 3");
  detector.build_async(stored.view());
  EXPECT_EQ(detector.size(), size);
}

TEST_F(contact_system_faults, are_arguments_that_do_not_go_together) {
  const backend_context context;
  const body_scene<float> scene = many_systems<float>(3);
  const bodies_on_device<float> stored(context, scene);
  const auto complaint = [&](const contact_options<float>& options, const bodies_view<float>& bodies) {
    return error_of<argument_error>([&] {
      contact_detector<backend_context, float> detector(context, options);
      detector.build(bodies);
    });
  };
  contact_options<float> options = scene.options;
  options.method = "levels";
  EXPECT_EQ(
      complaint(options, stored.view()),
      "the contact method levels serves bodies of one system, and these are of several; hashed and auto serve them");
  options = scene.options;
  options.domain = options.domains[0];
  EXPECT_EQ(complaint(options, stored.view()),
            "one domain and those of 3 systems are given; one or the other is accepted");
  options = scene.options;
  options.domains[1].length[2] = 0;
  expect_words(complaint(options, stored.view()), {"length along axis 2 is 0"});
  bodies_view<float> bodies = stored.view();
  bodies.system_of_body = nullptr;
  EXPECT_EQ(complaint(scene.options, bodies),
            "there are 3 domains, but system_of_body is null; the system of each body is needed");
  bodies = stored.view();
  const plane<float> wall{{0, 1, 0}, 0};
  bodies.planes = std::span(&wall, 1);
  expect_words(complaint(scene.options, bodies), {"plane 0", "periodic axis 1"});
}

}  // namespace

}  // namespace quadrat::test
