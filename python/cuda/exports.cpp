// SPDX-License-Identifier: BSD-3-Clause
#include "scene_run.hpp"

/// What the library for GPUs exports beside the functions of quadrat/quadrat.h.
namespace quadrat::python {

extern "C" __attribute__((visibility("default"))) scene_run* quadrat_python_open_scene_1(
    const scene_settings& settings) {
  return open_scene(settings).release();
}

}  // namespace quadrat::python
