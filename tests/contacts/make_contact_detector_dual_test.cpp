// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/contacts/make_contact_detector.hpp"

#include <gtest/gtest.h>

#include <type_traits>
#include <vector>

#include "quadrat/core/array.hpp"
#include "support/backend.hpp"
#include "support/errors.hpp"

namespace quadrat::test {

namespace {

class make_contact_detector_test : public backend_test {
 protected:
  const backend_context context;
  const box<float, 3> domain = make_box<float, 3>({0, 0, 0}, {4, 4, 4}, {true, true, true});
};

TEST_F(make_contact_detector_test, takes_a_box_or_open_space) {
  const auto centers = to_device(context, std::vector<vec<float, 3>>{{0.25f, 1, 1}, {3.75f, 1, 1}});
  bodies_view<float> bodies;
  bodies.centers = points_of(centers);
  bodies.radius = 0.5f;
  auto periodic = make_contact_detector(context, domain, {.sorted = true});
  EXPECT_TRUE((std::is_same_v<decltype(periodic), contact_detector<backend_context, float>>));
  periodic.build(bodies);
  EXPECT_EQ(periodic.size(), 1u);
  auto open = make_contact_detector<float>(context);
  open.build(bodies);
  EXPECT_EQ(open.size(), 0u);
}

TEST_F(make_contact_detector_test, takes_a_box_for_each_system) {
  const auto centers = to_device(context, std::vector<vec<float, 3>>{{0.25f, 1, 1}, {3.75f, 1, 1}, {0.25f, 1, 1}});
  const auto systems = to_device(context, std::vector<std::uint32_t>{1, 1, 0});
  bodies_view<float> bodies;
  bodies.centers = points_of(centers);
  bodies.radius = 0.5f;
  bodies.system_of_body = systems.data();
  auto detector = make_contact_detector(context, std::vector(2, domain), {.sorted = true});
  detector.build(bodies);
  EXPECT_EQ(detector.size(), 1u);
}

TEST_F(make_contact_detector_test, makes_a_broad_phase_alike) {
  const auto lower = to_device(context, std::vector<vec<float, 3>>{{0, 1, 1}, {3.5f, 1, 1}});
  const auto upper = to_device(context, std::vector<vec<float, 3>>{{0.5f, 2, 2}, {4.25f, 2, 2}});
  bounds_view<float> bounds;
  bounds.lower = points_of(lower);
  bounds.upper = points_of(upper);
  auto periodic = make_broad_phase(context, domain, {.sorted = true});
  periodic.build(bounds);
  EXPECT_EQ(periodic.view().count, 1u);
  auto open = make_broad_phase<float>(context);
  open.build(bounds);
  EXPECT_EQ(open.view().count, 0u);
  EXPECT_EQ(make_contact_matcher(context).size(), 0u);
}

TEST_F(make_contact_detector_test, takes_auto_like_no_name) {
  const auto corners = to_device(context, std::vector<vec<float, 3>>{{1, 1, 1}, {2, 2, 2}});
  bodies_view<float> bodies;
  bodies.centers = points_of(corners);
  bodies.radius = 0.5f;
  bounds_view<float> bounds;
  bounds.lower = bounds.upper = points_of(corners);
  auto detector = make_contact_detector(context, domain, {});
  auto phase = make_broad_phase(context, domain, {});
  detector.build(bodies);
  phase.build(bounds);
  auto named_detector = make_contact_detector(context, domain, {.method = "auto"});
  auto named_phase = make_broad_phase(context, domain, {.method = "auto"});
  named_detector.build(bodies);
  named_phase.build(bounds);
  EXPECT_EQ(named_detector.method(), detector.method());
  EXPECT_EQ(named_detector.reason(), detector.reason());
  EXPECT_EQ(named_phase.method(), phase.method());
  EXPECT_EQ(named_phase.reason(), phase.reason());
  expect_words(error_of<argument_error>([&] { (void)make_broad_phase(context, domain, {.method = "other"}); }),
               {"contact method", "other", "auto"});
}

TEST_F(make_contact_detector_test, refuses_two_boxes) {
  EXPECT_NE(error_of<argument_error>([&] { (void)make_contact_detector(context, domain, {.domain = domain}); }),
            "no error");
  EXPECT_NE(error_of<argument_error>([&] { (void)make_contact_detector(context, domain, {.domains = {domain}}); }),
            "no error");
  EXPECT_NE(error_of<argument_error>([&] { (void)make_broad_phase(context, domain, {.domain = domain}); }), "no error");
}

}  // namespace

}  // namespace quadrat::test
