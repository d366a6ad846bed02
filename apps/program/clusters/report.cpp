// SPDX-License-Identifier: BSD-3-Clause
#include "program/clusters/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

#include "program/process/progress_bar.hpp"
#include "program/run/summary.hpp"

namespace quadrat::program {
namespace {

/// "largest 812, 95, 17, ..."
std::string sizes_text(std::vector<std::uint32_t> sizes) {
  constexpr std::size_t shown = 5;
  const std::size_t count = std::min(shown, sizes.size());
  const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(count);
  std::partial_sort(sizes.begin(), middle, sizes.end(), std::greater<>());
  std::string text;
  for (std::size_t k = 0; k < count; ++k) text += (k > 0 ? "; " : "") + with_commas(sizes[k]);
  if (count < sizes.size()) text += "; ...";
  return text.empty() ? "none" : text;
}

}  // namespace

nlohmann::ordered_json as_json(const clusters_report& report, const clusters_options& options,
                               const particle_file& particles, const search_box& box) {
  nlohmann::ordered_json result{
      {"program", program_json()},
      {"device", as_json(report.device)},
      {"ranks", report.ranks},
      {"points", as_json(particles)},
      {"box", as_json(box, particles.dimension)},
      {"search", {{"cutoff", options.cutoff}, {"min_points", options.min_points}, {"precision", report.precision}}},
      {"clusters", report.sizes.size()},
      {"noise", report.noise},
      {"sizes", report.sizes},
      {"centers", report.centers},
      {"performance",
       {{"reading_seconds", report.reading_seconds},
        {"search_seconds", report.search_seconds},
        {"writing_seconds", report.writing_seconds},
        {"total_seconds", report.total_seconds},
        {"memory_bytes",
         report.memory_bytes > 0 ? nlohmann::ordered_json(report.memory_bytes) : nlohmann::ordered_json()}}}};
  result["output"] = options.output ? nlohmann::ordered_json(*options.output) : nlohmann::ordered_json();
  if (options.groups) result["groups"] = {{"file", *options.groups}, {"rows", report.groups}};
  return result;
}

std::string as_text(const clusters_report& report, const clusters_options& options, const particle_file& particles,
                    const search_box& box) {
  std::string text = fmt::format("{}: {} points, {} cluster{}{}\n", particles.file, with_commas(report.points),
                                 with_commas(report.sizes.size()), report.sizes.size() == 1 ? "" : "s",
                                 options.min_points == 1 ? "" : ", " + with_commas(report.noise) + " points in none");
  text += fmt::format("  largest    {}\n", sizes_text(report.sizes));
  text +=
      fmt::format("  linked     closer than {}{}\n", options.cutoff,
                  options.min_points == 1 ? " (friends-of-friends)"
                                          : fmt::format("; core points with {} or more (DBSCAN)", options.min_points));
  text += fmt::format("  box        {}\n", as_text(box, particles.dimension));
  text +=
      fmt::format("  search     {:.3g} s on {}: {}\n", report.search_seconds, as_text(report.device), report.precision);
  if (options.groups) text += fmt::format("  groups     {} ({} rows)\n", *options.groups, with_commas(report.groups));
  if (options.output) text += fmt::format("  output     {} ({:.3g} s)\n", *options.output, report.writing_seconds);
  return text;
}

}  // namespace quadrat::program
