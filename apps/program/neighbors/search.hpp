// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "program/device_options.hpp"
#include "program/neighbors/box.hpp"
#include "program/neighbors/options.hpp"
#include "program/particle_file.hpp"
#include "quadrat/tune/explanation.hpp"

namespace quadrat::program {

/// The result of a search, and data about it.
struct neighbors_report {
  used_device device;
  std::string method, reason, precision;
  quadrat::explanation explanation;
  std::size_t points = 0;
  std::uint64_t pairs = 0;
  double farthest = 0;  ///< largest distance of a nearest neighbor
  // Neighbors per point of the full list, even if a half list was requested.
  double mean = 0, deviation = 0;
  std::uint64_t least = 0, most = 0;
  std::size_t memory_bytes = 0;
  double reading_seconds = 0, search_seconds = 0, writing_seconds = 0, total_seconds = 0;
};

/// Finds all pairs, and writes them if there is an output. `radii`: one per point, or empty. Throws what the library
/// throws, and io_error.
[[nodiscard]] neighbors_report find_neighbors(const neighbors_options& options, const particle_file& particles,
                                              const std::vector<double>& radii, const search_box& box);

/// Finds the options.knn nearest neighbors of each point.
[[nodiscard]] neighbors_report find_nearest(const neighbors_options& options, const particle_file& particles,
                                            const search_box& box);

/// Sets mean, extremes and deviation of the numbers of neighbors.
void set_statistics(const std::vector<std::uint64_t>& neighbors, neighbors_report& report);

}  // namespace quadrat::program
