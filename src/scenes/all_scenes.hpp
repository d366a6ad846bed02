// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <string_view>

#include "quadrat/io/brownian_scene.hpp"
#include "quadrat/io/circles_scene.hpp"
#include "quadrat/io/electrolyte_scene.hpp"
#include "quadrat/io/friction_scene.hpp"
#include "quadrat/io/granular_scene.hpp"
#include "quadrat/io/srd_scene.hpp"

namespace quadrat::io {

/// The values of scene.model. "granular" has two scenes; its law tells which.
inline constexpr std::array<std::string_view, 5> scene_models{"granular", "brownian", "circles", "srd", "electrolyte"};

}  // namespace quadrat::io

/// Applies a macro to each scene with the name of its model in QUADRAT_MODELS. A macro, since functions are
/// instantiated for each scene.
#define QUADRAT_FOR_EACH_SCENE(WITH) \
  WITH(granular) WITH(friction) WITH(brownian) WITH(circles) WITH(srd) WITH(electrolyte)
