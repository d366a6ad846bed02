// SPDX-License-Identifier: BSD-3-Clause
#include "lennard_jones.hpp"

#include <cstdio>
#include <exception>

int main() {
  try {
    return run(quadrat::cpu_context());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "lennard_jones: %s\n", error.what());
    return 1;
  }
}
