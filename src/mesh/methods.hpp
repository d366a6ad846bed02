// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include "mesh/papers/cusparse.hpp"
#include "mesh/papers/gather.hpp"
#include "mesh/papers/group_mesh_engine.hpp"
#include "mesh/papers/hybrid_mesh.hpp"
#include "mesh/papers/racing.hpp"
#include "mesh/particle/particle.hpp"
#include "mesh/particle/threads.hpp"
#include "mesh/sparse/single_mesh.hpp"
#include "mesh/tiles/cpu/multicolor.hpp"
#include "mesh/tiles/tiles.hpp"
#include "quadrat/core/method_list.hpp"

namespace quadrat::detail {

/// The kind of method, in messages.
inline constexpr std::string_view spread_method_kind = "method of spreading";

/// All methods of spreading: their descriptors are in the headers of their engines (core/method_choice.hpp). To add
/// one, write an engine in its own file and add a line here.
using spread_method_list =
    method_list<particle_method, particle_threads_method, particle_racing_method, gather_method, single_mesh_method,
                group_mesh_method, hybrid_mesh_method, cusparse_method, tiles_method, multicolor_method>;

}  // namespace quadrat::detail
