// SPDX-License-Identifier: BSD-3-Clause
#include "program/reduce/report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "program/process/progress_bar.hpp"
#include "program/run/summary.hpp"

namespace quadrat::program {
namespace {

using json = nlohmann::ordered_json;

}  // namespace

json as_json(const reduce_report& report, const reduce_task& task, const key_array& keys, const value_array* values,
             const reduce_outcome& outcome) {
  json result{
      {"program", program_json()},
      {"device", as_json(outcome.device)},
      {"keys",
       {{"file", keys.file}, {"type", name_of(keys.stored)}, {"elements", keys.size()}, {"count", task.key_count}}}};
  result["values"] =
      values == nullptr
          ? json()
          : json{{"file", values->file}, {"type", name_of(values->stored)}, {"components", values->components}};
  result["reduce"] = {
      {"op", task.operation},     {"type", name_of(outcome.results.type())}, {"method", outcome.method},
      {"reason", outcome.reason}, {"deterministic", report.reproducible},    {"compensated", task.options.compensated}};
  result["performance"] = {{"reading_seconds", report.reading_seconds}, {"set_keys_seconds", outcome.setting_seconds},
                           {"reduce_seconds", outcome.reduce_seconds},  {"writing_seconds", report.writing_seconds},
                           {"total_seconds", report.total_seconds},     {"memory_bytes", outcome.memory_bytes}};
  result["output"] = report.output ? json(*report.output) : json();
  return result;
}

std::string as_text(const reduce_report& report, const reduce_task& task, const key_array& keys,
                    const value_array* values, const reduce_outcome& outcome) {
  std::string text = fmt::format("{}: {} elements, {} by {} keys\n", keys.file, with_commas(keys.size()),
                                 task.operation, with_commas(task.key_count));
  if (values != nullptr) {
    text += fmt::format("  values     {}, {}, {} component{}\n", values->file, name_of(values->stored),
                        values->components, values->components == 1 ? "" : "s");
  }
  text += fmt::format("  reduce     {:.3g} s on {}: {}, {} ({}); keys taken in {:.3g} s\n", outcome.reduce_seconds,
                      as_text(outcome.device), outcome.method, name_of(outcome.results.type()), outcome.reason,
                      outcome.setting_seconds);
  if (report.output) text += fmt::format("  output     {} ({:.3g} s)\n", *report.output, report.writing_seconds);
  return text;
}

}  // namespace quadrat::program
