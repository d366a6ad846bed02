// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "harness/session.hpp"

namespace quadrat::bench {

/// The automatic choice on random cases. Every method is timed. The regret is the time of the chosen method, plus that
/// of choosing, over the time of the best. Rows have the load and all times, so that constants of a profile can be
/// fitted to them, and a choice by another profile can be judged.
void run_choice_mesh(const session& s);
void run_choice_keyed(const session& s);
void run_choice_neighbors(const session& s);
void run_choice_contacts(const session& s);
/// Ewald sums with parameters near the chosen ones, and transforms with each oversampling: their times, and the loss of
/// choosing by a profile.
void run_choice_ewald(const session& s);
void run_choice_nufft(const session& s);
/// Steps of the models with each of their variants, at positions that do not change.
void run_choice_models(const session& s);
/// The regret of choices by the profile in use, for the test grid of the cases above.
void run_choice_regret(const session& s);

}  // namespace quadrat::bench
