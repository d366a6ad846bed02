// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <string_view>

#include "quadrat/io/brownian_scene.hpp"
#include "quadrat/io/circles_scene.hpp"
#include "quadrat/io/electrolyte_scene.hpp"
#include "quadrat/io/friction_scene.hpp"
#include "quadrat/io/scene.hpp"
#include "quadrat/io/srd_scene.hpp"

namespace quadrat::io {

/// What scene.model can be; "granular" has two scenes, by its law.
inline constexpr std::array<std::string_view, 5> scene_models{"granular", "brownian", "circles", "srd", "electrolyte"};

}  // namespace quadrat::io

/// The scenes, by the names of their models in QUADRAT_MODELS: a macro, since functions are instantiated for each.
#define QUADRAT_FOR_EACH_SCENE(WITH) \
  WITH(granular) WITH(friction) WITH(brownian) WITH(circles) WITH(srd) WITH(electrolyte)
