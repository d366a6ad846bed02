// SPDX-License-Identifier: BSD-3-Clause
#include "calls/calls.hpp"
#include "quadrat/mesh/make_spread_plan.hpp"
#include "quadrat/spectral/density.hpp"
#include "quadrat/spectral/fft.hpp"
#include "quadrat/spectral/normal_operator.hpp"
#include "quadrat/spectral/nufft_plan.hpp"
#include "quadrat/spectral/nufft_target_plan.hpp"
#include "quadrat/spectral/power_spectrum.hpp"

namespace quadrat::test {

namespace {

class calls_of_meshes : public calls_test {};

TEST_F(calls_of_meshes, spreading) {
  const auto stored = some_points();
  const auto points = points_of(stored);
  const auto values = some_numbers<float>(count, 5);
  auto plan = make_spread_plan(context(), unit_box(), {16, 16, 16}, 4);
  array<float, backend_context> mesh(context(), plan.mesh_size()), read(context(), count), slopes(context(), 3 * count);
  const float* const from = mesh.data();
  expect_call("spread_plan::set_points", takes_and_waits, [&] { plan.set_points(points); });
  expect_call("spread_plan::spread", waits, [&] { plan.spread(values.data(), mesh.data()); });
  expect_call("spread_plan::spread_async", enqueues, [&] { plan.spread_async(values.data(), mesh.data()); });
  expect_call("spread_plan::interpolate", waits, [&] { plan.interpolate(from, read.data()); });
  expect_call("spread_plan::interpolate_async", enqueues, [&] { plan.interpolate_async(from, read.data()); });
  expect_call("spread_plan::interpolate_gradient", waits, [&] { plan.interpolate_gradient(from, slopes.data()); });
  expect_call("spread_plan::interpolate_gradient_async", enqueues,
              [&] { plan.interpolate_gradient_async(from, slopes.data()); });
  expect_call("spread_plan::interpolate_with_gradient", waits,
              [&] { plan.interpolate_with_gradient(from, read.data(), slopes.data()); });
  expect_call("spread_plan::interpolate_with_gradient_async", enqueues,
              [&] { plan.interpolate_with_gradient_async(from, read.data(), slopes.data()); });
  expect_call("spread_plan::explanation", keeps_still, [&] { static_cast<void>(plan.explanation()); });
  expect_call("density.hpp::density_weights", takes_and_waits,
              [&] { static_cast<void>(density_weights(plan, read.data())); });
  expect_call("spread_plan::set_points_async", enqueues, [&] { plan.set_points_async(points); });
  expect_call("spread_plan::check", waits, [&] { plan.check(); });
}

TEST_F(calls_of_meshes, transforms_of_meshes) {
  auto mesh = some_numbers<float>(8 * 8 * 8, 7), modes = some_numbers<float>(2 * 8 * 8 * 8, 7);
  std::complex<float>* const to = complex_of(modes);
  fft<backend_context, float, 3> whole(context(), {8, 8, 8});
  expect_call("fft::forward", waits, [&] { whole.forward(to); });
  expect_call("fft::inverse", waits, [&] { whole.inverse(to); });
  expect_call("fft::forward_async", enqueues, [&] { whole.forward_async(to); });
  expect_call("fft::inverse_async", enqueues, [&] { whole.inverse_async(to); });
  real_fft<backend_context, float, 3> half(context(), {8, 8, 8});
  expect_call("real_fft::forward", waits, [&] { half.forward(mesh.data(), to); });
  expect_call("real_fft::inverse", waits, [&] { half.inverse(to, mesh.data()); });
  expect_call("real_fft::forward_async", enqueues, [&] { half.forward_async(mesh.data(), to); });
  expect_call("real_fft::inverse_async", enqueues, [&] { half.inverse_async(to, mesh.data()); });
}

TEST_F(calls_of_meshes, power_spectra) {
  const auto stored = some_points();
  const auto points = points_of(stored);
  power_spectrum<backend_context, float, 3> spectrum(context(), unit_box(), {8, 8, 8});
  expect_call("power_spectrum::measure", grows_and_waits, [&] { static_cast<void>(spectrum.measure(points)); });
  expect_call("power_spectrum::measure_cross", grows_and_waits,
              [&] { static_cast<void>(spectrum.measure_cross(points, nullptr, points, nullptr)); });
}

TEST_F(calls_of_meshes, transforms_of_points) {
  const auto stored = some_points();
  const auto points = points_of(stored);
  auto numbers = some_numbers<float>(2 * count, 5), results = some_numbers<float>(2 * 8 * 8 * 8, 7);
  std::complex<float>*const values = complex_of(numbers), *const modes = complex_of(results);
  nufft_plan<backend_context, float, 3> plan(context(), {8, 8, 8}, 1e-3);
  expect_call("nufft_plan::set_points", takes_and_waits, [&] { plan.set_points(points); });
  expect_call("nufft_plan::type_1", waits, [&] { plan.type_1(values, modes); });
  expect_call("nufft_plan::type_1_async", enqueues, [&] { plan.type_1_async(values, modes); });
  expect_call("nufft_plan::type_2", waits, [&] { plan.type_2(modes, values); });
  expect_call("nufft_plan::type_2_async", enqueues, [&] { plan.type_2_async(modes, values); });
  const vec<int, 3> extents = plan.mesh();
  auto room = some_numbers<float>(2 * static_cast<std::size_t>(extents[0] * extents[1] * extents[2]), 7);
  std::complex<float>* const mesh = complex_of(room);
  expect_call("nufft_plan::spread", waits, [&] { plan.spread(values, mesh); });
  expect_call("nufft_plan::spread_async", enqueues, [&] { plan.spread_async(values, mesh); });
  expect_call("nufft_plan::interpolate", waits, [&] { plan.interpolate(mesh, values); });
  expect_call("nufft_plan::interpolate_async", enqueues, [&] { plan.interpolate_async(mesh, values); });
  expect_call("nufft_plan::density_weights", takes_and_waits,
              [&] { static_cast<void>(plan.density_weights(numbers.data())); });
  expect_call("nufft_plan::explanation", keeps_still, [&] { static_cast<void>(plan.explanation()); });
  expect_call("nufft_plan::set_points_async", enqueues, [&] { plan.set_points_async(points); });
  expect_call("nufft_plan::check", waits, [&] { plan.check(); });

  nufft_target_plan<backend_context, float, 3> targets(context(), 1e-3);
  expect_call("nufft_target_plan::set_points", takes_and_waits, [&] { targets.set_points(points, points); });
  expect_call("nufft_target_plan::type_3", waits, [&] { targets.type_3(values, modes); });
  expect_call("nufft_target_plan::type_3_async", enqueues, [&] { targets.type_3_async(values, modes); });
  expect_call("nufft_target_plan::type_3_adjoint", waits, [&] { targets.type_3_adjoint(modes, values); });
  expect_call("nufft_target_plan::type_3_adjoint_async", enqueues,
              [&] { targets.type_3_adjoint_async(modes, values); });
  expect_call("nufft_target_plan::set_points_async", enqueues, [&] { targets.set_points_async(points, points); });
  expect_call("nufft_target_plan::check", waits, [&] { targets.check(); });

  normal_operator<backend_context, float, 3> inner(context(), {8, 8, 8}, 1e-3);
  expect_call("normal_operator::set_points", takes_and_waits, [&] { inner.set_points(points); });
  expect_call("normal_operator::apply", waits, [&] { inner.apply(modes, modes); });
  expect_call("normal_operator::apply_async", enqueues, [&] { inner.apply_async(modes, modes); });
}

}  // namespace

}  // namespace quadrat::test
