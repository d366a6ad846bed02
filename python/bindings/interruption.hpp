// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace quadrat::python {

/// Lets work on CPUs that has lasted for a while end at its next allocation after Ctrl-C, with KeyboardInterrupt. The
/// library cannot be stopped anywhere else; it allocates between the phases of its work.
void heed_interruption();

/// Marks the beginning of work on this thread.
void work_begins();

}  // namespace quadrat::python
