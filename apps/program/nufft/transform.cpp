// SPDX-License-Identifier: BSD-3-Clause
#include "program/nufft/transform.hpp"

#include <complex>
#include <vector>

#include "program/data_place.hpp"
#include "program/process/stopwatch.hpp"
#include "quadrat/core/array.hpp"

namespace quadrat::program {
namespace {

/// Real numbers with imaginary parts of 0.
template <typename T>
std::vector<T> with_imaginary_parts(const std::vector<T>& numbers) {
  std::vector<T> result(2 * numbers.size(), T(0));
  for (std::size_t i = 0; i < numbers.size(); ++i) result[2 * i] = numbers[i];
  return result;
}

template <typename Plan, typename T>
void call(Plan& plan, const nufft_task& task, const nufft_call& how, T* from, T* to) {
  auto* const complex_from = reinterpret_cast<std::complex<T>*>(from);
  auto* const complex_to = reinterpret_cast<std::complex<T>*>(to);
  const bool real = task.plan.values == nufft_values::real;
  if (task.type == 1) {
    real ? plan.type_1(from, complex_to, how) : plan.type_1(complex_from, complex_to, how);
  } else {
    real ? plan.type_2(complex_from, to, how) : plan.type_2(complex_from, complex_to, how);
  }
}

template <typename T, int D, typename Context>
nufft_outcome transform_on(const Context& context, const nufft_task& task, const particle_file& particles,
                           value_file& input) {
  nufft_outcome result;
  result.device = used(context);
  const bool real = task.plan.values == nufft_values::real;
  nufft_plan<Context, T, D> plan(context, make_vec<int, D>([&](int axis) { return task.modes[axis]; }), task.tolerance,
                                 task.plan);
  const auto points = to_device(context, points_in<T, D>(particles));
  {
    const stopwatch time(result.setting_seconds);
    plan.set_points(points_of(points.data(), points.size()));
  }
  result.kind = input.kind;
  result.kind.complex = task.type == 1 || !real;
  auto given = input.template take<T>();
  const bool real_input = task.type == 1 && real;
  if (!input.kind.complex && !real_input) given = with_imaginary_parts(given);
  auto in = to_device(context, given);
  const std::size_t numbers = task.type == 1 ? plan.mode_count() : plan.point_count();
  array<T, Context> out(context, numbers * result.kind.vectors * result.kind.parts());
  {
    const stopwatch time(result.transform_seconds);
    call(plan, task, {static_cast<int>(result.kind.vectors), task.sign}, in.data(), out.data());
    context.synchronize();
  }
  result.method = plan.method();
  result.width = plan.width();
  result.oversampling = plan.oversampling();
  result.error_bound = plan.error_bound();
  for (int axis = 0; axis < D; ++axis) result.mesh[axis] = plan.mesh()[axis];
  result.memory_bytes = plan.bytes() + points.bytes() + in.bytes() + out.bytes();
  result.numbers = to_host(context, out);
  return result;
}

template <typename T, typename Context>
nufft_outcome transform_in(const Context& context, const nufft_task& task, const particle_file& particles,
                           value_file& input) {
  switch (particles.dimension) {
    case 1:
      return transform_on<T, 1>(context, task, particles, input);
    case 2:
      return transform_on<T, 2>(context, task, particles, input);
    default:
      return transform_on<T, 3>(context, task, particles, input);
  }
}

}  // namespace

nufft_outcome transform(const nufft_task& task, const device_options& device, const particle_file& particles,
                        value_file& input) {
  return naming_places(particles.file, particles.lines, [&] {
    return on_device(device, [&](const auto& context) {
      return task.single ? transform_in<float>(context, task, particles, input)
                         : transform_in<double>(context, task, particles, input);
    });
  });
}

}  // namespace quadrat::program
