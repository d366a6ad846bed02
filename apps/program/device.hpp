// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "quadrat/io/scene.hpp"

namespace quadrat::program {

/// The processor's name as the operating system knows it, or "CPU".
[[nodiscard]] std::string cpu_name();

/// Decides `automatic`: a GPU when the build and the machine have one.
[[nodiscard]] io::device_choice resolved(io::device_choice choice);

}  // namespace quadrat::program
