// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "ewald/ewald_case.hpp"
#include "ewald/random_case.hpp"
#include "quadrat/core/error.hpp"
#include "support/errors.hpp"

// What is chosen keeps to the accuracy, and the errors that are predicted are those that are made.
// QUADRAT_EWALD_SYSTEMS=200 tests so many random systems in place of a few, and prints a line for each.

namespace quadrat::test {

namespace {

using random_kind = quadrat::testing::ewald_case;

/// The number of random systems; whether it is more than by default.
[[nodiscard]] int system_count(int by_default) {
  const char* const wanted = std::getenv("QUADRAT_EWALD_SYSTEMS");
  return wanted == nullptr ? by_default : std::max(by_default, std::atoi(wanted));
}
[[nodiscard]] bool prints() { return std::getenv("QUADRAT_EWALD_SYSTEMS") != nullptr; }

[[nodiscard]] ewald_case<double> as_case(const reference::ewald_system& system) {
  ewald_case<double> of;
  const auto as_vec = [](const reference::vector3& v) { return vec<double, 3>{v[0], v[1], v[2]}; };
  for (const auto& point : system.points) of.points.push_back(as_vec(point));
  of.charges = system.charges;
  of.cells = {make_lattice<double, 3>(
      {}, {as_vec(system.vectors[0]), as_vec(system.vectors[1]), as_vec(system.vectors[2])}, {true, true, true})};
  return of;
}

/// The root mean square difference of forces, in units of the reference force.
[[nodiscard]] double force_error(const ewald_results<double>& a, const ewald_results<double>& b, double reference) {
  double sum = 0;
  for (std::size_t i = 0; i < a.forces.size(); ++i) sum += squared_norm(a.forces[i] - b.forces[i]);
  return std::sqrt(sum / static_cast<double>(a.forces.size())) / reference;
}

struct trial {
  std::string name;
  reference::ewald_system system;
  bool crowded;
};

/// 2 to 5,000 charges in cells of both hands, skewed by up to 45 degrees; some in clusters or in a corner, some flat.
[[nodiscard]] trial random_trial(unsigned seed, double least, double most) {
  std::mt19937_64 random(seed);
  const auto unit = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  random_kind kind;
  kind.points = static_cast<std::size_t>(std::lround(least * std::pow(most / least, unit())));
  kind.skew = unit() < 0.3 ? 1 : unit();
  kind.flatness = unit() < 0.2 ? 2.5 : 1;
  kind.left_handed = unit() < 0.5;
  kind.neutral = unit() < 0.7;
  const double how = unit();
  kind.arrangement = how < 0.6   ? testing::ewald_arrangement::uniform
                     : how < 0.8 ? testing::ewald_arrangement::clusters
                                 : testing::ewald_arrangement::corner;
  trial it{message("seed ", seed, ", ", kind.points, " points, skew ", kind.skew, kind.neutral ? "" : ", charged",
                   kind.left_handed ? ", left" : "", kind.flatness > 1 ? ", flat" : "",
                   how < 0.6   ? ""
                   : how < 0.8 ? ", clusters"
                               : ", corner"),
           testing::random_system(kind, seed), how >= 0.6};
  return it;
}

[[nodiscard]] ewald_results<double> exact_forces(const ewald_case<double>& of) {
  electrostatics_options options;
  options.method = "direct";
  options.accuracy = 1e-12;
  return compute_ewald(of, options);
}

TEST(ewald_choice, keeps_to_the_accuracy_in_random_systems) {
  const int count = system_count(12);
  for (int k = 0; k < count; ++k) {
    const trial it = random_trial(static_cast<unsigned>(1000 + k), 2, prints() ? 5000 : 1500);
    const ewald_case<double> of = as_case(it.system);
    const ewald_results<double> exact = exact_forces(of);
    for (const double accuracy : {1e-3, 1e-5, 1e-8}) {
      for (const char* method : {"auto", "spme", "esp"}) {
        if (!prints() && std::string(method) != "auto") continue;
        if (std::string(method) == "esp" && accuracy < 1e-7) continue;
        electrostatics_options options;
        options.accuracy = accuracy;
        options.method = method;
        const ewald_results<double> found = compute_ewald(of, options);
        const double error = force_error(found, exact, it.system.reference_force());
        const auto& report = found.report;
        const std::string what =
            message(it.name, ", ", method, " (", report.method, ", cutoff ", report.parameters.cutoff, ", splitting ",
                    report.parameters.splitting, ", mesh ", report.parameters.mesh[0], " ", report.parameters.mesh[1],
                    " ", report.parameters.mesh[2], ", order ", report.parameters.order, ")");
        EXPECT_LE(error, accuracy) << what;
        // Of many charges without clusters the prediction is the error; otherwise it is a bound.
        const bool mean = it.system.points.size() >= 1000 && !it.crowded;
        EXPECT_LE(error, (mean ? 1.5 : 1) * report.error + 1e-13) << what;
        if (prints()) {
          std::printf("%s%8.1e: error %.2f of it, predicted %.2f (short %.2f, mesh %.2f); %s\n",
                      error > accuracy       ? "ABOVE "
                      : error > report.error ? "UNDER "
                                             : "      ",
                      accuracy, error / accuracy, report.error / accuracy, report.short_range_error / accuracy,
                      report.mesh_error / accuracy, what.c_str());
          std::fflush(stdout);
        }
      }
    }
  }
}

TEST(ewald_choice, what_cannot_be_reached_is_refused) {
  const ewald_case<double> of = as_case(testing::random_system({.points = 20}, 1));
  const auto complaint = [&](const char* method, const ewald_parameters& given, double accuracy) {
    electrostatics_options options;
    options.method = method;
    options.parameters = given;
    options.accuracy = accuracy;
    return error_of<argument_error>([&] { static_cast<void>(compute_ewald(of, options)); });
  };
  expect_words(complaint("auto", {.cutoff = 1e-3}, 1e-5), {"no accuracy", "0.001"});
  expect_words(complaint("auto", {.cutoff = 1000}, 1e-5), {"cutoff 1000", "at most 1e+08"});
  expect_words(complaint("esp", {.cutoff = 2, .order = 4}, 1e-6), {"1e-06", "esp", "can be reached"});
}

/// Without clusters and with many charges, predictions are not only bounds.
TEST(ewald_choice, predicts_the_error_of_many_charges) {
  const int count = system_count(4);
  for (int k = 0; k < count; ++k) {
    const trial it = random_trial(static_cast<unsigned>(5000 + k), 1000, prints() ? 5000 : 1500);
    if (it.crowded) continue;
    const ewald_case<double> of = as_case(it.system);
    const ewald_results<double> exact = exact_forces(of);
    for (const char* method : {"spme", "esp", "direct"}) {
      for (const double accuracy : {1e-3, 1e-5}) {
        electrostatics_options options;
        options.accuracy = accuracy;
        options.method = method;
        const ewald_results<double> found = compute_ewald(of, options);
        const double error = force_error(found, exact, it.system.reference_force());
        EXPECT_LE(error, 2 * found.report.error) << it.name << " " << method << " " << accuracy;
        EXPECT_GE(error, 0.5 * found.report.error) << it.name << " " << method << " " << accuracy;
        if (prints()) {
          std::printf("%s %8.1e: error %.2f of the prediction; %s\n", method, accuracy, error / found.report.error,
                      it.name.c_str());
        }
      }
    }
  }
}

/// On a dense mesh most of the error of a window that ends with a step comes from there.
TEST(ewald_choice, predicts_the_error_that_the_edge_of_a_window_makes) {
  const reference::ewald_system system = testing::random_system({.points = 200, .neutral = false}, 2);
  const ewald_case<double> of = as_case(system);
  const ewald_results<double> exact = exact_forces(of);
  struct window {
    int order;
    double splitting;
  };
  for (const window it : {window{4, 8}, window{5, 10}, window{6, 12}, window{7, 16}, window{8, 20}}) {
    electrostatics_options options;
    options.method = "esp";
    options.parameters = {.cutoff = 2.4, .splitting = it.splitting, .mesh = {72, 72, 72}, .order = it.order};
    options.accuracy = 0.5;
    options.accuracy = compute_ewald(of, options).report.error;  // so that the short range is not coarser
    const ewald_results<double> found = compute_ewald(of, options);
    const double error = force_error(found, exact, system.reference_force());
    EXPECT_LE(error, 1.3 * found.report.error) << it.order;
    EXPECT_GE(error, 0.3 * found.report.error) << it.order;
  }
}

}  // namespace

}  // namespace quadrat::test
