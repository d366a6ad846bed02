// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "mesh/support.hpp"
#include "quadrat/mesh/spread_plan.hpp"

// Every method agrees with the reference.

namespace quadrat::test {

namespace {

template <typename T, int D>
struct setting {
  using value_type = T;
  static constexpr int dimension = D;
};
template <typename Setting>
class spread_agreement : public backend_test {};
using settings = testing::Types<setting<float, 1>, setting<float, 2>, setting<float, 3>, setting<double, 1>,
                                setting<double, 2>, setting<double, 3>>;
TYPED_TEST_SUITE(spread_agreement, settings);

template <typename T, int D>
void expect_all_methods_agree(const backend_context& context, const spread_case<T, D>& it,
                              double tolerance = spread_tolerance<T>) {
  const spread_input<T, D> input(it);
  const wanted_results wanted = wanted_of(it, input, problem_of(it));
  for (const std::string& method : methods_here()) {
    SCOPED_TRACE(method + ", " + describe(it));
    expect_agreement(run_method(context, it, input, method), wanted, tolerance);
  }
}

TYPED_TEST(spread_agreement, holds_for_random_cases) {
  using T = typename TypeParam::value_type;
  constexpr int D = TypeParam::dimension;
  const auto contexts = all_contexts();
  for (std::uint64_t seed = 0; seed < size_or(130, 10) && !testing::Test::HasFailure(); ++seed) {
    expect_all_methods_agree(contexts[seed % contexts.size()], random_spread_case<T, D>(seed).make());
  }
}

/// Positions must keep their precision for every extent.
TYPED_TEST(spread_agreement, holds_for_every_extent_to_512) {
  using T = typename TypeParam::value_type;
  constexpr int D = TypeParam::dimension;
  const auto contexts = all_contexts();
  const int step = static_cast<int>(size_or(D == 1 ? 1 : 11, 61));
  for (int extent = 1; extent <= 512 && !testing::Test::HasFailure(); extent += step) {
    auto mesh = vec<int, D>::filled(3);
    mesh[extent % D] = extent;
    const auto seed = 1000 + static_cast<std::uint64_t>(extent);
    expect_all_methods_agree(contexts[seed % contexts.size()], random_spread_case<T, D>(seed).make(mesh));
  }
}

/// The reference itself keeps a position to some 1e-13 there.
TYPED_TEST(spread_agreement, holds_for_the_largest_extent) {
  using T = typename TypeParam::value_type;
  constexpr int D = TypeParam::dimension;
  auto it = uniform_case<T, D>(4, 40, 1);
  it.mesh = vec<int, D>::filled(1);
  it.mesh[D / 2] = 1 << 20;
  expect_all_methods_agree(backend_context(), it, std::max(spread_tolerance<T>, 3e-13));
}

/// <spread(v), m> = <v, interpolate(m)>; for complex values too, without conjugation.
TYPED_TEST(spread_agreement, spreading_and_interpolating_are_adjoint) {
  using T = typename TypeParam::value_type;
  constexpr int D = TypeParam::dimension;
  const backend_context context;
  for (const std::string& method : methods_here()) {
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      auto it = uniform_case<T, D>(seed, 300, 11);
      it.signed_values = true;
      it.domain.periodic[D - 1] = seed % 2 == 0;
      it.options.clip = true;
      const spread_input<T, D> input(it);
      const auto found = run_method(context, it, input, method);
      const auto product = [](const std::vector<T>& a, const std::vector<T>& b) {
        return std::inner_product(a.begin(), a.end(), b.begin(), 0.0L, std::plus<>(),
                                  [](T x, T y) { return static_cast<long double>(x) * static_cast<long double>(y); });
      };
      const long double scale =
          std::sqrt(product(input.values, input.values)) * std::sqrt(product(found.values, found.values));
      EXPECT_NEAR(static_cast<double>((product(found.mesh, input.mesh) - product(input.values, found.values)) / scale),
                  0, spread_tolerance<T>)
          << method << ", " << describe(it);
    }
  }
}

TYPED_TEST(spread_agreement, the_total_of_a_periodic_mesh_is_that_of_the_values) {
  using T = typename TypeParam::value_type;
  constexpr int D = TypeParam::dimension;
  const backend_context context;
  for (const std::string& method : methods_here()) {
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      auto it = seed == 7 ? uniform_case<T, D>(seed, 20, 2) : uniform_case<T, D>(seed, 1000, 12);
      it.signed_values = seed % 2 == 0;
      const spread_input<T, D> input(it);
      const auto found = run_method(context, it, input, method);
      const auto total = [](const std::vector<T>& of) { return std::accumulate(of.begin(), of.end(), 0.0L); };
      EXPECT_NEAR(static_cast<double>(total(found.mesh) - total(input.values)), 0,
                  spread_tolerance<T> * static_cast<double>(input.values.size()))
          << method << ", " << describe(it);
    }
  }
}

