// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "program/data_place.hpp"
#include "program/neighbors/output.hpp"
#include "program/neighbors/search.hpp"
#include "program/process/stopwatch.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/io/csv.hpp"
#include "quadrat/io/npy.hpp"
#include "quadrat/search/make_nearest_neighbors.hpp"

namespace quadrat::program {
namespace {

/// Rows copied to the host at a time.
constexpr std::size_t nearest_rows_a_block = std::size_t{1} << 14;

template <typename Context, typename T, int D>
class nearest_run {
 public:
  nearest_run(const Context& context, const neighbors_options& options, const search_box& box)
      : context_(context),
        options_(options),
        csv_(options.output && !options.output->ends_with(".npy")),
        nearest_(make(box)) {}

  neighbors_report run(const particle_file& particles) {
    neighbors_report report;
    report.points = particles.size();
    report.precision = std::is_same_v<T, float> ? "float" : "double";
    report.method = "tree";
    report.reason = "it is the only method for nearest neighbors";
    dimension_ = particles.dimension;
    const auto points = to_device(context_, points_in<T, D>(particles));
    {
      const stopwatch time(report.search_seconds);
      nearest_.build(points_of(points));
      nearest_.search();
    }
    report.memory_bytes = nearest_.bytes();
    count(report);
    if (options_.output) write(report);
    return report;
  }

 private:
  [[nodiscard]] nearest_neighbors<Context, T, D> make(const search_box& box) const {
    nearest_options<T> chosen;
    chosen.k = static_cast<std::size_t>(options_.knn);
    if (options_.cutoff > 0) chosen.cutoff = static_cast<T>(options_.cutoff);
    chosen.shifts = csv_;
    return make_nearest_neighbors(context_, lattice_of<T, D>(box), chosen);
  }

  /// Calls f(first row, neighbors, squared distances) for blocks of rows.
  template <typename F>
  void for_each_block(F&& f) const {
    const auto view = nearest_.view();
    for (std::size_t first = 0; first < view.rows; first += nearest_rows_a_block) {
      const std::size_t entries = std::min(nearest_rows_a_block, view.rows - first) * view.k;
      f(first, to_host(context_, view.neighbors + first * view.k, entries),
        to_host(context_, view.squared_distances + first * view.k, entries));
    }
  }

  void count(neighbors_report& report) const {
    const std::size_t k = nearest_.options().k;
    std::vector<std::uint64_t> found(nearest_.view().rows);
    T farthest = T(0);
    for_each_block([&](std::size_t first, const std::vector<particle_id>& neighbors, const std::vector<T>& squared) {
      for (std::size_t entry = 0; entry < neighbors.size(); ++entry) {
        if (neighbors[entry] == no_particle) continue;
        ++found[first + entry / k];
        farthest = std::max(farthest, squared[entry]);
      }
    });
    for (const std::uint64_t number : found) report.pairs += number;
    report.farthest = std::sqrt(static_cast<double>(farthest));
    set_statistics(found, report);
  }

  void write(neighbors_report& report) const {
    const stopwatch time(report.writing_seconds);
    csv_ ? write_csv() : write_npy();
  }

  void write_npy() const {
    const auto view = nearest_.view();
    io::npy_writer out(*options_.output, io::npy_type::int64, {view.rows, view.k});
    for_each_block([&](std::size_t, const std::vector<particle_id>& neighbors, const std::vector<T>&) {
      std::vector<std::int64_t> rows(neighbors.begin(), neighbors.end());
      std::replace(rows.begin(), rows.end(), std::int64_t{no_particle}, std::int64_t{-1});
      out.write(std::span<const std::int64_t>(rows));
    });
    out.commit();
  }

  void write_csv() const {
    const auto view = nearest_.view();
    io::csv_writer out(*options_.output, pair_columns(dimension_, false));
    for_each_block([&](std::size_t first, const std::vector<particle_id>& neighbors, const std::vector<T>& squared) {
      const auto shifts = to_host(context_, view.shifts + first * view.k, neighbors.size());
      for (std::size_t entry = 0; entry < neighbors.size(); ++entry) {
        if (neighbors[entry] == no_particle) continue;
        out.add(static_cast<std::int64_t>(first + entry / view.k));
        out.add(static_cast<std::int64_t>(neighbors[entry]));
        for (int axis = 0; axis < dimension_; ++axis) out.add(shifts[entry][axis]);
        out.add(std::sqrt(squared[entry]));
        out.end_row();
      }
    });
    out.commit();
  }

  Context context_;
  const neighbors_options& options_;
  bool csv_;
  int dimension_ = D;
  nearest_neighbors<Context, T, D> nearest_;
};

template <typename Context>
neighbors_report nearest_on(const Context& context, const neighbors_options& options, const particle_file& particles,
                            const search_box& box) {
  const bool single = options.precision ? *options.precision == "float" : particles.single_precision;
  const auto run = [&]<typename T, int D>() {
    return nearest_run<Context, T, D>(context, options, box).run(particles);
  };
  if (particles.dimension <= 2) {
    return single ? run.template operator()<float, 2>() : run.template operator()<double, 2>();
  }
  return single ? run.template operator()<float, 3>() : run.template operator()<double, 3>();
}

}  // namespace

neighbors_report find_nearest(const neighbors_options& options, const particle_file& particles, const search_box& box) {
  return naming_places(particles.file, particles.lines, [&] {
    return on_device(options.device, [&](const auto& context) {
      neighbors_report report = nearest_on(context, options, particles, box);
      report.device = used(context);
      return report;
    });
  });
}

}  // namespace quadrat::program
