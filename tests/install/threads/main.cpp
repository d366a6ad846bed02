// SPDX-License-Identifier: BSD-3-Clause
// A loop runs in as many threads as its context has. Compiled by nvcc if available.
#include <quadrat/parallel/for_each.hpp>

#include <algorithm>
#include <cstdio>
#include <thread>
#include <vector>

int main() {
  quadrat::cpu_context::options options;
  options.threads = 3;
  const quadrat::cpu_context context(options);
  std::vector<std::thread::id> visitors(3000);
  quadrat::for_each(context, "who is here", visitors.size(),
                    [&](std::size_t i) { visitors[i] = std::this_thread::get_id(); });
  std::sort(visitors.begin(), visitors.end());
  const auto threads = std::unique(visitors.begin(), visitors.end()) - visitors.begin();
  std::printf("%d threads\n", static_cast<int>(threads));
  return threads == options.threads ? 0 : 1;
}
