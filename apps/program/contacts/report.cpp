// SPDX-License-Identifier: BSD-3-Clause
#include "program/contacts/report.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <nlohmann/json.hpp>

#include "program/process/progress_bar.hpp"
#include "program/run/summary.hpp"

namespace quadrat::program {
namespace {

using body_counts = std::array<std::size_t, body_shape_names.size()>;

body_counts counts_of(const io::body_list& bodies) {
  body_counts counts{};
  for (const body_shape shape : bodies.shapes) ++counts[static_cast<std::size_t>(shape)];
  return counts;
}

nlohmann::ordered_json bodies_json(const io::body_list& bodies) {
  const body_counts counts = counts_of(bodies);
  auto shapes = nlohmann::ordered_json::object();
  for (std::size_t k = 0; k < counts.size(); ++k) shapes[std::string(body_shape_names[k])] = counts[k];
  return {{"file", bodies.file}, {"count", bodies.size()}, {"shapes", shapes}};
}

nlohmann::ordered_json domain_json(const contact_surroundings& surroundings) {
  if (!surroundings.domain) return nullptr;
  const box<double, 3>& domain = *surroundings.domain;
  return {{"origin", array_json(3, [&](int axis) { return domain.lower[axis]; })},
          {"lengths", array_json(3, [&](int axis) { return domain.length[axis]; })},
          {"periodic", array_json(3, [&](int axis) { return domain.periodic[axis]; })}};
}

std::string plural(std::size_t count, std::string_view shape) {
  return fmt::format("{} {}{}", with_commas(count), shape, count == 1 ? "" : shape == "box" ? "es" : "s");
}

/// "2 spheres, 1 box"
std::string bodies_text(const io::body_list& bodies) {
  const body_counts counts = counts_of(bodies);
  std::string text;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    if (counts[k] > 0) text += (text.empty() ? "" : ", ") + plural(counts[k], body_shape_names[k]);
  }
  return text.empty() ? "no bodies" : text;
}

std::string domain_text(const contact_surroundings& surroundings) {
  if (!surroundings.domain) return "open, around all bodies";
  const auto& domain = *surroundings.domain;
  std::string axes;
  for (int axis = 0; axis < 3; ++axis) {
    if (domain.periodic[axis]) axes += "xyz"[axis];
  }
  return fmt::format("{:.6g} x {:.6g} x {:.6g}, {}", domain.length[0], domain.length[1], domain.length[2],
                     axes.empty() ? "open" : "periodic along " + axes);
}

}  // namespace

nlohmann::ordered_json as_json(const contacts_report& report, const contacts_options& options,
                               const io::body_list& bodies, const contact_surroundings& surroundings) {
  nlohmann::ordered_json result{{"program", program_json()},
                                {"device", as_json(report.device)},
                                {"bodies", bodies_json(bodies)},
                                {"planes", surroundings.planes.size()},
                                {"box", domain_json(surroundings)},
                                {"search",
                                 {{"precision", options.precision},
                                  {"method", report.method},
                                  {"bin_size", report.bin_size},
                                  {"reason", report.reason}}},
                                {"contacts", report.contacts},
                                {"performance",
                                 {{"reading_seconds", report.reading_seconds},
                                  {"search_seconds", report.search_seconds},
                                  {"writing_seconds", report.writing_seconds},
                                  {"total_seconds", report.total_seconds},
                                  {"memory_bytes", report.memory_bytes}}}};
  result["output"] = options.output ? nlohmann::ordered_json(*options.output) : nlohmann::ordered_json();
  return result;
}

std::string as_text(const contacts_report& report, const contacts_options& options, const io::body_list& bodies,
                    const contact_surroundings& surroundings) {
  const std::size_t planes = surroundings.planes.size();
  std::string text = fmt::format("{}: {}{}, {} contact{}\n", bodies.file, bodies_text(bodies),
                                 planes > 0 ? ", " + plural(planes, "plane") : "", with_commas(report.contacts),
                                 report.contacts == 1 ? "" : "s");
  text += fmt::format("  box        {}\n", domain_text(surroundings));
  const std::string bins = report.bin_size > 0 ? fmt::format(", bins of {:.6g}", report.bin_size) : "";
  text += fmt::format("  search     {:.3g} s on {}: {}{}, {} ({})\n", report.search_seconds, as_text(report.device),
                      report.method, bins, options.precision, report.reason);
  if (options.output) text += fmt::format("  output     {} ({:.3g} s)\n", *options.output, report.writing_seconds);
  return text;
}

}  // namespace quadrat::program
