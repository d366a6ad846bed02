// SPDX-License-Identifier: BSD-3-Clause
#include "program/clusters/search.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "distributed/ranks/gathered.hpp"
#include "program/data_place.hpp"
#include "program/process/rank_of_several.hpp"
#include "program/process/stopwatch.hpp"
#include "program/run/ranks/points_of_ranks.hpp"
#include "program/run/ranks/ranks.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/distributed/cluster_finder.hpp"
#include "quadrat/io/csv.hpp"
#include "quadrat/io/npy.hpp"
#include "quadrat/search/make_cluster_finder.hpp"

namespace quadrat::program {
namespace {

void write_labels(const std::string& file, const std::vector<std::int32_t>& labels) {
  if (file.ends_with(".npy")) {
    const std::vector<std::int64_t> wide(labels.begin(), labels.end());
    io::write_npy(file, std::span<const std::int64_t>(wide), {wide.size()});
    return;
  }
  constexpr std::array<std::string_view, 1> names{"label"};
  io::csv_writer out(file, names);
  for (const std::int32_t label : labels) {
    out.add(label);
    out.end_row();
  }
  out.commit();
}

std::vector<std::string> group_columns(int dimension, bool velocities) {
  std::vector<std::string> names{"label", "size", "central"};
  const std::string axes = std::string("xyz").substr(0, static_cast<std::size_t>(dimension));
  for (const char axis : axes) names.emplace_back(1, axis);
  for (const char axis : velocities ? axes : "") names.push_back(std::string("v") + axis);
  for (std::size_t a = 0; a < axes.size(); ++a) {
    for (std::size_t b = a; b < axes.size(); ++b) names.push_back(std::string("I") + axes[a] + axes[b]);
  }
  return names;
}

template <typename T, int D>
void write_groups(const clusters_options& options, int dimension, const std::vector<cluster_group<T, D>>& groups) {
  const std::vector<std::string> names = group_columns(dimension, options.velocities.has_value());
  const std::vector<std::string_view> views(names.begin(), names.end());
  io::csv_writer out(*options.groups, views);
  for (const cluster_group<T, D>& group : groups) {
    out.add(group.label);
    out.add(group.size);
    out.add(group.central);
    for (int axis = 0; axis < dimension; ++axis) out.add(group.center[axis]);
    for (int axis = 0; axis < dimension && options.velocities; ++axis) out.add(group.velocity[axis]);
    for (int a = 0; a < dimension; ++a) {
      for (int b = a; b < dimension; ++b) out.add(group.inertia[a][b]);
    }
    out.end_row();
  }
  out.commit();
}

/// Makes the catalog, and writes its table.
template <typename Context, typename T, int D>
std::size_t write_catalog(const Context& context, const clusters_options& options, const particle_file& particles,
                          cluster_finder<Context, T, D>& finder) {
  cluster_catalog_options<T, D> wanted;
  wanted.least_size = static_cast<std::uint32_t>(options.least_size);
  wanted.by_size = options.by_size;
  array<vec<T, D>, Context> velocities;
  if (options.velocities) {
    const particle_file given = read_particles(*options.velocities, 1);
    if (given.dimension != particles.dimension || given.size() != particles.size()) {
      throw io_error(message(given.file, ": ", given.size(), " velocities in ", given.dimension, " dimensions; ",
                             particles.file, " has ", particles.size(), " points in ", particles.dimension));
    }
    velocities = to_device(context, points_in<T, D>(given));
    wanted.velocities = points_of(velocities);
  }
  const cluster_catalog<T, D> catalog = finder.catalog(wanted);
  write_groups(options, particles.dimension, to_host(context, catalog.groups, catalog.count));
  return catalog.count;
}

template <typename T>
clusters_report report_of(const particle_file& particles) {
  clusters_report report;
  report.points = particles.size();
  report.precision = std::is_same_v<T, float> ? "float" : "double";
  return report;
}
template <typename T>
cluster_options<T> finder_options(const clusters_options& options, bool accept_outside) {
  cluster_options<T> chosen;
  chosen.cutoff = static_cast<T>(options.cutoff);
  chosen.min_points = static_cast<std::uint32_t>(options.min_points);
  chosen.accept_outside = accept_outside;
  return chosen;
}

template <typename Context, typename T, int D>
clusters_report clusters_of(const Context& context, const clusters_options& options, const particle_file& particles,
                            const search_box& box) {
  clusters_report report = report_of<T>(particles);
  const auto points = to_device(context, points_in<T, D>(particles));
  auto finder = make_cluster_finder(context, lattice_of<T, D>(box), finder_options<T>(options, box.accept_outside));
  {
    const stopwatch time(report.search_seconds);
    finder.find(points_of(points));
  }
  const cluster_view view = finder.view();
  report.labels = to_host(context, view.labels, view.points);
  report.sizes = to_host(context, view.sizes, view.clusters);
  if (options.json) {
    for (const vec<T, D>& center : to_host(context, finder.centers(), view.clusters)) {
      report.centers.emplace_back(center.component, center.component + particles.dimension);
    }
  }
  report.memory_bytes = finder.bytes();
  if (options.groups) {
    const stopwatch time(report.writing_seconds);
    report.groups = write_catalog(context, options, particles, finder);
  }
  return report;
}

/// A point of a rank.
struct labeled_point {
  std::uint64_t index;  ///< in the file
  std::int64_t label;
};

/// Labels in the order of the file, by which clusters are numbered.
std::vector<std::int32_t> labels_in_order(const std::vector<labeled_point>& points, std::size_t clusters) {
  std::vector<std::int64_t> labels(points.size());
  for (const labeled_point& point : points) labels[point.index] = point.label;
  std::vector<std::int32_t> numbers(clusters, noise_label), result;
  std::int32_t next = 0;
  for (const std::int64_t label : labels) {
    if (label == noise_label) {
      result.push_back(noise_label);
      continue;
    }
    std::int32_t& number = numbers[static_cast<std::size_t>(label)];
    if (number == noise_label) number = next++;
    result.push_back(number);
  }
  return result;
}

/// What rank 0 reports; nothing on others. Collective.
template <typename Context, typename T, int D>
clusters_report clusters_of_rank(const Context& context, communicator& ranks, const clusters_options& options,
                                 const particle_file& particles, const lattice<T, D>& box,
                                 const std::vector<vec<T, D>>& points, bool accept_outside) {
  clusters_report report = report_of<T>(particles);
  const slices_of_box<T, D> slices(box);
  const auto shares = shares_of(context, ranks, slices, points);
  const auto own = points_of_rank(ranks, slices, shares, points, particles);
  const auto there = to_device(context, values_at(own, points));
  distributed_cluster_finder<Context, T, D> finder(context, ranks, box, finder_options<T>(options, accept_outside));
  {
    const stopwatch time(report.search_seconds);
    naming_places(particles.file, {}, [&] { finder.find(points_of(there)); });
  }
  const auto labels = to_host(context, finder.view().labels, own.size());
  std::vector<labeled_point> mine;
  for (std::size_t k = 0; k < own.size(); ++k) mine.push_back({own[k], labels[k]});
  const std::vector<labeled_point> all = detail::gathered(ranks, mine);
  if (ranks.rank() != 0) return report;
  report.labels = labels_in_order(all, finder.view().clusters);
  report.sizes.resize(finder.view().clusters);
  for (const std::int32_t label : report.labels) {
    if (label != noise_label) ++report.sizes[static_cast<std::size_t>(label)];
  }
  report.device = used(context);
  report.ranks = ranks.size();
  return report;
}

template <typename T, int D>
clusters_report clusters_on_ranks(const clusters_options& options, const particle_file& particles,
                                  const search_box& box) {
  const lattice<T, D> shape = lattice_of<T, D>(box);
  const auto points = naming_places(particles.file, particles.lines, [&] { return points_in<T, D>(particles); });
  clusters_report report;
  on_ranks(options.device.devices, [&](communicator& host) {
    on_device_of_rank(options.device, host, [&](const auto& context, communicator& ranks) {
      auto found = clusters_of_rank(context, ranks, options, particles, shape, points, box.accept_outside);
      if (ranks.rank() == 0) report = std::move(found);
    });
  });
  return report;
}

template <typename T, int D>
clusters_report clusters_in(const clusters_options& options, const particle_file& particles, const search_box& box) {
  if (wants_ranks(options.device.devices)) return clusters_on_ranks<T, D>(options, particles, box);
  return naming_places(particles.file, particles.lines, [&] {
    return on_device(options.device, [&]<typename Context>(const Context& context) {
      clusters_report report = clusters_of<Context, T, D>(context, options, particles, box);
      report.device = used(context);
      return report;
    });
  });
}

}  // namespace

clusters_report find_clusters(const clusters_options& options, const particle_file& particles, const search_box& box) {
  const bool single = options.precision ? *options.precision == "float" : particles.single_precision;
  const bool flat = particles.dimension <= 2;
  clusters_report report;
  if (flat) {
    report = single ? clusters_in<float, 2>(options, particles, box) : clusters_in<double, 2>(options, particles, box);
  } else {
    report = single ? clusters_in<float, 3>(options, particles, box) : clusters_in<double, 3>(options, particles, box);
  }
  report.noise = static_cast<std::size_t>(std::ranges::count(report.labels, noise_label));
  if (options.output && speaks()) {
    const stopwatch time(report.writing_seconds);
    write_labels(*options.output, report.labels);
  }
  return report;
}

}  // namespace quadrat::program
