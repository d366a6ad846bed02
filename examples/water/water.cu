// SPDX-License-Identifier: BSD-3-Clause
#include "water.hpp"

#include <cstdio>
#include <exception>

int main(int argc, char** argv) {
  if (quadrat::cuda_devices().empty()) {
    std::puts("water: built with CUDA, but there is no device here");
    return 0;
  }
  try {
    return water::run(quadrat::cuda_context(), water::options_of(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "water: %s\n", error.what());
    return 1;
  }
}
