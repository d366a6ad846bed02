// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "program/pairs/count.hpp"
#include "program/process/stopwatch.hpp"
#include "program/reduce/arrays.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::program {
namespace {

std::vector<double> edges_of(const char* name, const std::optional<std::string>& edges, const bin_options& bins) {
  if (!edges) return bins.edges();
  require(!bins.range && bins.number == 0 && !bins.logarithmic, name, " gives all edges; it excludes ",
          bins.range_option, ", ", bins.number_option, " and --log");
  return numbers_of_option(name, *edges);
}

pair_counts_options counts_options_of(const pairs_options& given) {
  pair_counts_options options;
  options.coordinates = static_cast<pair_coordinates>(std::ranges::find(names_of_coordinates, given.coordinates) -
                                                      std::begin(names_of_coordinates));
  options.edges = edges_of("--edges", given.edges, given.bins);
  require(!options.edges.empty(), "give the bins: --range LOW,HIGH --bins N, or --edges E,E,...");
  options.second_edges = edges_of("--second-edges", given.second_edges, given.second_bins);
  const bool two = given.coordinates == "rp_pi" || given.coordinates == "s_mu";
  require(two != options.second_edges.empty(), "--coordinates ", given.coordinates,
          two ? " needs --second-range LOW,HIGH --second-bins N, or --second-edges E,E,..."
              : " has one axis, without second bins");
  options.mean_separation = given.mean_separation;
  return options;
}

constexpr std::size_t most_regions = std::size_t{1} << 20;  // with one bin

std::vector<std::uint32_t> read_regions(const std::string& file, const particle_file& points) {
  const key_array read = read_keys(file, "regions");
  if (read.size() != points.size()) {
    throw io_error(message(file, ": ", read.size(), " regions; one for each of the ", points.size(), " points of ",
                           points.file, " is needed"));
  }
  return std::visit(
      [&](const auto& all) {
        const auto wrong = std::ranges::find_if(
            all, [&](auto region) { return std::cmp_less(region, 0) || !std::cmp_less(region, most_regions); });
        if (wrong != all.end()) {
          throw data_error(message(file, ": element [", wrong - all.begin(), "] is ", *wrong, "; regions are 0 to ",
                                   most_regions - 1));
        }
        return std::vector<std::uint32_t>(all.begin(), all.end());
      },
      read.keys);
}

counted_set read_counted_set(const std::string& file, const std::optional<std::string>& weights,
                             const std::optional<std::string>& regions) {
  counted_set set{read_particles(file), std::nullopt, {}, {}};
  if (set.particles.dimension != 3) {
    throw io_error(message(file, ": points in ", set.particles.dimension, " dimensions; pairs are counted in 3"));
  }
  if (weights) set.weights = read_weights(*weights, set.particles.size());
  if (regions) set.regions = read_regions(*regions, set.particles);
  return set;
}

/// Checks that all sets have regions or none.
void check_regions_options(const pairs_options& options) {
  require(options.others || !options.other_regions, "--other-regions needs --others");
  require(options.randoms || !options.random_regions, "--random-regions needs --randoms");
  const bool others = options.other_regions.has_value(), randoms = options.random_regions.has_value();
  require(options.regions || !(others || randoms), others ? "--other-regions" : "--random-regions", " needs --regions");
  require(!options.regions || others == options.others.has_value(), "--regions needs --other-regions FILE, too");
  require(!options.regions || randoms == options.randoms.has_value(), "--regions needs --random-regions FILE, too");
  require(!options.regions || options.estimator != "uniform",
          "--estimator uniform knows no volumes of --regions; give --randoms");
}

/// Sets the number of regions. Throws data_error unless each has a point.
void count_regions(pairs_run& run) {
  std::vector<bool> used;
  for (const counted_set* const set :
       {&run.data, run.others ? &*run.others : nullptr, run.randoms ? &*run.randoms : nullptr}) {
    if (set == nullptr) continue;
    for (const std::uint32_t region : set->regions) {
      if (region >= used.size()) used.resize(std::size_t{region} + 1);
      used[region] = true;
    }
  }
  const auto gap = std::ranges::find(used, false);
  if (gap != used.end()) {
    throw data_error(message("region ", gap - used.begin(), " of ", used.size(),
                             " has no points; regions are numbers from 0 without gaps"));
  }
  run.options.regions = used.size();
}

std::string estimator_of(const pairs_options& options) {
  std::string chosen = options.estimator.value_or(options.randoms ? "landy-szalay" : "");
  require(options.randoms || chosen.empty() || chosen == "uniform", "--estimator ", chosen, " needs --randoms FILE");
  require(!options.randoms || chosen != "uniform",
          "--estimator uniform compares with a periodic box, without --randoms");
  require(chosen != "uniform" || options.coordinates != "theta", "--estimator uniform needs a box; theta has none");
  return chosen;
}

void choose_space(const pairs_options& options, pairs_run& run) {
  if (options.coordinates == "theta") {
    require(!options.box.box && !options.box.origin && !options.box.periodic,
            "--coordinates theta is counted between unit vectors, without --box, --origin and --periodic");
    return;
  }
  run.box = choose_box(options.box, run.data.particles, run.options.edges.back());
  run.options.accept_outside = run.box->source != "--box";
  const vec<bool, 3>& periodic = run.box->periodic;
  require(run.estimator != "uniform" || (periodic[0] && periodic[1] && periodic[2]),
          "--estimator uniform needs a box that is periodic along all axes; give --box Lx,Ly,Lz --periodic xyz");
}

}  // namespace

pairs_run read_pairs_run(const pairs_options& options) {
  pairs_run run;
  const stopwatch time(run.reading_seconds);
  run.options = counts_options_of(options);
  run.estimator = estimator_of(options);
  require(options.others || !options.other_weights, "--other-weights needs --others");
  require(options.randoms || !options.random_weights, "--random-weights needs --randoms");
  check_regions_options(options);
  run.data = read_counted_set(options.points, options.weights, options.regions);
  run.single = run.data.particles.single_precision;
  const auto read_more = [&](const auto& file, const auto& weights, const auto& regions,
                             std::optional<counted_set>& to) {
    if (!file) return;
    to = read_counted_set(*file, weights, regions);
    run.single = run.single && to->particles.single_precision;
  };
  read_more(options.others, options.other_weights, options.other_regions, run.others);
  read_more(options.randoms, options.random_weights, options.random_regions, run.randoms);
  count_regions(run);
  if (options.precision) run.single = *options.precision == "float";
  run.weighted = options.weights || options.other_weights || options.random_weights;
  choose_space(options, run);
  return run;
}

}  // namespace quadrat::program
