// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "program/clusters/options.hpp"
#include "program/device_options.hpp"
#include "program/neighbors/box.hpp"
#include "program/particle_file.hpp"

namespace quadrat::program {

/// The clusters found, and data about the search.
struct clusters_report {
  used_device device;
  std::string precision;
  std::size_t points = 0;
  std::size_t noise = 0;
  int ranks = 1;
  std::vector<std::int32_t> labels;          ///< by point
  std::vector<std::uint32_t> sizes;          ///< by label
  std::vector<std::vector<double>> centers;  ///< by label, if they will be printed, of one rank
  std::size_t groups = 0;                    ///< rows of the table, if one is written
  std::size_t memory_bytes = 0;
  double reading_seconds = 0, search_seconds = 0, writing_seconds = 0, total_seconds = 0;
};

/// Finds clusters, on one rank or several, and writes the labels if there is an output. Of several processes only the
/// first one gets the results. Throws what the library throws, and io_error.
[[nodiscard]] clusters_report find_clusters(const clusters_options& options, const particle_file& particles,
                                            const search_box& box);

}  // namespace quadrat::program
