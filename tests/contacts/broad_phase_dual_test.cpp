// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/contacts/broad_phase.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "contacts/support.hpp"
#include "quadrat/parallel/atomic.hpp"
#include "support/counting_memory.hpp"

namespace quadrat::test {

namespace {

using pairs = std::vector<std::pair<particle_id, particle_id>>;

/// Boxes on the host.
template <typename T>
struct bounds_scene {
  broad_phase_options<T> options;
  std::vector<vec<T, 3>> lower;
  std::vector<vec<T, 3>> upper;
  std::vector<std::uint32_t> groups;
};

/// Pairs whose closed boxes overlap; along periodic axes, as the images with the nearest centers.
template <typename T>
pairs reference_pairs(const bounds_scene<T>& scene) {
  pairs result;
  const box<T, 3> domain = scene.options.domain.value_or(box<T, 3>{{}, {{1, 1, 1}}, {}});
  const auto half = [&](std::size_t i) { return (scene.upper[i] - scene.lower[i]) * T(0.5); };
  const auto center = [&](std::size_t i) { return domain.wrap(scene.lower[i] + half(i)); };
  for (std::size_t j = 0; j < scene.lower.size(); ++j) {
    for (std::size_t k = j + 1; k < scene.lower.size(); ++k) {
      const vec<T, 3> apart = domain.separation(center(j), center(k));
      bool meet = scene.groups.empty() || (scene.options.masks[scene.groups[j]] >> scene.groups[k] & 1u) != 0;
      for (int axis = 0; axis < 3; ++axis) {
        if (domain.periodic[axis]) {
          meet = meet && std::fabs(apart[axis]) <= half(j)[axis] + half(k)[axis];
        } else {
          meet = meet && scene.lower[j][axis] <= scene.upper[k][axis] && scene.lower[k][axis] <= scene.upper[j][axis];
        }
      }
      if (meet) result.emplace_back(static_cast<particle_id>(j), static_cast<particle_id>(k));
    }
  }
  return result;
}

/// The boxes around the bodies of a random scene; some without extent along an axis.
template <typename T>
bounds_scene<T> random_bounds(std::uint64_t seed) {
  const body_scene<T> bodies = body_scene_maker<T>(seed).make(static_cast<scene_bodies>(seed % 5));
  bounds_scene<T> scene;
  scene.options.domain = bodies.options.domain;
  scene.options.bin_size = bodies.options.bin_size;
  scene.options.masks = bodies.options.masks;
  scene.groups = bodies.groups;
  const bodies_view<T> view = bodies.view();
  for (std::size_t i = 0; i < view.size(); ++i) {
    vec<T, 3> half = half_extents(view[i]);
    if (i % 7 == 0) half[static_cast<int>(i / 7 % 3)] = T(0);
    scene.lower.push_back(bodies.centers[i] - half);
    scene.upper.push_back(bodies.centers[i] + half);
  }
  return scene;
}

template <typename T>
class bounds_on_device {
 public:
  bounds_on_device(const backend_context& context, const bounds_scene<T>& scene)
      : lower_(to_device(context, scene.lower)),
        upper_(to_device(context, scene.upper)),
        groups_(to_device(context, scene.groups)) {}

  [[nodiscard]] bounds_view<T> view() const {
    return {points_of(lower_.data(), lower_.size()), points_of(upper_.data(), upper_.size()), groups_.data()};
  }

