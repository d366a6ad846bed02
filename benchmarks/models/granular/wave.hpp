// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "harness/points.hpp"
#include "harness/session.hpp"
#include "quadrat/models/granular.hpp"

/// The paper's benchmark (uniform-grid-atomics, section 3.1): grains that fill the left half of a box of 64^3 cells
/// fall into a wave, over 2,000 steps.

namespace quadrat::bench {

/// Numbers of grains of Figures 2 and 3: 1K to 512K; on the CPU those that take no more than minutes.
[[nodiscard]] inline std::vector<std::size_t> wave_sizes(const session& s) {
  return powers_of_two(10, !s.full() ? 10 : (s.on_cuda() ? 19 : 14));
}
[[nodiscard]] inline std::size_t wave_steps(const session& s) { return s.full() ? 2000 : 50; }

template <typename Context>
[[nodiscard]] granular<Context, float> make_wave(const Context& context, std::string_view method, std::size_t n) {
  granular_options options;  // Green's constants, the box [-1, 1]^3
  options.cells = {paper_cube.cells, paper_cube.cells, paper_cube.cells};
  options.method = method;
  const auto positions =
      granular_initial_positions(granular_start::left_half, n, options.parameters.radius, options.lower, options.upper);
  return granular<Context, float>(context, options, positions);
}

/// Lets the simulation allocate and capture what it needs, then restores its state. Waits.
template <typename Context>
void settle(granular<Context, float>& model) {
  const auto state = model.state();
  model.advance(3);
  model.check();
  model.restore(state);
}

}  // namespace quadrat::bench
