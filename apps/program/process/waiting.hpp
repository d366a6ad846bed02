// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace quadrat::program {

/// Lets threads that have nothing to do sleep instead of spin, unless OMP_WAIT_POLICY, GOMP_SPINCOUNT or KMP_BLOCKTIME
/// says how they wait (docs/concepts/threads.md). Call it first: the program starts itself once more, in the same
/// process, where that is needed.
void wait_passively(char** arguments);

}  // namespace quadrat::program
