// SPDX-License-Identifier: BSD-3-Clause
#include "program/nufft/transform.hpp"

#include <cmath>
#include <complex>
#include <vector>

#include "program/data_place.hpp"
#include "program/process/stopwatch.hpp"
#include "quadrat/core/array.hpp"

namespace quadrat::program {
namespace {

/// Adds imaginary parts of 0 to real numbers.
template <typename T>
std::vector<T> with_imaginary_parts(const std::vector<T>& numbers) {
  std::vector<T> result(2 * numbers.size(), T(0));
  for (std::size_t i = 0; i < numbers.size(); ++i) result[2 * i] = numbers[i];
  return result;
}

/// Copies the numbers of the file to the context's memory; with `complex`, real ones become complex.
template <typename T, typename Context>
array<T, Context> taken(const Context& context, value_file& input, bool complex) {
  auto given = input.template take<T>();
  if (complex && !input.kind.complex) given = with_imaginary_parts(given);
  return to_device(context, given);
}

template <typename Plan, typename T>
void call(Plan& plan, const nufft_task& task, const nufft_call& how, const T* from, T* to) {
  const auto* const complex_from = reinterpret_cast<const std::complex<T>*>(from);
  auto* const complex_to = reinterpret_cast<std::complex<T>*>(to);
  const bool real = task.plan.values == nufft_values::real;
  if (task.type == 1) {
    real ? plan.type_1(from, complex_to, how) : plan.type_1(complex_from, complex_to, how);
  } else {
    real ? plan.type_2(complex_from, to, how) : plan.type_2(complex_from, complex_to, how);
  }
}

/// Properties that plans of all types report.
template <typename Plan, int D>
void describe(const Plan& plan, const vec<int, D>& mesh, nufft_outcome& result) {
  result.method = plan.method();
  result.width = plan.width();
  result.error_bound = plan.error_bound();
  for (int axis = 0; axis < D; ++axis) result.mesh[axis] = mesh[axis];
}

template <typename T, int D, typename Context>
nufft_outcome transform_modes(const Context& context, const nufft_task& task, const particle_file& particles,
                              value_file& input) {
  nufft_outcome result;
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
  const auto in = taken<T>(context, input, !(task.type == 1 && real));
  const std::size_t numbers = task.type == 1 ? plan.mode_count() : plan.point_count();
  array<T, Context> out(context, numbers * result.kind.vectors * result.kind.parts());
  {
    const stopwatch time(result.transform_seconds);
    call(plan, task, {static_cast<int>(result.kind.vectors), task.sign}, in.data(), out.data());
  }
  describe(plan, plan.mesh(), result);
  result.oversampling = plan.oversampling();
  result.explanation = plan.explanation();
  result.memory_bytes = plan.bytes() + points.bytes() + in.bytes() + out.bytes();
  result.numbers = to_host(context, out);
  return result;
}

/// Reads the targets, which must be finite.
template <typename T, int D>
std::vector<vec<T, D>> targets_in(const particle_file& targets) {
  return naming_places(targets.file, targets.lines, [&] {
    for (std::size_t i = 0; i < targets.coordinates.size(); ++i) {
      if (std::isfinite(targets.coordinates[i])) continue;
      const std::size_t target = i / static_cast<std::size_t>(D);
      throw data_error(message("target ", target, " has the coordinate ", targets.coordinates[i]), target);
    }
    return points_in<T, D>(targets);
  });
}

template <typename T, int D, typename Context>
nufft_outcome transform_to_targets(const Context& context, const nufft_task& task, const particle_file& particles,
                                   const std::vector<vec<T, D>>& wanted, value_file& input) {
  nufft_outcome result;
  nufft_target_plan<Context, T, D> plan(context, task.tolerance, {.method = task.plan.method, .fft = task.plan.fft});
  const auto points = to_device(context, points_in<T, D>(particles));
  const auto targets = to_device(context, wanted);
  {
    const stopwatch time(result.setting_seconds);
    plan.set_points(points_of(points.data(), points.size()), points_of(targets.data(), targets.size()));
  }
  result.kind = input.kind;
  result.kind.complex = true;
  const auto in = taken<T>(context, input, true);
  array<T, Context> out(context, 2 * plan.target_count() * result.kind.vectors);
  {
    const stopwatch time(result.transform_seconds);
    plan.type_3(reinterpret_cast<const std::complex<T>*>(in.data()), reinterpret_cast<std::complex<T>*>(out.data()),
                {static_cast<int>(result.kind.vectors), task.sign});
  }
  describe(plan, plan.mesh(), result);
  result.memory_bytes = plan.bytes() + points.bytes() + targets.bytes() + in.bytes() + out.bytes();
  result.numbers = to_host(context, out);
  return result;
}

/// The input files of a transform.
struct nufft_files {
  const particle_file& particles;
  const particle_file& targets;
  value_file& input;
};

template <typename T, int D, typename Context>
nufft_outcome transform_on(const Context& context, const nufft_task& task, const nufft_files& files) {
  // Before the points: otherwise an error of a target would be reported as that of a point.
  const auto targets = task.type == 3 ? targets_in<T, D>(files.targets) : std::vector<vec<T, D>>();
  auto result = naming_places(files.particles.file, files.particles.lines, [&] {
    return task.type == 3 ? transform_to_targets<T, D>(context, task, files.particles, targets, files.input)
                          : transform_modes<T, D>(context, task, files.particles, files.input);
  });
  result.device = used(context);
  return result;
}

template <typename T, typename Context>
nufft_outcome transform_in(const Context& context, const nufft_task& task, const nufft_files& files) {
  switch (files.particles.dimension) {
    case 1:
      return transform_on<T, 1>(context, task, files);
    case 2:
      return transform_on<T, 2>(context, task, files);
    default:
      return transform_on<T, 3>(context, task, files);
  }
}

}  // namespace

nufft_outcome transform(const nufft_task& task, const device_options& device, const particle_file& particles,
                        const particle_file& targets, value_file& input) {
  const nufft_files files{particles, targets, input};
  return on_device(device, [&](const auto& context) {
    return task.single ? transform_in<float>(context, task, files) : transform_in<double>(context, task, files);
  });
}

}  // namespace quadrat::program
