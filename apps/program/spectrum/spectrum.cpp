// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/spectral/power_spectrum.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "program/bin_options.hpp"
#include "program/commands.hpp"
#include "program/data_place.hpp"
#include "program/mesh/box.hpp"
#include "program/mesh/options.hpp"
#include "program/mesh/values.hpp"
#include "program/option_checks.hpp"
#include "program/particle_file.hpp"
#include "program/process/activity.hpp"
#include "program/process/progress_bar.hpp"
#include "program/process/stopwatch.hpp"
#include "program/run/summary.hpp"
#include "program/table_output.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/io/csv.hpp"
#include "quadrat/io/scene.hpp"

namespace quadrat::program {
namespace {

using json = nlohmann::ordered_json;

/// The command line of `quadrat spectrum`.
struct spectrum_command {
  std::string points, mesh;
  std::optional<std::string> weights, others, other_weights;
  std::optional<std::string> multipoles;
  bin_options bins{"--k", "--bins", "wave numbers"};
  bool single_mesh = false, uncompensated = false, subtract_shot_noise = false, structure_factor = false;
  int order = 4;
  std::string line_of_sight = "x", method;
  bool deterministic = false;
  box_options box;
  device_options device;
  std::optional<std::string> precision;
  std::optional<std::string> output;
  bool json = false;
  bool quiet = false;
};

constexpr std::string_view line_of_sight_axes[] = {"x", "y", "z"};

/// Points with weights, as they were read.
struct spectrum_set {
  particle_file particles;
  std::optional<value_file> weights;
};

struct spectrum_run {
  spectrum_set first;
  std::optional<spectrum_set> second;
  mesh_box box;
  vec<int, 3> mesh{1, 1, 1};
  power_spectrum_options options;
  bool single = false;
  used_device device;
  power_spectrum_result found;
  std::size_t memory_bytes = 0;
  double reading_seconds = 0, spectrum_seconds = 0, total_seconds = 0;
};

spectrum_set read_set(const std::string& file, const std::optional<std::string>& weights) {
  spectrum_set set{read_particles(file), std::nullopt};
  if (weights) set.weights = read_weights(*weights, set.particles.size());
  return set;
}

power_spectrum_options options_of(const spectrum_command& command) {
  power_spectrum_options options;
  options.order = command.order;
  options.interlaced = !command.single_mesh;
  options.compensated = !command.uncompensated;
  options.subtract_shot_noise = command.subtract_shot_noise;
  if (command.structure_factor) options.normalization = spectrum_normalization::structure_factor;
  if (command.multipoles) {
    options.multipoles.clear();
    for (const double degree : numbers_of_option("--multipoles", *command.multipoles)) {
      require(degree == 0 || degree == 2 || degree == 4, "--multipoles: ", degree, "; 0, 2 and 4 are possible");
      options.multipoles.push_back(static_cast<int>(degree));
    }
  }
  options.line_of_sight = static_cast<int>(std::string_view("xyz").find(command.line_of_sight[0]));
  options.edges = command.bins.edges();
  options.method = command.method;
  return options;
}

spectrum_run read_run(const spectrum_command& command) {
  spectrum_run run;
  const stopwatch time(run.reading_seconds);
  run.options = options_of(command);
  run.first = read_set(command.points, command.weights);
  require(command.others || !command.other_weights, "--other-weights needs --others");
  if (command.others) run.second = read_set(*command.others, command.other_weights);
  const int dimension = run.first.particles.dimension;
  if (run.second && run.second->particles.dimension != dimension) {
    throw io_error(message(*command.others, ": points in ", run.second->particles.dimension, " dimensions; ",
                           command.points, " has points in ", dimension));
  }
  run.box = choose_mesh_box(command.box, run.first.particles);
  run.mesh = extents_of_option(command.mesh, dimension);
  const bool single = run.first.particles.single_precision && (!run.second || run.second->particles.single_precision);
  run.single = command.precision ? *command.precision == "float" : single;
  return run;
}

/// A set in the memory of a context.
template <typename Context, typename T, int D>
struct set_there {
  set_there(const Context& context, spectrum_set& set)
      : points(to_device(context, points_in<T, D>(set.particles))),
        weights(set.weights ? to_device(context, set.weights->take<T>()) : array<T, Context>()) {}
  [[nodiscard]] const T* weights_given() const { return weights.data(); }

