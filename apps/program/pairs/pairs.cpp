// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "program/commands.hpp"
#include "program/option_checks.hpp"
#include "program/pairs/count.hpp"
#include "program/pairs/options.hpp"
#include "program/process/activity.hpp"
#include "program/process/progress_bar.hpp"
#include "program/process/rank_of_several.hpp"
#include "program/process/stopwatch.hpp"
#include "program/run/ranks/ranks.hpp"
#include "program/table_output.hpp"
#include "quadrat/io/csv.hpp"
#include "quadrat/io/scene.hpp"

namespace quadrat::program {
namespace {

using json = nlohmann::ordered_json;

/// The names of the axes of coordinates; the second one is empty if there is one axis.
std::vector<std::string> axes_of(pair_coordinates coordinates) {
  switch (coordinates) {
    case pair_coordinates::rp_pi:
      return {"rp", "pi"};
    case pair_coordinates::s_mu:
      return {"s", "mu"};
    case pair_coordinates::theta:
      return {"theta"};
    default:
      return {"r"};
  }
}

void write_table(const std::string& file, const pairs_run& run) {
  const pair_counts_result& found = run.pairs;
  const std::vector<std::string> axes = axes_of(run.options.coordinates);
  std::vector<std::string> names;
  for (const std::string& axis : axes) names.insert(names.end(), {axis + "_low", axis + "_high"});
  names.emplace_back("pairs");
  const auto add_name = [&](const std::vector<double>& values, const std::string& name) {
    if (!values.empty()) names.push_back(name);
  };
  add_name(found.weights, "weights");
  add_name(found.mean_separations, "mean_" + axes[0]);
  add_name(run.correlation, "correlation");
  add_name(run.errors, "error");
  io::csv_writer out(file, std::vector<std::string_view>(names.begin(), names.end()));
  const std::size_t second = run.options.second_edges.empty() ? 1 : run.options.second_edges.size() - 1;
  for (std::size_t bin = 0; bin < found.counts.size(); ++bin) {
    out.add(run.options.edges[bin / second]);
    out.add(run.options.edges[bin / second + 1]);
    if (axes.size() == 2) {
      out.add(run.options.second_edges[bin % second]);
      out.add(run.options.second_edges[bin % second + 1]);
    }
    out.add(found.counts[bin]);
    for (const auto* values : {&found.weights, &found.mean_separations, &run.correlation, &run.errors}) {
      if (!values->empty()) out.add((*values)[bin]);
    }
    out.end_row();
  }
  out.commit();
}

/// Rows of values, one of `length` after another.
template <typename T, typename AsJson>
json by_rows(const std::vector<T>& values, std::size_t length, const AsJson& as_json) {
  if (values.empty()) return {};
  json rows = json::array();
  const auto step = static_cast<std::ptrdiff_t>(length);
  for (auto row = values.begin(); row != values.end(); row += step) {
    rows.push_back(as_json(std::vector<T>(row, row + step)));
  }
  return rows;
}

/// Values by bin: a row for each bin of the first axis if there are two.
template <typename T>
json by_bins(const std::vector<T>& values, const pair_counts_options& options) {
  if (values.empty() || options.second_edges.empty()) return values.empty() ? json() : json(values);
  return by_rows(values, options.second_edges.size() - 1, [](const std::vector<T>& row) { return json(row); });
}

json as_json(const pair_counts_result& found, const pair_counts_options& options) {
  const auto by_regions = [&](const auto& values) {
    return by_rows(values, found.counts.size(), [&](const auto& row) { return by_bins(row, options); });
  };
  return {{"counts", by_bins(found.counts, options)},
          {"weights", by_bins(found.weights, options)},
          {"mean_separations", by_bins(found.mean_separations, options)},
          {"region_counts", by_regions(found.region_counts)},
          {"region_weights", by_regions(found.region_weights)}};
}
json as_json(const std::optional<pair_counts_result>& found, const pair_counts_options& options) {
  return found ? as_json(*found, options) : json();
}

/// [bin][bin], of the bins of `projected` if there is one.
json covariance_as_json(const pairs_run& run) {
  const std::size_t bins = run.projected.empty() ? run.correlation.size() : run.projected.size();
  return by_rows(run.covariance, bins, [](const std::vector<double>& row) { return json(row); });
}

json as_json(const pairs_options& given, const pairs_run& run) {
  const pair_counts_options& options = run.options;
  return {{"program", program_json()},
          {"device", as_json(run.device)},
          {"ranks", run.ranks},
          {"points", as_json(run.data.particles)},
          {"others", run.others ? as_json(run.others->particles) : json()},
          {"randoms", run.randoms ? as_json(run.randoms->particles) : json()},
          {"box", run.box ? as_json(*run.box, 3) : json()},
          {"coordinates", given.coordinates},
          {"precision", run.single ? "float" : "double"},
          {"edges", options.edges},
          {"second_edges", options.second_edges},
          {"pairs", as_json(run.pairs, options)},
          {"data_randoms", as_json(run.data_randoms, options)},
          {"other_randoms", as_json(run.other_randoms, options)},
          {"random_pairs", as_json(run.random_pairs, options)},
          {"estimator", run.estimator.empty() ? json() : json(run.estimator)},
          {"correlation", by_bins(run.correlation, options)},
          {"projected", run.projected.empty() ? json() : json(run.projected)},
          {"regions", options.regions},
          {"errors", by_bins(run.errors, options)},
          {"covariance", covariance_as_json(run)},
          {"performance",
           {{"reading_seconds", run.reading_seconds},
            {"counting_seconds", run.counting_seconds},
            {"total_seconds", run.total_seconds},
            {"memory_bytes", run.memory_bytes > 0 ? json(run.memory_bytes) : json()}}},
          {"output", given.output ? json(*given.output) : json()}};
}

std::string as_text(const pairs_options& given, const pairs_run& run) {
  const pair_counts_options& options = run.options;
  std::uint64_t pairs = 0;
  for (const std::uint64_t count : run.pairs.counts) pairs += count;
  std::string text = fmt::format("{}: {} pairs of {} points", given.points, with_commas(pairs),
                                 with_commas(run.data.particles.size()));
  if (run.others) text += fmt::format(" with {} others", with_commas(run.others->particles.size()));
  const std::vector<std::string> axes = axes_of(options.coordinates);
  text += fmt::format("\n  bins       {} of {} from {:.4g} to {:.4g}\n", options.edges.size() - 1, axes[0],
                      options.edges.front(), options.edges.back());
  if (axes.size() == 2) {
    text += fmt::format("             {} of {} from {:.4g} to {:.4g}\n", options.second_edges.size() - 1, axes[1],
                        options.second_edges.front(), options.second_edges.back());
  }
  if (run.box) text += fmt::format("  box        {}\n", as_text(*run.box, 3));
  if (run.randoms) text += fmt::format("  randoms    {} points\n", with_commas(run.randoms->particles.size()));
  if (!run.estimator.empty()) {
    text += fmt::format("  {:<{}}{}\n", "estimator", 11, run.estimator);
    const std::vector<double>& values = run.projected.empty() ? run.correlation : run.projected;
    text += fmt::format("  {} of the {} bins: {:.4g} to {:.4g}\n", run.projected.empty() ? "correlation" : "projected",
                        values.size(), values.front(), values.back());
  }
  if (options.regions > 0) text += fmt::format("  regions    {}\n", with_commas(options.regions));
  text += fmt::format("  time       {:.3g} s on {}: {}\n", run.counting_seconds, as_text(run.device),
                      run.single ? "float" : "double");
  if (given.output) text += fmt::format("  output     {}\n", *given.output);
  return text;
}

void run_pairs(const pairs_options& options) {
  double total = 0;
  const stopwatch time(total);
  if (options.output) {
    check_output_file(
        *options.output, options.json,
        {options.points, options.others.value_or(options.points), options.randoms.value_or(options.points)},
        "pair counts", {".csv"});
  }
  static_cast<void>(wants_ranks(options.device.devices));  // which may be refused, before files are read
  activity doing(!options.quiet && speaks());
  doing.begins("reading " + options.points);
  pairs_run run = read_pairs_run(options);
  doing.begins("counting");
  if (!options.quiet && speaks()) note_what_is_left_out(run.data.particles);
  count(options, run);
  if (!speaks()) return;
  if (options.output) write_table(*options.output, run);
  run.total_seconds = time.elapsed();
  doing.end();
  if (options.json) {
    std::puts(as_json(options, run).dump(2).c_str());
  } else if (!options.quiet) {
    std::fputs(as_text(options, run).c_str(), summary_stream(options.output));
  }
}

constexpr const char* pairs_footer =
    "Bin k holds separations from its lower edge to below its upper edge. Pairs of one set are ordered: each pair of\n"
    "two points counts twice, and each point with itself, at 0. The line of sight is z. With --randoms, the "
    "correlation\n"
    "function is computed, too; with rp_pi also w_p (\"projected\" in --json). docs/guides/pair-counts.md says "
    "more.\n"
    "With --regions the pairs of each region are counted in the same pass (\"region_counts\" in --json), and errors "
    "are\n"
    "found by leaving out one region after another (\"errors\", \"covariance\").\n\n"
    "Examples:\n"
    "  quadrat pairs points.npy --range 0.01,0.1 --bins 10 --log --box 1,1,1 --periodic xyz -o pairs.csv\n"
    "  quadrat pairs points.npy --edges 0.01,0.02,0.05 --others galaxies.npy --weights w.npy --json\n"
    "  quadrat pairs points.npy --coordinates rp_pi --range 1,20 --bins 8 --log --second-range 0,40 --second-bins 40 "
    "\\\n"
    "      --randoms randoms.npy -o correlation.csv\n"
    "  quadrat pairs sky.npy --coordinates theta --range 0.1,10 --bins 20 --log -o angles.csv\n\n"
    "Returns 0; 1 when something failed; 2 when the command line is wrong; 130 after Ctrl-C.";

void add_sets(CLI::App& command, pairs_options& o) {
  command.add_option("POINTS", o.points, ".npy (N x 3), .csv (x,y,z), extended .xyz or .gsd")
      ->required()
      ->check(existing_file())
      ->type_name("");
  const auto file = [&](const char* name, std::optional<std::string>& to, const char* help) {
    command.add_option(name, to, help)->check(existing_file())->type_name("FILE");
  };
  file("--weights", o.weights, ".npy (N,); default: all 1. The weight of a pair is a product");
  file("--others", o.others, "counts pairs with these points, a file like POINTS");
  file("--other-weights", o.other_weights, "of --others");
  file("--randoms", o.randoms, "random points in the region of the data, a file like POINTS");
  file("--random-weights", o.random_weights, "of --randoms");
  file("--regions", o.regions, ".npy (N,), integers from 0: jackknife regions, for errors of the correlation function");
  file("--other-regions", o.other_regions, "of --others");
  file("--random-regions", o.random_regions, "of --randoms");
}

void add_bins(CLI::App& command, pairs_options& o) {
  command
      .add_option("--coordinates", o.coordinates,
                  "distance; across and along the line of sight; distance and cosine; degrees between unit vectors")
      ->check(one_of(names_of_coordinates))
      ->capture_default_str();
  o.bins.add_to(command);
  command.add_flag("--log", o.bins.logarithmic, "logarithmic bins of --range, instead of bins of one width");
  command.add_option("--edges", o.edges, "all edges, instead of --range")->type_name("E,E,...");
  o.second_bins.add_to(command);
  command.add_option("--second-edges", o.second_edges, "of pi or mu")->type_name("E,E,...");
  command.add_flag("--mean-separation", o.mean_separation, "also the mean of r, r_p, s or theta in each bin");
  command
      .add_option("--estimator", o.estimator,
                  "of the correlation function; uniform: against uniform points in a periodic box, without --randoms; "
                  "default: landy-szalay with --randoms")
      ->check(one_of(names_of_estimators));
}

}  // namespace

void add_pairs(CLI::App& app) {
  CLI::App* const command = app.add_subcommand("pairs", "Pair counts and correlation functions of points");
  const auto options = std::make_shared<pairs_options>();
  pairs_options& o = *options;
  add_sets(*command, o);
  add_bins(*command, o);
  add_box_options(*command, o.box, "lengths of the box, or all components of its vectors; default: around the points",
                  "Lx,Ly,Lz");
  add_device_options(*command, o.device);
  add_devices_option(*command, o.device.devices);
  command->add_option("--precision", o.precision, "float or double; default: that of the files")
      ->check(one_of(io::names_of<io::number_precision>));
  add_output_option(*command, o.output, "a table, .csv: r_low, r_high, pairs, ...");
  command->add_flag("--json", o.json, "print the counts as JSON, and nothing else, on stdout");
  command->add_flag("--quiet", o.quiet, "print nothing");
  command->footer(pairs_footer);
  command->callback([options] { run_pairs(*options); });
}

}  // namespace quadrat::program
