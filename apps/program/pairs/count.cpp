// SPDX-License-Identifier: BSD-3-Clause
#include "program/pairs/count.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <variant>

#include "program/data_place.hpp"
#include "program/process/stopwatch.hpp"
#include "program/reduce/arrays.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/search/pair_correlation.hpp"

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

/// A set in the memory of a context. If any set has weights, those of the others are 1.
template <typename Context, typename T>
struct counted_set_there {
  counted_set_there(const Context& context, counted_set& set, bool weighted, std::size_t region_count)
      : points(to_device(context, points_in<T, 3>(set.particles))) {
    const std::vector<T> values = set.weights ? set.weights->take<T>() : std::vector<T>(set.particles.size(), T(1));
    set.region_weights.resize(region_count);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto value = static_cast<double>(values[i]);
      set.weight += value;
      set.squares += value * value;
      if (region_count > 0) set.region_weights[set.regions[i]] += value;
    }
    if (weighted) weights = to_device(context, values);
    regions = to_device(context, set.regions);
  }

  array<vec<T, 3>, Context> points;
  array<T, Context> weights;
  array<std::uint32_t, Context> regions;
};

template <typename Context, typename T>
class pairs_counter {
 public:
  using set = counted_set_there<Context, T>;

  pairs_counter(const Context& context, const pairs_run& run)
      : context_(context),
        weighted_(run.weighted),
        counter_(run.box ? pair_counts<Context, T, 3>(context, lattice_of<T, 3>(*run.box), run.options)
                         : pair_counts<Context, T, 3>(context, run.options)) {}

  [[nodiscard]] set bring(counted_set& given) const {
    return naming_places(given.particles.file, given.particles.lines,
                         [&] { return set(context_, given, weighted_, counter_.options().regions); });
  }
  [[nodiscard]] pair_counts_result count(const counted_set& given, const set& there) {
    return naming_places(given.particles.file, given.particles.lines, [&] {
      return counter_.count(points_of(there.points), there.weights.data(), there.regions.data());
    });
  }
  /// An error may be about either file: its words tell "point" and "other point".
  [[nodiscard]] pair_counts_result count_between(const counted_set& given, const set& there, const counted_set& others,
                                                 const set& others_there) {
    return naming_places(given.particles.file + " with " + others.particles.file, {}, [&] {
      return counter_.count_between(points_of(there.points), points_of(others_there.points), there.weights.data(),
                                    others_there.weights.data(), there.regions.data(), others_there.regions.data());
    });
  }
  [[nodiscard]] std::size_t bytes() const { return counter_.bytes(); }

 private:
  Context context_;
  bool weighted_;
  pair_counts<Context, T, 3> counter_;
};

template <typename T, typename Context>
void count_on(const Context& context, pairs_run& run) {
  pairs_counter<Context, T> counter(context, run);
  const auto data = counter.bring(run.data);
  std::optional<counted_set_there<Context, T>> others, randoms;
  if (run.others) others.emplace(counter.bring(*run.others));
  if (run.randoms) randoms.emplace(counter.bring(*run.randoms));
  const stopwatch time(run.counting_seconds);
  run.pairs = others ? counter.count_between(run.data, data, *run.others, *others) : counter.count(run.data, data);
  if (randoms) {
    run.random_pairs = counter.count(*run.randoms, *randoms);
    if (run.estimator == "landy-szalay") {
      run.data_randoms = counter.count_between(run.data, data, *run.randoms, *randoms);
      if (others) run.other_randoms = counter.count_between(*run.others, *others, *run.randoms, *randoms);
    }
  }
  run.memory_bytes = counter.bytes();
  run.device = used(context);
}

/// A region that is left out, or none.
using left_out = std::optional<std::size_t>;

