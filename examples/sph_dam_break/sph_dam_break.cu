// SPDX-License-Identifier: BSD-3-Clause
#include "sph_dam_break.hpp"

#include <cstdio>
#include <exception>

int main(int argc, char** argv) {
  if (quadrat::cuda_devices().empty()) {
    std::puts("sph_dam_break: built with CUDA, but there is no device here");
    return 0;
  }
  try {
    return run(quadrat::cuda_context(), options_of(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sph_dam_break: %s\n", error.what());
    return 1;
  }
}
