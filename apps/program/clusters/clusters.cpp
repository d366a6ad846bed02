// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "program/clusters/options.hpp"
#include "program/clusters/report.hpp"
#include "program/clusters/search.hpp"
#include "program/commands.hpp"
#include "program/neighbors/box.hpp"
#include "program/option_checks.hpp"
#include "program/particle_file.hpp"
#include "program/process/activity.hpp"
#include "program/process/rank_of_several.hpp"
#include "program/process/stopwatch.hpp"
#include "program/run/ranks/ranks.hpp"
#include "program/table_output.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/io/scene.hpp"

namespace quadrat::program {
namespace {

void check_groups_options(const clusters_options& options) {
  if (!options.groups) {
    require(!options.velocities, "--velocities is for the table of groups; add --groups FILE");
    require(options.least_size == 1, "--least-size is for the table of groups; add --groups FILE");
    require(!options.by_size, "--by-size is for the table of groups; add --groups FILE");
    return;
  }
  require(options.groups != options.output, "--groups and --output are the same file, ", *options.groups);
  check_output_file(*options.groups, options.json, {options.points, options.velocities.value_or(options.points)},
                    "tables of groups", {".csv"}, "--groups");
}

void run_clusters(const clusters_options& options) {
  double total = 0, reading = 0;
  const stopwatch time(total);
  require(options.cutoff > 0 && std::isfinite(options.cutoff), "--cutoff is ", options.cutoff,
          "; it must be positive and finite");
  if (options.output) check_table_output(*options.output, options.json, options.points, "labels");
  check_groups_options(options);
  require(!wants_ranks(options.device.devices) || !options.groups,
          "--groups makes a catalog, which is for one rank; leave out --devices and mpirun");
  activity doing(!options.quiet && speaks());
  doing.begins("reading " + options.points);
  const particle_file particles = [&] {
    const stopwatch reading_time(reading);
    return read_particles(options.points, 1);
  }();
  doing.begins("searching");
  if (!options.quiet && speaks()) note_what_is_left_out(particles);
  const search_box box = choose_box(options.box, particles, options.cutoff);
  clusters_report report = find_clusters(options, particles, box);
  if (!speaks()) return;
  report.reading_seconds = reading;
  report.total_seconds = time.elapsed();
  doing.end();
  if (options.json) {
    std::puts(as_json(report, options, particles, box).dump(2).c_str());
  } else if (!options.quiet) {
    std::fputs(as_text(report, options, particles, box).c_str(), summary_stream(options.output));
  }
}

constexpr const char* clusters_footer =
    "Points closer than R are linked. Without --min-points, clusters are all points connected by links "
    "(friends-of-friends).\n"
    "With --min-points N, only core points connect: those with N or more points closer than R, themselves included "
    "(DBSCAN).\n"
    "Labels count from 0, by the smallest index of a core point; -1: in no cluster. docs/guides/clusters.md says "
    "more.\n\n"
    "Examples:\n"
    "  quadrat clusters points.npy --cutoff 0.1                                friends-of-friends, sizes only\n"
    "  quadrat clusters points.npy --cutoff 0.1 --min-points 5 -o labels.npy   DBSCAN\n"
    "  quadrat clusters points.npy --cutoff 0.1 --groups groups.csv --by-size  centers and shapes, the largest first\n"
    "  quadrat clusters points.csv --cutoff 0.1 --box 1,1,1 --periodic xyz -o labels.csv\n"
    "  quadrat clusters atoms.xyz --cutoff 3 --json > clusters.json            Lattice, pbc of the file; all sizes\n\n"
    "Returns 0; 1 when something failed; 2 when the command line is wrong; 130 after Ctrl-C.";

}  // namespace

void add_clusters(CLI::App& app) {
  CLI::App* const command = app.add_subcommand("clusters", "Find clusters of points (friends-of-friends, DBSCAN)");
  const auto options = std::make_shared<clusters_options>();
  clusters_options& o = *options;
  command->add_option("POINTS", o.points, ".npy (N, N x 1, N x 2 or N x 3), .csv (x[,y[,z]]), extended .xyz or .gsd")
      ->required()
      ->check(existing_file())
      ->type_name("");
  command->add_option("--cutoff", o.cutoff, "points closer than this are linked")
      ->required()
      ->check(any_number())
      ->type_name("R");
  command
      ->add_option("--min-points", o.min_points,
                   "a core point has at least N points closer than R, itself included; default: 1")
      ->check(whole_number(1, std::numeric_limits<std::uint32_t>::max()))
      ->type_name("N");
  add_box_options(*command, o.box, "lengths of the box, or all components of its vectors; default: around the points",
                  "Lx[,Ly[,Lz]]");
  add_device_options(*command, o.device);
  add_devices_option(*command, o.device.devices);
  command->add_option("--precision", o.precision, "float or double; default: that of the file")
      ->check(one_of(io::names_of<io::number_precision>));
  add_output_option(*command, o.output, "the label of each point: .npy (N, int64) or .csv (label)");
  command
      ->add_option("--groups", o.groups,
                   "a table of the clusters, .csv: label, size, central point, center, velocity, tensor of inertia")
      ->type_name("FILE");
  command->add_option("--velocities", o.velocities, "with --groups: of the points, as POINTS")
      ->check(existing_file())
      ->type_name("FILE");
  command->add_option("--least-size", o.least_size, "with --groups: smaller clusters are left out; default: 1")
      ->check(whole_number(1, std::numeric_limits<std::uint32_t>::max()))
      ->type_name("N");
  command->add_flag("--by-size", o.by_size, "with --groups: the largest first, instead of by label");
  command->add_flag("--json", o.json, "print the sizes of all clusters as JSON, and nothing else, on stdout");
  command->add_flag("--quiet", o.quiet, "print nothing");
  command->footer(clusters_footer);
  command->callback([options] { run_clusters(*options); });
}

}  // namespace quadrat::program
