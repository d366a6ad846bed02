// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/counted.hpp"
#include "program/commands.hpp"
#include "program/explain.hpp"
#include "program/mesh/options.hpp"
#include "program/nufft/transform.hpp"
#include "program/option_checks.hpp"
#include "program/process/activity.hpp"
#include "program/process/progress_bar.hpp"
#include "program/process/stopwatch.hpp"
#include "program/run/summary.hpp"
#include "program/table_output.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/io/scene.hpp"

namespace quadrat::program {
namespace {

using json = nlohmann::ordered_json;

/// The command line of `quadrat nufft`.
struct nufft_command {
  std::string points, values;
  int type = 1;
  std::optional<std::string> modes, targets;
  double tolerance = 1e-6;
  int sign = 0;
  bool real = false;
  std::optional<std::string> order;
  double oversampling = 0;
  std::string method, fft;
  bool deterministic = false;
  device_options device;
  std::optional<std::string> precision;
  std::optional<std::string> output;
  bool explain = false;
  bool json = false;
  bool quiet = false;
};

constexpr std::string_view mode_orders[] = {"centered", "fft"};

/// The input of the command, and the transform.
struct nufft_run {
  particle_file particles;
  particle_file targets;  ///< for type 3
  value_file values;
  nufft_task task;
  double reading_seconds = 0, writing_seconds = 0, total_seconds = 0;
};

/// Rejects options that do not apply to the type.
void check_options(const nufft_command& options) {
  if (options.type != 3) {
    require(!options.targets, "--targets is for type 3; add --type 3");
    return;
  }
  require(options.targets.has_value(), "--targets is missing: type 3 needs the frequencies of its results");
  const std::pair<bool, const char*> refused[] = {{options.modes.has_value(), "--modes"},
                                                  {options.real, "--real"},
                                                  {options.order.has_value(), "--order"},
                                                  {options.oversampling != 0, "--oversampling"},
                                                  {options.explain, "--explain"}};
  for (const auto& [given, name] : refused) require(!given, name, " is for types 1 and 2");
}

/// The numbers of modes. For type 2 the array gives them if the options do not.
vec<int, 3> modes_of(const nufft_command& options, int dimension, const value_file& values) {
  if (options.modes) return extents_of_option(*options.modes, dimension, "--modes", "modes");
  require(options.type == 2, "--modes is missing: type 1 needs the number of modes along each axis");
  require(!options.real, "--modes is missing: of real values it gives the number of modes along the last axis");
  vec<int, 3> modes{1, 1, 1};
  const std::size_t first = values.shape.size() - static_cast<std::size_t>(dimension);
  for (int axis = 0; axis < dimension; ++axis) {
    modes[axis] = static_cast<int>(values.shape[first + static_cast<std::size_t>(axis)]);
  }
  return modes;
}

std::vector<std::size_t> stored_modes(const nufft_task& task, int dimension) {
  std::vector<std::size_t> shape;
  for (int axis = 0; axis < dimension; ++axis) shape.push_back(static_cast<std::size_t>(task.modes[axis]));
  if (task.plan.values == nufft_values::real) shape.back() = shape.back() / 2 + 1;
  return shape;
}

std::string shape_text(const std::vector<std::size_t>& shape) {
  std::string text;
  for (const std::size_t n : shape) text += message(text.empty() ? "(" : ", ", n);
  return text + (shape.size() == 1 ? ",)" : ")");
}

void check_values(const nufft_command& options, const nufft_run& run) {
  const value_kind& kind = run.values.kind;
  if (options.type == 3) return;
  if (options.type == 1) {
    require(!options.real || !kind.complex, "--real: ", run.values.file, " holds complex values");
    return;
  }
  const auto wanted = stored_modes(run.task, run.particles.dimension);
  const std::vector<std::size_t> found(run.values.shape.end() - run.particles.dimension, run.values.shape.end());
  if (found == wanted) return;
  throw io_error(message(run.values.file, ": the modes have shape ", shape_text(found), "; ", shape_text(wanted),
                         " is that of --modes", options.real ? " with --real" : ""));
}

particle_file read_targets(const std::string& file, const particle_file& particles) {
  particle_file targets = read_particles(file, 1);
  if (targets.dimension == particles.dimension) return targets;
  throw io_error(message(file, ": targets in ", targets.dimension, " dimensions; ", particles.file, " has points in ",
                         particles.dimension));
}

nufft_run read_run(const nufft_command& options) {
  nufft_run run;
  const stopwatch time(run.reading_seconds);
  run.particles = read_particles(options.points, 1);
  run.values = options.type == 2 ? read_mesh_values(options.values, run.particles.dimension)
                                 : read_point_values(options.values, run.particles.size());
  if (options.targets) run.targets = read_targets(*options.targets, run.particles);
  nufft_task& task = run.task;
  task.type = options.type;
  task.sign = options.sign;
  task.tolerance = options.tolerance;
  if (options.type != 3) task.modes = modes_of(options, run.particles.dimension, run.values);
  task.plan.values = options.real ? nufft_values::real : nufft_values::complex;
  task.plan.order = options.order == "fft" ? mode_order::fft : mode_order::centered;
  task.plan.oversampling = options.oversampling;
  task.plan.method = options.method;
  task.plan.fft = options.fft;
  // Single precision reaches little more than that.
  const bool suffices = options.tolerance >= 1e-5 && run.particles.single_precision && run.values.kind.single &&
                        (!options.targets || run.targets.single_precision);
  task.single = options.precision ? *options.precision == "float" : suffices;
  check_values(options, run);
  return run;
}

void write_outcome(const nufft_command& options, const nufft_run& run, const nufft_outcome& outcome) {
  std::vector<std::size_t> shape;
  if (outcome.kind.stacked) shape.push_back(outcome.kind.vectors);
  const std::vector<std::size_t> points{options.targets ? run.targets.size() : run.particles.size()};
  const auto rest = run.task.type == 1 ? stored_modes(run.task, run.particles.dimension) : points;
  shape.insert(shape.end(), rest.begin(), rest.end());
  std::visit([&](const auto& numbers) { write_numbers(*options.output, numbers, outcome.kind.complex, shape); },
             outcome.numbers);
}

json nufft_json(const nufft_command& options, const nufft_run& run, const nufft_outcome& outcome) {
  const int dimension = run.particles.dimension, usual = run.task.type == 2 ? -1 : 1;
  json result{{"program", program_json()},
              {"device", as_json(outcome.device)},
              {"points", as_json(run.particles)},
              {"values", {{"file", run.values.file}, {"vectors", outcome.kind.vectors}, {"real", options.real}}},
              {"nufft",
               {{"type", run.task.type},
                {"sign", run.task.sign == 0 ? usual : run.task.sign},
                {"precision", run.task.single ? "float" : "double"},
                {"tolerance", run.task.tolerance},
                {"error_bound", outcome.error_bound},
                {"width", outcome.width},
                {"mesh", array_json(dimension, [&](int axis) { return outcome.mesh[axis]; })},
                {"method", outcome.method},
                {"deterministic", options.deterministic}}},
              {"performance",
               {{"reading_seconds", run.reading_seconds},
                {"set_points_seconds", outcome.setting_seconds},
                {"transform_seconds", outcome.transform_seconds},
                {"writing_seconds", run.writing_seconds},
                {"total_seconds", run.total_seconds},
                {"memory_bytes", outcome.memory_bytes}}}};
  if (options.targets) {
    result["targets"] = as_json(run.targets);
  } else {
    result["nufft"]["modes"] = array_json(dimension, [&](int axis) { return run.task.modes[axis]; });
    result["nufft"]["order"] = options.order.value_or("centered");
    result["nufft"]["oversampling"] = outcome.oversampling;
  }
  result["output"] = options.output ? json(*options.output) : json();
  return result;
}

std::string axes_text(const vec<int, 3>& numbers, int dimension) {
  std::string text;
  for (int axis = 0; axis < dimension; ++axis) text += fmt::format("{}{}", axis > 0 ? " x " : "", numbers[axis]);
  return text;
}

/// "5 points to 8 x 8 modes"
std::string sides_text(const nufft_run& run) {
  const std::string points = with_commas(run.particles.size()) + " points";
  if (run.task.type == 3) return points + " to " + with_commas(run.targets.size()) + " targets";
  const std::string modes = axes_text(run.task.modes, run.particles.dimension) + " modes";
  return run.task.type == 1 ? points + " to " + modes : modes + " to " + points;
}

std::string nufft_text(const nufft_command& options, const nufft_run& run, const nufft_outcome& outcome) {
  const int dimension = run.particles.dimension;
  std::string text = fmt::format("{}: {} (type {})\n", run.particles.file, sides_text(run), run.task.type);
  text += fmt::format("  values     {}, {}{}\n", run.values.file, options.real ? "real" : "complex",
                      outcome.kind.vectors > 1 ? fmt::format(", {} vectors", outcome.kind.vectors) : "");
  text += fmt::format("  accuracy   {:.2g} asked for, {:.2g} is the bound: a window {} mesh points wide on {}\n",
                      run.task.tolerance, outcome.error_bound, outcome.width, axes_text(outcome.mesh, dimension));
  text += fmt::format("  transform  {:.3g} s, and {:.3g} s to set the points, on {}: {}, {}\n",
                      outcome.transform_seconds, outcome.setting_seconds, as_text(outcome.device), outcome.method,
                      run.task.single ? "float" : "double");
  if (options.output) text += fmt::format("  output     {} ({:.3g} s)\n", *options.output, run.writing_seconds);
  return text;
}

void run_nufft(nufft_command options) {
  double total = 0;
  const stopwatch time(total);
  check_options(options);
  if (options.output) {
    check_output_file(*options.output, options.json, {options.points, options.values, options.targets.value_or("")},
                      "results", {".npy"});
  }
  if (options.deterministic) options.device.reproducible = determinism::run_to_run;
  activity doing(!options.quiet);
  doing.begins("reading " + options.points);
  nufft_run run = read_run(options);
  doing.begins("transforming");
  if (!options.quiet) {
    note_what_is_left_out(run.particles);
    note_what_is_left_out(run.targets);
  }
  const nufft_outcome outcome = transform(run.task, options.device, run.particles, run.targets, run.values);
  if (options.output) {
    const stopwatch writing(run.writing_seconds);
    write_outcome(options, run, outcome);
  }
  run.total_seconds = time.elapsed();
  doing.end();
  if (options.json) {
    std::puts(explained_json(nufft_json(options, run, outcome), options.explain, outcome.explanation).c_str());
  } else if (!options.quiet) {
    std::fputs(explained_text(nufft_text(options, run, outcome), options.explain, outcome.explanation).c_str(),
               summary_stream(options.output));
  }
}

constexpr const char* nufft_footer =
    "  type 1   modes[k]  = sum over points j of values[j] exp(sign i k . x_j)\n"
    "  type 2   values[j] = sum over modes k of modes[k] exp(sign i k . x_j)\n"
    "  type 3   results[k] = sum over points j of values[j] exp(sign i s_k . x_j), for targets s_k anywhere\n"
    "Points of types 1 and 2 are in radians, in any period of 2 pi. Modes are C-ordered [x][y][z], along each axis "
    "from -K/2 on.\n"
    "The error of each result is at most about the tolerance times the sum of the moduli of the input.\n"
    "docs/guides/nufft.md says more.\n\n"
    "Examples:\n"
    "  quadrat nufft points.npy values.npy --modes 32,32,32 --tolerance 1e-6 -o modes.npy\n"
    "  quadrat nufft points.npy modes.npy --type 2 -o values.npy                 the adjoint\n"
    "  quadrat nufft times.csv signal.npy --modes 4096 --real -o spectrum.npy    modes 0 to K/2 of real values\n"
    "  quadrat nufft points.npy values.npy --type 3 --targets frequencies.npy -o results.npy\n\n"
    "Returns 0; 1 when something failed; 2 when the command line is wrong; 130 after Ctrl-C.";

void add_nufft_choices(CLI::App& command, nufft_command& o) {
  command.add_option("--type", o.type, "1: from points to modes; 2: from modes to points; 3: from points to targets")
      ->check(whole_number(1, 3))
      ->capture_default_str();
  command
      .add_option("--modes", o.modes,
                  "modes along each axis; one number: the same along all axes; type 2: as in VALUES")
      ->type_name("Kx[,Ky[,Kz]]");
  command.add_option("--targets", o.targets, "type 3: frequencies, a file like POINTS")
      ->check(existing_file())
      ->type_name("FILE");
  command.add_option("--tolerance", o.tolerance, "error of each result, relative to the sum of moduli")
      ->check(any_number())
      ->capture_default_str();
  command.add_option("--sign", o.sign, "sign of the exponent, 1 or -1; default: 1 for types 1 and 3, -1 for type 2")
      ->check(whole_number(-1, 1))
      ->type_name("SIGN");
  command.add_flag("--real", o.real, "values are real; modes are stored from 0 to K/2 along the last axis");
  command
      .add_option("--order", o.order, "order of modes: centered (default), or fft (0, 1, ..., then the negative ones)")
      ->check(one_of(mode_orders));
  command.add_option("--oversampling", o.oversampling, "mesh points per mode, above 1 to 4; default: auto")
      ->check(any_number())
      ->type_name("NUMBER");
  command.add_option("--method", o.method, "how to spread, see quadrat spread; default: auto")->type_name("NAME");
  command.add_option("--fft", o.fft, "library of Fourier transforms, see quadrat info; default: auto")
      ->type_name("NAME");
  command.add_flag("--deterministic", o.deterministic, "same bits in every run");
}

}  // namespace

void add_nufft(CLI::App& app) {
  CLI::App* const command = app.add_subcommand("nufft", "Fourier transforms of values at nonuniform points");
  const auto options = std::make_shared<nufft_command>();
  nufft_command& o = *options;
  command->add_option("POINTS", o.points, ".npy (N, N x 1, N x 2 or N x 3), .csv (x[,y[,z]]), extended .xyz or .gsd")
      ->required()
      ->check(existing_file())
      ->type_name("");
  command->add_option("VALUES", o.values, ".npy: (N,) or (vectors, N); type 2: modes, (Kx, Ky, Kz), or (vectors, ...)")
      ->required()
      ->check(existing_file())
      ->type_name("");
  add_nufft_choices(*command, o);
  add_device_options(*command, o.device);
  command
      ->add_option("--precision", o.precision,
                   "float or double; default: float if all input is single precision and the tolerance is 1e-5 or more")
      ->check(one_of(io::names_of<io::number_precision>));
  add_output_option(*command, o.output, "modes (type 1), or values at points (2) or targets (3): .npy");
  add_explain_option(*command, o.explain);
  command->add_flag("--json", o.json, "print sizes, choices and times as JSON, and nothing else, on stdout");
  command->add_flag("--quiet", o.quiet, "print nothing");
  command->footer(nufft_footer);
  command->callback([options] { run_nufft(*options); });
}

}  // namespace quadrat::program