 private:
  array<vec<T, 3>, backend_context> lower_;
  array<vec<T, 3>, backend_context> upper_;
  array<std::uint32_t, backend_context> groups_;
};

pairs bring_pairs(const backend_context& context, const candidate_pairs_view& found) {
  const auto first = to_host(context, found.first, found.count), second = to_host(context, found.second, found.count);
  pairs result;
  for (std::size_t k = 0; k < first.size(); ++k) result.emplace_back(first[k], second[k]);
  return result;
}

template <typename T>
std::size_t check_every_broad_phase(const backend_context& context, bounds_scene<T> scene) {
  const pairs wanted = reference_pairs(scene);
  const bounds_on_device<T> stored(context, scene);
  for (const contact_method& method : contact_methods()) {
    if (!method.pairs) continue;
    for (const bool sorted : {false, true}) {
      SCOPED_TRACE(message(method.name, sorted ? ", sorted" : ""));
      scene.options.method = std::string(method.name);
      scene.options.sorted = sorted;
      broad_phase<backend_context, T> phase(context, scene.options);
      phase.build(stored.view());
      EXPECT_EQ(phase.method(), method.name);
      pairs got = bring_pairs(context, phase.view());
      if (!sorted) std::sort(got.begin(), got.end());
      EXPECT_EQ(got, wanted);
    }
  }
  return wanted.size();
}

template <typename T>
class broad_phases : public backend_test {};
using precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(broad_phases, precisions);

TYPED_TEST(broad_phases, find_the_pairs_of_random_boxes_by_every_method) {
  std::size_t found = 0;
  const auto contexts = all_contexts();
  for (std::uint64_t seed = 1; seed <= size_or(300, 15); ++seed) {
    SCOPED_TRACE(message("seed ", seed));
    found += check_every_broad_phase(contexts[seed % contexts.size()], random_bounds<TypeParam>(seed));
    if (this->HasFailure()) return;
  }
  EXPECT_GT(found, 1000u);
}

TYPED_TEST(broad_phases, boxes_that_touch_meet_and_those_a_bit_apart_do_not) {
  using T = TypeParam;
  bounds_scene<T> scene;
  scene.lower = {{T(0), T(0), T(0)}, {T(1), T(0.5), T(0)}, {T(0.25), T(0.25), T(1)}};
  scene.upper = {{T(1), T(1), T(1)}, {T(2), T(1.5), T(1)}, {T(0.75), T(0.75), T(1)}};
  EXPECT_EQ(check_every_broad_phase(backend_context(), scene), 2u);
  scene.lower[1][0] = std::nextafter(T(1), T(2));
  EXPECT_EQ(check_every_broad_phase(backend_context(), scene), 1u);
  scene.lower[2][2] = scene.upper[2][2] = std::nextafter(T(1), T(2));
  EXPECT_EQ(check_every_broad_phase(backend_context(), scene), 0u);
}

TYPED_TEST(broad_phases, boxes_almost_as_large_or_as_far_as_numbers_go_meet) {
  using T = TypeParam;
  constexpr T most = std::numeric_limits<T>::max();
  for (const T half : {most / T(2.1), most / T(1000), T(1)}) {
    bounds_scene<T> scene;
    for (int k = 0; k < 70; ++k) {
      const T x = k % 2 == 0 ? -most / T(4) : most / T(4);
      scene.lower.push_back({x - half, -half, -half});
      scene.upper.push_back({x + half, half, half});
    }
    EXPECT_GE(check_every_broad_phase(backend_context(), scene), 2u * 35u * 34u / 2u);
  }
}

TYPED_TEST(broad_phases, find_nothing_among_no_boxes_whatever_was_built_before) {
  using T = TypeParam;
  const backend_context context;
  std::vector<std::string> methods{""};  // the choice by number of boxes
  for (const contact_method& method : contact_methods()) {
    if (method.pairs) methods.emplace_back(method.name);
  }
  for (const std::string& method : methods) {
    SCOPED_TRACE(method);
    broad_phase_options<T> options;
    options.method = method;
    broad_phase<backend_context, T> phase(context, options);
    for (const int count : {50, 1000, 0, 70}) {
      bounds_scene<T> scene;
      for (int k = 0; k < count; ++k) scene.lower.push_back({T(k / 2), T(0), T(0)});
      scene.upper = scene.lower;
      const bounds_on_device<T> stored(context, scene);
      phase.build(stored.view());
      EXPECT_EQ(phase.view().count, static_cast<std::size_t>(count / 2));
    }
  }
}

TYPED_TEST(broad_phases, points_meet_where_they_are_equal) {
  using T = TypeParam;
  bounds_scene<T> scene;
  for (int k = 0; k < 100; ++k) scene.lower.push_back({T(k % 5), T(k % 2), T(3)});
  scene.upper = scene.lower;
  EXPECT_EQ(check_every_broad_phase(backend_context(), scene), 10u * 45u);
}

/// A caller's narrow phase: counts touching spheres of radius 0.5.
struct count_touching {
  const vec<float, 3>* lower;
  std::uint64_t* touching;

