// SPDX-License-Identifier: BSD-3-Clause
#include <CLI/CLI.hpp>

#include <cmath>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "program/commands.hpp"
#include "program/mesh/options.hpp"
#include "program/mesh/report.hpp"
#include "program/mesh/transfer.hpp"
#include "program/option_checks.hpp"
#include "program/particle_file.hpp"
#include "program/process/activity.hpp"
#include "program/process/stopwatch.hpp"
#include "program/table_output.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::program {
namespace {

/// The command line of `quadrat interpolate`.
struct interpolate_command : mesh_options {
  std::string mesh_values;
  bool gradient = false;
};

mesh_task interpolate_task(const interpolate_command& options, const particle_file& particles, const value_file& mesh) {
  mesh_task task;
  task.operation = options.gradient ? mesh_operation::gradient : mesh_operation::interpolate;
  task.box = choose_mesh_box(options.box, particles);
  const std::size_t first = mesh.kind.stacked ? 1 : 0;
  for (int axis = 0; axis < particles.dimension; ++axis) {
    task.extents[axis] = static_cast<int>(mesh.shape[first + static_cast<std::size_t>(axis)]);
  }
  task.order = options.order;
  task.plan = plan_options(options);
  task.single = particles.single_precision && mesh.kind.single;
  if (options.precision) task.single = *options.precision == "float";
  return task;
}

/// A .vti file contains the place of its mesh. Throws argument_error if the box of the points differs from it.
void check_place_of_mesh(const mesh_task& task, const value_file& mesh, int dimension) {
  if (!mesh.grid) return;
  for (int axis = 0; axis < dimension; ++axis) {
    const double origin = mesh.grid->origin[axis], length = mesh.grid->spacing[axis] * task.extents[axis];
    const double given = task.box.origin[axis], rounding = 1e-6 * task.box.length[axis];
    require(std::fabs(origin - given) <= rounding && std::fabs(length - task.box.length[axis]) <= rounding, mesh.file,
            ": along ", "xyz"[axis], " the mesh begins at ", origin, " and is ", length, " long, but the box (",
            task.box.source, ") begins at ", given, " and is ", task.box.length[axis],
            " long; give --box and --origin as to quadrat spread");
  }
}

void write_point_values(const std::string& file, const mesh_task& task, const particle_file& particles,
                        const mesh_outcome& outcome) {
  std::vector<std::size_t> shape;
  if (outcome.kind.stacked) shape.push_back(outcome.kind.vectors);
  shape.push_back(particles.size());
  if (task.operation == mesh_operation::gradient) shape.push_back(static_cast<std::size_t>(particles.dimension));
  std::visit([&](const auto& numbers) { write_numbers(file, numbers, outcome.kind.complex, shape); }, outcome.numbers);
}

void run_interpolate(const interpolate_command& options) {
  double total = 0;
  const stopwatch time(total);
  mesh_report report;
  report.command = "interpolate";
  report.mesh_file = options.mesh_values;
  if (options.output) {
    check_output_file(*options.output, options.json, {options.points, options.mesh_values}, "values of points",
                      {".npy"});
  }
  activity doing(!options.quiet);
  doing.begins("reading " + options.points);
  const particle_file particles = read_particles(options.points, 1);
  value_file mesh = read_mesh_values(options.mesh_values, particles.dimension);
  report.reading_seconds = time.elapsed();
  const mesh_task task = interpolate_task(options, particles, mesh);
  check_place_of_mesh(task, mesh, particles.dimension);
  doing.begins("interpolating");
  if (!options.quiet) note_what_is_left_out(particles);
  const mesh_outcome outcome = transfer(task, options.device, particles, &mesh);
  report.mesh_sums = outcome.sums_in;
  if (!options.gradient) {
    report.values_sums =
        std::visit([&](const auto& numbers) { return sums_of(numbers, outcome.kind); }, outcome.numbers);
  }
  if (options.output) {
    const stopwatch writing(report.writing_seconds);
    write_point_values(*options.output, task, particles, outcome);
  }
  report.total_seconds = time.elapsed();
  doing.end();
  finish(report, options, task, particles, outcome);
}

std::string interpolate_footer() {
  return mesh_methods_text() +
         "The value at a point is the sum over mesh points of their values by the weights that quadrat spread would "
         "give\n"
         "them: the adjoint of spreading. Mesh arrays are C-ordered [x][y][z]: the last axis, z, varies fastest; the "
         "shape\n"
         "of the file, (Kx, Ky, Kz) or (vectors, Kx, Ky, Kz), is that of the mesh. Box and order must be those that "
         "the\n"
         "mesh was made with. Results: (N,) or (vectors, N); gradients with one axis more, x, y, z, per unit of "
         "length.\n"
         "docs/guides/mesh.md says more.\n\n"
         "Examples:\n"
         "  quadrat interpolate points.npy --mesh-values potential.npy -o values.npy\n"
         "  quadrat interpolate points.npy --mesh-values potential.npy --box 2,2,2 --gradient -o field.npy\n\n"
         "Returns 0; 1 when something failed; 2 when the command line is wrong; 130 after Ctrl-C.";
}

}  // namespace

void add_interpolate(CLI::App& app) {
  CLI::App* const command = app.add_subcommand("interpolate", "Read the values of a mesh at points");
  const auto options = std::make_shared<interpolate_command>();
  interpolate_command& o = *options;
  command->add_option("POINTS", o.points, ".npy (N, N x 1, N x 2 or N x 3), .csv (x[,y[,z]]), extended .xyz or .gsd")
      ->required()
      ->check(existing_file())
      ->type_name("");
  command->add_option("--mesh-values", o.mesh_values, ".npy or .vti, real or complex, as quadrat spread writes it")
      ->required()
      ->check(existing_file())
      ->type_name("FILE");
  command->add_flag("--gradient", o.gradient,
                    "derivatives of the values with respect to position, instead of the values");
  add_mesh_options(*command, o);
  add_output_option(*command, o.output, "the values at the points: .npy");
  command->footer(interpolate_footer());
  command->callback([options] { run_interpolate(*options); });
}

}  // namespace quadrat::program
