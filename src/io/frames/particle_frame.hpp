// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "quadrat/io/particle_frame.hpp"

namespace quadrat::io {

/// Throws argument_error unless all arrays have the length of the positions and names can stand in files.
void require_complete(const particle_frame& frame, std::string_view kind);

/// The comment line of extended XYZ, and the lines of the particles from `first` to `end`.
[[nodiscard]] std::string xyz_comment(const particle_frame& frame);
void append_xyz_lines(std::string& text, const particle_frame& frame, std::size_t first, std::size_t end);

}  // namespace quadrat::io
