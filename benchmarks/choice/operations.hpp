// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "harness/session.hpp"

namespace quadrat::bench {

/// The automatic choice on random cases: every method is timed, and the regret is the time of the chosen method (with
/// what the choice itself takes) over that of the best. Rows have the load and all times, so that the constants of a
/// profile can be fitted to them, and a choice by another profile be judged by them.
void run_choice_mesh(const session& s);
void run_choice_keyed(const session& s);
void run_choice_neighbors(const session& s);
void run_choice_contacts(const session& s);
/// Ewald sums by parameters near those that are chosen, and transforms by each oversampling: what they cost, and what
/// choosing them by a profile loses.
void run_choice_ewald(const session& s);
void run_choice_nufft(const session& s);
/// Steps of the models by each of their variants, at places that do not change.
void run_choice_models(const session& s);
/// What a choice by the profile in use would have lost in the cases before, those of the test grid.
void run_choice_regret(const session& s);

}  // namespace quadrat::bench
