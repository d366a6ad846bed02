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

/// Applies a macro to each value of scene.model. A macro, since functions are instantiated for each scene.
#define QUADRAT_FOR_EACH_SCENE_MODEL(WITH) WITH(granular) WITH(brownian) WITH(circles) WITH(srd) WITH(electrolyte)
/// The same to each scene with the name of its model in QUADRAT_MODELS. "granular" has two; its law tells which.
#define QUADRAT_FOR_EACH_SCENE(WITH) QUADRAT_FOR_EACH_SCENE_MODEL(WITH) WITH(friction)

namespace quadrat::io {

#define QUADRAT_NAME(name) std::string_view(#name),
/// The values of scene.model.
inline constexpr std::array scene_models{QUADRAT_FOR_EACH_SCENE_MODEL(QUADRAT_NAME)};
#undef QUADRAT_NAME

}  // namespace quadrat::io
