// SPDX-License-Identifier: BSD-3-Clause
#include "lennard_jones.hpp"

#include <cstdio>
#include <exception>

int main() {
  if (quadrat::cuda_devices().empty()) {
    std::puts("lennard_jones: built with CUDA, but there is no device here");
    return 0;
  }
  try {
    return run(quadrat::cuda_context());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "lennard_jones: %s\n", error.what());
    return 1;
  }
}
