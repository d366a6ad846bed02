// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace quadrat::program {

/// Makes idle threads sleep instead of spin, unless OMP_WAIT_POLICY, GOMP_SPINCOUNT or KMP_BLOCKTIME says how they wait
/// (docs/concepts/threads.md). Call it first: if necessary, the program starts itself again in the same process.
void wait_passively(char** arguments);

}  // namespace quadrat::program
