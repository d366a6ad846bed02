// SPDX-License-Identifier: BSD-3-Clause
#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
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
#include "quadrat/core/types.hpp"
#include "quadrat/io/scene.hpp"
#include "quadrat/io/vtk.hpp"

namespace quadrat::program {
namespace {

/// The command line of `quadrat spread`.
struct spread_command : mesh_options {
  std::optional<std::string> values;
  std::string mesh;
  std::string reproducible = "none";
};

std::vector<std::size_t> shape_of_mesh(const mesh_task& task, int dimension, const value_kind& kind) {
  std::vector<std::size_t> shape;
  if (kind.stacked) shape.push_back(kind.vectors);
  for (int axis = 0; axis < dimension; ++axis) shape.push_back(static_cast<std::size_t>(task.extents[axis]));
  return shape;
}

determinism level_named(const std::string& name) {
  const auto& names = io::names_of<determinism>;
  return static_cast<determinism>(std::find(names.begin(), names.end(), name) - names.begin());
}

/// Splits values into one array per vector.
template <typename T>
void write_mesh_vti(const std::string& file, const std::vector<T>& numbers, const mesh_task& task, int dimension,
                    const value_kind& kind) {
  io::vti_grid grid;
  for (int axis = 0; axis < dimension; ++axis) {
    grid.extent[axis] = static_cast<std::size_t>(task.extents[axis]);
    grid.origin[axis] = task.box.origin[axis];
    grid.spacing[axis] = task.box.length[axis] / task.extents[axis];
  }
  std::vector<io::vti_array<T>> arrays;
  const std::size_t in_vector = numbers.size() / kind.vectors;
  for (std::size_t v = 0; v < kind.vectors; ++v) {
    arrays.push_back({kind.stacked ? "values_" + std::to_string(v) : "values",
                      std::span<const T>(numbers).subspan(v * in_vector, in_vector), kind.complex});
  }
  io::write_vti<T>(file, grid, arrays);
}

void write_mesh(const std::string& file, const mesh_task& task, int dimension, const mesh_outcome& outcome) {
  std::visit(
      [&](const auto& numbers) {
        if (file.ends_with(".vti")) return write_mesh_vti(file, numbers, task, dimension, outcome.kind);
        write_numbers(file, numbers, outcome.kind.complex, shape_of_mesh(task, dimension, outcome.kind));
      },
      outcome.numbers);
}

std::optional<value_file> read_spread_values(const spread_command& options, std::size_t points) {
  if (!options.values) return std::nullopt;
  return read_point_values(*options.values, points);
}

mesh_task spread_task(const spread_command& options, const particle_file& particles,
                      const std::optional<value_file>& values) {
  mesh_task task;
  task.box = choose_mesh_box(options.box, particles);
  task.extents = extents_of_option(options.mesh, particles.dimension);
  task.order = options.order;
  task.plan = plan_options(options);
  task.single = particles.single_precision && (!values || values->kind.single);
  if (options.precision) task.single = *options.precision == "float";
  return task;
}

void run_spread(spread_command options) {
  double total = 0;
  const stopwatch time(total);
  mesh_report report;
  report.command = "spread";
  report.values_file = options.values.value_or("");
  report.reproducible = options.reproducible;
  options.device.reproducible = level_named(options.reproducible);
  if (options.output) {
    check_output_file(*options.output, options.json, {options.points, report.values_file}, "meshes", {".npy", ".vti"});
  }
  activity doing(!options.quiet);
  doing.begins("reading " + options.points);
  const particle_file particles = read_particles(options.points, 1);
  std::optional<value_file> values = read_spread_values(options, particles.size());
  report.reading_seconds = time.elapsed();
  const mesh_task task = spread_task(options, particles, values);
  doing.begins("spreading");
  if (!options.quiet) note_what_is_left_out(particles);
  const mesh_outcome outcome = transfer(task, options.device, particles, values ? &*values : nullptr);
  report.values_sums = outcome.sums_in;
  report.mesh_sums = std::visit([&](const auto& numbers) { return sums_of(numbers, outcome.kind); }, outcome.numbers);
  if (options.output) {
    const stopwatch writing(report.writing_seconds);
    write_mesh(*options.output, task, particles.dimension, outcome);
  }
  report.total_seconds = time.elapsed();
  doing.end();
  finish(report, options, task, particles, outcome);
}

std::string spread_footer() {
  return mesh_methods_text() +
         "Mesh point (i, j, k) is at origin + (i Lx/Kx, j Ly/Ky, k Lz/Kz), positions in the units of the box. "
         "Mesh\n"
         "arrays are C-ordered [x][y][z]: the last axis, z, varies fastest. docs/guides/mesh.md says more.\n"
         "Values: one number a point, or (vectors, N); real or complex, float32 to complex128. The mesh then has the\n"
         "shape (Kx, Ky, Kz), or (vectors, Kx, Ky, Kz). In a .vti file x varies fastest, as ParaView wants it.\n\n"
         "Examples:\n"
         "  quadrat spread points.npy --mesh 64,64,64 -o density.npy                  all values 1, the unit box\n"
         "  quadrat spread points.npy --values charges.npy --mesh 64,64,64 --box 2,2,2 -o mesh.vti\n"
         "  quadrat spread line.csv --mesh 100 --order 2 --periodic none --clip -o mesh.npy\n"
         "  quadrat spread atoms.xyz --mesh 48 --deterministic --json > sums.json     Lattice and pbc of the file\n\n"
         "Returns 0; 1 when something failed; 2 when the command line is wrong; 130 after Ctrl-C.";
}

}  // namespace

void add_spread(CLI::App& app) {
  CLI::App* const command = app.add_subcommand("spread", "Spread the values of points onto a mesh");
  const auto options = std::make_shared<spread_command>();
  spread_command& o = *options;
  command->add_option("POINTS", o.points, ".npy (N, N x 1, N x 2 or N x 3), .csv (x[,y[,z]]), extended .xyz or .gsd")
      ->required()
      ->check(existing_file())
      ->type_name("");
  command->add_option("--values", o.values, ".npy, (N,) or (vectors, N), real or complex; default: all 1")
      ->check(existing_file())
      ->type_name("FILE");
  command->add_option("--mesh", o.mesh, "mesh points along each axis; one number: the same along all axes")
      ->required()
      ->type_name("Kx[,Ky[,Kz]]");
  add_mesh_options(*command, o);
  command
      ->add_flag("--deterministic{run_to_run}", o.reproducible,
                 "same bits in every run; --deterministic=canonical: also with every method")
      ->check(one_of(io::names_of<determinism>));
  add_output_option(*command, o.output, "the mesh: .npy, or .vti for ParaView");
  command->footer(spread_footer());
  command->callback([options] { run_spread(*options); });
}

}  // namespace quadrat::program
