// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "models/granular/frozen.hpp"
#include "models/granular/operations.hpp"

namespace quadrat::bench {

namespace {

struct step_case {
  std::size_t n;
  double occupancy;
};

/// In ascending order of n.
std::vector<step_case> step_cases(const session& s) {
  if (!s.full()) return {{4096, 3.5}};
  std::vector<step_case> cases{{65536, 3.5}, {262144, 3.5}};
  if (s.on_cuda()) {
    cases.insert(
        cases.end(),
        {{1048576, 2}, {1048576, 3.5}, {1048576, 4}, {1048576, 8}, {4194304, 3.5}, {16777216, 3.5}, {67108864, 3.5}});
  }
  return cases;
}

/// Decides which methods to time at the largest sizes, where they take seconds: those that were close to the fastest
/// before.
class contenders {
 public:
  void note(std::string_view method, double ms_per_grain) { last_[method] = ms_per_grain; }

  /// Whether a timed method was within the factor of the fastest that is allowed at this size.
  [[nodiscard]] bool worth(std::string_view method, std::size_t n) const {
    const double factor = n > (std::size_t{1} << 24) ? 1.6 : (n > (std::size_t{1} << 22) ? 3 : 1e9);
    const auto found = last_.find(method);
    if (found == last_.end()) return true;
    double best = std::numeric_limits<double>::infinity();
    for (const auto& [name, time] : last_) best = std::min(best, time);
    return found->second <= factor * best;
  }

 private:
  std::map<std::string_view, double> last_;
};

template <typename Context>
void run_case(const session& s, const Context& context, const step_case& wanted, contenders& field) {
  frozen_grains grains(cube_for(wanted.n, wanted.occupancy), wanted.n);
  for (const std::string_view method : wanted_granular_methods(s)) {
    const row identity = grains.describe("step", method, "float");
    if (!field.worth(method, wanted.n)) {
      s.out().skip(identity, "it was far from the fastest at the size before");
      continue;
    }
    s.attempt(identity, [&](row& out) {
      const timing measured = measure_frozen<float>(s, context, grains, method, out);
      field.note(method, measured.median_ms / static_cast<double>(wanted.n));
    });
  }
}

/// The noise of measurements: one method's step, timed again on its own grains.
template <typename Context>
double time_probe(const session& s, const Context& context, frozen_grains& grains, std::string_view method) {
  row unused;
  return measure_frozen<float>(s, context, grains, method, unused).median_ms;
}

template <typename Context>
void run_step_on(const session& s, const Context& context) {
  const auto methods = wanted_granular_methods(s);
  if (methods.empty()) return;
  const std::size_t n = !s.full() ? 4096 : (s.on_cuda() ? 1048576 : 65536);
  frozen_grains probe(cube_for(n, 4), n);
  const double first_ms = time_probe(s, context, probe, methods[0]);
  contenders field;
  for (const step_case& wanted : step_cases(s)) run_case(s, context, wanted, field);
  s.out().add_noise(probe.describe("step", methods[0], "float"), first_ms, time_probe(s, context, probe, methods[0]));
}

bool has_canonical(std::string_view method) {
  return std::ranges::find(granular_methods(), method, &granular_method::name)->reproducible == determinism::canonical;
}

template <typename Context>
void run_levels_on(const session& s, const Context& context) {
  const std::size_t n = !s.full() ? 4096 : (s.on_cuda() ? 1048576 : 65536);
  frozen_grains grains(cube_for(n, 4), n);
  for (const std::string_view method : wanted_granular_methods(s)) {
    for (const auto& [level, name] :
         {std::pair{determinism::run_to_run, "run_to_run"}, std::pair{determinism::canonical, "canonical"}}) {
      if (level == determinism::canonical && !has_canonical(method)) continue;
      row identity = grains.describe("step", method, "float");
      identity["determinism"] = name;
      s.attempt(identity, [&, level = level](row& out) {
        measure_frozen<float>(s, make_context<Context>(s, level), grains, method, out);
      });
    }
  }
  frozen_grains in_double(cube_for(n, 4), n);
  for (const std::string_view method : wanted_granular_methods(s)) {
    s.attempt(in_double.describe("step", method, "double"),
              [&](row& out) { measure_frozen<double>(s, context, in_double, method, out); });
  }
}

}  // namespace

void run_step(const session& s) {
  with_context(s, [&](const auto& context) { run_step_on(s, context); });
}

void run_levels(const session& s) {
  with_context(s, [&](const auto& context) { run_levels_on(s, context); });
}

}  // namespace quadrat::bench
