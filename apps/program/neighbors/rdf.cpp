// SPDX-License-Identifier: BSD-3-Clause
#include "program/neighbors/rdf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "program/data_place.hpp"
#include "program/neighbors/box.hpp"
#include "program/particle_file.hpp"
#include "program/process/activity.hpp"
#include "program/process/progress_bar.hpp"
#include "program/process/stopwatch.hpp"
#include "program/run/summary.hpp"
#include "program/table_output.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/io/csv.hpp"
#include "quadrat/io/frames.hpp"
#include "quadrat/search/pair_histogram.hpp"

namespace quadrat::program {
namespace {

/// The histograms, and data about the computation.
struct rdf_report {
  used_device device;
  std::vector<std::string> species;  ///< by type; empty: all points have one type
  std::size_t points = 0;            ///< of all frames
  pair_histogram_result found;
  double total_seconds = 0;
};

/// Calls f(points, species) for each frame.
template <typename F>
void for_each_frame(const neighbors_options& options, F&& f) {
  if (!io::holds_frames(options.points)) return f(read_particles(options.points), std::vector<std::string>());
  io::for_each_frame(options.points, {.species = options.types},
                     [&](const io::file_frame& frame) { f(particles_of(frame), frame.species); });
}

/// The sorted names of all species of a file.
std::vector<std::string> species_of(const neighbors_options& options) {
  if (!options.types) return {};
  require(io::holds_frames(options.points), "--types needs the species of an .xyz or .gsd file; ", options.points,
          " has none");
  std::set<std::string> names;
  for_each_frame(options, [&](const particle_file& particles, const std::vector<std::string>& species) {
    require(species.size() == particles.size(), particles.place_of_box(), ": --types needs species:S:1 in Properties");
    names.insert(species.begin(), species.end());
  });
  return {names.begin(), names.end()};
}

template <typename Context, typename T, int D>
void count_frames(const Context& context, const neighbors_options& options, rdf_report& report) {
  pair_histogram_options<T> chosen;
  chosen.cutoff = static_cast<T>(options.cutoff);
  chosen.bins = static_cast<std::size_t>(options.bins.value_or(200));
  chosen.types = static_cast<std::uint32_t>(std::max<std::size_t>(report.species.size(), 1));
  chosen.accept_outside = !options.box.box;
  pair_histogram<Context, T, D> histogram(context, chosen);
  for_each_frame(options, [&](const particle_file& particles, const std::vector<std::string>& species) {
    std::vector<std::uint32_t> types;
    for (const std::string& name : species) {
      types.push_back(
          static_cast<std::uint32_t>(std::ranges::lower_bound(report.species, name) - report.species.begin()));
    }
    naming_places(particles.file, particles.lines, [&] {
      const auto box = lattice_of<T, D>(choose_box(options.box, particles, options.cutoff));
      const auto points = to_device(context, points_in<T, D>(particles));
      const auto there = to_device(context, types);
      histogram.add(points_of(points), box, types.empty() ? nullptr : there.data());
    });
    report.points += particles.size();
  });
  report.found = histogram.result();
}

template <typename Context>
void count_on(const Context& context, const neighbors_options& options, rdf_report& report) {
  const bool frames = io::holds_frames(options.points);
  const particle_file first = frames ? particle_file() : read_particles(options.points);
  const bool single = options.precision ? *options.precision == "float" : first.single_precision;
  if (first.dimension == 2) {
    single ? count_frames<Context, float, 2>(context, options, report)
           : count_frames<Context, double, 2>(context, options, report);
  } else {
    single ? count_frames<Context, float, 3>(context, options, report)
           : count_frames<Context, double, 3>(context, options, report);
  }
  report.device = used(context);
}

/// Names of the curves: "g", or "H-O" for a pair of species.
std::vector<std::string> curves_of(const rdf_report& report) {
  std::vector<std::string> names;
  for (std::size_t a = 0; a < report.species.size(); ++a) {
    for (std::size_t b = a; b < report.species.size(); ++b) {
      names.push_back(report.species[a] + "-" + report.species[b]);
    }
  }
  return names.empty() ? std::vector<std::string>{""} : names;
}

/// A field of a CSV header, quoted if necessary.
std::string quoted(const std::string& name) {
  if (name.find_first_of(",\"") == std::string::npos) return name;
  std::string text = "\"";
  for (const char letter : name) text += letter == '"' ? std::string("\"\"") : std::string(1, letter);
  return text + "\"";
}

void write_table(const std::string& file, const rdf_report& report) {
  std::vector<std::string> names{"r"};
  for (const std::string& curve : curves_of(report)) {
    for (const char* const what : {"g", "pairs"}) names.push_back(quoted(curve.empty() ? what : what + (" " + curve)));
  }
  const std::vector<std::string_view> views(names.begin(), names.end());
  const pair_histogram_result& found = report.found;
  io::csv_writer out(file, views);
  for (std::size_t bin = 0; bin < found.bins; ++bin) {
    out.add(found.center(bin));
    for (std::size_t k = bin; k < found.counts.size(); k += found.bins) {
      out.add(found.rdf[k]);
      out.add(found.counts[k]);
    }
    out.end_row();
  }
  out.commit();
}

nlohmann::ordered_json as_json(const rdf_report& report, const neighbors_options& options) {
  const pair_histogram_result& found = report.found;
  return {{"program", program_json()},
          {"device", as_json(report.device)},
          {"points", {{"file", options.points}, {"frames", found.frames}, {"count", report.points}}},
          {"rdf", {{"cutoff", options.cutoff}, {"bins", found.bins}, {"species", report.species}}},
          {"pairs", std::accumulate(found.counts.begin(), found.counts.end(), std::uint64_t{0})},
          {"performance", {{"total_seconds", report.total_seconds}}},
          {"output", options.output ? nlohmann::ordered_json(*options.output) : nlohmann::ordered_json()}};
}

std::string as_text(const rdf_report& report, const neighbors_options& options) {
  const pair_histogram_result& found = report.found;
  const auto highest = static_cast<std::size_t>(std::ranges::max_element(found.rdf) - found.rdf.begin());
  std::string text =
      fmt::format("{}: g(r) of {} points in {} frame{} within {}\n", options.points, with_commas(report.points),
                  found.frames, found.frames == 1 ? "" : "s", options.cutoff);
  if (!report.species.empty()) text += fmt::format("  species    {}\n", fmt::join(report.species, ", "));
  text += fmt::format("  peak       {:.4g} at {:.4g}\n", found.rdf[highest], found.center(highest % found.bins));
  text += fmt::format("  search     {:.3g} s in total on {}\n", report.total_seconds, as_text(report.device));
  if (options.output) text += fmt::format("  output     {}\n", *options.output);
  if (options.output && options.output->ends_with(".csv")) text += plot_hint(*options.output);
  return text;
}

void check_rdf_options(const neighbors_options& options) {
  require(options.cutoff > 0 && std::isfinite(options.cutoff), "--cutoff is ", options.cutoff,
          "; it must be positive and finite");
  require(options.knn == 0, "--knn lists the nearest neighbors; --rdf counts all pairs; give one of them");
  require(!options.half, "--half is for pairs; with --rdf all pairs are counted");
  require(options.radii.empty() && options.rule.empty(), "--radii and --rule are for pairs; --rdf has one cutoff");
  require(options.method.empty(), "--method is for pairs; there is one method for --rdf");
  if (options.output) check_output_file(*options.output, options.json, {options.points}, "values of g(r)", {".csv"});
}

}  // namespace

void run_rdf(const neighbors_options& options) {
  rdf_report report;
  const stopwatch time(report.total_seconds);
  check_rdf_options(options);
  activity doing(!options.quiet);
  doing.begins("reading " + options.points);
  report.species = species_of(options);
  doing.begins("counting");
  on_device(options.device, [&](const auto& context) { count_on(context, options, report); });
  if (options.output) write_table(*options.output, report);
  report.total_seconds = time.elapsed();
  doing.end();
  if (options.json) {
    std::puts(as_json(report, options).dump(2).c_str());
  } else if (!options.quiet) {
    std::fputs(as_text(report, options).c_str(), summary_stream(options.output));
  }
}

}  // namespace quadrat::program
