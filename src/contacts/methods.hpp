// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "contacts/brute_force/engine.hpp"
#include "contacts/hashed/engine.hpp"
#include "contacts/levels/cuda/engine.hpp"
#include "contacts/papers/bins/engine.hpp"
#include "contacts/papers/loose/engine.hpp"
#include "contacts/sweep_and_prune/engine.hpp"
#include "contacts/tight/engine.hpp"
#include "quadrat/core/method_list.hpp"

namespace quadrat::detail {

/// All methods of contacts, in display order. A new one is an engine and its descriptor, in its own folder, and a line
/// here; engine.hpp describes the engine, request.hpp the descriptor.
///
/// The choice takes `levels`, except for few bodies: up to brute_force_most_bodies it may take brute force. On GPUs,
/// where an earlier search has counted the contacts, it may take the tight grid for as many, and sweep and prune up to
/// counted_most_bodies (where_counted). Bodies of several systems are served by `hashed` alone.
using contact_method_list = method_list<  //
    levels_method,                        //
    hashed_method,                        //
    loose_grid_method,                    //
    tight_grid_method,                    //
    bins_method,                          //
    sweep_and_prune_method,               //
    brute_force_method>;

}  // namespace quadrat::detail
