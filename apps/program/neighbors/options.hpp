// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "program/box_options.hpp"
#include "program/device_options.hpp"

namespace quadrat::program {

/// How the cutoff of a pair follows from two radii: cutoff_rule::sum_of_radii, larger_radius, own_radius.
inline constexpr std::array<std::string_view, 3> radius_rules{"sum", "larger", "own"};

/// The command line of `quadrat neighbors`.
struct neighbors_options {
  std::string points;
  double cutoff = 0;  ///< 0: none, with knn. With radii: the largest cutoff of a pair
  int knn = 0;        ///< number of nearest neighbors per point; 0: all pairs within the cutoff
  std::string radii;  ///< source of the radii of points; empty: one cutoff
  std::string rule;   ///< one of radius_rules
  box_options box;
  bool half = false;
  bool rdf = false;  ///< radial distribution functions instead of pairs
  std::optional<std::int64_t> bins;
  bool types = false;
  std::string method;  ///< empty: chosen automatically
  device_options device;
  std::optional<std::string> precision;
  std::optional<std::string> output;
  bool json = false;
  bool explain = false;
  bool quiet = false;
};

}  // namespace quadrat::program
