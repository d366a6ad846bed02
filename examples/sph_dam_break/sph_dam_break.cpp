// SPDX-License-Identifier: BSD-3-Clause
#include "sph_dam_break.hpp"

#include <cstdio>
#include <exception>

int main(int argc, char** argv) {
  try {
    return run(quadrat::cpu_context(), options_of(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sph_dam_break: %s\n", error.what());
    return 1;
  }
}
