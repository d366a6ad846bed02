// SPDX-License-Identifier: BSD-3-Clause
#include "program/neighbors/search.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <type_traits>

#include "program/data_place.hpp"
#include "program/neighbors/output.hpp"
#include "program/process/stopwatch.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/search/neighbor_list.hpp"

namespace quadrat::program {
namespace {

/// Entries copied to the host at a time.
constexpr std::size_t entries_a_block = std::size_t{1} << 18;

template <typename Context, typename T, int D>
class neighbors_run {
 public:
  neighbors_run(const Context& context, const neighbors_options& options, const search_box& box)
      : context_(context),
        options_(options),
        csv_(options.output && !options.output->ends_with(".npy")),
        box_(lattice_of<T, D>(box)),
        list_(context, list_options(box.accept_outside)) {}

  neighbors_report run(const particle_file& particles, const std::vector<double>& radii) {
    neighbors_report report;
    report.points = particles.size();
    report.precision = std::is_same_v<T, float> ? "float" : "double";
    dimension_ = particles.dimension;
    const auto points = to_device(context_, points_in<T, D>(particles));
    neighbor_input<T, D> input;
    input.points = points_of(points.data(), points.size());
    input.boxes = std::span(&box_, 1);
    const auto radii_there = to_device(context_, std::vector<T>(radii.begin(), radii.end()));
    if (!radii.empty()) input.radii = radii_there.data();
    options_.output ? list_pairs(input, report) : count_pairs(input, report);
    report.method = list_.method();
    report.reason = list_.reason();
    report.explanation = list_.explanation();
    report.memory_bytes = list_.bytes();
    if (options_.output) write(report);
    return report;
  }

 private:
  [[nodiscard]] neighbor_options<T> list_options(bool accept_outside) const {
    neighbor_options<T> result;
    result.cutoff = static_cast<T>(options_.cutoff);
    if (!options_.radii.empty()) {
      result.rule = options_.rule == "own"      ? cutoff_rule::own_radius
                    : options_.rule == "larger" ? cutoff_rule::larger_radius
                                                : cutoff_rule::sum_of_radii;
    }
    result.pairs = options_.half && options_.output ? neighbor_pairs::half : neighbor_pairs::full;
    result.sorted = options_.output.has_value();
    result.squared_distances = result.vectors = result.shifts = csv_;
    result.accept_outside = accept_outside;
    if (options_.method != "auto") result.method = options_.method;
    return result;
  }

  /// Calls f(first entry, number of entries) block by block.
  template <typename F>
  void for_each_block(std::uint64_t entries, F&& f) const {
    for (std::uint64_t first = 0; first < entries; first += entries_a_block) {
      f(first, std::min<std::uint64_t>(entries_a_block, entries - first));
    }
  }

  /// Counts pairs in memory proportional to the points: counts all entries, and those with i < j for half lists.
  void count_pairs(const neighbor_input<T, D>& input, neighbors_report& report) {
    const stopwatch time(report.search_seconds);
    const neighbor_counts counts = list_.count(input);
    report.pairs = options_.half ? counts.total / 2 : counts.total;
    const auto rows = to_host(context_, counts.counts, counts.rows);
    set_statistics(std::vector<std::uint64_t>(rows.begin(), rows.end()), report);
  }

  void list_pairs(const neighbor_input<T, D>& input, neighbors_report& report) {
    {
      const stopwatch time(report.search_seconds);
      list_.build(input);
    }
    report.pairs = list_.size();
    const auto view = list_.view();
    const auto rows = to_host(context_, view.counts, view.rows);
    std::vector<std::uint64_t> neighbors(rows.begin(), rows.end());
    if (options_.half) {
      for_each_block(report.pairs, [&](std::uint64_t first, std::size_t number) {
        for (const particle_id j : to_host(context_, view.neighbors + first, number)) ++neighbors[j];
      });
    }
    set_statistics(neighbors, report);
  }

  void write(neighbors_report& report) {
    const stopwatch time(report.writing_seconds);
    std::unique_ptr<pair_output<T, D>> out;
    if (csv_) {
      out = std::make_unique<csv_pair_output<T, D>>(*options_.output, dimension_);
    } else {
      out = std::make_unique<npy_pair_output<T, D>>(*options_.output, report.pairs);
    }
    const auto view = list_.view();
    const auto offsets = to_host(context_, view.offsets, view.rows + 1);
    std::size_t row = 0;
    pair_block<T, D> block;
    for_each_block(report.pairs, [&](std::uint64_t first, std::size_t number) {
      block.first.resize(number);
      for (std::uint64_t k = first; k < first + number; ++k) {
        while (offsets[row + 1] <= k) ++row;
        block.first[k - first] = static_cast<std::int64_t>(row);
      }
      const auto second = to_host(context_, view.neighbors + first, number);
      block.second.assign(second.begin(), second.end());
      if (csv_) {
        block.shifts = to_host(context_, view.shifts + first, number);
        block.vectors = to_host(context_, view.vectors + first, number);
        block.squared = to_host(context_, view.squared_distances + first, number);
      }
      out->write(block);
    });
    out->commit();
  }

  Context context_;
  const neighbors_options& options_;
  bool csv_;
  int dimension_ = D;
  lattice<T, D> box_;
  neighbor_list<Context, T, D> list_;
};

template <typename Context>
neighbors_report neighbors_on(const Context& context, const neighbors_options& options, const particle_file& particles,
                              const std::vector<double>& radii, const search_box& box) {
  const bool single = options.precision ? *options.precision == "float" : particles.single_precision;
  const auto run = [&]<typename T, int D>() {
    return neighbors_run<Context, T, D>(context, options, box).run(particles, radii);
  };
  if (particles.dimension <= 2) {
    return single ? run.template operator()<float, 2>() : run.template operator()<double, 2>();
  }
  return single ? run.template operator()<float, 3>() : run.template operator()<double, 3>();
}

}  // namespace

void set_statistics(const std::vector<std::uint64_t>& neighbors, neighbors_report& report) {
  if (neighbors.empty()) return;
  const auto n = static_cast<double>(neighbors.size());
  double sum = 0, squares = 0;
  for (const std::uint64_t number : neighbors) sum += static_cast<double>(number);
  report.mean = sum / n;
  for (const std::uint64_t number : neighbors) squares += std::pow(static_cast<double>(number) - report.mean, 2);
  report.deviation = std::sqrt(squares / n);
  report.least = *std::min_element(neighbors.begin(), neighbors.end());
  report.most = *std::max_element(neighbors.begin(), neighbors.end());
}

neighbors_report find_neighbors(const neighbors_options& options, const particle_file& particles,
                                const std::vector<double>& radii, const search_box& box) {
  return naming_places(particles.file, particles.lines, [&] {
    return on_device(options.device, [&](const auto& context) {
      neighbors_report report = neighbors_on(context, options, particles, radii, box);
      report.device = used(context);
      return report;
    });
  });
}

}  // namespace quadrat::program
