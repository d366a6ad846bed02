// SPDX-License-Identifier: BSD-3-Clause
#include "molten_salt.hpp"

#include <cstdio>
#include <exception>

int main(int argc, char** argv) {
  try {
    return run(quadrat::cpu_context(), options_of(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "molten_salt: %s\n", error.what());
    return 1;
  }
}
