// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "ewald/choice/choice.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/tune/device_profile.hpp"
#include "support/backend.hpp"
#include "support/errors.hpp"

// Parameters over grids of loads, by the shipped profiles: nothing is computed.

namespace quadrat::test {

namespace {

[[nodiscard]] detail::charged_system even_charges_at(double points, double density) {
  detail::charged_system system{};
  system.points = system.sum_of_squares = points;
  for (int axis = 0; axis < 3; ++axis) system.vectors[axis][axis] = std::cbrt(points / density);
  return system;
}

TEST(ewald_choice_grid, what_is_less_accurate_never_takes_longer) {
  for (const bool cuda : {false, true}) {
    for (const double points : {100.0, 1e3, 5e3, 22e3, 1e5, 3e5, 1e6, 3e6}) {
      if (small_sizes() && points != 1e3 && points != 3e5) continue;
      for (const double density : {0.01, 1.0}) {
        double before = std::numeric_limits<double>::infinity();
        for (const double accuracy : {1e-6, 2e-6, 5e-6, 1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3}) {
          const auto choice =
              detail::choose_ewald({"auto", pair_law::coulomb, accuracy, {}, {&shipped_profile(cuda), 2}, cuda},
                                   {even_charges_at(points, density)});
          EXPECT_LE(choice.cost, before) << points << " at " << density << ", " << accuracy << (cuda ? ", cuda" : "");
          EXPECT_LE(choice.errors.total(), accuracy) << points << " at " << density;
          before = choice.cost;
        }
      }
    }
  }
}

/// The accuracy that a refusal says can be reached; `asked` for if it is not refused.
[[nodiscard]] double reached_with(const detail::charged_system& system, double asked, double cutoff, int order) {
  ewald_parameters given;
  given.cutoff = cutoff;
  given.order = order;
  const std::string complaint = error_of<argument_error>([&] {
    static_cast<void>(
        detail::choose_ewald({"esp", pair_law::coulomb, asked, given, {&shipped_profile(false), 1}, false}, {system}));
  });
  const std::size_t end = complaint.find(" can be reached");
  if (end == std::string::npos) return complaint == "no error" ? asked : 1;
  return std::stod(complaint.substr(complaint.rfind(' ', end - 1)));
}

TEST(ewald_choice_grid, what_esp_can_reach_grows_with_the_cutoff_and_the_order) {
  for (const double points : {200.0, 20000.0}) {
    const detail::charged_system system = even_charges_at(points, 1);
    for (const double cutoff : {1.0, 2.0, 4.0}) {
      for (const int order : {6, 7, 8}) {
        const double reached = reached_with(system, 1e-11, cutoff, order);
        EXPECT_EQ(reached_with(system, 3e-10, cutoff, order), reached) << points << ", " << cutoff << ", " << order;
        EXPECT_GT(reached, 1e-11);
        EXPECT_LT(reached, 0.5);
        EXPECT_LE(reached, reached_with(system, 1e-11, cutoff / 2, order)) << points << ", " << cutoff << ", " << order;
        EXPECT_LE(reached, reached_with(system, 1e-11, cutoff, std::max(order - 1, 6))) << points << ", " << cutoff;
        EXPECT_EQ(reached_with(system, reached, cutoff, order), reached) << "not what it says";
      }
    }
    EXPECT_EQ(reached_with(system, 1e-13, 0, 0), reached_with(system, 1e-11, 0, 0)) << points;
  }
}

}  // namespace

}  // namespace quadrat::test
