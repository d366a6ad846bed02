// SPDX-License-Identifier: BSD-3-Clause
#include "program/pairs/count.hpp"

#include <optional>
#include <string>
#include <vector>

#include "program/data_place.hpp"
#include "program/process/rank_of_several.hpp"
#include "program/process/stopwatch.hpp"
#include "program/run/ranks/points_of_ranks.hpp"
#include "program/run/ranks/ranks.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/distributed/pair_counts.hpp"

namespace quadrat::program {
namespace {

/// A set of the host in the precision of the counts. If any set has weights, those of the others are 1.
template <typename T>
struct host_set {
  std::vector<vec<T, 3>> points;
  std::vector<T> weights;
  const std::vector<std::uint32_t>* regions;
  const particle_file* file;

  host_set(counted_set& set, bool weighted, std::size_t region_count)
      : points(points_in<T, 3>(set.particles)), regions(&set.regions), file(&set.particles) {
    weights = set.weights ? set.weights->take<T>() : std::vector<T>(points.size(), T(1));
    set.region_weights.resize(region_count);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const auto weight = static_cast<double>(weights[i]);
      set.weight += weight;
      set.squares += weight * weight;
      if (region_count > 0) set.region_weights[set.regions[i]] += weight;
    }
    if (!weighted) weights.clear();
  }
};

template <typename T>
struct host_sets {
  host_set<T> data;
  std::optional<host_set<T>> others, randoms;
};

template <typename T>
host_sets<T> prepared(pairs_run& run) {
  const auto prepare = [&](counted_set& set) {
    return naming_places(set.particles.file, set.particles.lines,
                         [&] { return host_set<T>(set, run.weighted, run.options.regions); });
  };
  host_sets<T> sets{prepare(run.data), {}, {}};
  if (run.others) sets.others = prepare(*run.others);
  if (run.randoms) sets.randoms = prepare(*run.randoms);
  return sets;
}

/// A set in the memory of a context.
template <typename Context, typename T>
struct counted_set_there {
  array<vec<T, 3>, Context> points;
  array<T, Context> weights;
  array<std::uint32_t, Context> regions;
  const host_set<T>* from;
};

/// Counts on one rank.
template <typename Context, typename T>
class pairs_counter {
 public:
  using set = counted_set_there<Context, T>;

  pairs_counter(const Context& context, const pairs_run& run)
      : context_(context),
        counter_(run.box ? pair_counts<Context, T, 3>(context, lattice_of<T, 3>(*run.box), run.options)
                         : pair_counts<Context, T, 3>(context, run.options)) {}

  [[nodiscard]] set bring(const host_set<T>& given) const {
    return {to_device(context_, given.points), to_device(context_, given.weights), to_device(context_, *given.regions),
            &given};
  }
  [[nodiscard]] pair_counts_result count(const set& there) {
    return naming_places(there.from->file->file, there.from->file->lines, [&] {
      return counter_.count(points_of(there.points), there.weights.data(), there.regions.data());
    });
  }
  /// An error may be about either file: its words tell "point" and "other point".
  [[nodiscard]] pair_counts_result count_between(const set& there, const set& others) {
    return naming_places(there.from->file->file + " with " + others.from->file->file, {}, [&] {
      return counter_.count_between(points_of(there.points), points_of(others.points), there.weights.data(),
                                    others.weights.data(), there.regions.data(), others.regions.data());
    });
  }
  [[nodiscard]] std::size_t bytes() const { return counter_.bytes(); }

 private:
  Context context_;
  pair_counts<Context, T, 3> counter_;
};

/// Counts on several ranks, each of which has read all points and keeps those of its block.
template <typename Context, typename T>
class pairs_counter_on_ranks {
 public:
  using set = counted_set_there<Context, T>;

  pairs_counter_on_ranks(const Context& context, communicator& ranks, const lattice<T, 3>& box,
                         const pair_counts_options& options, const host_set<T>& data)
      : context_(context),
        ranks_(ranks),
        slices_(box),
        counter_(context, ranks, box, options),
        shares_(shares_of(context, ranks, slices_, data.points)) {}

  [[nodiscard]] set bring(const host_set<T>& given) const {
    const auto own = points_of_rank(ranks_, slices_, shares_, given.points, *given.file);
    const auto values = [&](const auto& all) { return to_device(context_, all.empty() ? all : values_at(own, all)); };
    return {values(given.points), values(given.weights), values(*given.regions), &given};
  }
  [[nodiscard]] pair_counts_result count(const set& there) {
    return naming_places(there.from->file->file, {}, [&] {
      return counter_.count(points_of(there.points), there.weights.data(), there.regions.data());
    });
  }
  [[nodiscard]] pair_counts_result count_between(const set& there, const set& others) {
    return naming_places(there.from->file->file + " with " + others.from->file->file, {}, [&] {
      return counter_.count_between(points_of(there.points), points_of(others.points), there.weights.data(),
                                    others.weights.data(), there.regions.data(), others.regions.data());
    });
  }
  [[nodiscard]] static std::size_t bytes() { return 0; }

 private:
  Context context_;
  communicator& ranks_;
  slices_of_box<T, 3> slices_;
  distributed_pair_counts<Context, T, 3> counter_;
  decomposition<3> shares_;
};

template <typename Counter, typename T>
found_pairs count_with(Counter& counter, const std::string& estimator, const host_sets<T>& sets) {
  found_pairs found;
  const auto data = counter.bring(sets.data);
  std::optional<typename Counter::set> others, randoms;
  if (sets.others) others = counter.bring(*sets.others);
  if (sets.randoms) randoms = counter.bring(*sets.randoms);
  {
    const stopwatch time(found.counting_seconds);
    found.pairs = others ? counter.count_between(data, *others) : counter.count(data);
    if (randoms) found.random_pairs = counter.count(*randoms);
    if (randoms && estimator == "landy-szalay") {
      found.data_randoms = counter.count_between(data, *randoms);
      if (others) found.other_randoms = counter.count_between(*others, *randoms);
    }
  }
  found.memory_bytes = counter.bytes();
  return found;
}

template <typename T>
void count_as(const device_options& device, pairs_run& run) {
  const host_sets<T> sets = prepared<T>(run);
  if (!wants_ranks(device.devices)) {
    on_device(device, [&]<typename Context>(const Context& context) {
      pairs_counter<Context, T> counter(context, run);
      static_cast<found_pairs&>(run) = count_with(counter, run.estimator, sets);
      run.device = used(context);
    });
    return;
  }
  const lattice<T, 3> box = run.box
                                ? lattice_of<T, 3>(*run.box)
                                : make_lattice(make_box(vec<T, 3>::filled(-1), vec<T, 3>::filled(1), vec<bool, 3>{}));
  on_ranks(device.devices, [&](communicator& host) {
    on_device_of_rank(device, host, [&]<typename Context>(const Context& context, communicator& ranks) {
      pairs_counter_on_ranks<Context, T> counter(context, ranks, box, run.options, sets.data);
      const found_pairs found = count_with(counter, run.estimator, sets);
      if (ranks.rank() != 0) return;
      static_cast<found_pairs&>(run) = found;
      run.device = used(context);
      run.ranks = ranks.size();
    });
  });
}

}  // namespace

void count(const pairs_options& options, pairs_run& run) {
  run.single ? count_as<float>(options.device, run) : count_as<double>(options.device, run);
  if (!run.estimator.empty() && speaks()) correlate(run);
}

}  // namespace quadrat::program
