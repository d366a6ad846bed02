// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <vector>

#include "choice/cases.hpp"
#include "choice/judge.hpp"
#include "quadrat/tune/device_profile.hpp"

namespace quadrat::bench {

namespace {

constexpr double doubtful_regret = 1.15;
constexpr std::size_t most_measurements = 5;

[[nodiscard]] double largest_regret(const session& s, const row& known) {
  const device_profile* profile = nullptr;
  with_context(s, [&](const auto& context) { profile = &profile_of(context); });
  double largest = 1;
  for (const row& one : judge(known, *profile)) {
    for (const char* const kind : {"regret", "lasting_regret"}) {
      largest = std::max(largest, one.at(kind).get<double>());
    }
  }
  return largest;
}

[[nodiscard]] double median_of(std::vector<double> values) {
  std::ranges::sort(values);
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

/// The times of the methods that every measurement has.
void take_medians(row& known) {
  for (const char* const kind : {"prepare_ms", "use_ms"}) {
    row medians = row::object();
    for (const auto& [name, ms] : known.at(kind).items()) {
      std::vector<double> values;
      for (const row& one : known.at("measurements")) {
        if (one.at(kind).contains(name)) values.push_back(one.at(kind).at(name));
      }
      if (values.size() == known.at("measurements").size()) medians[name] = median_of(values);
    }
    known[kind] = medians;
  }
}

}  // namespace

void measure_anew(const session& s, row& known, const std::function<void(row&)>& measure) {
  if (!s.asked().anew || known.value("grid", "") != "test" || !known.contains("use_ms") || s.time_is_up()) return;
  const auto times_of = [](const row& one) {
    return row{{"prepare_ms", one.at("prepare_ms")}, {"use_ms", one.at("use_ms")}};
  };
  const std::size_t before = known.contains("measurements") ? known["measurements"].size() : 1;
  if (before >= most_measurements || largest_regret(s, known) <= doubtful_regret) return;
  if (before == 1) known["measurements"] = row::array({times_of(known)});
  row next = known;
  next.erase("why_not");
  next["prepare_ms"] = next["use_ms"] = row::object();
  measure(next);
  known["measurements"].push_back(times_of(next));
  take_medians(known);
}

}  // namespace quadrat::bench
