// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "quadrat/io/scene.hpp"

namespace quadrat::program {

/// The processor's name as the operating system reports it, or "CPU".
[[nodiscard]] std::string cpu_name();

/// Resolves `automatic`: a GPU if the build supports it and the machine has one.
[[nodiscard]] io::device_choice resolved(io::device_choice choice);

}  // namespace quadrat::program
