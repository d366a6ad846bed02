// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "contacts/support.hpp"
#include "quadrat/parallel/cuda_graph.hpp"

// build_async, captured in a graph and replayed with bodies that have moved.

namespace quadrat::test {

namespace {

/// Bodies in a cube of this edge. Shapes, sizes, ids and planes are the same for all seeds.
body_scene<float> graph_scene(body_shape shape, bool mixed, std::uint64_t seed, float edge) {
  body_scene<float> scene;
  std::mt19937_64 same(11), random(seed);
  const std::size_t count = size_or(600, 150);
  scene.shape = shape;
  for (std::size_t i = 0; i < count; ++i) {
    scene.centers.push_back(make_vec<float, 3>([&](int) { return edge * random_unit<float>(random); }));
    const float size = 0.2f + 0.6f * random_unit<float>(same);
    scene.sizes.push_back({size, 0.8f * size, 0.6f * size});
    if (mixed) scene.shapes.push_back(static_cast<body_shape>(i % 4));
    scene.orientations.push_back({random_unit<float>(same), random_unit<float>(same), 0.5f, 0});
    scene.ids.push_back(static_cast<particle_id>(count - i));
  }
  scene.planes.push_back({{0, 0, 1}, 0.5f});
  return scene;
}

/// Scenes of the same bodies at other places, and their contacts.
struct moving_bodies {
  float edge = size_or(14, 9);
  std::vector<body_scene<float>> scenes;
  std::vector<std::vector<contact<float>>> contacts;

  moving_bodies(body_shape shape, bool mixed) {
    for (const std::uint64_t seed : {1, 2, 3, 4}) {
      scenes.push_back(graph_scene(shape, mixed, seed, edge));
      contacts.push_back(reference::contacts(scenes.back()));
    }
  }
};

class contact_graph : public backend_test {};

void expect_contact_replays(const moving_bodies& bodies, contact_options<float> options, determinism level) {
  SCOPED_TRACE(describe(bodies.scenes[0]) + ", " + options.method +
               message(options.sorted ? ", sorted" : "", ", level ", static_cast<int>(level)));
  const cuda_context context = context_at(level);
  contact_detector<cuda_context, float> detector(context, options);
  bodies_on_device<float> stored(context, bodies.scenes[0]);
  const auto put = [&](const body_scene<float>& next) {
    copy_bytes(context, next.centers.data(), stored.centers().data(), stored.centers().bytes());
    context.synchronize();
  };
  // Room for the bodies in bins, wherever they are.
  for (const std::size_t k : {3, 2, 1, 0}) {
    put(bodies.scenes[k]);
    detector.build(stored.view());
  }
  detector.reserve(2 * detector.size());
  detector.build(stored.view());
  cuda_graph graph;
  graph.capture(context, [&] { detector.build_async(stored.view()); });
  const auto expect_found = [&](std::size_t k) {
    put(bodies.scenes[k]);
    graph.launch(context);
    expect_contacts(bring_home(context, detector.view()), bodies.contacts[k], bodies.edge, options.sorted);
  };
  for (const std::size_t k : {1, 2, 3}) expect_found(k);
  body_scene<float> crowd = bodies.scenes[1];
  for (auto& center : crowd.centers) center = center * 0.1f;
  put(crowd);
  graph.launch(context);
  EXPECT_THROW(detector.check(), overflow_error);
  EXPECT_THROW(static_cast<void>(detector.view()), overflow_error);
  body_scene<float> broken = bodies.scenes[1];
  broken.centers[77][2] = NAN;
  put(broken);
  graph.launch(context);
  EXPECT_THROW(detector.check(), data_error);
  expect_found(2);
}

TEST_F(contact_graph, replays_a_build_of_bodies_that_have_moved) {
  std::vector<std::string> methods{""};
  for (const contact_method& method : contact_methods()) methods.emplace_back(method.name);
  for (const moving_bodies& bodies :
       {moving_bodies(body_shape::sphere, false), moving_bodies(body_shape::ellipsoid, false),
        moving_bodies(body_shape::box, true)}) {
    for (const std::string& method : methods) {
      for (const determinism level : {determinism::none, determinism::run_to_run}) {
        for (const bool sorted : {false, true}) {
          contact_options<float> options;
          options.method = method;
          options.sorted = sorted;
          expect_contact_replays(bodies, options, level);
          if (HasFailure()) return;
        }
      }
    }
  }
}

}  // namespace

}  // namespace quadrat::test
