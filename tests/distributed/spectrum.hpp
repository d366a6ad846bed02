// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "distributed/pairs.hpp"
#include "quadrat/distributed/power_spectrum.hpp"

// Power spectra over the ranks of a communicator, compared with one rank that has all points.

namespace quadrat::test {

inline void expect_same_spectrum(const power_spectrum_result& found, const power_spectrum_result& wanted,
                                 double tolerance, const std::string& where) {
  const auto near = [&](double a, double b, double scale) {
    return (std::isnan(a) && std::isnan(b)) || std::fabs(a - b) <= tolerance * scale;
  };
  expect(found.edges == wanted.edges && found.multipoles == wanted.multipoles, where, ": other bins than on one rank");
  expect(found.modes == wanted.modes, where, ": other numbers of modes than on one rank");
  expect(near(found.shot_noise, wanted.shot_noise, wanted.shot_noise), where, ": shot noise ", found.shot_noise,
         "; one rank has ", wanted.shot_noise);
  double largest = 0;
  for (const double power : wanted.power) largest = std::isnan(power) ? largest : std::max(largest, std::fabs(power));
  expect(found.power.size() == wanted.power.size() && largest > 0, where, ": ", found.power.size(), " values");
  for (std::size_t i = 0; i < wanted.power.size(); ++i) {
    const std::size_t bin = i % wanted.bins();
    expect(near(found.k[bin], wanted.k[bin], wanted.k[bin]), where, ": bin ", bin, " has k ", found.k[bin]);
    expect(near(found.power[i], wanted.power[i], largest), where, ": value ", i, " is ", found.power[i],
           "; one rank has ", wanted.power[i], " of up to ", largest);
  }
}

/// A box without equal sides. Half of the points are in a spot, on few ranks, and some are images from outside the box.
template <typename T>
[[nodiscard]] counted_points<T> spectrum_points(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto domain =
      make_box_from_lengths(vec<T, 3>{T(-1), T(0.5), T(2)}, vec<T, 3>{T(2), T(3), T(1)}, {true, true, true});
  counted_points<T> all{make_grid(domain, {5, 7, 3}), {}, {}, {}, {}};
  for (std::size_t i = 0; i < count; ++i) {
    const T part = i % 2 == 0 ? T(1) : T(0.1);
    const int image = i % 5 == 0 ? static_cast<int>(random() % 3) - 1 : 0;
    auto& to = i % 3 == 0 ? all.others : all.points;
    to.push_back(make_vec<T, 3>([&](int axis) {
      return domain.lower[axis] + domain.length[axis] * (part * random_unit<T>(random) + static_cast<T>(image));
    }));
  }
  all.weights = some_weights<T>(all.points.size(), seed);
  all.other_weights = some_weights<T>(all.others.size(), seed + 1);
  return all;
}

/// The spectrum of one set, and of two; twice, with other decompositions.
template <typename T>
void check_spectrum_of(communicator& ranks, const counted_points<T>& all, const vec<int, 3>& mesh,
                       const power_spectrum_options& options, std::uint64_t seed) {
  const backend_context context = context_of_rank();
  distributed_power_spectrum<backend_context, T, 3> spectrum(context, ranks, all.space, mesh, options);
  power_spectrum<backend_context, T, 3> alone(context, all.space.domain, mesh, options);
  const auto all_points = to_device(context, all.points), all_others = to_device(context, all.others);
  const auto all_weights = to_device(context, all.weights), all_other_weights = to_device(context, all.other_weights);
  const double tolerance = sizeof(T) == 4 ? 2e-4 : 1e-11;
  const bool weighted = seed % 2 == 0;
  const auto if_weighted = [&](const auto& given) { return weighted ? given.data() : nullptr; };
  for (const bool even : {true, false}) {
    const auto shares =
        even ? even_decomposition(all.space, ranks.size()) : random_decomposition(all.space, ranks.size(), seed);
    const auto first = all.own(shares, ranks.rank(), all.points), second = all.own(shares, ranks.rank(), all.others);
    const auto points = to_device(context, chosen(all.points, first)),
               others = to_device(context, chosen(all.others, second));
    const auto weights = to_device(context, chosen(all.weights, first));
    const auto other_weights = to_device(context, chosen(all.other_weights, second));
    const std::string where = message("mesh ", mesh[0], " x ", mesh[1], " x ", mesh[2], ", seed ", seed);
    expect_same_spectrum(spectrum.measure(shares, points_of(points), if_weighted(weights)),
                         alone.measure(points_of(all_points), if_weighted(all_weights)), tolerance, where);
    expect_same_spectrum(spectrum.measure_cross(shares, points_of(points), if_weighted(weights), points_of(others),
                                                if_weighted(other_weights)),
                         alone.measure_cross(points_of(all_points), if_weighted(all_weights), points_of(all_others),
                                             if_weighted(all_other_weights)),
                         tolerance, where + ", two sets");
  }
}

/// Meshes of more and of fewer layers than ranks, so that some ranks have pencils or none.
inline void check_spectra(communicator& ranks, std::size_t count) {
  const vec<int, 3> meshes[] = {{16, 12, 10}, {2, 10, 8}, {3, 2, 4}, {20, 6, 18}};
  std::uint64_t seed = 0;
  for (const vec<int, 3>& mesh : meshes) {
    for (const bool interlaced : {false, true}) {
      power_spectrum_options options;
      options.order = 1 + static_cast<int>(seed % 4);
      options.interlaced = interlaced;
      options.compensated = seed % 3 > 0;
      options.multipoles = {0, 4, 2};
      options.line_of_sight = static_cast<int>(seed % 3);
      if (seed % 4 < 2) options.edges = {0, 2, 5, 5.5, 40};
      if (seed % 5 == 1) options.normalization = spectrum_normalization::structure_factor;
      options.subtract_shot_noise = seed % 5 == 2;
      check_spectrum_of(ranks, spectrum_points<double>(count, seed), mesh, options, seed);
      check_spectrum_of(ranks, spectrum_points<float>(count, seed), mesh, options, seed);
      ++seed;
    }
  }
}

}  // namespace quadrat::test
