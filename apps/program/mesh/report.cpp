// SPDX-License-Identifier: BSD-3-Clause
#include "program/mesh/report.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "core/counted.hpp"
#include "program/explain.hpp"
#include "program/process/progress_bar.hpp"
#include "program/run/summary.hpp"
#include "program/table_output.hpp"

namespace quadrat::program {
namespace {

using json = nlohmann::ordered_json;

json file_json(const std::string& file) { return file.empty() ? json() : json(file); }

/// One entry per vector: a number, or [real, imaginary].
json sums_json(const std::vector<double>& sums, bool complex) {
  json result = json::array();
  for (std::size_t k = 0; k < sums.size(); k += complex ? 2 : 1) {
    result.push_back(complex ? json{sums[k], sums[k + 1]} : json(sums[k]));
  }
  return result;
}

json mesh_box_json(const mesh_box& box, int dimension) {
  return {{"source", box.source},
          {"origin", array_json(dimension, [&](int axis) { return box.origin[axis]; })},
          {"lengths", array_json(dimension, [&](int axis) { return box.length[axis]; })},
          {"periodic", array_json(dimension, [&](int axis) { return box.periodic[axis]; })}};
}

std::size_t mesh_points_of(const mesh_task& task) {
  std::size_t points = 1;
  for (int axis = 0; axis < 3; ++axis) points *= static_cast<std::size_t>(task.extents[axis]);
  return points;
}

json mesh_json(const mesh_report& report, const mesh_task& task, int dimension, bool complex) {
  return {{"file", file_json(report.mesh_file)},
          {"extents", array_json(dimension, [&](int axis) { return task.extents[axis]; })},
          {"points", mesh_points_of(task)},
          {"sums", sums_json(report.mesh_sums, complex)}};
}

json values_json(const mesh_report& report, const mesh_task& task, const mesh_outcome& outcome) {
  json result{{"file", file_json(report.values_file)},
              {"type", outcome.kind.type_name(task.single)},
              {"vectors", outcome.kind.vectors}};
  if (task.operation == mesh_operation::gradient) {
    result["gradient"] = true;
  } else {
    result["sums"] = sums_json(report.values_sums, outcome.kind.complex);
  }
  return result;
}

json method_json(const mesh_report& report, const mesh_options& options, const mesh_task& task,
                 const mesh_outcome& outcome) {
  json result{{"order", task.order},      {"precision", task.single ? "float" : "double"},
              {"method", outcome.method}, {"reason", outcome.reason},
              {"clip", options.clip},     {"accept_outside", options.accept_outside},
              {"ends", options.ends}};
  const mesh_left_out& left_out = outcome.left_out;
  result["left_out"] = {{"clipped", left_out.clipped}, {"missed", left_out.missed}, {"outside", left_out.outside}};
  if (task.operation == mesh_operation::spread) result["deterministic"] = report.reproducible;
  return result;
}

/// "64 x 64 x 64"
template <typename Number>
std::string lengths_text(const vec<Number, 3>& lengths, int dimension) {
  std::string text;
  for (int axis = 0; axis < dimension; ++axis) {
    if (axis > 0) text += " x ";
    if constexpr (std::is_integral_v<Number>) {
      text += fmt::format("{}", lengths[axis]);
    } else {
      text += fmt::format("{:.6g}", lengths[axis]);
    }
  }
  return text;
}

std::string mesh_box_text(const mesh_box& box, int dimension) {
  std::string axes;
  for (int axis = 0; axis < dimension; ++axis) {
    if (box.periodic[axis]) axes += "xyz"[axis];
  }
  return fmt::format("{} ({}), {}", lengths_text(box.length, dimension), box.source,
                     axes.empty() ? "open" : "periodic along " + axes);
}

/// The sum of the first vector: "12.5" or "(1, -2)".
std::string sum_text(const std::vector<double>& sums, bool complex) {
  return complex ? fmt::format("({:.6g}, {:.6g})", sums.at(0), sums.at(1)) : fmt::format("{:.6g}", sums.at(0));
}

std::string values_line(const mesh_report& report, const mesh_task& task, const mesh_outcome& outcome) {
  const value_kind& kind = outcome.kind;
  std::string text = "  values     ";
  if (!report.values_file.empty()) text += report.values_file + ", ";
  text += kind.complex ? "complex" : "real";
  if (report.values_file.empty() && task.operation == mesh_operation::spread) text += ", all 1";
  if (kind.vectors > 1) text += fmt::format(", {} vectors", kind.vectors);
  if (task.operation == mesh_operation::gradient) return text + ", gradients\n";
  return text + fmt::format("; sum {}, on the mesh {}{}\n", sum_text(report.values_sums, kind.complex),
                            sum_text(report.mesh_sums, kind.complex), kind.vectors > 1 ? " (of the first)" : "");
}

/// Empty if all points count in full.
std::string left_out_line(const mesh_left_out& left_out) {
  if (left_out.clipped == 0 && left_out.outside == 0) return {};
  return fmt::format(
      "  left out   {} clipped at open edges, {} of them entirely outside the mesh; {} outside the box\n",
      detail::counted(left_out.clipped, "footprint"), with_commas(left_out.missed),
      detail::counted(left_out.outside, "point"));
}

}  // namespace

void finish(const mesh_report& report, const mesh_options& options, const mesh_task& task,
            const particle_file& particles, const mesh_outcome& outcome) {
  if (options.json) {
    const auto result = as_json(report, options, task, particles, outcome);
    std::puts(explained_json(result, options.explain, outcome.explanation).c_str());
  } else if (!options.quiet) {
    const std::string text = as_text(report, options, task, particles, outcome);
    std::fputs(explained_text(text, options.explain, outcome.explanation).c_str(), summary_stream(options.output));
  }
}

nlohmann::ordered_json as_json(const mesh_report& report, const mesh_options& options, const mesh_task& task,
                               const particle_file& particles, const mesh_outcome& outcome) {
  const int dimension = particles.dimension;
  json result{{"program", program_json()},
              {"device", as_json(outcome.device)},
              {"points", as_json(particles)},
              {"values", values_json(report, task, outcome)},
              {"mesh", mesh_json(report, task, dimension, outcome.kind.complex)},
              {"box", mesh_box_json(task.box, dimension)},
              {report.command, method_json(report, options, task, outcome)},
              {"performance",
               {{"reading_seconds", report.reading_seconds},
                {"set_points_seconds", outcome.setting_seconds},
                {report.command + "_seconds", outcome.transfer_seconds},
                {"writing_seconds", report.writing_seconds},
                {"total_seconds", report.total_seconds},
                {"memory_bytes", outcome.memory_bytes}}}};
  result["output"] = options.output ? json(*options.output) : json();
  return result;
}

std::string as_text(const mesh_report& report, const mesh_options& options, const mesh_task& task,
                    const particle_file& particles, const mesh_outcome& outcome) {
  const std::string mesh = lengths_text(task.extents, particles.dimension);
  std::string text = task.operation == mesh_operation::spread
                         ? fmt::format("{}: {} points, spread onto a mesh of {}\n", particles.file,
                                       with_commas(particles.size()), mesh)
                         : fmt::format("{}: {} points, read from the mesh of {} in {}\n", particles.file,
                                       with_commas(particles.size()), mesh, report.mesh_file);
  text += values_line(report, task, outcome);
  text += fmt::format("  box        {}\n", mesh_box_text(task.box, particles.dimension));
  text += fmt::format("  {:<10} {:.3g} s on {}: {}, order {}, {} ({}); points taken in {:.3g} s\n", report.command,
                      outcome.transfer_seconds, as_text(outcome.device), outcome.method, task.order,
                      task.single ? "float" : "double", outcome.reason, outcome.setting_seconds);
  text += left_out_line(outcome.left_out);
  if (options.output) text += fmt::format("  output     {} ({:.3g} s)\n", *options.output, report.writing_seconds);
  return text;
}

}  // namespace quadrat::program
