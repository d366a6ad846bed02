// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "program/commands.hpp"
#include "program/explain.hpp"
#include "program/neighbors/box.hpp"
#include "program/neighbors/estimate.hpp"
#include "program/neighbors/options.hpp"
#include "program/neighbors/radii.hpp"
#include "program/neighbors/rdf.hpp"
#include "program/neighbors/report.hpp"
#include "program/neighbors/search.hpp"
#include "program/option_checks.hpp"
#include "program/particle_file.hpp"
#include "program/process/activity.hpp"
#include "program/process/stopwatch.hpp"
#include "program/table_output.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/io/scene.hpp"
#include "quadrat/search/nearest_neighbors.hpp"
#include "quadrat/search/neighbor_list.hpp"

namespace quadrat::program {
namespace {

/// Checks that need no data.
void check_neighbors_options(const neighbors_options& options) {
  const bool without_cutoff = options.knn > 0 || !options.radii.empty();
  require((options.cutoff > 0 && std::isfinite(options.cutoff)) || (without_cutoff && options.cutoff == 0),
          "--cutoff is ", options.cutoff, "; it must be positive and finite");
  require(options.radii.empty() || options.cutoff == 0,
          "--radii gives each pair a cutoff of its own, and --cutoff all pairs the same; give one of them");
  require(options.knn == 0 || options.radii.empty(), "--radii gives cutoffs to pairs; --knn has one for all points");
  require(options.rule.empty() || !options.radii.empty(), "--rule ", options.rule, " needs --radii");
  require(options.rule != "own" || !options.half,
          "--rule own may list (i, j) without (j, i), so that --half has no meaning");
  require(options.knn == 0 || !options.half, "--half lists pairs, and --knn rows of neighbors; give one of them");
  require(options.knn == 0 || options.method.empty() || options.method == "auto", "--method ", options.method,
          " finds pairs nearer than a cutoff; --knn has one method");
  const char* const alone = options.bins ? "--bins" : options.types ? "--types" : nullptr;
  require(alone == nullptr, alone == nullptr ? "" : alone, " needs --rdf");
  if (options.output) check_table_output(*options.output, options.json, options.points, "pairs");
}

/// Warns of or rejects input that would fail only after hours: a cutoff in another unit, or a box far smaller than the
/// cutoff.
void check_expectations(const neighbors_options& options, const particle_file& particles, const search_box& box) {
  const double neighbors = expected_neighbors(particles, box, options.cutoff);
  const double pairs = neighbors * static_cast<double>(particles.size());
  constexpr double most = 4294967296.0, for_minutes = 2e11;
  require(neighbors < 2 * most, "with a cutoff of ", options.cutoff, " each point has about ", neighbors,
          " neighbors, images of the box included; fewer than ", most, " are possible. Is the box in the same unit?");
  if (pairs < for_minutes || options.quiet) return;
  std::fprintf(
      stderr, "quadrat: note: about %.2g pairs are to be expected, which takes long; Ctrl-C stops the search\n", pairs);
}

/// The largest cutoff of any pair.
double cutoff_of(const neighbors_options& options, const std::vector<double>& radii) {
  if (options.radii.empty()) return options.cutoff;
  if (radii.empty()) return 1;  // without points any value will do
  const double largest = *std::max_element(radii.begin(), radii.end());
  require(largest > 0, "--radii ", options.radii, ": all radii are 0");
  return options.rule.empty() || options.rule == "sum" ? 2 * largest : largest;
}

void run_neighbors(neighbors_options options) {
  if (options.rdf) return run_rdf(options);
  double total = 0, reading = 0;
  const stopwatch time(total);
  check_neighbors_options(options);
  activity doing(!options.quiet);
  doing.begins("reading " + options.points);
  const particle_file particles = [&] {
    const stopwatch reading_time(reading);
    return read_particles(options.points, 1);
  }();
  std::vector<double> radii;
  if (!options.radii.empty()) radii = read_radii(options.radii, particles);
  options.cutoff = cutoff_of(options, radii);
  doing.begins("searching");
  if (!options.quiet) note_what_is_left_out(particles);
  const search_box box = choose_box(options.box, particles, options.cutoff);
  if (options.knn == 0 && radii.empty()) check_expectations(options, particles, box);
  neighbors_report report =
      options.knn == 0 ? find_neighbors(options, particles, radii, box) : find_nearest(options, particles, box);
  report.reading_seconds = reading;
  report.total_seconds = time.elapsed();
  doing.end();
  if (options.json) {
    std::puts(explained_json(as_json(report, options, particles, box), options.explain, report.explanation).c_str());
  } else if (!options.quiet) {
    const std::string text = as_text(report, options, particles, box);
    std::fputs(explained_text(text, options.explain, report.explanation).c_str(), summary_stream(options.output));
  }
}

std::string neighbors_footer() {
  std::string text = "Methods (all find the same pairs):\n";
  for (const neighbor_method& method : neighbor_methods()) {
    const char* const where = method.on_cpu ? (method.on_cuda ? "cpu, cuda" : "cpu") : "cuda";
    text += fmt::format("  {:<14} {:<10} {}\n", method.name, where, method.summary);
  }
  return text +
         "Pairs (i, j, S) are in order of i, then j, then S; points count from 0. S says which image of j: it lies\n"
         "at position[j] + S times the vectors of the box. With --knn, rows of neighbors are in order of distance,\n"
         "then j, then S. docs/guides/neighbors.md says more.\n\n"
         "Examples:\n"
         "  quadrat neighbors points.npy --cutoff 0.1                       open, counts only\n"
         "  quadrat neighbors points.csv --cutoff 0.1 --box 1,1,1 --periodic xyz -o pairs.csv\n"
         "  quadrat neighbors atoms.xyz --cutoff 5 --half -o pairs.npy      Lattice and pbc of the file\n"
         "  quadrat neighbors points.npy --knn 8 -o nearest.npy              the 8 nearest of each point\n"
         "  quadrat neighbors run.xyz --cutoff 8 --rdf --types -o rdf.csv\n"
         "  quadrat neighbors particles.csv --radii h --rule larger          a radius for each point: column h\n"
         "  quadrat neighbors points.npy --cutoff 0.1 --device cuda --json > counts.json\n\n"
         "Returns 0; 1 when something failed; 2 when the command line is wrong; 130 after Ctrl-C.";
}

}  // namespace

void add_neighbors(CLI::App& app) {
  CLI::App* const command =
      app.add_subcommand("neighbors", "Find all pairs of points nearer than a cutoff, or the nearest neighbors");
  const auto options = std::make_shared<neighbors_options>();
  neighbors_options& o = *options;
  command->add_option("POINTS", o.points, ".npy (N, N x 1, N x 2 or N x 3), .csv (x[,y[,z]]), extended .xyz or .gsd")
      ->required()
      ->check(existing_file())
      ->type_name("");
  auto* const cutoff = command->add_option("--cutoff", o.cutoff, "pairs nearer than this are neighbors")
                           ->check(any_number())
                           ->type_name("R");
  auto* const knn =
      command
          ->add_option("--knn", o.knn,
                       "the K nearest neighbors of each point, 1 to 64; --cutoff is then the largest distance")
          ->check(CLI::Range(1, static_cast<int>(most_nearest_neighbors)))
          ->type_name("K");
  auto* const radii =
      command
          ->add_option(
              "--radii", o.radii,
              "a radius for each point instead of a cutoff: a column of the .csv, or an .npy file of N numbers")
          ->type_name("SOURCE");
  command
      ->add_option("--rule", o.rule,
                   "with --radii: neighbors are nearer than the sum of both radii (default), the "
                   "larger one, or that of the row's own point")
      ->check(one_of(radius_rules));
  add_box_options(*command, o.box, "lengths of the box, or all components of its vectors; default: around the points",
                  "Lx[,Ly[,Lz]]");
  command->add_flag("--rdf", o.rdf,
                    "instead of pairs: g(r), the radial distribution function, over all frames of an .xyz file");
  command->add_option("--bins", o.bins, "bins of g(r), from 0 to the cutoff; default: 200")
      ->check(whole_number(1, 1 << 20))
      ->type_name("N");
  command->add_flag("--types", o.types, "one g(r) for each pair of species of an .xyz file");
  command->add_flag("--half", o.half, "each pair once (i < j) instead of twice");
  command->add_option("--method,--order", o.method, "how to search; default: auto")->type_name("NAME");
  add_device_options(*command, o.device);
  command->add_option("--precision", o.precision, "float or double; default: that of the file")
      ->check(one_of(io::names_of<io::number_precision>));
  add_output_option(*command, o.output,
                    "pairs: .npy (P x 2, int64; with --knn N x K) or .csv (with shifts, distances)");
  command->add_flag("--json", o.json, "print counts and statistics as JSON, and nothing else, on stdout");
  add_explain_option(*command, o.explain);
  command->add_flag("--quiet", o.quiet, "print nothing");
  command->footer(neighbors_footer());
  command->callback([options, cutoff, knn, radii] {
    require(!cutoff->empty() || !knn->empty() || !radii->empty(),
            "--cutoff is missing: pairs nearer than this are neighbors. Or give --knn or --radii");
    require(radii->empty() || !options->radii.empty(), "--radii is empty; it must name a column or a file");
    require(cutoff->empty() || options->cutoff != 0, "--cutoff is 0; it must be positive and finite");
    run_neighbors(*options);
  });
}

}  // namespace quadrat::program
