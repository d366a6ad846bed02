// SPDX-License-Identifier: BSD-3-Clause
#include "water.hpp"

#include <cstdio>
#include <exception>

int main(int argc, char** argv) {
  try {
    return water::run(quadrat::cpu_context(), water::options_of(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "water: %s\n", error.what());
    return 1;
  }
}
