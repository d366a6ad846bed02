// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "contacts/brute_force/engine.hpp"
#include "contacts/levels/cuda/engine.hpp"
#include "contacts/papers/bins/engine.hpp"
#include "contacts/papers/loose/engine.hpp"
#include "contacts/sweep_and_prune/engine.hpp"
#include "contacts/tight/engine.hpp"
#include "quadrat/core/method_list.hpp"

namespace quadrat::detail {

/// All methods of contacts, in display order. To add one, write an engine and its record in a new folder (see
/// engine.hpp), and add a line here.
using contact_method_list = method_list<  //
    levels_record,                        //
    loose_grid_record,                    //
    tight_grid_record,                    //
    bins_record,                          //
    sweep_and_prune_record,               //
    brute_force_record>;

}  // namespace quadrat::detail
