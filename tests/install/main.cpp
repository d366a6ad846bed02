// SPDX-License-Identifier: BSD-3-Clause
#include <quadrat/core/config.hpp>

#include <cstdio>

int main() {
  std::printf("linked against quadrat %s\n", QUADRAT_VERSION);
  return 0;
}
