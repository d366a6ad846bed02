// SPDX-License-Identifier: BSD-3-Clause
#include "program/run/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "program/process/progress_bar.hpp"
#include "quadrat/core/config.hpp"
#include "quadrat_build_info.hpp"

namespace quadrat::program {
namespace {

using json = nlohmann::ordered_json;

void add_values(json& result, const std::vector<measured_value>& values) {
  for (const measured_value& one : values) {
    json& value = result[std::string(one.name)];
    if (one.whole) {
      value = static_cast<std::uint64_t>(one.value);
    } else {
      value = one.value;
    }
  }
}

json statistics_json(const measurement& now) {
  json result{{"step", now.step}};
  add_values(result, now.values);
  return result;
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

/// The distribution of the work; `imbalance` is the most particles of a rank over the mean, minus 1.
json ranks_json(const std::vector<rank_report>& ranks) {
  std::uint64_t most = 0, total = 0;
  for (const rank_report& one : ranks) {
    most = std::max(most, one.particles);
    total += one.particles;
  }
  const double mean = static_cast<double>(total) / static_cast<double>(ranks.size());
  json result{{"count", ranks.size()},
              {"imbalance", total == 0 ? 0.0 : static_cast<double>(most) / mean - 1},
              {"exchanges", ranks[0].exchanges},
              {"balances", ranks[0].balances},
              {"steps_lost_to_imbalance", ranks[0].lost_steps}};
  result["by_rank"] = array_json(static_cast<int>(ranks.size()), [&](int rank) {
    const rank_report& one = ranks[static_cast<std::size_t>(rank)];
    return json{{"particles", one.particles},
                {"ghosts", one.ghosts},
                {"bytes_sent", one.bytes_sent},
                {"communication_seconds", one.communication_seconds}};
  });
  return result;
}

json files_json(const run_report& report, const output_folder& folder) {
  json files{{"folder", folder.path().string()}, {"statistics", folder.statistics().string()}};
  const auto add = [&](std::string_view name, const std::filesystem::path& file) {
    if (std::filesystem::exists(file)) files[std::string(name)] = file.string();
  };
  add("preview", folder.preview());
  add("frames", folder.collection());
  add("checkpoint", folder.checkpoint());
  for (const std::string_view name : run_csv_names) add(name, folder.table(name));
  files["frame_count"] = report.frames;
  return files;
}

std::string where(const simulation& model) {
  if (model.backend() != "cpu") return model.device_name();
  return fmt::format("{} ({} thread{})", model.device_name(), model.threads(), model.threads() == 1 ? "" : "s");
}

/// Seconds with a sensible number of digits.
std::string seconds_text(double seconds) { return fmt::format("{:.{}f} s", seconds, seconds < 10 ? 2 : 1); }

std::string ranks_in_words(const std::vector<rank_report>& ranks) {
  std::uint64_t bytes = 0;
  double seconds = 0;
  for (const rank_report& one : ranks) {
    bytes += one.bytes_sent;
    seconds = std::max(seconds, one.communication_seconds);
  }
  return fmt::format("{}; {}B sent in all, up to {} in communication; balanced {} time{}", ranks.size(),
                     with_prefix(static_cast<double>(bytes)), seconds_text(seconds), ranks[0].balances,
                     ranks[0].balances == 1 ? "" : "s");
}

}  // namespace

double run_report::updates_per_second(std::size_t particles) const {
  return simulation_seconds > 0 ? static_cast<double>(steps()) * static_cast<double>(particles) / simulation_seconds
                                : 0;
}

std::string plot_hint(const std::string& table) {
  return fmt::format("  plot       python3 -m quadrat.plot {} -o {}png\n", table, table.substr(0, table.size() - 3));
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

nlohmann::ordered_json as_json(const run_report& report, const run_plan& plan, const simulation& model,
                               const output_folder& folder) {
  json all{{"program", program_json()},
           {"device", {{"backend", model.backend()}, {"name", model.device_name()}, {"threads", model.threads()}}},
           {"run",
            {{"particles", model.size()},
             {"method", model.method()},
             {"first_step", report.first_step},
             {"last_step", report.last_step},
             {"time", static_cast<double>(report.last_step) * plan.time_step},
             {"resumed", report.resumed},
             {"interrupted", report.signal != 0}}},
           {"performance", performance_json(report, model)},
           {"statistics", statistics_json(report.statistics)}};
  if (!report.ranks.empty()) all["ranks"] = ranks_json(report.ranks);
  if (const run_result shown = model.result(); !shown.values.empty()) add_values(all["result"], shown.values);
  if (const auto why = model.explained()) all["choice"] = json::parse(why->json());
  all["settings"] = plan.settings;
  all["files"] = files_json(report, folder);
  return all;
}

std::string as_text(const run_report& report, const run_plan& plan, const simulation& model,
                    const output_folder& folder) {
  std::string text =
      fmt::format("{}: {} {}, {}{} steps in {} on {}\n", plan.name, with_commas(model.size()), plan.particles,
                  report.resumed ? fmt::format("from step {} on ", with_commas(report.first_step)) : "",
                  with_commas(report.steps()), seconds_text(report.simulation_seconds), where(model));
  if (report.steps() > 0) {
    text += fmt::format("  speed      {} updates/s, {:.3g} ms a step ({}, {}); statistics and files took {}\n",
                        with_prefix(report.updates_per_second(model.size())),
                        1e3 * report.simulation_seconds / static_cast<double>(report.steps()), model.method(),
                        plan.precision, seconds_text(report.measuring_seconds + report.writing_seconds));
  }
  if (!report.ranks.empty()) text += fmt::format("  ranks      {}\n", ranks_in_words(report.ranks));
  text += fmt::format("  state      {}\n", model.in_words(report.statistics));
  if (const std::string words = model.result().words; !words.empty()) text += fmt::format("  result     {}\n", words);
  if (report.signal == 0 && plan.output.preview) text += fmt::format("  picture    {}\n", folder.preview().string());
  for (const run_csv& one : model.tables()) text += plot_hint(folder.table(one.name).string());
  if (report.frames > 0) {
    text += fmt::format("  frames     {} in {}; a page of them: python3 -m quadrat.view {}\n", report.frames,
                        folder.frames().string(), folder.path().string());
  }
  return text + fmt::format("  summary    {}\n", folder.summary().string());
}

}  // namespace quadrat::program