/// Lists of one mesh point, group or tile become long; so do sums, whose rounding then shows in float.
TYPED_TEST(spread_agreement, holds_for_crowds) {
  using T = typename TypeParam::value_type;
  constexpr int D = TypeParam::dimension;
  const backend_context context;
  for (const int order : {1, 4, 7}) {
    auto it = uniform_case<T, D>(1, 200, 19);
    it.order = order;
    std::mt19937_64 random(5);
    for (std::size_t i = 0; i < size_or(2000, 500); ++i) {
      it.points.push_back(make_vec<T, D>([&](int) { return T(-1.45) + T(0.01) * random_unit<T>(random); }));
    }
    const spread_input<T, D> input(it);
    const wanted_results wanted = wanted_of(it, input, problem_of(it));
    for (const std::string& method : methods_here()) {
      SCOPED_TRACE(method + ", " + describe(it));
      expect_agreement(run_method(context, it, input, method), wanted, 5 * spread_tolerance<T>);
    }
  }
}

/// Several blocks of threads and of mesh points.
TYPED_TEST(spread_agreement, holds_for_more_than_a_block) {
  using T = typename TypeParam::value_type;
  constexpr int D = TypeParam::dimension;
  const auto contexts = all_contexts();
  constexpr std::array<int, 3> extents{4001, 71, 37};
  for (std::uint64_t seed = 2; seed < 6; seed += 3) {
    auto it = uniform_case<T, D>(seed, size_or(D == 3 ? 3000 : 9000, 300), extents[D - 1]);
    expect_all_methods_agree(contexts[seed % contexts.size()], it);
  }
}

/// The function that a mesh_window represents: piece j on [width/2 - 1 - j, width/2 - j).
template <typename T>
reference::spread_window pieces_of(const mesh_window<T>& window) {
  const auto sum = [window](long double x, bool derivative) {
    const int j = static_cast<int>(std::ceil(0.5L * window.width - x)) - 1;
    const long double s = x - 0.5L * window.width + 0.5L + j;
    long double value = 0;
    for (int d = window.terms - 1; d >= (derivative ? 1 : 0); --d) {
      value = value * s + (derivative ? d : 1) * static_cast<long double>(window.coefficient[d][j]);
    }
    return value;
  };
  return {window.width, [=](long double x) { return sum(x, false); }, [=](long double x) { return sum(x, true); }};
}

template <typename T, int D>
void expect_all_methods_agree(const backend_context& context, const spread_case<T, D>& it,
                              const mesh_window<T>& window) {
  const spread_input<T, D> input(it);
  const wanted_results wanted = wanted_of(it, input, problem_of(it, pieces_of(window)));
  for (const std::string& method : methods_here()) {
    SCOPED_TRACE(method + ", " + describe(it) + ", width " + std::to_string(window.width));
    expect_agreement(run_method(context, it, input, method, window), wanted);
  }
}

/// Wide and narrow windows, with as many terms as B-splines of that order, fewer and more.
TYPED_TEST(spread_agreement, holds_for_windows_of_the_caller) {
  using T = typename TypeParam::value_type;
  constexpr int D = TypeParam::dimension;
  const backend_context context;
  for (int width = 2; width <= 8; ++width) {
    const auto semicircle_exponential = [=](double x) {
      return std::exp(2.3 * width * (std::sqrt(std::fmax(0.0, 1 - 4 * x * x / (width * width))) - 1));
    };
    auto it = uniform_case<T, D>(static_cast<std::uint64_t>(width), size_or(100, 30), 9);
    it.domain.periodic[0] = false;
    it.options.clip = true;
    it.components = 1 + it.seed % 2;
    for (const int terms : {6, 12, 16}) {
      expect_all_methods_agree(context, it, fitted_window<T>(width, terms, semicircle_exponential));
    }
  }
}

/// Points too many periods away to resolve are still spread.
TYPED_TEST(spread_agreement, far_points_are_somewhere) {
  using T = typename TypeParam::value_type;
  constexpr int D = TypeParam::dimension;
  const backend_context context;
  for (const int order : {1, 4, 7}) {
    auto it = uniform_case<T, D>(3, 0, 12);
    it.order = order;
    const vec<T, D>& length = it.domain.length;
    for (const T periods : {T(1e3), T(1e5), T(1048575)}) {
      it.points.push_back(it.domain.lower + length * periods);
      it.points.push_back(it.domain.lower - length * periods);
    }
    const spread_input<T, D> input(it);
    const auto total = [](const std::vector<T>& of) { return std::accumulate(of.begin(), of.end(), 0.0); };
    for (const std::string& method : methods_here()) {
      const auto found = run_method(context, it, input, method);
      EXPECT_NEAR(total(found.mesh), total(input.values), 10 * spread_tolerance<T>) << method << " of order " << order;
      EXPECT_LT(*std::max_element(found.mesh.begin(), found.mesh.end()), T(20)) << method << " of order " << order;
    }
  }
}

}  // namespace

}  // namespace quadrat::test