/// Sums of the products of weights, or counts.
std::vector<double> numbers_in(const pair_counts_result& found, left_out region) {
  const std::size_t bins = found.counts.size();
  std::vector<double> numbers(found.counts.begin(), found.counts.end());
  if (!found.weights.empty()) numbers = found.weights;
  for (std::size_t k = 0; k < bins && region; ++k) {
    const std::size_t at = *region * bins + k;
    numbers[k] -= found.weights.empty() ? static_cast<double>(found.region_counts[at]) : found.region_weights[at];
  }
  return numbers;
}
double weight_of(const counted_set& set, left_out region) {
  return set.weight - (region ? set.region_weights[*region] : 0);
}

double volume_of(const search_box& box) {
  const auto& v = box.vectors;
  return std::fabs(v[0][0] * (v[1][1] * v[2][2] - v[1][2] * v[2][1]) -
                   v[0][1] * (v[1][0] * v[2][2] - v[1][2] * v[2][0]) +
                   v[0][2] * (v[1][0] * v[2][1] - v[1][1] * v[2][0]));
}

std::vector<double> pairs_of_uniform(const pairs_run& run) {
  const double volume = volume_of(*run.box), total = run.data.weight;
  if (run.others) return uniform_pairs(run.options, volume, total * run.others->weight, 0);
  const double mean = total / static_cast<double>(std::max<std::size_t>(run.data.particles.size(), 1));
  return uniform_pairs(run.options, volume, total * (total - mean), run.data.squares);
}

std::vector<double> correlation_of(const pairs_run& run, left_out region) {
  const std::vector<double> data = numbers_in(run.pairs, region);
  if (run.estimator == "uniform") {
    const std::vector<double> uniform = pairs_of_uniform(run);
    return natural_correlation({data, {}, {}, uniform});
  }
  const std::vector<double> randoms = numbers_in(*run.random_pairs, region);
  const double weight = weight_of(*run.randoms, region);
  correlation_pairs pairs{data,
                          {},
                          {},
                          randoms,
                          weight / weight_of(run.data, region),
                          weight / weight_of(run.others ? *run.others : run.data, region)};
  if (run.estimator == "natural") return natural_correlation(pairs);
  const std::vector<double> of_data = numbers_in(*run.data_randoms, region);
  const std::vector<double> of_others = run.other_randoms ? numbers_in(*run.other_randoms, region) : of_data;
  pairs.data_randoms = of_data;
  pairs.second_randoms = of_others;
  return landy_szalay_correlation(pairs);
}

/// Errors from the estimates that leave out one region each.
void find_errors(pairs_run& run) {
  const std::size_t regions = run.options.regions, bins = run.correlation.size();
  std::vector<double> estimates, projected;
  for (std::size_t region = 0; region < regions; ++region) {
    const std::vector<double> one = correlation_of(run, region);
    estimates.insert(estimates.end(), one.begin(), one.end());
    if (run.projected.empty()) continue;
    const std::vector<double> sums = projected_correlation(one, run.options.second_edges);
    projected.insert(projected.end(), sums.begin(), sums.end());
  }
  for (std::size_t bin = 0; bin < bins; ++bin) {
    std::vector<double> of_bin;
    for (std::size_t k = bin; k < estimates.size(); k += bins) of_bin.push_back(estimates[k]);
    run.errors.push_back(std::sqrt(jackknife_covariance(of_bin, regions)[0]));
  }
  run.covariance = jackknife_covariance(projected.empty() ? estimates : projected, regions);
}

void correlate(pairs_run& run) {
  run.correlation = correlation_of(run, {});
  if (run.options.coordinates == pair_coordinates::rp_pi) {
    run.projected = projected_correlation(run.correlation, run.options.second_edges);
  }
  if (run.options.regions > 0) find_errors(run);
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

void count(const pairs_options& options, pairs_run& run) {
  on_device(options.device,
            [&](const auto& context) { run.single ? count_on<float>(context, run) : count_on<double>(context, run); });
  if (!run.estimator.empty()) correlate(run);
}

}  // namespace quadrat::program
