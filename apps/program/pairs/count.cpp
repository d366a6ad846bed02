// SPDX-License-Identifier: BSD-3-Clause
#include "program/pairs/count.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

#include "program/data_place.hpp"
#include "program/process/stopwatch.hpp"
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

counted_set read_counted_set(const std::string& file, const std::optional<std::string>& weights) {
  counted_set set{read_particles(file), std::nullopt};
  if (set.particles.dimension != 3) {
    throw io_error(message(file, ": points in ", set.particles.dimension, " dimensions; pairs are counted in 3"));
  }
  if (weights) set.weights = read_weights(*weights, set.particles.size());
  return set;
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
  counted_set_there(const Context& context, counted_set& set, bool weighted)
      : points(to_device(context, points_in<T, 3>(set.particles))) {
    const std::vector<T> values = set.weights ? set.weights->take<T>() : std::vector<T>(set.particles.size(), T(1));
    for (const T value : values) {
      set.weight += static_cast<double>(value);
      set.squares += static_cast<double>(value) * static_cast<double>(value);
    }
    if (weighted) weights = to_device(context, values);
  }

  array<vec<T, 3>, Context> points;
  array<T, Context> weights;
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
    return naming_places(given.particles.file, given.particles.lines, [&] { return set(context_, given, weighted_); });
  }
  [[nodiscard]] pair_counts_result count(const counted_set& given, const set& there) {
    return naming_places(given.particles.file, given.particles.lines,
                         [&] { return counter_.count(points_of(there.points), there.weights.data()); });
  }
  /// An error may be about either file: its words tell "point" and "other point".
  [[nodiscard]] pair_counts_result count_between(const counted_set& given, const set& there, const counted_set& others,
                                                 const set& others_there) {
    return naming_places(given.particles.file + " with " + others.particles.file, {}, [&] {
      return counter_.count_between(points_of(there.points), points_of(others_there.points), there.weights.data(),
                                    others_there.weights.data());
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

/// Sums of the products of weights, or counts.
std::vector<double> numbers_in(const pair_counts_result& found) {
  return found.weights.empty() ? std::vector<double>(found.counts.begin(), found.counts.end()) : found.weights;
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

void correlate(pairs_run& run) {
  const std::vector<double> data = numbers_in(run.pairs);
  if (run.estimator == "uniform") {
    const std::vector<double> uniform = pairs_of_uniform(run);
    run.correlation = natural_correlation({data, {}, {}, uniform});
  } else {
    const std::vector<double> randoms = numbers_in(*run.random_pairs);
    const counted_set& second = run.others ? *run.others : run.data;
    correlation_pairs pairs{
        data, {}, {}, randoms, run.randoms->weight / run.data.weight, run.randoms->weight / second.weight};
    if (run.estimator == "natural") {
      run.correlation = natural_correlation(pairs);
    } else {
      const std::vector<double> of_data = numbers_in(*run.data_randoms);
      const std::vector<double> of_others = run.other_randoms ? numbers_in(*run.other_randoms) : of_data;
      pairs.data_randoms = of_data;
      pairs.second_randoms = of_others;
      run.correlation = landy_szalay_correlation(pairs);
    }
  }
  if (run.options.coordinates == pair_coordinates::rp_pi) {
    run.projected = projected_correlation(run.correlation, run.options.second_edges);
  }
}

}  // namespace

pairs_run read_pairs_run(const pairs_options& options) {
  pairs_run run;
  const stopwatch time(run.reading_seconds);
  run.options = counts_options_of(options);
  run.estimator = estimator_of(options);
  require(options.others || !options.other_weights, "--other-weights needs --others");
  require(options.randoms || !options.random_weights, "--random-weights needs --randoms");
  run.data = read_counted_set(options.points, options.weights);
  run.single = run.data.particles.single_precision;
  const auto read_more = [&](const auto& file, const auto& weights, std::optional<counted_set>& to) {
    if (!file) return;
    to = read_counted_set(*file, weights);
    run.single = run.single && to->particles.single_precision;
  };
  read_more(options.others, options.other_weights, run.others);
  read_more(options.randoms, options.random_weights, run.randoms);
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
