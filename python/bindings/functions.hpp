// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "quadrat/quadrat.h"
#include "scene_run.hpp"

namespace quadrat::python {

/// The functions of the C interface in one library. They return errors as codes.
struct c_functions {
#define QUADRAT_FUNCTION(name) decltype(&quadrat_##name) name = nullptr;
#include "functions.def"
#undef QUADRAT_FUNCTION
  open_scene_function* open_scene = nullptr;  ///< null in a library without scenes
};

/// The functions linked into the module, which work on CPUs.
[[nodiscard]] const c_functions& cpu_functions();

/// The functions of the package quadrat_cuda13 or quadrat_cuda12, whose library the first call opens. Throws
/// ImportError with pip's command if it is not installed or has another version. The caller holds the interpreter's
/// lock.
[[nodiscard]] const c_functions& cuda_functions();

/// Throws the library's exception for the error code of a call, with its message, or KeyboardInterrupt if Ctrl-C
/// has ended the call.
void check(const c_functions& library, int status);

}  // namespace quadrat::python
