// SPDX-License-Identifier: BSD-3-Clause
#include "calls/calls.hpp"
#include "quadrat/contacts/make_contact_detector.hpp"
#include "quadrat/contacts/mesh_contact_detector.hpp"

namespace quadrat::test {

namespace {

class calls_of_contacts : public calls_test {};

struct visit_no_pair {
  QUADRAT_HD void operator()(particle_id, particle_id) const {}
};

TEST_F(calls_of_contacts, detectors) {
  const auto stored = some_points();
  bodies_view<float> bodies;
  bodies.centers = points_of(stored);
  bodies.radius = 0.05f;
  auto detector = make_contact_detector(context(), unit_box());
  expect_call("contact_detector::build", grows_and_waits, [&] { detector.build(bodies); });
  expect_call("contact_detector::build_async", enqueues, [&] { detector.build_async(bodies); });
  expect_call("contact_detector::check", waits, [&] {
    detector.build_async(bodies);
    detector.check();
  });
  expect_call("contact_detector::view", waits, [&] {
    detector.build_async(bodies);
    static_cast<void>(detector.view());
  });
  expect_call("contact_detector::size", waits, [&] {
    detector.build_async(bodies);
    static_cast<void>(detector.size());
  });
  expect_call("contact_detector::view_async", keeps_still, [&] { static_cast<void>(detector.view_async()); });
  expect_call("contact_detector::explanation", keeps_still, [&] { static_cast<void>(detector.explanation()); });
  expect_call("contact_detector::reserve", makes_room, [&] { detector.reserve(10); });
}

TEST_F(calls_of_contacts, detectors_on_meshes) {
  const auto stored = some_points();
  bodies_view<float> spheres;
  spheres.centers = points_of(stored);
  spheres.radius = 0.05f;
  const vec<double, 3> vertices[] = {{0, 0, 0}, {1, 0, 1}, {1, 1, 0}, {0, 1, 1}};
  const vec<std::uint32_t, 3> triangles[] = {{0u, 1u, 2u}, {0u, 2u, 3u}};
  mesh_contact_detector<backend_context, float> detector(context(), {vertices, triangles});
  expect_call("mesh_contact_detector::build", grows_and_waits, [&] { detector.build(spheres); });
  expect_call("mesh_contact_detector::build_async", enqueues, [&] { detector.build_async(spheres); });
  expect_call("mesh_contact_detector::check", waits, [&] {
    detector.build_async(spheres);
    detector.check();
  });
  expect_call("mesh_contact_detector::view", waits, [&] {
    detector.build_async(spheres);
    static_cast<void>(detector.view());
  });
  expect_call("mesh_contact_detector::size", waits, [&] {
    detector.build_async(spheres);
    static_cast<void>(detector.size());
  });
  expect_call("mesh_contact_detector::view_async", keeps_still, [&] { static_cast<void>(detector.view_async()); });
  expect_call("mesh_contact_detector::reserve", makes_room, [&] { detector.reserve(10); });
}

TEST_F(calls_of_contacts, broad_phases) {
  const auto lower = some_points(), upper = some_points(0.05f);
  const bounds_view<float> bounds{points_of(lower), points_of(upper)};
  auto phase = make_broad_phase(context(), unit_box());
  expect_call("broad_phase::build", grows_and_waits, [&] { phase.build(bounds); });
  const candidate_pairs_view pairs = phase.view();
  expect_call("broad_phase.hpp::for_each_candidate_pair", waits,
              [&] { for_each_candidate_pair(context(), pairs, visit_no_pair{}); });
  expect_call("broad_phase.hpp::for_each_candidate_pair_async", enqueues,
              [&] { for_each_candidate_pair_async(context(), pairs, visit_no_pair{}); });
  expect_call("broad_phase::build_async", enqueues, [&] { phase.build_async(bounds); });
  expect_call("broad_phase::check", waits, [&] {
    phase.build_async(bounds);
    phase.check();
  });
  expect_call("broad_phase::view", waits, [&] {
    phase.build_async(bounds);
    static_cast<void>(phase.view());
  });
  expect_call("broad_phase::view_async", keeps_still, [&] { static_cast<void>(phase.view_async()); });
  expect_call("broad_phase::reserve", makes_room, [&] { phase.reserve(10); });
}

TEST_F(calls_of_contacts, matchers) {
  const auto first = some_numbers<particle_id>(count, count), second = some_numbers<particle_id>(count, 7);
  const contact_keys_view keys{first.data(), second.data(), nullptr, 1, count};
  const auto from = some_numbers<float>(count, count);
  auto to = some_numbers<float>(count, count);
  auto matcher = make_contact_matcher(context());
  expect_call("contact_matcher::match", grows_and_waits, [&] { matcher.match(keys); });
  expect_call("contact_matcher::match_async", enqueues, [&] { matcher.match_async(keys); });
  expect_call("contact_matcher::check", waits, [&] { matcher.check(); });
  expect_call("contact_matcher::carry", waits, [&] { matcher.carry(from.data(), to.data(), 0.0f); });
  expect_call("contact_matcher::carry_async", enqueues, [&] { matcher.carry_async(from.data(), to.data(), 0.0f); });
  expect_call("contact_matcher::reserve", makes_room, [&] { matcher.reserve(count); });
  expect_call("contact_matcher::clear", keeps_still, [&] { matcher.clear(); });
}

}  // namespace

}  // namespace quadrat::test
