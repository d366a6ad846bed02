// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "mesh/exact_window.hpp"
#include "mesh/support.hpp"

// Tensor cores multiply halves of floats on GPUs, which have few exponents.

namespace quadrat::test {

namespace {

class halves_test : public backend_test {
 protected:
  backend_context context_;
  /// Atomic operations of GPUs take sums below 1.2e-38 for zeros; here there are none.
  backend_context ordered_ = context_at(determinism::run_to_run);
};

/// Points everywhere, so many per mesh point that tensor cores take them.
spread_case<float, 3> dense_case(std::uint64_t seed, std::size_t per_mesh_point_in_tenths, std::size_t components) {
  constexpr int extent = std::is_same_v<backend_context, cuda_context> ? 21 : 14;
  auto it = uniform_case<float, 3>(seed, extent * extent * extent * per_mesh_point_in_tenths / 10, extent);
  it.components = components;
  it.signed_values = true;
  it.options.method = "tiles";
  return it;
}

TEST_F(halves_test, values_and_meshes_of_any_magnitude_keep_their_accuracy) {
  for (const float magnitude : {1e-40f, 1e-36f, 1e-30f, 1e-10f, 1e10f, 1e33f, 1e36f}) {
    if (small_sizes() && magnitude > 1e-38f && magnitude < 1e36f) continue;
    for (const std::size_t density : {5, 25}) {
      for (const std::size_t components : {1, 2}) {
        const auto it = dense_case(5, density, components);
        auto input = spread_input<float, 3>(it);
        for (float& value : input.values) value *= magnitude;
        for (float& value : input.mesh) value *= magnitude;
        const auto wanted = wanted_of(it, input, problem_of(it));
        const auto found = run_method(magnitude < 1e-30f ? ordered_ : context_, it, input, it.options.method);
        // Below 1e-38 floats have fewer digits.
        const double tolerance = magnitude < 1e-38f ? 1e-3 : spread_tolerance<float>;
        EXPECT_LT(relative_error(found.mesh, wanted.mesh), tolerance) << magnitude << ", " << density;
        EXPECT_LT(relative_error(found.values, wanted.values), tolerance) << magnitude << ", " << density;
      }
    }
  }
}

/// Sets results to which a large number contributes to zero; returns how many others there are.
std::size_t leave_small_ones(std::vector<float>& found, reference::weighted_sums& wanted,
                             const reference::weighted_sums& large) {
  std::size_t left = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (large.magnitude[i] == 0) {
      ++left;
    } else {
      found[i] = 0, wanted.value[i] = 0, wanted.magnitude[i] = 0;
    }
  }
  return left;
}

/// One number in 500 is 1e60 times as large as the others, at random.
TEST_F(halves_test, small_values_between_large_ones_keep_their_accuracy) {
  for (const std::size_t density : {5, 25}) {
    for (const std::size_t components : {1, 2}) {
      auto it = dense_case(3, density, components);
      auto input = spread_input<float, 3>(it), large = input;
      std::mt19937_64 random(density + components);
      const auto scale = [&](std::vector<float>& all, std::vector<float>& only_large) {
        for (std::size_t i = 0; i < all.size(); ++i) {
          const bool is_large = random() % 500 == 0;
          all[i] *= is_large ? 1e30f : 1e-30f;
          only_large[i] = is_large ? all[i] : 0;
        }
      };
      scale(input.values, large.values), scale(input.mesh, large.mesh);
      auto wanted = wanted_of(it, input, problem_of(it));
      const auto wanted_large = wanted_of(it, large, problem_of(it));
      auto found = run_method(context_, it, input, it.options.method);
      EXPECT_LT(relative_error(found.mesh, wanted.mesh), spread_tolerance<float>) << density << ", " << components;
      EXPECT_LT(relative_error(found.values, wanted.values), spread_tolerance<float>) << density << ", " << components;
      EXPECT_GT(leave_small_ones(found.mesh, wanted.mesh, wanted_large.mesh), 100);
      EXPECT_GT(leave_small_ones(found.values, wanted.values, wanted_large.values), 100);
      EXPECT_LT(relative_error(found.mesh, wanted.mesh), spread_tolerance<float>) << density << ", " << components;
      EXPECT_LT(relative_error(found.values, wanted.values), spread_tolerance<float>) << density << ", " << components;
    }
  }
}

/// Each plane of the mesh is 64 times as large as the one before it, or 1/4096 as large.
TEST_F(halves_test, planes_of_different_magnitude_keep_their_accuracy) {
  for (const std::size_t density : {5, 25}) {
    for (const std::size_t components : {1, 2}) {
      const auto it = dense_case(6, density, components);
      auto input = spread_input<float, 3>(it);
      const std::size_t plane = input.mesh.size() / static_cast<std::size_t>(it.mesh[0]);
      for (std::size_t k = 0; k < input.mesh.size(); ++k) {
        input.mesh[k] *= std::ldexp(1.0f, 6 * static_cast<int>(k / plane % 3));
      }
      const auto wanted = wanted_of(it, input, problem_of(it));
      const auto found = run_method(context_, it, input, it.options.method);
      EXPECT_LT(relative_error(found.values, wanted.values), spread_tolerance<float>) << density << ", " << components;
    }
  }
}

/// Two real vectors share a matrix product.
TEST_F(halves_test, vectors_of_different_magnitude_keep_their_accuracy) {
  for (const std::size_t density : {5, 25}) {
    auto it = dense_case(4, density, 1);
    it.vectors = 2;
    auto input = spread_input<float, 3>(it);
    const auto halve = [](auto& sums) {  // of the second vector
      return std::vector(sums.begin() + static_cast<std::ptrdiff_t>(sums.size() / 2), sums.end());
    };
    for (auto* sums : {&input.values, &input.mesh}) {
      for (std::size_t i = sums->size() / 2; i < sums->size(); ++i) (*sums)[i] *= 1e-20f;
    }
    const auto wanted = wanted_of(it, input, problem_of(it));
    const auto found = run_method(context_, it, input, it.options.method);
    const auto error_of_second = [&](const std::vector<float>& all, const reference::weighted_sums& sums) {
      reference::weighted_sums second(0);
      second.value = halve(sums.value), second.magnitude = halve(sums.magnitude);
      return relative_error(halve(all), second);
    };
    EXPECT_LT(error_of_second(found.mesh, wanted.mesh), spread_tolerance<float>) << density;
    EXPECT_LT(error_of_second(found.values, wanted.values), spread_tolerance<float>) << density;
  }
}

/// Errors of one point do not cancel.
TEST_F(halves_test, one_point_on_a_tiny_mesh_keeps_its_accuracy) {
  for (std::uint64_t seed = 0; seed < size_or(120, 40); ++seed) {
    auto it = uniform_case<float, 3>(seed, 1, 1);
    it.mesh = {1 + static_cast<int>(seed / 8 % 2), 1 + static_cast<int>(seed / 16 % 2), 2};
    it.components = 1 + seed % 2;
    it.signed_values = true;
    it.options.method = "tiles";
    const auto input = spread_input<float, 3>(it);
    const auto wanted = wanted_of(it, input, problem_of(it));
    const auto found = run_method(context_, it, input, it.options.method);
    EXPECT_LT(relative_error(found.mesh, wanted.mesh), spread_tolerance<float>) << describe(it);
    EXPECT_LT(relative_error(found.values, wanted.values), spread_tolerance<float>) << describe(it);
  }
}

TEST_F(halves_test, windows_of_any_height_keep_their_accuracy) {
  for (const double height : {1e-6, 1e-3, 1e3, 1e6}) {
    const auto shape = [=](double x) { return height * std::exp(-x * x) * (1 + 0.1 * x); };  // not symmetric
    for (const std::size_t density : {5, 25}) {
      const auto it = dense_case(6, density, 2);
      const auto input = spread_input<float, 3>(it);
      const auto window = fitted_window<float>(5, 12, shape);
      const auto wanted = wanted_of(it, input, problem_of(it, exact_window(window)));
      const auto found = run_method(context_, it, input, it.options.method, window);
      EXPECT_LT(relative_error(found.mesh, wanted.mesh), spread_tolerance<float>) << height << ", " << density;
      EXPECT_LT(relative_error(found.values, wanted.values), spread_tolerance<float>) << height << ", " << density;
    }
  }
}

/// The mesh has only the last weight of each footprint, along one or more axes.
TEST_F(halves_test, points_far_beyond_open_ends_keep_their_accuracy) {
  for (const std::size_t density : {5, 25}) {
    for (const int open : {1, 2, 3}) {
      for (const int order : {5, 6}) {
        auto it = dense_case(static_cast<std::uint64_t>(order - 1), density, 2);
        it.options.clip = true;
        it.options.accept_outside = true;
        std::mt19937_64 random(density);
        for (int axis = 3 - open; axis < 3; ++axis) {
          it.domain.periodic[axis] = false;
          for (auto& point : it.points) {
            // Where the last weight's polynomial has no terms of both signs.
            const float reach = 0.5f * static_cast<float>(order) - 0.5f - 0.05f * random_unit<float>(random);
            const float place = random() % 2 == 0 ? -reach : static_cast<float>(it.mesh[axis] - 1) + reach;
            point[axis] = -1.5f + 3.7f * place / static_cast<float>(it.mesh[axis]);
          }
        }
        const auto input = spread_input<float, 3>(it);
        const auto wanted = wanted_of(it, input, problem_of(it));
        for (const backend_context& context : {context_, ordered_}) {
          const auto found = run_method(context, it, input, it.options.method);
          EXPECT_LT(relative_error(found.mesh, wanted.mesh), spread_tolerance<float>) << density << " " << open;
          EXPECT_LT(relative_error(found.values, wanted.values), spread_tolerance<float>) << density << " " << open;
        }
      }
    }
  }
}

/// Points in a small part of the box read what they themselves were spread to, which falls off steeply around them; and
/// so do others, near and far.
TEST_F(halves_test, the_mesh_of_a_crowd_is_read_with_all_digits) {
  for (const std::size_t density : {5, 25}) {
    for (const std::size_t components : {1, 2}) {
      auto it = dense_case(5, density, components);
      std::mt19937_64 random(density + components);
      std::normal_distribution<float> spot(0, 0.02f);
      const std::size_t crowd = it.points.size() / 2;
      for (std::size_t i = 0; i < crowd; ++i) it.points[i] = {0.3f + spot(random), 0.1f + spot(random), spot(random)};
      auto input = spread_input<float, 3>(it);
      std::fill(input.values.begin() + static_cast<std::ptrdiff_t>(crowd * components), input.values.end(), 0.0f);
      const auto spread = wanted_of(it, input, problem_of(it)).mesh.value;
      std::copy(spread.begin(), spread.end(), input.mesh.begin());
      auto wanted = wanted_of(it, input, problem_of(it)).values;
      auto found = run_method(context_, it, input, it.options.method).values;
      EXPECT_LT(relative_error(found, wanted), spread_tolerance<float>) << density << ", " << components;
      // Those that the crowd reaches with less than a hundredth of what it has in its middle.
      const long double most = *std::ranges::max_element(wanted.magnitude);
      std::size_t left = 0;
      for (std::size_t i = 0; i < found.size(); ++i) {
        if (wanted.magnitude[i] > 0 && wanted.magnitude[i] < 1e-2L * most) {
          ++left;
        } else {
          found[i] = 0, wanted.value[i] = 0, wanted.magnitude[i] = 0;
        }
      }
      EXPECT_GT(left, 100);
      EXPECT_LT(relative_error(found, wanted), spread_tolerance<float>) << density << ", " << components;
    }
  }
}

/// Values of points in the first quarter of the box are larger than all others by a factor of a billion.
TEST_F(halves_test, small_values_far_from_large_ones_keep_their_accuracy) {
  for (const std::size_t density : {5, 25}) {
    auto it = dense_case(14, density, 2);
    it.mesh = {96, 12, 12};
    auto input = spread_input<float, 3>(it);
    const std::size_t plane = 2 * 12 * 12;
    for (std::size_t i = 0; i < it.points.size(); ++i) {
      const bool large = it.points[i][0] < -1.5f + 3.7f / 4;
      for (std::size_t c = 0; c < 2; ++c) input.values[2 * i + c] *= large ? 1e9f : 1.0f;
    }
    for (std::size_t k = 0; k < plane * 24; ++k) input.mesh[k] *= 1e9f;
    auto wanted = wanted_of(it, input, problem_of(it));
    auto found = run_method(context_, it, input, it.options.method);
    // Planes that no large value, nor any tile of one, reaches.
    const auto leave = [&](auto& sums) {
      std::fill(sums.begin(), sums.begin() + static_cast<std::ptrdiff_t>(plane * 40), 0);
      std::fill(sums.end() - static_cast<std::ptrdiff_t>(plane * 16), sums.end(), 0);
    };
    leave(found.mesh), leave(wanted.mesh.value), leave(wanted.mesh.magnitude);
    EXPECT_LT(relative_error(found.mesh, wanted.mesh), spread_tolerance<float>) << density;
    for (std::size_t i = 0; i < it.points.size(); ++i) {
      const float x = (it.points[i][0] + 1.5f) / 3.7f * 96;
      if (x > 40 && x < 80) continue;
      for (std::size_t c = 0; c < 2; ++c) found.values[2 * i + c] = 0, wanted.values.value[2 * i + c] = 0;
      for (std::size_t c = 0; c < 2; ++c) wanted.values.magnitude[2 * i + c] = 0;
    }
    EXPECT_LT(relative_error(found.values, wanted.values), spread_tolerance<float>) << density;
  }
}

TEST_F(halves_test, a_value_that_is_not_finite_spoils_only_what_is_near) {
  for (const float bad : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    for (const std::size_t density : {5, 25}) {
      auto it = dense_case(12, density, 1);
      it.mesh = {96, 12, 12};
      it.points[3][0] = -1.4f;
      auto input = spread_input<float, 3>(it);
      input.values[3] = 0;
      input.mesh[0] = 0;
      auto wanted = wanted_of(it, input, problem_of(it));
      input.values[3] = bad;
      input.mesh[0] = bad;
      auto found = run_method(context_, it, input, it.options.method);
      const std::size_t plane = 12 * 12;
      for (std::size_t k = 0; k < found.mesh.size(); ++k) {
        if (k / plane >= 20 && k / plane < 76) continue;
        found.mesh[k] = 0, wanted.mesh.value[k] = 0;
      }
      EXPECT_LT(relative_error(found.mesh, wanted.mesh), spread_tolerance<float>) << bad << ", " << density;
      for (std::size_t i = 0; i < it.points.size(); ++i) {
        const float x = (it.points[i][0] + 1.5f) / 3.7f * 96;
        if (x < 20 || x > 76) found.values[i] = 0, wanted.values.value[i] = 0;
      }
      EXPECT_LT(relative_error(found.values, wanted.values), spread_tolerance<float>) << bad << ", " << density;
    }
  }
}

}  // namespace

}  // namespace quadrat::test
