// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <string>
#include <string_view>

#include "mesh/support.hpp"

// Every method reads the mesh to which a crowd of points was spread: many points at few mesh points, and numbers of the
// mesh that fall off by many orders of magnitude around them.

namespace quadrat::test {

namespace {

template <typename T, int D>
struct crowd_setting {
  using value_type = T;
  static constexpr int dimension = D;
};
template <typename Setting>
class spread_crowds : public backend_test {};
using crowd_settings = testing::Types<crowd_setting<float, 1>, crowd_setting<float, 2>, crowd_setting<float, 3>,
                                      crowd_setting<double, 1>, crowd_setting<double, 2>, crowd_setting<double, 3>>;
TYPED_TEST_SUITE(spread_crowds, crowd_settings);

/// In mesh units from the middle of the box.
template <int D>
double place_in_crowd(std::string_view where, int axis, std::mt19937_64& random) {
  std::normal_distribution<double> spot(0, 0.5);
  std::uniform_real_distribution<double> cell(0, 1), line(-3, 3);
  if (where == "spot") return spot(random);
  const bool along = (where == "last axis" && axis == D - 1) || (where == "first axis" && axis == 0);
  return along ? line(random) : where == "one cell" ? cell(random) : 0.3;
}

template <typename T, int D>
spread_case<T, D> crowd_of(std::string_view where, int extent, std::size_t components) {
  constexpr std::size_t count = 1500;
  auto it = uniform_case<T, D>(5, 0, extent);
  it.components = components;
  it.signed_values = components == 2;
  std::mt19937_64 random(extent);
  for (std::size_t i = 0; i < count; ++i) {
    it.points.push_back(make_vec<T, D>([&](int axis) {
      const double place = place_in_crowd<D>(where, axis, random);
      return static_cast<T>(0.35 + 3.7 * place / it.mesh[axis]);
    }));
  }
  return it;
}

TYPED_TEST(spread_crowds, are_read_from_the_mesh_they_were_spread_to) {
  using T = typename TypeParam::value_type;
  constexpr int D = TypeParam::dimension;
  const backend_context context;
  for (const std::string_view where : {"spot", "first axis", "last axis", "one cell"}) {
    // Fewer and more points per mesh point than one, and less than a tenth.
    for (const int extent : D == 3   ? std::array{9, 16, 28}
                            : D == 2 ? std::array{25, 60, 150}
                                     : std::array{700, 2000, 20'000}) {
      for (const std::size_t components : {1, 2}) {
        const auto it = crowd_of<T, D>(where, extent, components);
        auto input = spread_input<T, D>(it);
        const auto problem = problem_of(it);
        const auto spread = wanted_of(it, input, problem).mesh.value;
        std::copy(spread.begin(), spread.end(), input.mesh.begin());
        const wanted_results wanted = wanted_of(it, input, problem);
        for (const std::string& method : methods_here()) {
          SCOPED_TRACE(message(method, ", ", where, ", ", describe(it)));
          expect_agreement(run_method(context, it, input, method), wanted, 5 * spread_tolerance<T>);
        }
      }
    }
  }
}

}  // namespace

}  // namespace quadrat::test
