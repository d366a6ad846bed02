// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "contacts/support.hpp"
#include "quadrat/contacts/contact_matcher.hpp"

// Histories of contacts stay with their bodies and planes when others come, go or change places.

namespace quadrat::test {

namespace {

/// What a detector with a matcher finds from step to step.
template <typename T>
class steps_of_contacts {
 public:
  explicit steps_of_contacts(const contact_options<T>& options) : detector_(context_, options), matcher_(context_) {}

  std::vector<contact<T>> find(const body_scene<T>& scene) {
    const bodies_on_device<T> stored(context_, scene);
    detector_.build(stored.view());
    matcher_.match(keys_of(detector_.view()));
    return bring_home(context_, detector_.view());
  }
  [[nodiscard]] std::vector<std::uint32_t> previous() const {
    return to_host(context_, matcher_.previous(), matcher_.size());
  }

 private:
  backend_context context_;
  contact_detector<backend_context, T> detector_;
  contact_matcher<backend_context> matcher_;
};

using contact_histories = backend_test;

TEST_F(contact_histories, with_the_floor_stay_when_a_body_is_added) {
  body_scene<double> scene;
  scene.centers = {{0, 0, 0.9}, {5, 0, 0.9}};
  scene.radius = 1;
  scene.planes = {{{0, 0, 1}, 0}};
  scene.options.sorted = true;
  steps_of_contacts<double> steps(scene.options);
  ASSERT_EQ(steps.find(scene).size(), 2u);
  scene.centers.push_back({0, 0, 2.8});
  const auto found = steps.find(scene);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(key_of(found[0]), std::tuple(0u, 2u, 0u)) << "before the plane, which comes after all bodies";
  EXPECT_EQ(key_of(found[1]), std::tuple(0u, first_plane, 0u));
  EXPECT_EQ(key_of(found[2]), std::tuple(1u, first_plane, 0u));
  EXPECT_EQ(steps.previous(), (std::vector<std::uint32_t>{no_contact, 0, 1}));
}

/// Bodies of the scene in this order; each keeps its id.
template <typename T>
body_scene<T> stored_as(const body_scene<T>& scene, const std::vector<std::size_t>& order) {
  body_scene<T> result = scene;
  const auto take = [&](auto& to, const auto& from) {
    to.clear();
    for (const std::size_t i : order) to.push_back(from[i]);
  };
  take(result.centers, scene.centers);
  take(result.sizes, scene.sizes);
  take(result.shapes, scene.shapes);
  take(result.orientations, scene.orientations);
  take(result.ids, scene.ids);
  return result;
}

/// Bodies of all shapes that touch one another and two planes, with ids that do not follow their order.
template <typename T>
body_scene<T> heap(std::size_t count) {
  body_scene<T> scene;
  std::mt19937_64 random(3);
  for (std::size_t i = 0; i < count; ++i) {
    const auto at = [&] { return 5 * random_unit<T>(random); };
    scene.centers.push_back({at(), at(), at()});
    const T size = T(0.3) + T(0.4) * random_unit<T>(random);
    scene.sizes.push_back({size, T(0.8) * size, T(0.6) * size});
    scene.shapes.push_back(static_cast<body_shape>(random() % 4));
    scene.orientations.push_back({random_unit<T>(random), random_unit<T>(random), T(0.5), random_unit<T>(random)});
    scene.ids.push_back(static_cast<particle_id>((7919 * i) % 1'000'003));
  }
  scene.planes = {{{0, 0, 1}, T(0.5)}, {{1, 0, 0}, T(0.5)}};
  return scene;
}

using identity = std::tuple<particle_id, particle_id, std::uint32_t>;

template <typename T>
[[nodiscard]] identity identity_of(const body_scene<T>& scene, const contact<T>& c) {
  return {scene.ids[c.a], c.b < first_plane ? scene.ids[c.b] : c.b, c.feature};
}

/// Expects that each contact is found again where its bodies are still there, with the same numbers: a is the same
/// body.
template <typename T>
void expect_histories(const body_scene<T>& before, const std::vector<contact<T>>& old, const body_scene<T>& now,
                      const std::vector<contact<T>>& found, const std::vector<std::uint32_t>& previous,
                      std::size_t least_kept) {
  std::map<identity, std::uint32_t> places;
  for (std::size_t k = 0; k < old.size(); ++k) {
    places[identity_of(before, old[k])] = static_cast<std::uint32_t>(k);
  }
  ASSERT_EQ(places.size(), old.size());
  std::size_t kept = 0;
  for (std::size_t k = 0; k < found.size(); ++k) {
    const auto known = places.find(identity_of(now, found[k]));
    ASSERT_EQ(previous[k], known == places.end() ? no_contact : known->second) << describe(found[k]);
    if (known == places.end()) continue;
    contact<T> was = old[previous[k]];
    was.a = found[k].a;
    was.b = found[k].b;
    ASSERT_EQ(std::memcmp(&was, &found[k], sizeof(was)), 0) << describe(was) << " became " << describe(found[k]);
    ++kept;
  }
  EXPECT_GE(kept, least_kept);
  EXPECT_LT(kept, found.size()) << "some must be new";
}

template <typename T>
void check_histories(const std::string& method) {
  const std::size_t count = size_or(400, 150);
  const body_scene<T> all = heap<T>(count);
  std::mt19937_64 random(4);
  contact_options<T> options;
  options.method = method;
  steps_of_contacts<T> steps(options);
  body_scene<T> before;
  std::vector<contact<T>> old;
  // In each step some bodies are missing, and all are in another order.
  for (int step = 0; step < 4; ++step) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < count; ++i) {
      if (random() % 8 != 0) order.push_back(i);
    }
    if (step != 1) std::shuffle(order.begin(), order.end(), random);
    const body_scene<T> now = stored_as(all, order);
    const auto found = steps.find(now);
    if (step > 0) expect_histories(before, old, now, found, steps.previous(), count);
    before = now;
    old = found;
  }
}

TEST_F(contact_histories, stay_when_bodies_are_inserted_removed_and_reordered) {
  for (const contact_method& method : contact_methods()) {
    SCOPED_TRACE(method.name);
    check_histories<float>(std::string(method.name));
    check_histories<double>(std::string(method.name));
  }
}

TEST_F(contact_histories, with_ids_sorted_contacts_come_in_the_same_order_however_bodies_are_stored) {
  body_scene<float> scene = heap<float>(size_or(300, 100));
  scene.options.sorted = true;
  std::vector<std::size_t> order(scene.centers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), std::mt19937_64(5));
  steps_of_contacts<float> steps(scene.options);
  const auto first = steps.find(scene);
  const body_scene<float> turned = stored_as(scene, order);
  const auto second = steps.find(turned);
  ASSERT_EQ(first.size(), second.size());
  ASSERT_GT(first.size(), scene.centers.size());
  const auto previous = steps.previous();
  for (std::uint32_t k = 0; k < first.size(); ++k) {
    ASSERT_EQ(identity_of(scene, first[k]), identity_of(turned, second[k]));
    ASSERT_EQ(previous[k], k);
  }
}

}  // namespace

}  // namespace quadrat::test
