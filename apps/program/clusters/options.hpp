// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "program/box_options.hpp"
#include "program/device_options.hpp"

namespace quadrat::program {

/// The command line of `quadrat clusters`.
struct clusters_options {
  std::string points;
  double cutoff = 0;
  std::int64_t min_points = 1;
  box_options box;
  device_options device;
  std::optional<std::string> precision;
  std::optional<std::string> output;
  std::optional<std::string> groups;  ///< a table of the clusters
  std::optional<std::string> velocities;
  std::int64_t least_size = 1;
  bool by_size = false;
  bool json = false;
  bool quiet = false;
};

}  // namespace quadrat::program
