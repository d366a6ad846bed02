// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "quadrat/quadrat.h"

namespace quadrat::python {

/// Lets work on CPUs that has lasted for a while end at its next allocation after Ctrl-C. The library cannot be stopped
/// anywhere else; it allocates between the phases of its work.
void heed_interruption(quadrat_context_options& options);

/// Marks the beginning of work on this thread.
void work_begins();

/// Throws KeyboardInterrupt, or the exception of a signal handler, if that has ended work of this thread.
void throw_interruption();

}  // namespace quadrat::python
