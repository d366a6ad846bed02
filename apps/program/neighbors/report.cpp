// SPDX-License-Identifier: BSD-3-Clause
#include "program/neighbors/report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "program/process/progress_bar.hpp"
#include "program/run/summary.hpp"

namespace quadrat::program {

nlohmann::ordered_json as_json(const neighbors_report& report, const neighbors_options& options,
                               const particle_file& particles, const search_box& box) {
  nlohmann::ordered_json result{
      {"program", program_json()},
      {"device", as_json(report.device)},
      {"points", as_json(particles)},
      {"box", as_json(box, particles.dimension)},
      {"search",
       {{"cutoff", options.cutoff > 0 ? nlohmann::ordered_json(options.cutoff) : nlohmann::ordered_json()},
        {"half", options.half},
        {"precision", report.precision},
        {"method", report.method},
        {"reason", report.reason}}},
      {"pairs", report.pairs},
      {"neighbors", {{"mean", report.mean}, {"min", report.least}, {"max", report.most}, {"std", report.deviation}}},
      {"performance",
       {{"reading_seconds", report.reading_seconds},
        {"search_seconds", report.search_seconds},
        {"writing_seconds", report.writing_seconds},
        {"total_seconds", report.total_seconds},
        {"memory_bytes", report.memory_bytes}}}};
  if (!options.radii.empty()) {
    result["search"]["radii"] = options.radii;
    result["search"]["rule"] = options.rule.empty() ? "sum" : options.rule;
  }
  if (options.knn > 0) {
    result["search"]["knn"] = options.knn;
    result["farthest"] = report.farthest;
  }
  result["output"] = options.output ? nlohmann::ordered_json(*options.output) : nlohmann::ordered_json();
  return result;
}

std::string as_text(const neighbors_report& report, const neighbors_options& options, const particle_file& particles,
                    const search_box& box) {
  std::string text =
      fmt::format("{}: {} points, {} ", particles.file, with_commas(report.points), with_commas(report.pairs));
  text += options.knn > 0 ? fmt::format("neighbors, the {} nearest of each", options.knn)
                          : fmt::format("pairs{}", options.half ? " (each once)" : "");
  if (!options.radii.empty()) {
    text += fmt::format(" by radii ({}), within up to {}", options.rule.empty() ? "sum" : options.rule, options.cutoff);
  } else if (options.cutoff > 0) {
    text += fmt::format(" within {}", options.cutoff);
  }
  text += options.knn > 0 ? fmt::format("\n  farthest   {:.6g}\n", report.farthest) : "\n";
  text += fmt::format("  neighbors  {:.4g} a point, from {} to {}, standard deviation {:.4g}\n", report.mean,
                      report.least, report.most, report.deviation);
  text += fmt::format("  box        {}\n", as_text(box, particles.dimension));
  text += fmt::format("  search     {:.3g} s on {}: {}, {} ({})\n", report.search_seconds, as_text(report.device),
                      report.method, report.precision, report.reason);
  if (options.output) text += fmt::format("  output     {} ({:.3g} s)\n", *options.output, report.writing_seconds);
  return text;
}

}  // namespace quadrat::program
