// SPDX-License-Identifier: BSD-3-Clause
#include "summary.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <string_view>
#include <type_traits>

#include "progress_bar.hpp"
#include "quadrat/core/config.hpp"
#include "quadrat_build_info.hpp"

namespace quadrat::program {
namespace {

using json = nlohmann::ordered_json;

/// Visitor that puts each key of a scene into its table.
class settings_writer {
 public:
  explicit settings_writer(json& out) : out_(out) {}

  template <typename T>
  void operator()(std::string_view table, std::string_view key, const T& value) {
    out_[std::string(table)][std::string(key)] = as_value(value);
  }

 private:
  template <typename T>
  static json as_value(const std::optional<T>& value) {
    return value ? as_value(*value) : json();
  }
  template <typename T>
  static json as_value(const T& value) {
    if constexpr (std::is_enum_v<T>) {
      return io::name_of(value);
    } else {
      return value;
    }
  }

  json& out_;
};

json settings_json(const io::granular_scene& scene) {
  json result;
  io::visit_keys(scene, settings_writer(result));
  return result;
}

json statistics_json(const granular_statistics& s) {
  return {{"step", s.step},
          {"kinetic_energy", s.kinetic_energy},
          {"contact_energy", s.contact_energy},
          {"gravitational_energy", s.gravitational_energy},
          {"kinetic_energy_per_particle", s.kinetic_energy_per_particle},
          {"mean_height", s.mean_height},
          {"contacts_per_particle", s.contacts_per_particle},
          {"candidates_per_particle", s.candidates_per_particle},
          {"largest_cell", s.largest_cell},
          {"max_speed", s.max_speed}};
}

json performance_json(const run_report& report, const simulation& model) {
  const double steps = static_cast<double>(report.steps());
  return {{"updates_per_second", report.updates_per_second(model.size())},
          {"milliseconds_per_step", report.steps() > 0 ? 1e3 * report.simulation_seconds / steps : 0},
          {"simulation_seconds", report.simulation_seconds},
          {"measuring_seconds", report.measuring_seconds},
          {"writing_seconds", report.writing_seconds},
          {"total_seconds", report.total_seconds},
          {"memory_bytes", model.memory_bytes()}};
}

json files_json(const run_report& report, const output_folder& folder) {
  json files{{"folder", folder.path().string()}, {"statistics", folder.statistics().string()}};
  const auto add = [&](const char* name, const std::filesystem::path& file) {
    if (std::filesystem::exists(file)) files[name] = file.string();
  };
  add("preview", folder.preview());
  add("frames", folder.collection());
  add("checkpoint", folder.checkpoint());
  files["frame_count"] = report.frames;
  return files;
}

std::string where(const simulation& model) {
  if (model.backend() != "cpu") return model.device_name();
  return fmt::format("{} ({} thread{})", model.device_name(), model.threads(), model.threads() == 1 ? "" : "s");
}

/// Seconds with a sensible number of digits.
std::string seconds_text(double seconds) { return fmt::format("{:.{}f} s", seconds, seconds < 10 ? 2 : 1); }

}  // namespace

double run_report::updates_per_second(std::size_t particles) const {
  return simulation_seconds > 0 ? static_cast<double>(steps()) * static_cast<double>(particles) / simulation_seconds
                                : 0;
}

nlohmann::ordered_json program_json() {
  json result{{"version", QUADRAT_VERSION},
              {"commit", QUADRAT_GIT_COMMIT},
              {"build_type", QUADRAT_BUILD_TYPE},
              {"compiler", QUADRAT_COMPILER}};
  if (const std::string cuda_compiler = QUADRAT_CUDA_COMPILER; !cuda_compiler.empty()) {
    result["cuda_compiler"] = cuda_compiler;
  }
  return result;
}

nlohmann::ordered_json as_json(const run_report& report, const io::granular_scene& scene, const simulation& model,
                               const output_folder& folder) {
  return {{"program", program_json()},
          {"device", {{"backend", model.backend()}, {"name", model.device_name()}, {"threads", model.threads()}}},
          {"run",
           {{"particles", model.size()},
            {"method", model.method()},
            {"first_step", report.first_step},
            {"last_step", report.last_step},
            {"time", static_cast<double>(report.last_step) * scene.physics.time_step},
            {"resumed", report.resumed},
            {"interrupted", report.signal != 0}}},
          {"performance", performance_json(report, model)},
          {"statistics", statistics_json(report.statistics)},
          {"settings", settings_json(scene)},
          {"files", files_json(report, folder)}};
}

std::string as_text(const run_report& report, const io::granular_scene& scene, const simulation& model,
                    const output_folder& folder) {
  const granular_statistics& s = report.statistics;
  std::string text = fmt::format("{}: {} grains, {}{} steps in {} on {}\n", scene.scene.name, with_commas(model.size()),
                                 report.resumed ? fmt::format("from step {} on ", with_commas(report.first_step)) : "",
                                 with_commas(report.steps()), seconds_text(report.simulation_seconds), where(model));
  if (report.steps() > 0) {
    text +=
        fmt::format("  speed      {} updates/s, {:.3g} ms a step ({}, {}); statistics and files took {}\n",
                    with_prefix(report.updates_per_second(model.size())),
                    1e3 * report.simulation_seconds / static_cast<double>(report.steps()), model.method(),
                    io::name_of(scene.run.precision), seconds_text(report.measuring_seconds + report.writing_seconds));
  }
  text += fmt::format(
      "  state      mean height {:.4g}, kinetic energy {:.3g} a grain; {:.3g} contacts and {:.4g} candidates a grain, "
      "{} grains in the fullest cell\n",
      s.mean_height, s.kinetic_energy_per_particle, s.contacts_per_particle, s.candidates_per_particle, s.largest_cell);
  if (report.signal == 0 && scene.output.preview) text += fmt::format("  picture    {}\n", folder.preview().string());
  if (report.frames > 0) {
    text += fmt::format("  frames     {} ({} frames, for ParaView)\n", folder.collection().string(), report.frames);
  }
  return text + fmt::format("  summary    {}\n", folder.summary().string());
}

}  // namespace quadrat::program
