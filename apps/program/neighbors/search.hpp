// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "program/device_options.hpp"
#include "program/neighbors/box.hpp"
#include "program/neighbors/options.hpp"
#include "program/particle_file.hpp"

namespace quadrat::program {

/// What a search found, and how.
struct neighbors_report {
  used_device device;
  std::string method, reason, precision;
  std::size_t points = 0;
  std::uint64_t pairs = 0;
  // Neighbors a point: of the full list, also where a half list was asked for.
  double mean = 0, deviation = 0;
  std::uint64_t least = 0, most = 0;
  std::size_t memory_bytes = 0;
  double reading_seconds = 0, search_seconds = 0, writing_seconds = 0, total_seconds = 0;
};

/// Searches, and writes the output if there is one. Throws what the library throws, and io_error.
[[nodiscard]] neighbors_report find_neighbors(const neighbors_options& options, const particle_file& particles,
                                              const search_box& box);

}  // namespace quadrat::program
