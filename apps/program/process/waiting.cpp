// SPDX-License-Identifier: BSD-3-Clause
#include "program/process/waiting.hpp"

#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <initializer_list>

namespace quadrat::program {

void wait_passively(char** arguments) {
  for (const char* const name : {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME"}) {
    if (std::getenv(name) != nullptr) return;
  }
  // OpenMP's runtime has read the environment before main, and cannot be told later. So the program starts itself again
  // with the variable set; the second start returns in the loop above. Without /proc, threads spin as in any other
  // program.
  char program[PATH_MAX];
  const ::ssize_t length = ::readlink("/proc/self/exe", program, sizeof(program) - 1);
  if (length <= 0 || ::setenv("OMP_WAIT_POLICY", "passive", 0) != 0) return;
  program[length] = '\0';
  ::execv(program, arguments);
}

}  // namespace quadrat::program
