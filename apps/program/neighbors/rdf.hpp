// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "program/neighbors/options.hpp"

namespace quadrat::program {

/// `quadrat neighbors --rdf`. Throws what the library throws, and io_error.
void run_rdf(const neighbors_options& options);

}  // namespace quadrat::program
