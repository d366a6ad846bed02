// SPDX-License-Identifier: BSD-3-Clause
#include <CLI/CLI.hpp>
#include <array>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "contacts/choice.hpp"
#include "keyed/choice.hpp"
#include "mesh/choice.hpp"
#include "program/commands.hpp"
#include "program/device_options.hpp"
#include "program/mesh/options.hpp"
#include "program/option_checks.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/io/scene.hpp"
#include "quadrat/tune/device_profile.hpp"
#include "search/choice.hpp"

namespace quadrat::program {
namespace {

constexpr std::array<std::string_view, 5> choose_tasks{"all", "spread", "reduce", "neighbors", "contacts"};

/// The command line of `quadrat choose`.
struct choose_options {
  std::string task = "all";
  double count = 0;
  std::string cells = "64,64,64";
  int order = 6;
  double uses = 1;
  double keys = 0;  ///< 0: as many as cells
  std::string precision = "float";
  std::string reproducible = "none";
  device_options device;
  bool json = false;
};

/// What a load consists of, once it has been checked.
struct described_load {
  bool cuda;
  determinism level;
  int threads;
  double count, cells, keys;
  int dimension, number_bytes;
};

[[nodiscard]] described_load load_of(const choose_options& options) {
  require(options.count >= 0 && options.count <= 1e15 && options.count == std::floor(options.count), "--n is ",
          options.count, "; it must be a whole number from 0 to 1e15");
  require(options.uses >= 1 && std::isfinite(options.uses), "--uses is ", options.uses, "; it must be 1 or more");
  require(options.keys >= 0 && options.keys < 2147483648.0, "--keys is ", options.keys, "; it must be below 2^31");
  described_load load{};
  const auto commas = static_cast<int>(std::count(options.cells.begin(), options.cells.end(), ','));
  require(commas <= 2, "--cells is ", options.cells, "; 1 to 3 numbers are possible");
  load.dimension = commas == 0 ? 3 : commas + 1;
  const vec<int, 3> extents = extents_of_option(options.cells, load.dimension, "--cells", "cells");
  load.cells = 1;
  for (int axis = 0; axis < load.dimension; ++axis) {
    require(extents[axis] > 0, "--cells is ", options.cells, "; there must be at least 1 along each axis");
    load.cells *= extents[axis];
  }
  load.cuda = options.device.device == "cuda" || (options.device.device == "auto" && !cuda_devices().empty());
  const auto& names = io::names_of<determinism>;
  load.level = static_cast<determinism>(std::find(names.begin(), names.end(), options.reproducible) - names.begin());
  load.threads = options.device.threads > 0 ? static_cast<int>(options.device.threads) : cpu_context().threads();
  if (load.level != determinism::none) load.threads = detail::usual_threads;
  load.count = options.count;
  load.keys = options.keys > 0 ? options.keys : load.cells;
  load.number_bytes = options.precision == "float" ? 4 : 8;
  return load;
}

/// The profile of this machine's device; that of the H200 where it has no GPU.
[[nodiscard]] const device_profile& profile_for(const described_load& load) {
  if (load.cuda && cuda_devices().empty()) return shipped_profile(true);
  if (load.cuda) {
    cuda_context::options chosen;
    chosen.reproducibility = load.level;
    return profile_of(cuda_context(chosen));
  }
  cpu_context::options chosen;
  chosen.reproducibility = load.level;
  chosen.threads = load.threads;
  return profile_of(cpu_context(chosen));
}

[[nodiscard]] explanation choose_spreading(const choose_options& options, const described_load& load) {
  detail::spread_request request{};
  request.cuda = load.cuda;
  request.level = load.level;
  request.points = load.count;
  request.nodes = load.cells;
  request.bytes = load.cells * load.number_bytes;
  request.footprint = std::pow(options.order, load.dimension);
  request.work = request.points * request.footprint / 216;
  request.uses = options.uses;
  request.width = options.order;
  request.threads = load.threads;
  request.dimension = load.dimension;
  request.row = options.order;
  return detail::explain_spread_method(request, profile_for(load));
}

/// Keys in random order, all equally frequent.
[[nodiscard]] explanation choose_reduction(const choose_options& options, const described_load& load) {
  detail::key_request request{};
  request.cuda = load.cuda;
  request.threads = load.threads;
  request.level = load.level;
  request.free_bytes = ~std::size_t{0};
  request.elements = load.count;
  request.keys = load.keys;
  request.row_bytes = load.number_bytes;
  request.uses = options.uses;
  const auto distinct = [](double keys, double drawn) {
    return -keys * std::expm1(drawn * std::log1p(-1 / (keys + 1e-9)));
  };
  request.sample.seen = 0;
  request.sample.same = request.sample.crowd = 1 / load.keys;
  request.sample.descending = 0.5;
  request.sample.warp_keys = std::max(1.0, distinct(load.keys, 32));
  request.sample.warp_sectors = std::max(1.0, distinct(std::max(1.0, load.keys / 8), 32));
  request.sample.block_keys = std::max(1.0, distinct(load.keys, 4096));
  request.sample.span = request.sample.block_span = load.keys;
  return detail::explain_key_method(request, profile_for(load));
}

[[nodiscard]] explanation choose_list(const described_load& load) {
  detail::neighbor_request request{load.cuda, static_cast<std::size_t>(load.count), true};
  request.threads = load.threads;
  request.dimension = std::max(2, load.dimension);
  request.number_bytes = load.number_bytes;
  request.box_cells = load.cells;
  return detail::explain_neighbor_method(request, profile_for(load));
}

[[nodiscard]] explanation choose_contacts(const described_load& load) {
  detail::pair_request request{static_cast<std::size_t>(load.count)};
  request.cuda = load.cuda;
  request.threads = load.threads;
  request.number_bytes = load.number_bytes;
  return detail::explain_contact_method({"contact method", load.cuda, load.level}, request, profile_for(load));
}

void run_choose(const choose_options& options) {
  const described_load load = load_of(options);
  std::vector<explanation> results;
  const auto wants = [&](std::string_view task) { return options.task == "all" || options.task == task; };
  if (wants("spread")) results.push_back(choose_spreading(options, load));
  if (wants("reduce")) results.push_back(choose_reduction(options, load));
  if (wants("neighbors")) results.push_back(choose_list(load));
  if (wants("contacts")) results.push_back(choose_contacts(load));
  std::string text = options.json ? "[" : "";
  for (std::size_t k = 0; k < results.size(); ++k) {
    text += options.json ? (k > 0 ? ",\n " : "") + results[k].json() : results[k].text();
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
  command->add_option("--n", o.count, "points, elements or bodies")->required()->check(any_number())->type_name("N");
  command->add_option("--cells", o.cells, "mesh points, or cells as large as the cutoff; one number for a cube")
      ->capture_default_str()
      ->type_name("Kx[,Ky[,Kz]]");
  command->add_option("--order", o.order, "of the window of spreading")
      ->check(whole_number(1, 8))
      ->capture_default_str();
  command->add_option("--uses", o.uses, "of what is prepared once")->check(any_number())->capture_default_str();
  command->add_option("--keys", o.keys, "of a reduction, in random order; default: as many as cells")
      ->check(any_number());
  add_device_options(*command, o.device);
  command->add_option("--precision", o.precision, "float or double")
      ->check(one_of(io::names_of<io::number_precision>))
      ->capture_default_str();
  command->add_flag("--deterministic{run_to_run}", o.reproducible, "same bits in every run")
      ->check(one_of(io::names_of<determinism>));
  command->add_flag("--json", o.json, "as JSON");
  command->footer(
      "Times are those that the profile of the device predicts for points that are distributed evenly, in random "
      "order.\n"
      "Without a GPU, --device cuda answers for an H200. docs/choosing.md says more.\n\n"
      "Examples:\n"
      "  quadrat choose --n 1e6 --cells 64,64,64\n"
      "  quadrat choose spread --n 1e5 --cells 512 --uses 100 --device cuda\n\n"
      "Returns 0; 1 when something failed; 2 when the command line is wrong.");
  command->callback([options] { run_choose(*options); });
}

}  // namespace quadrat::program
