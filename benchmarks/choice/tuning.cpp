// SPDX-License-Identifier: BSD-3-Clause
#include "choice/tuning.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <type_traits>

#include "choice/judge.hpp"
#include "choice/operations.hpp"
#include "harness/session.hpp"
#include "harness/stopwatch.hpp"
#include "io/text.hpp"
#include "quadrat/core/config.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::bench {

namespace {

[[nodiscard]] std::string summary_text(const row& one) {
  return fmt::format(
      "{:<10} {:>5} cases: regret {:.3f} median, {:.3f} at 95 %, {:.3f} at worst; of the first call {:.3f}, {:.3f}, "
      "{:.3f}",
      one["module"].get<std::string>(), one["cases"].get<std::size_t>(), one["median"].get<double>(),
      one["percentile_95"].get<double>(), one["worst"].get<double>(), one["first_median"].get<double>(),
      one["first_percentile_95"].get<double>(), one["first_worst"].get<double>());
}

/// Times all methods on the fit grid. Every module gets its share of the time.
[[nodiscard]] std::vector<row> measure(const settings& asked) {
  constexpr std::array<void (*)(const session&), 7> operations{
      run_choice_mesh,  run_choice_keyed, run_choice_neighbors, run_choice_contacts,
      run_choice_ewald, run_choice_nufft, run_choice_models};
  settings part = asked;
  part.grid = "fit";
  part.json.clear();
  part.limit_s = asked.limit_s / static_cast<double>(operations.size());
  report out(part);
  for (const auto run : operations) run(session(part, out));
  return {out.all_rows().begin(), out.all_rows().end()};
}

}  // namespace

std::vector<row> rows_of(const std::filesystem::path& file, const std::string& grid) {
  std::vector<row> rows;
  try {
    const row document = row::parse(io::read_whole_file(file));
    for (const row& one : document.at("rows")) {
      if (one.value("grid", "") == grid) rows.push_back(one);
    }
  } catch (const nlohmann::json::exception& problem) {
    throw data_error(message(file.string(), ": no result of quadrat bench choice: ", problem.what()));
  }
  if (rows.empty()) throw data_error(message(file.string(), ": there are no cases of the grid ", grid));
  return rows;
}

device_profile tune(const tuning& what, const device_facts& device) {
  std::vector<row> rows;
  for (const auto& file : what.from) {
    const std::vector<row> more = rows_of(file, "fit");
    rows.insert(rows.end(), more.begin(), more.end());
  }
  if (what.from.empty()) rows = measure(what.asked);
  const device_profile& start = shipped_profile(device);
  device_profile profile = fit_profile(rows, start);
  profile.device = device;
  profile.version = QUADRAT_VERSION;
  profile.origin = "just measured";
  return profile;
}

void check_profile(const tuning& what, const device_profile& profile) {
  std::vector<row> judged;
  for (const auto& file : what.check) {
    for (const row& one : rows_of(file, "test")) {
      for (row& result : judge(one, profile)) judged.push_back(std::move(result));
    }
  }
  if (judged.empty()) return;
  settings asked = what.asked;
  asked.json = what.judged;
  asked.topic = "choice";
  report out(asked);
  for (const row& one : judged) out.keep(one);
  for (const row& one : summarize_regret(judged)) {
    out.keep(one);
    std::puts(summary_text(one).c_str());
  }
  out.save(true);
}

void run_choice_regret(const session& s) {
  const device_profile* profile = nullptr;
  with_context(s, [&](const auto& context) { profile = &profile_of(context); });
  std::vector<row> judged;
  for (const row& one : s.out().all_rows()) {
    if (one.value("grid", "") != "test") continue;
    for (row& result : judge(one, *profile)) judged.push_back(std::move(result));
  }
  for (const row& one : judged) s.out().keep(one);
  for (const row& one : summarize_regret(judged)) {
    s.out().keep(one);
    s.out().headline(summary_text(one));
  }
}

}  // namespace quadrat::bench