  QUADRAT_HD void operator()(particle_id first, particle_id second) const {
    if (squared_norm(lower[second] - lower[first]) < 1.0f) atomic_add(touching, 1u);
  }
};

using own_narrow_phase = backend_test;
using broad_phase_async = backend_test;

TEST_F(own_narrow_phase, sees_every_candidate_pair_once) {
  const backend_context context;
  std::mt19937_64 random(4);
  bounds_scene<float> scene;
  std::uint64_t wanted = 0;
  for (int i = 0; i < 500; ++i) {
    const vec<float, 3> corner{8 * random_unit<float>(random), 8 * random_unit<float>(random),
                               8 * random_unit<float>(random)};
    for (const auto& other : scene.lower) wanted += squared_norm(corner - other) < 1.0f ? 1 : 0;
    scene.lower.push_back(corner);
    scene.upper.push_back(corner + vec<float, 3>::filled(1));
  }
  const bounds_on_device<float> stored(context, scene);
  const auto lower = to_device(context, scene.lower);
  auto touching = to_device(context, std::vector<std::uint64_t>{0});
  broad_phase<backend_context, float> phase(context, {});
  phase.build(stored.view());
  for_each_candidate_pair(context, phase.view(), count_touching{lower.data(), touching.data()});
  EXPECT_EQ(to_host(context, touching)[0], wanted);
  EXPECT_GT(wanted, 100u);
}

using broad_phase_errors = backend_test;

TEST_F(broad_phase_errors, name_the_box_and_what_is_wrong_with_it) {
  const backend_context context;
  const auto complaint = [&](const bounds_scene<float>& boxes) {
    const bounds_on_device<float> stored(context, boxes);
    broad_phase<backend_context, float> phase(context, boxes.options);
    std::string text = error_of<data_error>([&] { phase.build(stored.view()); });
    EXPECT_EQ(error_of<argument_error>([&] { static_cast<void>(phase.view()); }),
              "the last build has failed; build again before using the pairs");
    return text;
  };
  bounds_scene<float> scene;
  scene.lower = {{0, 0, 0}, {1, 1, 1}};
  scene.upper = {{1, 1, 1}, {2, 0.5f, 2}};
  EXPECT_EQ(complaint(scene), "box 1 from (1, 1, 1) to (2, 0.5, 2) has a lower corner above its upper one");
  scene.upper[1] = {2, NAN, 2};
  EXPECT_EQ(complaint(scene), "box 1 from (1, 1, 1) to (2, nan, 2) has a corner or a length that is not finite");
  scene.upper[1] = {2, 2, 2};
  scene.groups = {32, 40};
  EXPECT_EQ(complaint(scene), "box 0 is of group 32; groups are below 32");
  scene.groups = {};
  scene.options.domain = make_box<float, 3>({}, {4, 4, 3}, {true, true, true});
  scene.upper[1] = {2, 2, 2.75f};
  EXPECT_EQ(complaint(scene),
            "box 1 is 1.75 long along the periodic axis 2, where the box is 3; at most half of that "
            "is possible");
}

TEST_F(broad_phase_errors, refuse_what_the_host_can_see) {
  const backend_context context;
  broad_phase_options<float> options;
  options.method = "bins";
  const auto make = [&] { broad_phase<backend_context, float> phase(context, options); };
  EXPECT_EQ(error_of<argument_error>(make),
            "the contact method bins decides by contacts which bin a pair belongs to; it cannot find pairs of boxes");
  broad_phase<backend_context, float> phase(context, {});
  EXPECT_EQ(error_of<argument_error>([&] { static_cast<void>(phase.view()); }),
            "nothing has been built yet; call build first");
  const auto corners = to_device(context, std::vector<vec<float, 3>>(3));
  EXPECT_EQ(error_of<argument_error>([&] {
              phase.build({points_of(corners.data(), 3), points_of(corners.data(), 2), nullptr});
            }),
            "there are 3 lower and 2 upper corners; there must be as many of both");
}

/// The boxes a little later.
bounds_scene<float> boxes_later(bounds_scene<float> scene, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (std::size_t i = 0; i < scene.lower.size(); ++i) {
    const vec<float, 3> length = scene.upper[i] - scene.lower[i];
    for (int axis = 0; axis < 3; ++axis) {
      const float step = 0.3f * length[axis] * random_unit<float>(random);
      scene.lower[i][axis] += step;
      scene.upper[i][axis] = scene.lower[i][axis] + length[axis] * 0.99f;
    }
  }
  return scene;
}

TEST_F(broad_phase_async, gives_the_pairs_of_build_by_every_method_and_takes_no_memory) {
  std::size_t fits = 0, searches = 0;
  for (std::uint64_t seed = 1; seed <= size_or(60, 10); ++seed) {
    bounds_scene<float> scene = random_bounds<float>(seed);
    const bounds_scene<float> later = boxes_later(scene, seed);
    counting_memory memory;
    const backend_context context = memory.context(seed % 3 == 0 ? determinism::run_to_run : determinism::none);
    const bounds_on_device<float> stored(context, scene), stored_later(context, later);
    for (const contact_method& method : contact_methods()) {
      if (!method.pairs) continue;
      SCOPED_TRACE(message("seed ", seed, ", ", method.name));
      scene.options.method = std::string(method.name);
      scene.options.sorted = true;
      broad_phase<backend_context, float> phase(context, scene.options);
      phase.build(stored_later.view());
      phase.build(stored.view());
      phase.reserve(3000);
      const std::size_t before = memory.allocations();
      phase.build_async(stored_later.view());
      const candidate_pairs_view_async in_stream = phase.view_async();
      EXPECT_EQ(memory.allocations(), before);
      ++searches;
      try {
        phase.check();
        EXPECT_EQ(to_host(context, in_stream.count, 1)[0], phase.view().count);
        ++fits;
      } catch (const overflow_error&) {
        // Boxes may touch more of the bins that were planned for others.
        phase.build(stored_later.view());
        phase.build_async(stored_later.view());
      }
      EXPECT_EQ(bring_pairs(context, phase.view()), reference_pairs(later));
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(fits, searches / 2);
}

TEST_F(broad_phase_async, names_the_room_that_would_have_sufficed_and_leaves_errors_to_check) {
  const backend_context context;
  bounds_scene<float> apart, together;
  for (int k = 0; k < 50; ++k) {
    const auto at = vec<float, 3>::filled(static_cast<float>(k));
    apart.lower.push_back(at);
    apart.upper.push_back(at + vec<float, 3>::filled(0.5f));
    together.lower.push_back(vec<float, 3>::filled(1));
    together.upper.push_back(vec<float, 3>::filled(1.5f));
  }
  const bounds_on_device<float> stored(context, apart), stored_together(context, together);
  for (const char* method : {"levels", "loose_grid", "sweep_and_prune", "brute_force"}) {
    SCOPED_TRACE(method);
    apart.options.method = method;
    broad_phase<backend_context, float> phase(context, apart.options);
    EXPECT_THROW(phase.build_async(stored.view()), argument_error) << "there is no memory yet";
    phase.build(stored.view());
    phase.build_async(stored_together.view());
    for (int k = 0; k < 2; ++k) {
      EXPECT_EQ(error_of<overflow_error>([&] { phase.check(); }),
                "there are 1225 pairs, and room for 0; call build, or reserve(1225)");
      EXPECT_THROW(static_cast<void>(phase.view()), overflow_error);
    }
    EXPECT_EQ(to_host(context, phase.view_async().count, 1)[0], 0u);
    phase.reserve(1225);
    phase.build_async(stored_together.view());
    EXPECT_EQ(phase.view().count, 1225u);
    bounds_scene<float> broken = apart;
    broken.upper[7][1] = NAN;
    const bounds_on_device<float> stored_broken(context, broken);
    phase.build_async(stored_broken.view());
    expect_words(error_of<data_error>([&] { phase.check(); }), {"box 7 from (7, 7, 7)", "not finite"});
    bounds_view<float> fewer = stored.view();
    fewer.lower.count = fewer.upper.count = 49;
    expect_words(error_of<argument_error>([&] { phase.build_async(fewer); }), {"49 boxes", "had 50", "call build"});
    phase.build_async(stored.view());
    EXPECT_EQ(phase.view().count, 0u);
  }
}

}  // namespace

}  // namespace quadrat::test
