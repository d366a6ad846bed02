// SPDX-License-Identifier: BSD-3-Clause
#include "calls/calls.hpp"
#include "quadrat/core/grid.hpp"
#include "quadrat/distributed/cluster_finder.hpp"
#include "quadrat/distributed/contacts.hpp"
#include "quadrat/distributed/decomposition.hpp"
#include "quadrat/distributed/electrostatics.hpp"
#include "quadrat/distributed/fft.hpp"
#include "quadrat/distributed/halo.hpp"
#include "quadrat/distributed/key_reducer.hpp"
#include "quadrat/distributed/mesh_halo.hpp"
#include "quadrat/distributed/migration.hpp"
#include "quadrat/distributed/mobility.hpp"
#include "quadrat/distributed/nearest_neighbors.hpp"
#include "quadrat/distributed/nufft_plan.hpp"
#include "quadrat/distributed/pair_counts.hpp"
#include "quadrat/distributed/power_spectrum.hpp"
#include "quadrat/distributed/sparse_migration.hpp"
#include "quadrat/distributed/spread_plan.hpp"

// On one rank, which has no messages.

namespace quadrat::test {

namespace {

class calls_of_ranks : public calls_test {
 protected:
  [[nodiscard]] static grid<float, 3> space() { return make_grid(unit_box(), {4, 4, 4}); }
  self_communicator ranks_;
};

TEST_F(calls_of_ranks, moves) {
  auto stored = some_points();
  const auto points = points_of(stored);
  auto moved = some_points();
  auto owners = some_numbers<std::uint32_t>(count, 1);
  const decomposition<3> shares = even_decomposition(space(), 1);
  const device_decomposition<backend_context, 3> placed(context(), shares);
  expect_call("decomposition.hpp::balanced_decomposition", grows_and_agrees,
              [&] { static_cast<void>(balanced_decomposition(context(), ranks_, space(), points)); });
  expect_call("decomposition.hpp::find_owners", keeps_still,
              [&] { find_owners(context(), placed.view(), space(), points, owners.data()); });

  migration<backend_context> moves(context(), ranks_);
  expect_call("migration::build", takes_and_waits, [&] { moves.build(owners.data(), count); });
  expect_call("migration::apply", grows_and_sends, [&] { moves.apply(stored.data(), moved.data()); });
  sparse_migration<backend_context> few(context(), ranks_);
  expect_call("sparse_migration::build", takes_and_waits, [&] { few.build(owners.data(), count); });
  expect_call("sparse_migration::apply", grows_and_sends, [&] { few.apply(moved.data()); });

  halo<backend_context, float, 3> borders(context(), ranks_);
  expect_call("halo::build", takes_and_waits, [&] {
    borders.build(make_lattice(unit_box()), points, points, 0.1f);
    borders.build(space(), placed.view(), points, {.reach = 0.1f});
  });
  expect_call("halo::forward", sends, [&] { borders.forward(moved.data()); });
  const halo_array one{moved.data(), sizeof(vec<float, 3>)};
  expect_call("halo::start_forward", sends, [&] {
    borders.start_forward({&one, 1});
    borders.finish_forward();
  });
  expect_call("halo::finish_forward", sends, [&] {
    borders.start_forward({&one, 1});
    borders.finish_forward();
  });
  expect_call("halo::reverse", sends, [&] { borders.reverse(moved.data()->component, 3); });
}

TEST_F(calls_of_ranks, meshes) {
  const vec<int, 3> extents{8, 8, 8};
  const decomposition<3> owners = slab_decomposition<3>(extents, 1, {true, true, true});
  const decomposition<3> shares = even_decomposition(space(), 1);
  const auto stored = some_points();
  const auto values = some_numbers<float>(count, 5);
  array<float, backend_context> mesh(context(), 512), read(context(), count), slopes(context(), 3 * count);
  auto numbers = some_numbers<float>(2 * 1024, 7);
  std::complex<float>* const modes = complex_of(numbers);
  const float* const from = mesh.data();

  mesh_halo<backend_context, float, 3> patch(context(), ranks_, owners, {{0, 0, 0}, extents});
  expect_call("mesh_halo::add", sends, [&] { patch.add(numbers.data(), mesh.data()); });
  expect_call("mesh_halo::fetch", sends, [&] { patch.fetch(from, numbers.data()); });

  distributed_spread_plan<backend_context, float, 3> plan(context(), ranks_, extents, 4, owners, space(), shares);
  expect_call("distributed_spread_plan::set_points", takes_and_waits, [&] { plan.set_points(points_of(stored)); });
  expect_call("distributed_spread_plan::spread", waits, [&] { plan.spread(values.data(), mesh.data()); });
  expect_call("distributed_spread_plan::spread_async", sends, [&] { plan.spread_async(values.data(), mesh.data()); });
  expect_call("distributed_spread_plan::interpolate", waits, [&] { plan.interpolate(from, read.data()); });
  expect_call("distributed_spread_plan::interpolate_async", sends, [&] { plan.interpolate_async(from, read.data()); });
  expect_call("distributed_spread_plan::interpolate_gradient", waits,
              [&] { plan.interpolate_gradient(from, slopes.data()); });
  expect_call("distributed_spread_plan::interpolate_gradient_async", sends,
              [&] { plan.interpolate_gradient_async(from, slopes.data()); });
  expect_call("distributed_spread_plan::interpolate_with_gradient", waits,
              [&] { plan.interpolate_with_gradient(from, read.data(), slopes.data()); });
  expect_call("distributed_spread_plan::interpolate_with_gradient_async", sends,
              [&] { plan.interpolate_with_gradient_async(from, read.data(), slopes.data()); });

  distributed_fft<backend_context, float> whole(context(), ranks_, extents);
  expect_call("distributed_fft::forward", waits, [&] { whole.forward(modes); });
  expect_call("distributed_fft::inverse", waits, [&] { whole.inverse(modes); });
  expect_call("distributed_fft::forward_async", sends, [&] { whole.forward_async(modes); });
  expect_call("distributed_fft::inverse_async", sends, [&] { whole.inverse_async(modes); });
  distributed_real_fft<backend_context, float> half(context(), ranks_, extents);
  expect_call("distributed_real_fft::forward", waits, [&] { half.forward(mesh.data(), modes); });
  expect_call("distributed_real_fft::inverse", waits, [&] { half.inverse(modes, mesh.data()); });
  expect_call("distributed_real_fft::forward_async", sends, [&] { half.forward_async(mesh.data(), modes); });
  expect_call("distributed_real_fft::inverse_async", sends, [&] { half.inverse_async(modes, mesh.data()); });

  nufft_options options;
  options.period = {1, 1, 1};
  distributed_nufft_plan<backend_context, float, 3> transform(context(), ranks_, space(), {6, 6, 6}, 1e-3, options);
  auto at_points = some_numbers<float>(2 * count, 5);
  std::complex<float>* const of_points = complex_of(at_points);
  const std::complex<float>*const sums = modes, *const given = of_points;
  expect_call("distributed_nufft_plan::set_points", takes_and_waits,
              [&] { transform.set_points(shares, points_of(stored)); });
  expect_call("distributed_nufft_plan::type_1", waits, [&] { transform.type_1(given, modes); });
  expect_call("distributed_nufft_plan::type_2", waits, [&] { transform.type_2(sums, of_points); });
  expect_call("distributed_nufft_plan::type_1_async", sends, [&] { transform.type_1_async(given, modes); });
  expect_call("distributed_nufft_plan::type_2_async", sends, [&] { transform.type_2_async(sums, of_points); });
}

TEST_F(calls_of_ranks, sums) {
  const auto stored = some_points(), forces = some_points();
  const auto points = points_of(stored);
  const decomposition<3> shares = even_decomposition(space(), 1);
  array<vec<float, 3>, backend_context> results(context(), count);
  const auto keys = some_numbers<std::uint32_t>(count, 9);
  const auto values = some_numbers<float>(count, 5), charges = some_numbers<float>(count, 2);
  const auto ids = some_numbers<particle_id>(count, count);
  array<float, backend_context> sums(context(), 9);
  array<std::uint64_t, backend_context> counts(context(), 9);

  distributed_key_reducer<backend_context> reducer(context(), ranks_, 9, {.method = "atomic"});
  const auto given = packed_values(values.data(), count);
  const auto wanted = packed_values(sums.data(), 9);
  const auto add = key_operation::sum;
  expect_call("distributed_key_reducer::set_keys", takes_and_waits, [&] { reducer.set_keys(keys.data(), count); });
  expect_call("distributed_key_reducer::reduce", grows_and_waits, [&] { reducer.reduce<float>(given, wanted, add); });
  expect_call("distributed_key_reducer::reduce_async", sends, [&] { reducer.reduce_async<float>(given, wanted, add); });
  expect_call("distributed_key_reducer::count", grows_and_waits, [&] { reducer.count(counts.data()); });
  expect_call("distributed_key_reducer::count_async", sends, [&] { reducer.count_async(counts.data()); });

  electrostatics_output<float> output;
  output.forces = results.data();
  distributed_electrostatics<backend_context, float> coulomb(context(), ranks_, space(), {.accuracy = 1e-3});
  expect_call("distributed_electrostatics::set", takes_and_waits, [&] { coulomb.set(shares, points, charges.data()); });
  expect_call("distributed_electrostatics::compute", waits, [&] { coulomb.compute(points, output); });

  distributed_mobility<backend_context, float> flow(context(), ranks_, space(), {.accuracy = 1e-2, .radius = 0.02},
                                                    count);
  expect_call("distributed_mobility::set", takes_and_waits, [&] { flow.set(shares, points, ids.data(), 0.0f); });
  expect_call("distributed_mobility::set_points", takes_and_waits, [&] { flow.set_points(points); });
  expect_call("distributed_mobility::multiply", waits, [&] { flow.multiply(forces.data(), results.data()); });
  expect_call("distributed_mobility::multiply_async", sends,
              [&] { flow.multiply_async(forces.data(), results.data()); });
  expect_call("distributed_mobility::square_root", grows_and_waits, [&] { flow.square_root({}, results.data()); });
  expect_call("distributed_mobility::velocities", grows_and_waits,
              [&] { flow.velocities(forces.data(), {}, results.data()); });

  bodies_view<float> bodies;
  bodies.centers = points;
  bodies.radius = 0.05f;
  bodies.ids = ids.data();
  const device_decomposition<backend_context, 3> placed(context(), shares);
  distributed_contacts<backend_context, float> contacts(context(), ranks_, space());
  expect_call("distributed_contacts::build", grows_and_waits, [&] { contacts.build(placed.view(), bodies); });

  distributed_cluster_finder<backend_context, float, 3> clusters(context(), ranks_, space(), {0.1f, 4});
  expect_call("distributed_cluster_finder::find", grows_and_waits, [&] {
    clusters.find(shares, points);
    clusters.find(points);
  });

  distributed_pair_counts<backend_context, float, 3> pairs(context(), ranks_, space(),
                                                           {pair_coordinates::r, {0, 0.1}, {}});
  expect_call("distributed_pair_counts::count", grows_and_waits,
              [&] { static_cast<void>(pairs.count(shares, points)), static_cast<void>(pairs.count(points)); });
  expect_call("distributed_pair_counts::count_between", grows_and_waits, [&] {
    static_cast<void>(pairs.count_between(shares, points, points_of(forces)));
    static_cast<void>(pairs.count_between(points, points_of(forces)));
  });

  distributed_nearest_neighbors<backend_context, float, 3> nearest(context(), ranks_, unit_box(), {.k = 4});
  expect_call("distributed_nearest_neighbors::build", grows_and_waits, [&] { nearest.build(points); });
  expect_call("distributed_nearest_neighbors::search", grows_and_waits, [&] {
    nearest.search();
    nearest.search(points);
  });

  distributed_power_spectrum<backend_context, float, 3> spectrum(context(), ranks_, space(), {8, 8, 8});
  expect_call("distributed_power_spectrum::measure", grows_and_waits,
              [&] { static_cast<void>(spectrum.measure(shares, points)); });
  expect_call("distributed_power_spectrum::measure_cross", grows_and_waits,
              [&] { static_cast<void>(spectrum.measure_cross(shares, points, nullptr, points, nullptr)); });
}

}  // namespace

}  // namespace quadrat::test
