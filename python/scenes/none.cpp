// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/core/error.hpp"
#include "scene_run.hpp"

namespace quadrat::python {

std::unique_ptr<scene_run> open_scene(const scene_settings& /*settings*/) {
  throw argument_error(
      "this build of the package has no scenes: they need CLI11, toml++, nlohmann-json, fmt and libpng when it is "
      "compiled (QUADRAT_PROGRAM)");
}

}  // namespace quadrat::python
