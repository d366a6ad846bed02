// SPDX-License-Identifier: BSD-3-Clause
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "program/commands.hpp"
#include "program/device_options.hpp"
#include "program/mesh/options.hpp"
#include "program/option_checks.hpp"
#include "quadrat/choice/choose_method.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/io/scene.hpp"
#include "quadrat/tune/device_profile.hpp"

namespace quadrat::program {
namespace {

constexpr std::array<std::string_view, 5> choose_tasks{"all", "spread", "reduce", "neighbors", "contacts"};

/// The command line of `quadrat choose`.
struct choose_options {
  std::string task = "all";
  double points = 0;
  std::string mesh = "64,64,64";
  int order = 4;
  double uses = 1;
  double keys = 0;       ///< 0: as many keys as mesh points
  double contacts = -1;  ///< negative: not known
  std::string precision = "float";
  std::string reproducible = "none";
  device_options device;
  bool json = false;
};

[[nodiscard]] described_load load_of(const choose_options& options) {
  require(options.points >= 0 && options.points <= 1e15 && options.points == std::floor(options.points), "--points is ",
          options.points, "; it must be a whole number from 0 to 1e15");
  require(options.uses >= 1 && std::isfinite(options.uses), "--uses is ", options.uses, "; it must be 1 or more");
  require(options.keys >= 0 && options.keys < 2147483648.0, "--keys is ", options.keys, "; it must be below 2^31");
  const auto commas = static_cast<int>(std::count(options.mesh.begin(), options.mesh.end(), ','));
  require(commas <= 2, "--mesh is ", options.mesh, "; 1 to 3 numbers are possible");
  described_load load;
  load.cells.resize(commas == 0 ? 3 : static_cast<std::size_t>(commas) + 1);
  const vec<int, 3> extents =
      extents_of_option(options.mesh, static_cast<int>(load.cells.size()), "--mesh", "mesh points");
  for (std::size_t axis = 0; axis < load.cells.size(); ++axis) {
    load.cells[axis] = extents[static_cast<int>(axis)];
    require(load.cells[axis] > 0, "--mesh is ", options.mesh, "; there must be at least 1 along each axis");
  }
  load.count = options.points;
  load.order = options.order;
  load.uses = options.uses;
  load.keys = options.keys;
  load.wide = options.precision == "double";
  load.contacts = options.contacts;
  return load;
}

/// Chooses for this machine's device; with `cuda` but without a GPU, for an H200.
[[nodiscard]] explanation choose(method_task task, const choose_options& options) {
  const described_load load = load_of(options);
  const auto& names = io::names_of<determinism>;
  const auto level =
      static_cast<determinism>(std::find(names.begin(), names.end(), options.reproducible) - names.begin());
  const bool gpu = !cuda_devices().empty();
  if (options.device.device == "cuda" && !gpu) return choose_method(task, load, shipped_profile(true), level);
  device_options device = options.device;
  device.reproducible = level;
  return on_device(device, [&](const auto& context) { return choose_method(task, load, context); });
}

void run_choose(const choose_options& options) {
  std::string text;
  for (std::size_t k = 0; k < method_task_names.size(); ++k) {
    if (options.task != "all" && options.task != method_task_names[k]) continue;
    const explanation found = choose(static_cast<method_task>(k), options);
    text += options.json ? (text.empty() ? "[" : ",\n ") + found.json() : found.text();
  }
  std::fputs((text + (options.json ? "]\n" : "")).c_str(), stdout);
}

}  // namespace

void add_choose(CLI::App& app) {
  CLI::App* const command = app.add_subcommand("choose", "Say which methods would be chosen for a load, without data");
  const auto options = std::make_shared<choose_options>();
  choose_options& o = *options;
  command->add_option("TASK", o.task, "all, spread, reduce, neighbors or contacts")
      ->check(one_of(choose_tasks))
      ->capture_default_str();
  command->add_option("--points", o.points, "points, elements or bodies")
      ->required()
      ->check(any_number())
      ->type_name("N");
  command->add_option("--mesh", o.mesh, "mesh points, or cells as large as the cutoff; one number for a cube")
      ->capture_default_str()
      ->type_name("Kx[,Ky[,Kz]]");
  command->add_option("--order", o.order, "width of the window of spreading")
      ->check(whole_number(1, 8))
      ->capture_default_str();
  command->add_option("--uses", o.uses, "how often the prepared points, keys or list are used")
      ->check(any_number())
      ->capture_default_str();
  command->add_option("--keys", o.keys, "keys of a reduction, in random order; default: the number of mesh points")
      ->check(any_number());
  command->add_option("--contacts", o.contacts, "contacts per body, if an earlier search on a GPU has counted them")
      ->check(any_number());
  add_device_options(*command, o.device);
  command->add_option("--precision", o.precision, "float or double")
      ->check(one_of(io::names_of<io::number_precision>))
      ->capture_default_str();
  command->add_flag("--deterministic{run_to_run}", o.reproducible, "same bits in every run")
      ->check(one_of(io::names_of<determinism>));
  command->add_flag("--json", o.json, "print the result as JSON");
  command->footer(
      "Times are predicted by the profile of the device, for uniformly distributed points in random order.\n"
      "Without a GPU, --device cuda answers for an H200. docs/concepts/choosing.md says more.\n\n"
      "Examples:\n"
      "  quadrat choose --points 1e6 --mesh 64,64,64\n"
      "  quadrat choose spread --points 1e5 --mesh 512 --uses 100 --device cuda\n\n"
      "Returns 0; 1 when something failed; 2 when the command line is wrong.");
  command->callback([options] { run_choose(*options); });
}

}  // namespace quadrat::program
