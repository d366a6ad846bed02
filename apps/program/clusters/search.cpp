// SPDX-License-Identifier: BSD-3-Clause
#include "program/clusters/search.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <type_traits>

#include "program/data_place.hpp"
#include "program/process/stopwatch.hpp"
#include "quadrat/core/array.hpp"
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

template <typename Context, typename T, int D>
clusters_report clusters_of(const Context& context, const clusters_options& options, const particle_file& particles,
                            const search_box& box) {
  clusters_report report;
  report.points = particles.size();
  report.precision = std::is_same_v<T, float> ? "float" : "double";
  const auto points = to_device(context, points_in<T, D>(particles));
  cluster_options<T> chosen;
  chosen.cutoff = static_cast<T>(options.cutoff);
  chosen.min_points = static_cast<std::uint32_t>(options.min_points);
  chosen.accept_outside = box.accept_outside;
  auto finder = make_cluster_finder(context, lattice_of<T, D>(box), chosen);
  {
    const stopwatch time(report.search_seconds);
    finder.find(points_of(points));
  }
  const cluster_view view = finder.view();
  const auto labels = to_host(context, view.labels, view.points);
  report.sizes = to_host(context, view.sizes, view.clusters);
  report.noise = static_cast<std::size_t>(std::ranges::count(labels, noise_label));
  if (options.json) {
    for (const vec<T, D>& center : to_host(context, finder.centers(), view.clusters)) {
      report.centers.emplace_back(center.component, center.component + particles.dimension);
    }
  }
  report.memory_bytes = finder.bytes();
  if (options.output) {
    const stopwatch time(report.writing_seconds);
    write_labels(*options.output, labels);
  }
  if (options.groups) {
    const stopwatch time(report.writing_seconds);
    report.groups = write_catalog(context, options, particles, finder);
  }
  return report;
}

template <typename Context>
clusters_report clusters_on(const Context& context, const clusters_options& options, const particle_file& particles,
                            const search_box& box) {
  const bool single = options.precision ? *options.precision == "float" : particles.single_precision;
  if (particles.dimension <= 2) {
    return single ? clusters_of<Context, float, 2>(context, options, particles, box)
                  : clusters_of<Context, double, 2>(context, options, particles, box);
  }
  return single ? clusters_of<Context, float, 3>(context, options, particles, box)
                : clusters_of<Context, double, 3>(context, options, particles, box);
}

}  // namespace

clusters_report find_clusters(const clusters_options& options, const particle_file& particles, const search_box& box) {
  return naming_places(particles.file, particles.lines, [&] {
    return on_device(options.device, [&](const auto& context) {
      clusters_report report = clusters_on(context, options, particles, box);
      report.device = used(context);
      return report;
    });
  });
}

}  // namespace quadrat::program
