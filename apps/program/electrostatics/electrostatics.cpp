// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>
#include <variant>

#include "program/commands.hpp"
#include "program/electrostatics/options.hpp"
#include "program/electrostatics/report.hpp"
#include "program/electrostatics/sum.hpp"
#include "program/electrostatics/systems.hpp"
#include "program/explain.hpp"
#include "program/mesh/options.hpp"
#include "program/mesh/values.hpp"
#include "program/option_checks.hpp"
#include "program/process/activity.hpp"
#include "program/process/stopwatch.hpp"
#include "program/table_output.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/io/scene.hpp"

namespace quadrat::program {
namespace {

constexpr std::array<std::string_view, 2> laws{"coulomb", "dispersion"};

void check_outputs(const electrostatics_command& command) {
  const std::pair<const std::optional<std::string>&, const char*> files[] = {
      {command.output, "--output"}, {command.energies, "--energies"}, {command.potentials, "--potentials"}};
  constexpr const char* contents[] = {"forces", "energies", "potentials"};
  for (std::size_t k = 0; k < 3; ++k) {
    const auto& [file, option] = files[k];
    if (!file) continue;
    check_output_file(*file, command.json, {command.systems, command.exclusions.value_or("")}, contents[k], {".npy"},
                      option);
    for (std::size_t other = 0; other < k; ++other) {
      const bool same = files[other].first && std::filesystem::path(*files[other].first).lexically_normal() ==
                                                  std::filesystem::path(*file).lexically_normal();
      require(!same, option, ": ", *file, " is the file of ", files[other].second, ", too");
    }
  }
}

electrostatics_run read_run(const electrostatics_command& command) {
  electrostatics_run run;
  const stopwatch time(run.reading_seconds);
  run.systems = read_charged_systems(command.systems);
  if (command.exclusions) run.scaled_pairs = read_scaled_pairs(*command.exclusions, run.systems);
  return run;
}

void write_outputs(const electrostatics_command& command, electrostatics_run& run) {
  const stopwatch time(run.writing_seconds);
  const auto write = [&](const std::optional<std::string>& file, const mesh_numbers& numbers,
                         const std::vector<std::size_t>& shape) {
    if (file) std::visit([&](const auto& values) { write_numbers(*file, values, false, shape); }, numbers);
  };
  const std::size_t n = run.systems.size();
  write(command.output, run.outcome.forces, {n, 3});
  write(command.energies, run.outcome.energies, {n});
  write(command.potentials, run.outcome.potentials, {n});
}

void run_electrostatics(electrostatics_command command) {
  double total = 0;
  const stopwatch time(total);
  const electrostatics_task task{sum_options(command), command.precision == "float", command.virial,
                                 command.energies.has_value(), command.potentials.has_value()};
  check_outputs(command);
  if (command.deterministic) command.device.reproducible = determinism::run_to_run;
  activity doing(!command.quiet);
  doing.begins("reading " + command.systems);
  electrostatics_run run = read_run(command);
  doing.begins("summing");
  run.outcome = sum_charges(task, command.device, run.systems, run.scaled_pairs);
  write_outputs(command, run);
  run.total_seconds = time.elapsed();
  doing.end();
  if (command.json) {
    std::puts(explained_json(as_json(command, run), command.explain, run.outcome.explanation).c_str());
  } else if (!command.quiet) {
    std::fputs(explained_text(as_text(command, run), command.explain, run.outcome.explanation).c_str(),
               summary_stream(command.output));
  }
}

std::string electrostatics_footer() {
  std::string text = "Methods (all give the same results, to the requested accuracy):\n";
  for (const method_info& method : electrostatics_methods()) {
    const char* const where = method.on_cpu ? (method.on_cuda ? "cpu, cuda" : "cpu") : "cuda";
    text += fmt::format("  {:<14} {:<10} {}\n", method.name, where, method.summary);
  }
  text += fmt::format("  {:<14} {:<10} {}\n", "auto", "", "one of these is chosen, and the output says why");
  return text +
         "SYSTEM.xyz needs the cell (Lattice) and a column charge:R:1 in Properties; charges and initial_charges, as "
         "ASE\n"
         "writes them, will do. Each frame is a system with its own cell, and all are computed at once. pbc=\"T T F\" "
         "is a\n"
         "slab, periodic along the first two vectors. The accuracy is the rms error of forces in units of k q^2 / "
         "d^2,\n"
         "with the mean square charge q^2 and d = (volume / points)^(1/3). docs/guides/electrostatics.md says more.\n\n"
         "Examples:\n"
         "  quadrat electrostatics salt.xyz                                        energy, chosen parameters, times\n"
         "  quadrat electrostatics salt.xyz --accuracy 1e-6 -o forces.npy          forces, (points, 3)\n"
         "  quadrat electrostatics salt.xyz --coulomb-constant 14.399645 --virial  in eV, with elementary charges and "
         "angstroms\n"
         "  quadrat electrostatics water.xyz --exclusions bonds.txt --energies energies.npy\n"
         "  quadrat electrostatics coefficients.xyz --law dispersion               -k c_i c_j / r^6\n"
         "  quadrat electrostatics salt.xyz --method spme --cutoff 9 --mesh 64 --order 6 --json\n\n"
         "Returns 0; 1 when something failed; 2 when the command line is wrong; 130 after Ctrl-C.";
}

void add_parameters(CLI::App& command, electrostatics_command& o) {
  const std::string group = "Parameters, chosen by default";
  command.add_option("--method", o.method, "how to sum; default: auto")->type_name("NAME")->group(group);
  command.add_option("--cutoff", o.cutoff, "cutoff of the short-range part")
      ->check(any_number())
      ->type_name("R")
      ->group(group);
  command
      .add_option("--splitting", o.splitting,
                  "alpha in erfc(alpha r) / r, an inverse length; for esp: the number c of its prolate function")
      ->check(any_number())
      ->type_name("NUMBER")
      ->group(group);
  command
      .add_option("--mesh", o.mesh,
                  "mesh points along each vector, or one number for all: products of 2, 3 and 5; for direct: the "
                  "largest mode")
      ->type_name("Nx[,Ny,Nz]")
      ->group(group);
  command.add_option("--order", o.order, "width of the window in mesh points")
      ->check(whole_number(1, std::numeric_limits<int>::max()))
      ->type_name("N")
      ->group(group);
}

void add_outputs(CLI::App& command, electrostatics_command& o) {
  add_output_option(command, o.output, "forces: .npy, (points, 3), in the order of the file");
  command.add_option("--energies", o.energies, "half of the energy of the pairs of each point: .npy, (points,)")
      ->type_name("FILE");
  command
      .add_option("--potentials", o.potentials, "derivative of the energy with respect to each charge: .npy, (points,)")
      ->type_name("FILE");
  command.add_flag("--virial", o.virial,
                   "print the virial of each system: minus the derivative of the energy with respect to strain");
  add_explain_option(command, o.explain);
  command.add_flag("--json", o.json, "print energies, choices and times as JSON, and nothing else, on stdout");
  command.add_flag("--quiet", o.quiet, "print nothing");
}

}  // namespace

electrostatics_options sum_options(const electrostatics_command& command) {
  electrostatics_options options;
  options.law = command.law == "dispersion" ? pair_law::dispersion : pair_law::coulomb;
  options.method = command.method;
  options.accuracy = command.accuracy;
  options.coulomb_constant = command.coulomb_constant;
  options.remove_net_force = command.remove_net_force;
  require(std::isfinite(command.coulomb_constant) && command.coulomb_constant != 0, "--coulomb-constant is ",
          command.coulomb_constant, "; it must be finite, and not 0");
  // In the library's options, 0 means: choose automatically.
  for (const auto& [value, option] : {std::pair{command.cutoff, "--cutoff"}, {command.splitting, "--splitting"}}) {
    require(!value || (*value > 0 && std::isfinite(*value)), option, " is ", value.value_or(0),
            "; it must be positive and finite");
  }
  options.parameters.cutoff = command.cutoff.value_or(0);
  options.parameters.splitting = command.splitting.value_or(0);
  options.parameters.order = static_cast<int>(command.order.value_or(0));
  if (command.mesh) {
    options.parameters.mesh = extents_of_option(*command.mesh, 3);
    for (int axis = 0; axis < 3; ++axis) {
      const int extent = options.parameters.mesh[axis];
      require(extent > 0, "--mesh: there are ", extent, " mesh points along vector ", axis + 1,
              "; at least 1 is needed");
    }
  }
  return options;
}

void add_electrostatics(CLI::App& app) {
  CLI::App* const command = app.add_subcommand("electrostatics", "Energies and forces of charges in periodic cells");
  const auto options = std::make_shared<electrostatics_command>();
  electrostatics_command& o = *options;
  command->add_option("SYSTEM.xyz", o.systems, "extended .xyz with Lattice and charges, or .gsd; all frames are read")
      ->required()
      ->check(existing_file())
      ->type_name("");
  command->add_option("--accuracy", o.accuracy, "rms error of forces, in units of k q^2 / d^2")
      ->check(any_number())
      ->capture_default_str();
  command->add_option("--coulomb-constant", o.coulomb_constant, "k in k q_i q_j / r")
      ->check(any_number())
      ->type_name("K")
      ->capture_default_str();
  command->add_option("--law", o.law, "coulomb, or dispersion: -k c_i c_j / r^6, where charges are c")
      ->check(one_of(laws))
      ->capture_default_str();
  command
      ->add_option("--exclusions", o.exclusions,
                   "pairs of points whose interaction is left out or scaled: lines \"i j [scale]\", points of a frame "
                   "count from 0, # begins a comment; or .npy, N x 2 integers")
      ->check(existing_file())
      ->type_name("FILE");
  command->add_flag("--remove-net-force", o.remove_net_force, "subtract the mean force of each system");
  add_parameters(*command, o);
  add_device_options(*command, o.device);
  command->add_option("--precision", o.precision, "float or double")
      ->check(one_of(io::names_of<io::number_precision>))
      ->capture_default_str();
  command->add_flag("--deterministic", o.deterministic, "same bits in every run");
  add_outputs(*command, o);
  command->footer(electrostatics_footer());
  command->callback([options] { run_electrostatics(*options); });
}

}  // namespace quadrat::program
