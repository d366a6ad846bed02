// SPDX-License-Identifier: BSD-3-Clause
#include <cstddef>
#include <string_view>

#include "models/granular/frozen.hpp"
#include "models/granular/operations.hpp"

namespace quadrat::bench {

namespace {

/// The same grains in wider boxes: all rows of a method should take about as long as its first.
template <typename Context>
void run_sparse_step_on(const session& s, const Context& context) {
  const std::size_t n = !s.full() ? 4096 : (s.on_cuda() ? 1048576 : 8192);
  for (const std::string_view method : wanted_granular_methods(s)) {
    if (!s.full() && method != granular_default_method(context)) continue;
    frozen_grains grains(cube_for(n, 3.5), n);
    const auto time = [&](std::string_view distribution) {
      row identity = grains.describe("sparse", method, "float");
      identity["distribution"] = distribution;
      s.attempt(identity, [&](row& out) { measure_frozen<float>(s, context, grains, method, out); });
    };
    time("tight box");
    grains.widen_box(30);
    time("box 30 times as wide");
    grains.widen_box(1000);
    time("box 1000 times as wide");
    grains.stray(1000);
    time("one stray grain");
  }
}

}  // namespace

void run_sparse_step(const session& s) {
  with_context(s, [&](const auto& context) { run_sparse_step_on(s, context); });
}

}  // namespace quadrat::bench
