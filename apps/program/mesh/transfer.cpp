// SPDX-License-Identifier: BSD-3-Clause
#include "program/mesh/transfer.hpp"

#include <cmath>
#include <complex>
#include <utility>

#include "program/data_place.hpp"
#include "program/process/stopwatch.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::program {
namespace {

template <typename T, int D>
box<T, D> domain_of(const mesh_box& box) {
  return make_box_from_lengths(make_vec<T, D>([&](int axis) { return static_cast<T>(box.origin[axis]); }),
                               make_vec<T, D>([&](int axis) { return static_cast<T>(box.length[axis]); }),
                               make_vec<bool, D>([&](int axis) { return box.periodic[axis]; }));
}

/// The number of results, counting all parts.
template <typename Plan>
std::size_t size_of_result(const Plan& plan, mesh_operation operation, const value_kind& kind, int dimension) {
  const int numbers_a_point = operation == mesh_operation::gradient ? dimension : 1;
  const std::size_t points = plan.point_count() * static_cast<std::size_t>(numbers_a_point);
  return (operation == mesh_operation::spread ? plan.mesh_size() : points) * kind.vectors * kind.parts();
}

/// Calls the plan once. Number: T or std::complex<T>.
template <typename Number, typename Plan, typename T>
void call(Plan& plan, mesh_operation operation, int vectors, const T* from, T* to) {
  const auto* const in = reinterpret_cast<const Number*>(from);
  auto* const out = reinterpret_cast<Number*>(to);
  mesh_call of;
  of.vectors = vectors;
  switch (operation) {
    case mesh_operation::spread:
      return plan.spread(in, out, of);
    case mesh_operation::interpolate:
      return plan.interpolate(in, out, of);
    case mesh_operation::gradient:
      return plan.interpolate_gradient(in, out, of);
  }
}

template <typename T, int D, typename Context>
mesh_outcome transfer_on(const Context& context, const mesh_task& task, const particle_file& particles,
                         value_file* input) {
  mesh_outcome result;
  result.device = used(context);
  if (input != nullptr) result.kind = input->kind;
  spread_plan<Context, T, D> plan(context, domain_of<T, D>(task.box),
                                  make_vec<int, D>([&](int axis) { return task.extents[axis]; }), task.order,
                                  task.plan);
  const auto points = to_device(context, points_in<T, D>(particles));
  {
    const stopwatch time(result.setting_seconds);
    plan.set_points(points_of(points.data(), points.size()));
  }
  const auto given = input != nullptr ? input->template take<T>() : std::vector<T>(points.size(), T(1));
  result.sums_in = sums_of(given, result.kind);
  const auto in = to_device(context, given);
  array<T, Context> out(context, size_of_result(plan, task.operation, result.kind, D));
  {
    const stopwatch time(result.transfer_seconds);
    const int vectors = static_cast<int>(result.kind.vectors);
    if (result.kind.complex) {
      call<std::complex<T>>(plan, task.operation, vectors, in.data(), out.data());
    } else {
      call<T>(plan, task.operation, vectors, in.data(), out.data());
    }
  }
  result.method = plan.method();
  result.reason = plan.reason();
  result.explanation = plan.explanation();
  result.left_out = plan.left_out();
  result.memory_bytes = plan.bytes() + points.bytes() + in.bytes() + out.bytes();
  result.numbers = to_host(context, out);
  return result;
}

template <typename T, typename Context>
mesh_outcome transfer_in(const Context& context, const mesh_task& task, const particle_file& particles,
                         value_file* input) {
  switch (particles.dimension) {
    case 1:
      return transfer_on<T, 1>(context, task, particles, input);
    case 2:
      return transfer_on<T, 2>(context, task, particles, input);
    default:
      return transfer_on<T, 3>(context, task, particles, input);
  }
}

/// Throws if points are outside the assumed unit box: then they belong to another box, which was not given. The plan
/// checks open axes.
void require_in_unit_box(const particle_file& particles, const vec<bool, 3>& periodic) {
  const auto dimension = static_cast<std::size_t>(particles.dimension);
  for (std::size_t i = 0; i < particles.coordinates.size(); ++i) {
    const double x = particles.coordinates[i];
    const std::size_t point = i / dimension, axis = i % dimension;
    if (!periodic[static_cast<int>(axis)] || (x >= 0 && x < 1) || !std::isfinite(x)) continue;
    throw data_error(message("point ", point, " is at ", x, " along axis ", axis,
                             ", outside the unit box, which is the default; give --box"),
                     point);
  }
}

}  // namespace

mesh_outcome transfer(const mesh_task& task, const device_options& device, const particle_file& particles,
                      value_file* input) {
  return naming_places(particles.file, particles.lines, [&] {
    if (task.box.assumed) require_in_unit_box(particles, task.box.periodic);
    return on_device(device, [&](const auto& context) {
      return task.single ? transfer_in<float>(context, task, particles, input)
                         : transfer_in<double>(context, task, particles, input);
    });
  });
}

}  // namespace quadrat::program
