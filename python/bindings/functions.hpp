// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "quadrat/quadrat.h"
#include "scene_run.hpp"

namespace quadrat::python {

/// The functions of the C interface, of a library: errors are codes.
struct c_functions {
#define QUADRAT_FUNCTION(name) decltype(&quadrat_##name) name = nullptr;
#include "functions.def"
#undef QUADRAT_FUNCTION
  open_scene_function* open_scene = nullptr;  ///< null in a library without scenes
};

/// Of the module itself, which works on CPUs.
[[nodiscard]] const c_functions& cpu_functions();

/// Of the library in the package quadrat_cuda13, which is opened at the first call. Throws ImportError with pip's
/// command where it is not installed or does not fit. The interpreter's lock must be held.
[[nodiscard]] const c_functions& cuda_functions();

/// Throws the library's exception for the code of an error of this thread, with its words; KeyboardInterrupt if the
/// call has ended because of it.
void check(const c_functions& library, int status);

}  // namespace quadrat::python
