// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include "quadrat/io/particle_frame.hpp"

namespace quadrat::io {

/// Throws argument_error unless all arrays have the length of the positions and names can stand in files.
void require_complete(const particle_frame& frame, std::string_view kind);

}  // namespace quadrat::io
