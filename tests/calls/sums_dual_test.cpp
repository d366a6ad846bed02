// SPDX-License-Identifier: BSD-3-Clause
#include "calls/calls.hpp"
#include "quadrat/core/lattice.hpp"
#include "quadrat/ewald/electrostatics.hpp"
#include "quadrat/hydro/mobility.hpp"
#include "quadrat/keyed/make_key_reducer.hpp"
#include "quadrat/parallel/fault.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/reduce.hpp"
#include "quadrat/parallel/scan.hpp"
#include "quadrat/parallel/sort.hpp"
#include "quadrat/parallel/workspace.hpp"

namespace quadrat::test {

namespace {

class calls_of_sums : public calls_test {};

struct join_by_adding {
  QUADRAT_HD float operator()(float a, float b) const { return a + b; }
};
struct leave_alone {
  QUADRAT_HD void operator()(std::size_t) const {}
};
struct number_of_index {
  QUADRAT_HD float operator()(std::size_t i) const { return static_cast<float>(i); }
};

TEST_F(calls_of_sums, by_key) {
  const auto keys = some_numbers<std::uint32_t>(count, 9), ordered = some_numbers<std::uint32_t>(count, count);
  const auto values = some_numbers<float>(count, 5);
  array<float, backend_context> results(context(), count);
  array<std::uint64_t, backend_context> counts(context(), 9);
  const auto given = packed_values(values.data(), count);
  const auto wanted = packed_values(results.data(), 9);
  auto reducer = make_key_reducer(context(), 9, {.method = "atomic"});
  expect_call("key_reducer::set_keys", grows_and_waits, [&] { reducer.set_keys(keys.data(), count); });
  expect_call("key_reducer::reduce", waits, [&] { reducer.reduce(given, wanted); });
  expect_call("key_reducer::count", waits, [&] { reducer.count(counts.data()); });
  expect_call("key_reducer::set_keys_async", enqueues, [&] { reducer.set_keys_async(keys.data(), count); });
  expect_call("key_reducer::reduce_async", enqueues, [&] { reducer.reduce_async(given, wanted); });
  expect_call("key_reducer::count_async", enqueues, [&] { reducer.count_async(counts.data()); });
  expect_call("key_reducer::check", waits, [&] { reducer.check(); });
  expect_call("key_reducer::choose_again", keeps_still, [&] { reducer.choose_again(); });
  expect_call("key_reducer::explanation", keeps_still, [&] { static_cast<void>(reducer.explanation()); });
  expect_call("key_reducer.hpp::reduce_by_key", takes_and_waits,
              [&] { reduce_by_key(context(), keys.data(), given, wanted); });

  auto joined = make_functor_reducer(context());
  const join_by_adding join;
  array<std::uint32_t, backend_context> run_keys(context(), count), runs(context(), 1);
  const float* const from = values.data();
  float* const to = results.data();
  expect_call("functor_reducer::reduce_ordered", grows_and_waits,
              [&] { joined.reduce_ordered(ordered.data(), from, count, to, count, join, 0.0f); });
  expect_call("functor_reducer::reduce_ordered_async", enqueues,
              [&] { joined.reduce_ordered_async(ordered.data(), from, count, to, count, join, 0.0f); });
  expect_call("functor_reducer::reduce_any_order", grows_and_waits,
              [&] { joined.reduce_any_order(keys.data(), from, count, to, 9, join, 0.0f); });
  expect_call("functor_reducer::reduce_any_order_async", enqueues,
              [&] { joined.reduce_any_order_async(keys.data(), from, count, to, 9, join, 0.0f); });
  expect_call("functor_reducer::reduce_runs", grows_and_waits,
              [&] { joined.reduce_runs(keys.data(), from, count, run_keys.data(), to, runs.data(), join); });
  expect_call("functor_reducer::reduce_runs_async", enqueues,
              [&] { joined.reduce_runs_async(keys.data(), from, count, run_keys.data(), to, runs.data(), join); });
  expect_call("functor_reducer::check", waits, [&] { joined.check(); });
}

TEST_F(calls_of_sums, over_charges) {
  const auto stored = some_points();
  const auto charges = some_numbers<float>(count, 2);
  const lattice<float, 3> cell = make_lattice(unit_box());
  array<vec<float, 3>, backend_context> forces(context(), count);
  electrostatics_input<float> input;
  input.points = points_of(stored);
  input.charges = charges.data();
  input.cells = {&cell, 1};
  electrostatics_output<float> output;
  output.forces = forces.data();
  electrostatics<backend_context, float> sums(context(), {.accuracy = 1e-3});
  expect_call("electrostatics::prepare", grows_and_waits, [&] { sums.prepare(input); });
  expect_call("electrostatics::compute", grows_and_waits, [&] { sums.compute(input, output); });
  expect_call("electrostatics::compute_async", enqueues, [&] { sums.compute_async(input, output); });
  expect_call("electrostatics::check", waits, [&] { sums.check(); });
  expect_call("electrostatics::explanation", keeps_still, [&] { static_cast<void>(sums.explanation()); });
}

TEST_F(calls_of_sums, over_spheres) {
  const auto stored = some_points(), forces = some_points();
  array<vec<float, 3>, backend_context> velocities(context(), count);
  mobility<backend_context, float> flow(context(), {1, 1, 1}, {.accuracy = 1e-2, .radius = 0.02});
  expect_call("mobility::prepare", takes_and_waits, [&] {
    flow.prepare(count);
    flow.set_points(points_of(stored));
  });
  expect_call("mobility::set_points", takes_and_waits, [&] { flow.set_points(points_of(stored)); });
  expect_call("mobility::multiply", waits, [&] { flow.multiply(forces.data(), velocities.data()); });
  expect_call("mobility::multiply_async", enqueues, [&] { flow.multiply_async(forces.data(), velocities.data()); });
  expect_call("mobility::square_root", grows_and_waits, [&] { flow.square_root({}, velocities.data()); });
  expect_call("mobility::velocities", grows_and_waits, [&] { flow.velocities(forces.data(), {}, velocities.data()); });
  expect_call("mobility::check", waits, [&] { flow.check(); });
}

TEST_F(calls_of_sums, in_parallel) {
  const backend_context& here = context();
  workspace<backend_context> scratch;
  const number_of_index map;
  auto keys = some_numbers<std::uint32_t>(count, 9), places = some_numbers<std::uint32_t>(count + 1, 9);
  array<float, backend_context> result(here, 1);
  expect_call("for_each.hpp::for_each", enqueues, [&] { for_each(here, "calls", count, leave_alone{}); });
  expect_call("reduce.hpp::reduce_into", grows_and_enqueues,
              [&] { reduce_into(here, "calls", count, map, plus_operation{}, 0.0f, result.data(), scratch); });
  expect_call("reduce.hpp::reduce", grows_and_waits,
              [&] { static_cast<void>(reduce(here, "calls", count, map, plus_operation{}, 0.0f, scratch)); });
  expect_call("reduce.hpp::reduce_sum", grows_and_waits,
              [&] { static_cast<void>(reduce_sum(here, "calls", count, map, scratch)); });
  expect_call("reduce.hpp::reduce_minimum", grows_and_waits,
              [&] { static_cast<void>(reduce_minimum(here, "calls", count, map, scratch)); });
  expect_call("reduce.hpp::reduce_maximum", grows_and_waits,
              [&] { static_cast<void>(reduce_maximum(here, "calls", count, map, scratch)); });
  expect_call("scan.hpp::exclusive_scan", grows_and_enqueues,
              [&] { exclusive_scan(here, keys.data(), places.data(), count, scratch); });
  expect_call("scan.hpp::exclusive_scan_with_total", grows_and_enqueues,
              [&] { exclusive_scan_with_total(here, keys.data(), places.data(), count, scratch); });
  expect_call("scan.hpp::scan_scratch_bytes", keeps_still, [&] { static_cast<void>(scan_scratch_bytes(here, count)); });
  expect_call("sort.hpp::sort_pairs", grows_and_enqueues,
              [&] { sort_pairs(here, keys.data(), places.data(), count, 4, scratch); });
  expect_call("sort.hpp::sort_scratch_bytes", keeps_still,
              [&] { static_cast<void>(sort_scratch_bytes<std::uint32_t>(here, count, 4)); });
  expect_call("workspace::request", makes_room, [&] { static_cast<void>(scratch.request(here, 64)); });
  fault_state<backend_context> faults(here);
  expect_call("fault_state::flag", keeps_still, [&] { static_cast<void>(faults.flag()); });
  expect_call("fault_state::clear", enqueues, [&] { faults.clear(here); });
  expect_call("fault_state::read", waits, [&] { static_cast<void>(faults.read(here)); });
}

}  // namespace

}  // namespace quadrat::test
