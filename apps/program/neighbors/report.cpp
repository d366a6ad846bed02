// SPDX-License-Identifier: BSD-3-Clause
#include "program/neighbors/report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "program/process/progress_bar.hpp"
#include "program/run/summary.hpp"

namespace quadrat::program {
namespace {

nlohmann::ordered_json box_json(const search_box& box, int dimension) {
  const auto components = [&](int axis) { return array_json(dimension, [&](int k) { return box.vectors[axis][k]; }); };
  return {{"source", box.source},
          {"origin", array_json(dimension, [&](int axis) { return box.origin[axis]; })},
          {"vectors", array_json(dimension, components)},
          {"periodic", array_json(dimension, [&](int axis) { return box.periodic[axis]; })}};
}

/// Whether vector k lies along axis k, for all of them.
bool is_upright(const search_box& box, int dimension) {
  for (int axis = 0; axis < dimension; ++axis) {
    for (int k = 0; k < dimension; ++k) {
      if (k == axis ? box.vectors[axis][k] <= 0 : box.vectors[axis][k] != 0) return false;
    }
  }
  return true;
}

/// "2 x 2 x 2", or "vectors (2, 0, 0), (1, 2, 0), (0, 0, 2)".
std::string vectors_text(const search_box& box, int dimension) {
  const bool upright = is_upright(box, dimension);
  std::string text = upright ? "" : "vectors ";
  for (int axis = 0; axis < dimension; ++axis) {
    if (upright) {
      text += fmt::format("{}{:.6g}", axis > 0 ? " x " : "", box.vectors[axis][axis]);
      continue;
    }
    const double* const first = box.vectors[axis].component;
    text += fmt::format("{}({:.6g})", axis > 0 ? ", " : "", fmt::join(first, first + dimension, ", "));
  }
  return text;
}

std::string box_line(const search_box& box, int dimension) {
  std::string axes;
  for (int axis = 0; axis < dimension; ++axis) {
    if (box.periodic[axis]) axes += "xyz"[axis];
  }
  return fmt::format("{} ({}), {}", vectors_text(box, dimension), box.source,
                     axes.empty() ? "open" : "periodic along " + axes);
}

}  // namespace

nlohmann::ordered_json as_json(const neighbors_report& report, const neighbors_options& options,
                               const particle_file& particles, const search_box& box) {
  nlohmann::ordered_json result{
      {"program", program_json()},
      {"device", as_json(report.device)},
      {"points", as_json(particles)},
      {"box", box_json(box, particles.dimension)},
      {"search",
       {{"cutoff", options.cutoff},
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
  result["output"] = options.output ? nlohmann::ordered_json(*options.output) : nlohmann::ordered_json();
  return result;
}

std::string as_text(const neighbors_report& report, const neighbors_options& options, const particle_file& particles,
                    const search_box& box) {
  std::string text = fmt::format("{}: {} points, {} pairs{} within {}\n", particles.file, with_commas(report.points),
                                 with_commas(report.pairs), options.half ? " (each once)" : "", options.cutoff);
  text += fmt::format("  neighbors  {:.4g} a point, from {} to {}, standard deviation {:.4g}\n", report.mean,
                      report.least, report.most, report.deviation);
  text += fmt::format("  box        {}\n", box_line(box, particles.dimension));
  text += fmt::format("  search     {:.3g} s on {}: {}, {} ({})\n", report.search_seconds, as_text(report.device),
                      report.method, report.precision, report.reason);
  if (options.output) text += fmt::format("  output     {} ({:.3g} s)\n", *options.output, report.writing_seconds);
  return text;
}

}  // namespace quadrat::program
