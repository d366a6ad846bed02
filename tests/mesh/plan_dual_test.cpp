// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mesh/support.hpp"
#include "quadrat/mesh/spread_plan.hpp"
#include "support/errors.hpp"

// What a plan does apart from spreading: it refuses invalid input, names what is wrong, and can be reused.

namespace quadrat::test {

namespace {

using plan3 = spread_plan<backend_context, float, 3>;
using case3 = spread_case<float, 3>;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

class spread_plan_test : public backend_test {};

/// Points in [1, 3]^3 of a box with a mesh of 8^3 and distance 1/2, order 4.
case3 case_inside(std::uint64_t seed = 1, std::size_t count = 60) {
  case3 it;
  std::mt19937_64 random(seed);
  it.seed = seed;
  it.domain = make_box<float, 3>({0, 0, 0}, {4, 4, 4}, {true, true, true});
  it.mesh = {8, 8, 8};
  for (std::size_t i = 0; i < count; ++i) {
    it.points.push_back(make_vec<float, 3>([&](int) { return 1 + 2 * random_unit<float>(random); }));
  }
  return it;
}

/// The message when such a plan is constructed.
std::string plan_error(const case3& it, const backend_context& context = backend_context()) {
  return error_of<argument_error>([&] { (void)make_plan(context, it, it.options.method, it.order); });
}

/// The message about the points of a case; afterwards no points are set, not even earlier ones, and others can be set.
std::string points_error(const case3& it, const std::string& method) {
  const backend_context context;
  case3 sound = case_inside(it.seed + 1);
  sound.domain = it.domain;
  auto plan = make_plan(context, it, method, it.order);
  set_points(context, plan, sound);
  std::string text = error_of<data_error>([&] { set_points(context, plan, it); });
  array<float, backend_context> values(context, 3 * it.points.size()), mesh(context, plan.mesh_size());
  for (const std::string& refusal :
       {error_of<argument_error>([&] { plan.spread(values.data(), mesh.data()); }),
        error_of<argument_error>([&] { plan.interpolate(mesh.data(), values.data()); }),
        error_of<argument_error>([&] { plan.interpolate_gradient(mesh.data(), values.data()); })}) {
    expect_words(refusal, {"set_points"});
  }
  set_points(context, plan, sound);
  expect_right(context, plan, sound);
  return text;
}

TEST_F(spread_plan_test, methods_have_names_of_their_own) {
  std::vector<std::string> names;
  for (const spread_method& method : spread_methods()) {
    names.emplace_back(method.name);
    EXPECT_FALSE(method.summary.empty()) << method.name;
    EXPECT_TRUE(method.on_cpu || method.on_cuda || cuda_devices().empty()) << method.name;
  }
  EXPECT_FALSE(methods_here().empty());
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

TEST_F(spread_plan_test, impossible_meshes_and_orders_are_named) {
  const auto refusal = [](auto&& change) {
    case3 it = case_inside();
    change(it);
    return plan_error(it);
  };
  EXPECT_EQ(refusal([](case3&) {}), "no error");
  for (const int extent : {0, -7, (1 << 22) + 1}) {
    expect_words(refusal([&](case3& it) { it.mesh[1] = extent; }), {std::to_string(extent), "axis 1"});
  }
  expect_words(refusal([](case3& it) { it.mesh = {2048, 1024, 1024}; }), {"2048", "1024", "2147483647"});
  expect_words(refusal([](case3& it) { it.mesh = {1 << 20, 1 << 20, 1 << 20}; }), {"1048576", "2147483647"});
  for (const int order : {0, -1, 9}) {
    expect_words(refusal([&](case3& it) { it.order = order; }), {"order is " + std::to_string(order)});
  }
  expect_words(refusal([](case3& it) { it.domain.length[2] = 1e-39f; }), {"axis 2", "8 mesh points"});
}

TEST_F(spread_plan_test, impossible_options_are_named) {
  const auto refusal = [](auto&& change) {
    case3 it = case_inside();
    change(it);
    return plan_error(it);
  };
  for (const double uses : {0.0, -2.0, static_cast<double>(nan)}) {
    EXPECT_NE(refusal([&](case3& it) { it.options.uses = uses; }).find("uses"), std::string::npos) << uses;
  }
  for (const int unit : {-1, 3, 33, 64}) {
    expect_words(refusal([&](case3& it) { it.details.compute_unit = unit; }), {"unit is " + std::to_string(unit)});
  }
  for (const int size : {0, -1, 1025}) {
    expect_words(refusal([&](case3& it) { it.details.group_size = size; }), {"group size is " + std::to_string(size)});
  }
  for (const int unit : {0, 1, 2, 4, 8, 16, 32}) {
    EXPECT_EQ(refusal([&](case3& it) { it.details.compute_unit = unit; }), "no error") << unit;
  }
}

TEST_F(spread_plan_test, impossible_windows_are_refused) {
  const backend_context context;
  const case3 it = case_inside();
  const auto refusal = [&](int width, int terms) {
    mesh_window<float> window = bspline_window<float>(4);
    window.width = width;
    window.terms = terms;
    return error_of<argument_error>([&] { plan3 plan(context, it.domain, it.mesh, window); });
  };
  for (const int width : {0, -1, 17}) expect_words(refusal(width, 4), {"width is " + std::to_string(width)});
  for (const int terms : {0, -1, 21}) expect_words(refusal(4, terms), {std::to_string(terms) + " terms"});
}

TEST_F(spread_plan_test, unknown_methods_are_refused_with_those_of_the_backend) {
  case3 it = case_inside();
  it.options.method = "partikle";
  const std::string text = plan_error(it);
  expect_words(text, {"partikle", "auto"});
  for (const spread_method& method : spread_methods()) {
    const bool named = (text + ",").find(" " + std::string(method.name) + ",") != std::string::npos;
    EXPECT_EQ(named, method.*on_this_backend && !method.wrong_results) << method.name << " in: " << text;
  }
  EXPECT_LT(text.find("particle"), text.find("auto")) << "nearest first: " << text;
}

TEST_F(spread_plan_test, methods_of_the_other_backend_are_refused) {
  for (const spread_method& method : spread_methods()) {
    case3 it = case_inside();
    it.options.method = method.name;
    if (method.*on_this_backend) {
      EXPECT_EQ(plan_error(it), "no error") << method.name;
    } else {
      expect_words(plan_error(it), {it.options.method, "does not run on"});
    }
  }
}

TEST_F(spread_plan_test, levels_of_determinism_that_a_method_does_not_have_are_refused) {
  for (const determinism level : {determinism::run_to_run, determinism::canonical}) {
    const auto able = methods_here(level);
    for (const spread_method& method : spread_methods()) {
      if (!(method.*on_this_backend)) continue;
      case3 it = case_inside();
      it.options.method = method.name;
      const std::string text = plan_error(it, context_at(level));
      if (static_cast<int>(method.reproducible) >= static_cast<int>(level)) {
        EXPECT_EQ(text, "no error") << method.name;
        continue;
      }
      expect_words(text, {it.options.method, level == determinism::canonical ? "canonical" : "run_to_run"});
      expect_words(text, able);
    }
  }
}

TEST_F(spread_plan_test, chooses_a_method_that_has_the_level) {
  for (const determinism level : {determinism::none, determinism::run_to_run, determinism::canonical}) {
    const auto able = methods_here(level);
    if (able.empty()) continue;
    const backend_context context = context_at(level);
    for (const char* asked : {"", "auto"}) {
      for (const std::size_t count : {0u, 60u, 3000u}) {
        const case3 it = case_inside(1, count);
        auto plan = make_plan(context, it, asked, it.order);
        EXPECT_EQ(plan.method(), "");
        set_points(context, plan, it);
        EXPECT_NE(std::find(able.begin(), able.end(), plan.method()), able.end()) << plan.method();
        EXPECT_FALSE(plan.reason().empty());
        expect_right(context, plan, it);
      }
    }
  }
}

/// A plan keeps its choice while the number of points stays the same.
TEST_F(spread_plan_test, chooses_as_a_new_plan_does) {
  const backend_context context;
  auto used = make_plan(context, case_inside(), "auto", case_inside().order);
  EXPECT_EQ(used.reason(), "");
  for (const std::size_t count : {60u, 60u, 30000u, 30000u, 0u, 60u}) {
    const case3 it = case_inside(1, count);
    set_points(context, used, it);
    auto fresh = make_plan(context, it, "auto", it.order);
    set_points(context, fresh, it);
    EXPECT_EQ(used.method(), fresh.method()) << count;
    EXPECT_EQ(used.reason(), fresh.reason()) << count;
  }
}

TEST_F(spread_plan_test, says_what_it_holds) {
  const backend_context context;
  const case3 it = case_inside(1, 77);
  for (const std::string& method : methods_here()) {
    auto plan = make_plan(context, it, method, it.order);
    EXPECT_EQ(plan.mesh_size(), 512u);
    EXPECT_EQ(plan.point_count(), 0u);
    set_points(context, plan, it);
    EXPECT_EQ(plan.point_count(), 77u);
    EXPECT_EQ(plan.method(), method);
    EXPECT_FALSE(plan.reason().empty());
    EXPECT_GT(plan.bytes(), 0u);
  }
}

/// Methods with wrong results run too; their results are not checked.
TEST_F(spread_plan_test, methods_with_wrong_results_run) {
  const backend_context context;
  const case3 it = case_inside(1, 500);
  for (const spread_method& method : spread_methods()) {
    if (!method.wrong_results || !(method.*on_this_backend)) continue;
    EXPECT_EQ(method.reproducible, determinism::none) << method.name;
    const spread_input<float, 3> input(it);
    const auto found = run_method(context, it, input, std::string(method.name));
    EXPECT_TRUE(std::all_of(found.mesh.begin(), found.mesh.end(), [](float value) { return std::isfinite(value); }));
  }
}

TEST_F(spread_plan_test, the_first_point_that_is_not_finite_is_named) {
  for (const std::string& method : methods_here()) {
    SCOPED_TRACE(method);
    for (const bool periodic : {true, false}) {
      for (const float value : {nan, infinity, -infinity}) {
        case3 it = case_inside();
        it.domain.periodic = vec<bool, 3>::filled(periodic);
        it.options.clip = true;
        it.points[17][1] = it.points[40][0] = value;
        expect_words(points_error(it, method), {"point 17 ", "not finite"});
      }
    }
  }
}

TEST_F(spread_plan_test, a_point_farther_away_than_a_neighbor_list_takes_it_is_named) {
  for (const std::string& method : methods_here()) {
    SCOPED_TRACE(method);
    case3 it = case_inside();
    it.points[23][2] = 5e6f;
    it.points[31][0] = -1e30f;
    expect_words(points_error(it, method), {"point 23 ", "periods away along axis 2", "at most 1048576"});
  }
}

/// Order 4: the footprint of u is floor(u) - 1 to floor(u) + 2, and mesh points are half a unit apart.
TEST_F(spread_plan_test, a_footprint_that_leaves_an_open_axis_is_named) {
  for (const std::string& method : methods_here()) {
    SCOPED_TRACE(method);
    const auto complaint = [&](float value) {
      case3 it = case_inside();
      it.domain.periodic[1] = false;
      it.points[5][1] = value;
      it.points[6][1] = -2;
      return points_error(it, method);
    };
    expect_words(complaint(0.25f), {"point 5 ", "0.25", "axis 1", "-1 to 2", "0 to 7", "clip"});
    expect_words(complaint(3.00001f), {"point 5 ", "axis 1", "5 to 8"});
    expect_words(complaint(1e30f), {"point 5 ", "axis 1"});
    expect_words(complaint(0.5f), {"point 6 ", "-2"});
    expect_words(complaint(3), {"point 6 "});
  }
}

/// Both faces of an open axis belong to the box.
TEST_F(spread_plan_test, a_point_outside_an_open_axis_is_named_unless_it_is_accepted) {
  for (const std::string& method : methods_here()) {
    SCOPED_TRACE(method);
    const backend_context context;
    const auto complaint = [&](float value, int axis) {
      case3 it = case_inside();
      it.domain.periodic[1] = false;
      it.options.clip = true;
      it.points[12][axis] = value;
      it.points[40][1] = 1e30f;
      return points_error(it, method);
    };
    expect_words(complaint(std::nextafter(4.0f, 5.0f), 1),
                 {"point 12 ", "outside", "open axis 1", "0 to 4", "accept_outside"});
    expect_words(complaint(-0.125f, 1), {"point 12 ", "-0.125", "axis 1"});
    expect_words(complaint(0, 1), {"point 40 "});
    expect_words(complaint(4, 1), {"point 40 "});
    expect_words(complaint(-3, 0), {"point 40 "});  // wrapped
    case3 it = case_inside();
    it.domain.periodic[1] = false;
    it.options = {.clip = true, .accept_outside = true};
    it.points[12][1] = -0.125f;
    it.points[40][1] = 1e4f;
    auto plan = make_plan(context, it, method, it.order);
    set_points(context, plan, it);
    expect_right(context, plan, it);
  }
}

/// Order 4, mesh points half a unit apart: a footprint reaches one mesh point below its own and two above.
TEST_F(spread_plan_test, what_is_left_out_is_counted) {
  for (const std::string& method : methods_here()) {
    SCOPED_TRACE(method);
    const backend_context context;
    case3 it = case_inside();
    it.domain.periodic = {true, false, false};
    it.options = {.clip = true, .accept_outside = true};
    it.points[0] = {-7, 0.5f, 2};                       // wrapped; touches the first mesh point
    it.points[1] = {1, 0.25f, 2};                       // clipped
    it.points[2] = {1, 2, 4};                           // clipped, on the upper face
    it.points[3] = {1, 0.25f, 0.25f};                   // clipped along both axes: one point
    it.points[4] = {1, 2, -0.25f};                      // outside, some of it counts
    it.points[5] = {1, 2, -9};                          // outside and missed
    it.points[6] = {1, std::nextafter(5.0f, 0.0f), 2};  // outside; its footprint is mesh points 8 to 11
    auto plan = make_plan(context, it, method, it.order);
    EXPECT_NE(error_of<argument_error>([&] { (void)plan.left_out(); }), "no error");
    for (int turn = 0; turn < 2; ++turn) {
      set_points(context, plan, it);
      EXPECT_EQ(plan.left_out().clipped, 6u);
      EXPECT_EQ(plan.left_out().missed, 2u);
      EXPECT_EQ(plan.left_out().outside, 3u);
    }
    case3 inside = case_inside(2);
    inside.domain = it.domain;
    set_points(context, plan, inside);
    EXPECT_EQ(plan.left_out().clipped + plan.left_out().missed + plan.left_out().outside, 0u);
  }
}

/// A window that is wider than an open axis never fits.
TEST_F(spread_plan_test, a_mesh_that_is_smaller_than_the_window_needs_clipping) {
  for (const std::string& method : methods_here()) {
    SCOPED_TRACE(method);
    const backend_context context;
    case3 it = case_inside();
    it.mesh[2] = 3;
    it.domain.periodic[2] = false;
    auto refusing = make_plan(context, it, method, it.order);
    expect_words(error_of<data_error>([&] { set_points(context, refusing, it); }), {"point 0 ", "axis 2"});
    it.options.clip = true;
    auto clipping = make_plan(context, it, method, it.order);
    set_points(context, clipping, it);
    expect_right(context, clipping, it);
  }
}

TEST_F(spread_plan_test, calls_without_points_or_vectors_are_refused) {
  const backend_context context;
  const case3 it = case_inside();
  array<float, backend_context> values(context, 3 * it.points.size()), mesh(context, 512);
  for (const std::string& method : methods_here()) {
    auto plan = make_plan(context, it, method, it.order);
    const auto refusals = [&](const mesh_call& call) {
      return std::vector<std::string>{
          error_of<argument_error>([&] { plan.spread(values.data(), mesh.data(), call); }),
          error_of<argument_error>([&] { plan.interpolate(mesh.data(), values.data(), call); }),
          error_of<argument_error>([&] { plan.interpolate_gradient(mesh.data(), values.data(), call); }),
          error_of<argument_error>(
              [&] { plan.interpolate_with_gradient(mesh.data(), values.data(), values.data(), call); })};
    };
    for (const std::string& text : refusals({})) expect_words(text, {"set_points"});
    set_points(context, plan, it);
    for (const int vectors : {0, -3}) {
      for (const std::string& text : refusals({vectors, false})) expect_words(text, {std::to_string(vectors)});
    }
  }
}

TEST_F(spread_plan_test, null_pointers_are_refused) {
  const backend_context context;
  const case3 it = case_inside();
  array<float, backend_context> values(context, 3 * it.points.size()), mesh(context, 512);
  float* const null = nullptr;
  auto plan = make_plan(context, it, "auto", it.order);
  const auto refusal = [](const auto& action) { return error_of<argument_error>(action); };
  expect_words(refusal([&] { plan.set_points(strided_points<3>(null, 7)); }), {"7 points", "null"});
  set_points(context, plan, it);
  expect_words(refusal([&] { plan.spread(null, mesh.data()); }), {"60 values", "null"});
  expect_words(refusal([&] { plan.spread(values.data(), null); }), {"512 mesh values", "null"});
  expect_words(refusal([&] { plan.interpolate(null, values.data()); }), {"512 mesh values", "null"});
  expect_words(refusal([&] { plan.interpolate_gradient(mesh.data(), null); }), {"60 values", "null"});
  expect_words(refusal([&] { plan.interpolate_with_gradient(mesh.data(), null, values.data()); }),
               {"60 values", "null"});
  expect_words(refusal([&] { plan.interpolate_with_gradient(mesh.data(), values.data(), null); }),
               {"60 gradients", "null"});
  expect_right(context, plan, it);
}

TEST_F(spread_plan_test, arrays_of_other_lengths_are_refused) {
  const backend_context context;
  const case3 it = case_inside();
  array<float, backend_context> values(context, 120), mesh(context, 1024);
  array<vec<float, 3>, backend_context> gradients(context, 120);
  auto plan = make_plan(context, it, "auto", it.order);
  set_points(context, plan, it);
  const auto refusal = [](const auto& action) { return error_of<argument_error>(action); };
  const auto of_points = [&](std::size_t count) { return std::span<float>(values.data(), count); };
  const auto of_mesh = [&](std::size_t count) { return std::span<float>(mesh.data(), count); };
  const std::span<vec<float, 3>> slopes(gradients.data(), 60);
  expect_words(refusal([&] { plan.spread(of_points(59), of_mesh(512)); }), {"59 values", "1 vectors of 60"});
  expect_words(refusal([&] { plan.interpolate(of_mesh(511), of_points(60)); }), {"511 mesh values", "of 512"});
  expect_words(refusal([&] { plan.spread(of_points(60), of_mesh(512), {.vectors = 2}); }), {"60 values", "2 vectors"});
  expect_words(refusal([&] { plan.interpolate_gradient(of_mesh(512), slopes.first(20)); }), {"20 gradients", "of 60"});
  expect_words(refusal([&] { plan.interpolate_with_gradient(of_mesh(512), of_points(60), slopes.first(20)); }),
               {"20 gradients", "of 60"});
  fill_bytes(context, values.data(), 0, values.bytes());
  plan.spread(of_points(120), of_mesh(1024), {.vectors = 2});
  EXPECT_EQ(to_host(context, mesh), std::vector<float>(1024));
}

TEST_F(spread_plan_test, gradients_are_vectors_too) {
  const backend_context context;
  const case3 it = case_inside();
  auto plan = make_plan(context, it, "tiles", it.order);
  set_points(context, plan, it);
  const auto mesh = to_device(context, random_values<float>(512, 3, true));
  array<float, backend_context> numbers(context, 180), values(context, 60);
  array<vec<float, 3>, backend_context> first(context, 60), second(context, 60);
  plan.interpolate_gradient(mesh.data(), numbers.data());
  plan.interpolate_gradient(mesh.data(), first.data());
  plan.interpolate_with_gradient(mesh.data(), values.data(), second.data());
  const auto wanted = to_host(context, numbers);
  const auto found = to_host(context, first), with_values = to_host(context, second);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const int axis = static_cast<int>(i % 3);
    EXPECT_EQ(found[i / 3][axis], wanted[i]);
    EXPECT_NEAR(with_values[i / 3][axis], wanted[i], 1e-4);
  }
}

TEST_F(spread_plan_test, points_that_a_stride_of_zero_puts_at_one_place_are_refused) {
  const backend_context context;
  const case3 it = case_inside();
  const array<float, backend_context> points(context, 3);
  auto plan = make_plan(context, it, "auto", it.order);
  EXPECT_EQ(error_of<argument_error>([&] { plan.set_points(strided_points<3>(points.data(), 7, 0)); }),
            "the stride of the points is 0; it must be positive");
  plan.set_points(strided_points<3>(static_cast<const float*>(nullptr), 0, 0));
  set_points(context, plan, it);
  expect_right(context, plan, it);
}

TEST_F(spread_plan_test, more_points_than_can_be_counted_are_refused_before_they_are_looked_at) {
  const backend_context context;
  const case3 it = case_inside();
  const auto one = to_device(context, std::vector<float>{1, 1, 1});
  for (const std::string& method : methods_here()) {
    auto plan = make_plan(context, it, method, it.order);
    for (const std::size_t count : {std::size_t{1} << 31, ~std::size_t{0} / 2}) {
      const auto view = strided_points<3>(one.data(), count);
      expect_words(error_of<argument_error>([&] { plan.set_points(view); }), {std::to_string(count), "2147483647"});
    }
    set_points(context, plan, it);
    expect_right(context, plan, it);
  }
}

TEST_F(spread_plan_test, takes_other_points_again_and_again) {
  const backend_context context;
  for (const std::string& method : methods_here()) {
    SCOPED_TRACE(method);
    auto plan = make_plan(context, case_inside(), method, 4);
    // More points on so few mesh points would exceed the tolerance in float.
    for (const std::size_t count : {60u, 700u, 0u, 1u, 300u, 1000u, 60u}) {
      const case3 it = case_inside(count, count);
      set_points(context, plan, it);
      EXPECT_EQ(plan.point_count(), count);
      expect_right(context, plan, it);
    }
  }
}

TEST_F(spread_plan_test, can_be_moved) {
  const backend_context context;
  const case3 it = case_inside(), other = case_inside(2, 90);
  for (const std::string& method : methods_here()) {
    SCOPED_TRACE(method);
    auto first = make_plan(context, it, method, it.order);
    set_points(context, first, it);
    plan3 second = std::move(first);
    expect_right(context, second, it);
    auto third = make_plan(context, other, method, other.order);
    set_points(context, third, other);
    third = std::move(second);
    EXPECT_EQ(third.point_count(), it.points.size());
    expect_right(context, third, it);
  }
}

}  // namespace

}  // namespace quadrat::test
