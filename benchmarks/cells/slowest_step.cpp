// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cells/crowd.hpp"
#include "cells/operations.hpp"
#include "harness/stopwatch.hpp"
#include "models/granular/wave.hpp"

namespace quadrat::bench {

namespace {

/// The interval of a wave in which steps took longest.
struct slowest_stretch {
  std::uint64_t step = 0;        ///< at its beginning
  double step_ms = 0;            ///< mean time of a whole step of the model in the interval
  std::vector<float> positions;  ///< at its beginning, packed, in the method's own memory order
  bool moved = false;            ///< whether the method moves grains in memory
};

std::vector<float> positions_in_memory_order(const granular_state<float>& state) {
  std::vector<float> result;
  result.reserve(3 * state.positions.size());
  for (std::size_t slot = 0; slot < state.positions.size(); ++slot) {
    const std::size_t particle = state.storage_order.empty() ? slot : state.storage_order[slot];
    const vec<float, 3>& x = state.positions[particle];
    result.insert(result.end(), {x[0], x[1], x[2]});
  }
  return result;
}

template <typename Context>
slowest_stretch find_slowest_stretch(granular<Context, float>& wave, std::size_t steps) {
  constexpr std::size_t stretch = 50;
  settle(wave);
  stopwatch<Context> watch(wave.context());
  slowest_stretch slowest;
  for (std::size_t done = 0; done < steps; done += stretch) {
    const granular_state<float> before = wave.state();
    watch.start();
    wave.advance(stretch);
    const double step_ms = watch.stop_ms() / stretch;
    if (step_ms <= slowest.step_ms) continue;
    slowest = {before.step, step_ms, positions_in_memory_order(before), !before.storage_order.empty()};
  }
  wave.check();
  return slowest;
}

/// Times the build. With `carried` it also moves positions and velocities, as the step of a method that moves grains
/// does.
template <typename Context>
void time_build(const session& s, const Context& context, std::string_view method, const slowest_stretch& slowest,
                bool carried, row& out) {
  crowd<Context, float> people(context, paper_cube, slowest.positions);
  const auto list = people.make(method);
  people.verify(method, *list);
  using record = packed_record<float, 3>;
  array<record, Context> records(context, 2 * people.size());  // positions, then velocities
  array<record, Context> moved(context, 2 * people.size());
  fill_bytes(context, records.data(), 0x3f, records.size() * sizeof(record));
  const std::array arrays{carry(records.data(), moved.data()),
                          carry(records.data() + people.size(), moved.data() + people.size())};
  const timing measured = time_repeated(context, s.plan(), [&] {
    carried ? list->build_and_carry(people.points(), arrays) : list->build(people.points());
  });
  add_timing(out, measured, "inserts_per_s", static_cast<double>(people.size()));
  out["slowest_step"] = slowest.step;
  out["whole_step_ms"] = slowest.step_ms;
}

template <typename Context>
void run_method(const session& s, const Context& context, std::string_view method, std::size_t n) {
  row identity = identify("slowest_step", method, "float", n, paper_cube.size(), "left_half");
  identity["figure"] = 3;
  identity["carried"] = false;
  slowest_stretch slowest;
  s.attempt(identity, [&](row& out) {
    auto wave = make_wave(context, method, n);
    slowest = find_slowest_stretch(wave, wave_steps(s));
    time_build(s, context, method, slowest, false, out);
  });
  if (!slowest.moved) return;
  identity["carried"] = true;
  s.attempt(identity, [&](row& out) { time_build(s, context, method, slowest, true, out); });
}

}  // namespace

void run_slowest_step(const session& s) {
  with_context(s, [&](const auto& context) {
    for (const std::size_t n : wave_sizes(s)) {
      for (const std::string_view method : wanted_cell_lists(s)) run_method(s, context, method, n);
    }
  });
}

}  // namespace quadrat::bench
