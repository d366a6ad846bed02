// SPDX-License-Identifier: BSD-3-Clause
#include "molten_salt.hpp"

#include <cstdio>
#include <exception>

int main(int argc, char** argv) {
  if (quadrat::cuda_devices().empty()) {
    std::puts("molten_salt: built with CUDA, but there is no device here");
    return 0;
  }
  try {
    return run(quadrat::cuda_context(), options_of(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "molten_salt: %s\n", error.what());
    return 1;
  }
}
