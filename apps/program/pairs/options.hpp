// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "program/bin_options.hpp"
#include "program/box_options.hpp"
#include "program/device_options.hpp"

namespace quadrat::program {

/// By the value of pair_coordinates.
inline constexpr std::string_view names_of_coordinates[] = {"r", "rp_pi", "s_mu", "theta"};
inline constexpr std::string_view names_of_estimators[] = {"natural", "landy-szalay", "uniform"};

/// The command line of `quadrat pairs`.
struct pairs_options {
  std::string points;
  std::optional<std::string> weights, others, other_weights, randoms, random_weights;
  std::optional<std::string> regions, other_regions, random_regions;
  std::string coordinates = "r";
  std::optional<std::string> edges, second_edges;
  bin_options bins{"--range", "--bins", "numbers"};
  bin_options second_bins{"--second-range", "--second-bins", "numbers"};
  bool mean_separation = false;
  std::optional<std::string> estimator;
  box_options box;
  device_options device;
  std::optional<std::string> precision;
  std::optional<std::string> output;
  bool json = false;
  bool quiet = false;
};

}  // namespace quadrat::program
