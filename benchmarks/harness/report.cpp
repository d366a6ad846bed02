// SPDX-License-Identifier: BSD-3-Clause
#include "harness/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "harness/stopwatch.hpp"
#include "io/text.hpp"
#include "quadrat/core/config.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/io/atomic_file.hpp"
#include "quadrat_build_info.hpp"

namespace quadrat::bench {

namespace {

constexpr std::array<std::string_view, 6> columns{"op", "method", "precision", "dim", "n", "cells"};

/// "42.1 G inserts/s", from the first key that is a rate; "" if there is none.
std::string rate_text(const row& measured) {
  for (const auto& [key, value] : measured.items()) {
    if (!key.ends_with("_per_s")) continue;
    const double rate = value.get<double>();
    const auto* const unit = rate >= 1e9 ? "G" : (rate >= 1e6 ? "M" : "k");
    const double scale = rate >= 1e9 ? 1e9 : (rate >= 1e6 ? 1e6 : 1e3);
    return fmt::format("{:7.2f} {} {}/s", rate / scale, unit, key.substr(0, key.size() - 6));
  }
  return "";
}

/// The properties of a row that have no column: "order=steady threads=2".
std::string details(const row& measured) {
  std::string text;
  for (const auto& [key, value] : measured.items()) {
    if (key == "median_ms") break;
    if (std::ranges::find(columns, key) != columns.end() || value.is_object()) continue;
    if (key == "distribution" && value == "uniform") continue;
    const std::string shown = value.is_string()         ? value.get<std::string>()
                              : value.is_number_float() ? fmt::format("{:.3g}", value.get<double>())
                                                        : value.dump();
    text += fmt::format(" {}={}", key, shown);
  }
  return text;
}

std::string identity_text(const row& identity) {
  return fmt::format("{:<13} {:<24} {:<6} {:>9} {:>9}", identity.value("op", ""), identity.value("method", ""),
                     identity.value("precision", ""), identity.value("n", std::size_t{0}),
                     identity.value("cells", std::size_t{0}));
}

void print(const std::string& line) {
  std::fputs((line + "\n").c_str(), stdout);
  std::fflush(stdout);
}

row cuda_meta(const settings& asked) {
  if (!asked.on_cuda) return nullptr;
  const cuda_versions versions = find_cuda_versions();
  return {{"compiler", QUADRAT_CUDA_COMPILER}, {"runtime", versions.runtime}, {"driver", versions.driver}};
}

row settings_meta(const settings& asked) {
  const timing_plan plan;
  return {
      {"effort", asked.full ? "full" : "quick"},
      {"methods", asked.methods},
      {"operations", asked.operations},
      {"figures", asked.figures},
      {"limit_s", asked.limit_s},
      {"stable_means", fmt::format("medians of both halves of the samples agree within {} %", plan.tolerance * 100)},
      {"cache", "warm"},
      {"timer", asked.on_cuda ? "device events" : "steady clock"}};
}

std::string case_name(std::string_view operation, std::string_view grid, std::size_t number) {
  return fmt::format("{} {} {}", operation, grid, number);
}

}  // namespace

row identify(std::string_view operation, std::string_view method, std::string_view precision, std::size_t n,
             std::size_t cells, std::string_view distribution) {
  return {{"op", operation}, {"method", method}, {"precision", precision},      {"dim", 3},
          {"n", n},          {"cells", cells},   {"distribution", distribution}};
}

void add_timing(row& target, const timing& measured, const char* rate, double things) {
  target["median_ms"] = measured.median_ms;
  target["min_ms"] = measured.min_ms;
  target["max_ms"] = measured.max_ms;
  target["samples"] = measured.samples;
  target["stable"] = measured.stable;
  target[rate] = measured.median_ms > 0 ? things / (measured.median_ms * 1e-3) : 0.0;
}

report::report(const settings& asked) : target_(asked.json) {
  if (!target_.empty()) {
    const io::atomic_file trial(target_);  // not committed: an older file stays unchanged
  }
  meta_ = {{"topic", asked.topic},
           {"version", QUADRAT_VERSION},
           {"commit", QUADRAT_GIT_COMMIT},
           {"build_type", QUADRAT_BUILD_TYPE},
           {"device", asked.device_name},
           {"compiler", QUADRAT_COMPILER},
           {"cuda", cuda_meta(asked)},
           {"threads", asked.threads},
           {"complete", false},
           {"settings", settings_meta(asked)},
           {"noise", row::array()}};
  if (asked.resume && std::filesystem::exists(target_)) resume(asked);
  print(fmt::format("quadrat {} ({}) on {}", QUADRAT_VERSION, QUADRAT_GIT_COMMIT, asked.device_name));
}

void report::resume(const settings& asked) {
  try {
    const row before = row::parse(io::read_whole_file(target_));
    for (const char* key : {"topic", "device", "threads"}) {
      if (before.at("meta").at(key) == meta_[key]) continue;
      throw data_error(message(target_.string(), ": its ", key, ", ", before["meta"][key].dump(), ", is not ",
                               meta_[key].dump(), "; resume it as it was begun, or name another file"));
    }
    if (before["meta"].at("settings").at("effort") != meta_["settings"]["effort"]) {
      throw data_error(message(target_.string(), " is not of ", asked.full ? "--full" : "--quick"));
    }
    for (const row& one : before.at("rows")) {
      if (!one.contains("case") || !one.contains("grid")) continue;  // rows without a case follow from the cases
      cases_.insert(case_name(one.at("op").get<std::string>(), one.at("grid").get<std::string>(), one.at("case")));
      rows_.push_back(one);
    }
  } catch (const nlohmann::json::exception& problem) {
    throw data_error(message(target_.string(), ": no result of quadrat bench: ", problem.what()));
  }
}

bool report::has_case(std::string_view operation, std::string_view grid, std::size_t number) const {
  return cases_.contains(case_name(operation, grid, number));
}

void report::headline(std::string_view text) const {
  print(fmt::format("\n{}\n{:<13} {:<24} {:<6} {:>9} {:>9} {:>11}", text, "operation", "method", "type", "n", "cells",
                    "median ms"));
}

void report::add(const row& measured) {
  rows_.push_back(measured);
  const std::string time =
      measured.contains("median_ms") ? fmt::format("{:.4f}", measured["median_ms"].get<double>()) : "";
  print(fmt::format("{} {:>11}  {}{}{}", identity_text(measured), time, rate_text(measured), details(measured),
                    measured.value("stable", true) ? "" : "  (not stable)"));
}

void report::skip(const row& identity, std::string_view reason) {
  row entry = identity;
  entry["reason"] = reason;
  skipped_.push_back(entry);
  print(fmt::format("{}     skipped  {}", identity_text(identity), reason));
}

void report::fail(const row& identity, std::string_view reason) {
  row entry = identity;
  entry["reason"] = reason;
  failed_.push_back(entry);
  print(fmt::format("{}      FAILED  {}", identity_text(identity), reason));
}

void report::add_noise(const row& identity, double first_ms, double second_ms) {
  row entry = identity;
  entry["first_ms"] = first_ms;
  entry["second_ms"] = second_ms;
  entry["relative"] = std::abs(second_ms - first_ms) / std::min(first_ms, second_ms);
  meta_["noise"].push_back(entry);
  print(fmt::format("noise: {} timed twice: {:.4f} and {:.4f} ms, {:.1f} % apart", identity.value("op", ""), first_ms,
                    second_ms, entry["relative"].get<double>() * 100));
}

void report::save(bool complete) {
  if (target_.empty()) return;
  meta_["complete"] = complete;
  row document{{"meta", meta_}, {"rows", rows_}};
  if (!skipped_.empty()) document["skipped"] = skipped_;
  if (!failed_.empty()) document["failed"] = failed_;
  io::write_text_file(target_, document.dump(1) + "\n");
}

}  // namespace quadrat::bench