  array<vec<T, D>, Context> points;
  array<T, Context> weights;
};

template <typename T, int D, typename Context>
void measure_on(const Context& context, spectrum_run& run) {
  const auto domain =
      make_box_from_lengths(make_vec<T, D>([&](int axis) { return static_cast<T>(run.box.origin[axis]); }),
                            make_vec<T, D>([&](int axis) { return static_cast<T>(run.box.length[axis]); }),
                            make_vec<bool, D>([&](int axis) { return run.box.periodic[axis]; }));
  power_spectrum<Context, T, D> spectrum(context, domain, make_vec<int, D>([&](int axis) { return run.mesh[axis]; }),
                                         run.options);
  const set_there<Context, T, D> first(context, run.first);
  std::optional<set_there<Context, T, D>> second;
  if (run.second) second.emplace(context, *run.second);
  const stopwatch time(run.spectrum_seconds);
  const auto points = points_of(first.points);
  run.found =
      second ? spectrum.measure_cross(points, first.weights_given(), points_of(second->points), second->weights_given())
             : spectrum.measure(points, first.weights_given());
  run.memory_bytes = spectrum.bytes();
  run.device = used(context);
}

void measure(const spectrum_command& command, spectrum_run& run) {
  on_device(command.device, [&](const auto& context) {
    if (run.first.particles.dimension == 2) {
      run.single ? measure_on<float, 2>(context, run) : measure_on<double, 2>(context, run);
    } else {
      run.single ? measure_on<float, 3>(context, run) : measure_on<double, 3>(context, run);
    }
  });
}

void write_table(const std::string& file, const power_spectrum_result& found) {
  std::vector<std::string> names{"k_low", "k_high", "k", "modes"};
  for (const int degree : found.multipoles) names.push_back("power_" + std::to_string(degree));
  const std::vector<std::string_view> views(names.begin(), names.end());
  io::csv_writer out(file, views);
  for (std::size_t bin = 0; bin < found.bins(); ++bin) {
    out.add(found.edges[bin]);
    out.add(found.edges[bin + 1]);
    out.add(found.k[bin]);
    out.add(found.modes[bin]);
    for (std::size_t at = bin; at < found.power.size(); at += found.bins()) out.add(found.power[at]);
    out.end_row();
  }
  out.commit();
}

json as_json(const spectrum_command& command, const spectrum_run& run) {
  const power_spectrum_result& found = run.found;
  const int dimension = run.first.particles.dimension;
  json result{{"program", program_json()},
              {"device", as_json(run.device)},
              {"points", as_json(run.first.particles)},
              {"spectrum",
               {{"mesh", array_json(dimension, [&](int axis) { return run.mesh[axis]; })},
                {"box", array_json(dimension, [&](int axis) { return run.box.length[axis]; })},
                {"order", run.options.order},
                {"interlaced", run.options.interlaced},
                {"compensated", run.options.compensated},
                {"structure_factor", command.structure_factor},
                {"precision", run.single ? "float" : "double"}}},
              {"edges", found.edges},
              {"k", found.k},
              {"modes", found.modes},
              {"multipoles", found.multipoles},
              {"power", json::array()},
              {"shot_noise", found.shot_noise}};
  for (std::size_t first = 0; first < found.power.size(); first += found.bins()) {
    result["power"].push_back(
        std::vector<double>(found.power.begin() + static_cast<std::ptrdiff_t>(first),
                            found.power.begin() + static_cast<std::ptrdiff_t>(first + found.bins())));
  }
  result["performance"] = {{"reading_seconds", run.reading_seconds},
                           {"spectrum_seconds", run.spectrum_seconds},
                           {"total_seconds", run.total_seconds},
                           {"memory_bytes", run.memory_bytes}};
  result["output"] = command.output ? json(*command.output) : json();
  return result;
}

std::string as_text(const spectrum_command& command, const spectrum_run& run) {
  const power_spectrum_result& found = run.found;
  std::string mesh;
  for (int axis = 0; axis < run.first.particles.dimension; ++axis) {
    mesh += fmt::format("{}{}", axis > 0 ? " x " : "", run.mesh[axis]);
  }
  std::string text = fmt::format("{}: {} of {} points on {} mesh points\n", command.points,
                                 command.structure_factor ? "structure factor" : "power spectrum",
                                 with_commas(run.first.particles.size()), mesh);
  text += fmt::format("  bins       {} from {:.4g} to {:.4g}\n", found.bins(), found.edges.front(), found.edges.back());
  text += fmt::format("  shot noise {:.4g}{}\n", found.shot_noise,
                      command.subtract_shot_noise ? ", subtracted" : ", part of the power");
  text += fmt::format("  time       {:.3g} s on {}: {}\n", run.spectrum_seconds, as_text(run.device),
                      run.single ? "float" : "double");
  if (command.output) text += fmt::format("  output     {}\n", *command.output);
  return text;
}

void run_spectrum(spectrum_command command) {
  double total = 0;
  const stopwatch time(total);
  if (command.output) {
    check_output_file(*command.output, command.json, {command.points, command.others.value_or(command.points)},
                      "spectra", {".csv"});
  }
  if (command.deterministic) command.device.reproducible = determinism::run_to_run;
  activity doing(!command.quiet);
  doing.begins("reading " + command.points);
  spectrum_run run = read_run(command);
  doing.begins("measuring");
  if (!command.quiet) note_what_is_left_out(run.first.particles);
  naming_places(run.first.particles.file, run.first.particles.lines, [&] {
    measure(command, run);
    return 0;
  });
  if (command.output) write_table(*command.output, run.found);
  run.total_seconds = time.elapsed();
  doing.end();
  if (command.json) {
    std::puts(as_json(command, run).dump(2).c_str());
  } else if (!command.quiet) {
    std::fputs(as_text(command, run).c_str(), summary_stream(command.output));
  }
}

constexpr const char* spectrum_footer =
    "P(k) = V |F(k)|^2 / (sum of the weights)^2, averaged over bins of k, with F the transform of the weighted "
    "points.\n"
    "k is in radians per unit of length. Without --k, bins begin at the multiples of 2 pi / (longest side), up to the\n"
    "Nyquist wave number of the mesh. docs/guides/spectra.md says more.\n\n"
    "Examples:\n"
    "  quadrat spectrum points.npy --mesh 128 --box 1000,1000,1000 -o spectrum.csv\n"
    "  quadrat spectrum points.npy --mesh 64 --k 7,200 --bins 12 --log --multipoles 0,2,4 --line-of-sight z --json\n"
    "  quadrat spectrum points.npy --mesh 64 --others galaxies.npy -o cross.csv\n"
    "  quadrat spectrum ions.npy --mesh 64 --weights charges.npy --structure-factor -o structure.csv\n\n"
    "Returns 0; 1 when something failed; 2 when the command line is wrong; 130 after Ctrl-C.";

void add_sets(CLI::App& command, spectrum_command& o) {
  command.add_option("POINTS", o.points, ".npy (N x 2 or N x 3), .csv (x,y[,z]), extended .xyz or .gsd")
      ->required()
      ->check(existing_file())
      ->type_name("");
  command.add_option("--mesh", o.mesh, "mesh points along each axis; products of 2, 3 and 5, the last one even")
      ->required()
      ->type_name("Kx[,Ky[,Kz]]");
  const auto file = [&](const char* name, std::optional<std::string>& to, const char* help) {
    command.add_option(name, to, help)->check(existing_file())->type_name("FILE");
  };
  file("--weights", o.weights, ".npy (N,); default: all 1");
  file("--others", o.others, "the cross power with these points, a file like POINTS");
  file("--other-weights", o.other_weights, "of --others");
}

void add_choices(CLI::App& command, spectrum_command& o) {
  o.bins.add_to(command);
  command.add_flag("--log", o.bins.logarithmic, "logarithmic bins, instead of bins of one width");
  command.add_option("--multipoles", o.multipoles, "of 0, 2, 4; default: 0")->type_name("L[,L...]");
  command.add_option("--line-of-sight", o.line_of_sight, "axis of the multipoles")
      ->check(one_of(line_of_sight_axes))
      ->capture_default_str();
  command.add_option("--order", o.order, "of spreading: 1 NGP, 2 CIC, 3 TSC, 4 PCS")
      ->check(whole_number(1, 4))
      ->capture_default_str();
  command.add_flag("--single-mesh", o.single_mesh, "not interlaced with a second mesh: half of the time, more aliases");
  command.add_flag("--uncompensated", o.uncompensated, "does not divide by the window of spreading");
  command.add_flag("--subtract-shot-noise", o.subtract_shot_noise, "from the multipole 0");
  command.add_flag("--structure-factor", o.structure_factor, "|F|^2 / N instead of the power");
  command.add_option("--method", o.method, "how to spread, see quadrat spread; default: auto")->type_name("NAME");
  command.add_flag("--deterministic", o.deterministic, "same bits in every run");
}

}  // namespace

void add_spectrum(CLI::App& app) {
  CLI::App* const command = app.add_subcommand("spectrum", "Power spectra and structure factors of points");
  const auto options = std::make_shared<spectrum_command>();
  spectrum_command& o = *options;
  add_sets(*command, o);
  add_choices(*command, o);
  add_box_options(*command, o.box, "lengths of the box; default: Lattice of the file, or the unit box", "Lx,Ly[,Lz]",
                  "all (the default)");
  add_device_options(*command, o.device);
  command->add_option("--precision", o.precision, "float or double; default: that of the file")
      ->check(one_of(io::names_of<io::number_precision>));
  add_output_option(*command, o.output, "a table, .csv: k_low, k_high, k, modes, power_0, ...");
  command->add_flag("--json", o.json, "print the spectrum as JSON, and nothing else, on stdout");
  command->add_flag("--quiet", o.quiet, "print nothing");
  command->footer(spectrum_footer);
  command->callback([options] { run_spectrum(*options); });
}

}  // namespace quadrat::program
