// SPDX-License-Identifier: BSD-3-Clause
#include "choice/judge.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "choice/least_squares.hpp"
#include "choice/loads.hpp"
#include "contacts/choice.hpp"
#include "keyed/choice.hpp"
#include "mesh/choice.hpp"
#include "models/circles/variants.hpp"
#include "models/granular/variants.hpp"
#include "search/choice.hpp"
#include "tune/choice.hpp"

namespace quadrat::bench {

namespace {

using detail::expected_time;
using detail::method_cost;

constexpr std::string_view kept_suffix = " kept";

/// The fastest method by the profile, and whether the choice took a sample.
struct chosen_method {
  std::string name;
  bool sampled = false;
  double expected_ms = 0;  ///< time expected by the profile
};

/// The methods that serve at a level, fastest first: as detail::times_by_profile, but for devices that this build or
/// machine may not have. The profile lacks constants of methods that do not run on them.
[[nodiscard]] std::vector<expected_time> expected_times(const std::vector<detail::named_cost>& costs,
                                                        const device_profile& profile, std::string_view module,
                                                        double uses, determinism level) {
  std::vector<expected_time> times;
  for (const detail::named_cost& one : costs) {
    if (!one.serves || !one.cost.why_last().empty() || one.reproducible < level) continue;
    const double ms = detail::expected_ms(profile, module, one.method, one.cost, uses);
    if (std::isfinite(ms)) times.push_back({one.method, ms});
  }
  std::ranges::stable_sort(times, {}, &expected_time::milliseconds);
  return times;
}

[[nodiscard]] expected_time first_of(const std::vector<expected_time>& times) {
  return times.empty() ? expected_time{"", std::numeric_limits<double>::infinity()} : times.front();
}

/// The choice of the first call, and that of later calls, which know more about such input.
struct chosen_methods {
  chosen_method first, later;
};

/// Chooses as key_reducer does.
[[nodiscard]] chosen_methods choose_keys(const detail::key_request& request, const device_profile& profile) {
  const detail::key_choice unseen = detail::choose_unseen_key_method(request, profile),
                           seen = detail::choose_key_method(request, profile);
  const bool repeatable = request.level != determinism::none;
  const bool worth = detail::worth_key_sample(request.cuda, repeatable, static_cast<std::size_t>(request.elements),
                                              unseen.milliseconds, unseen.at_stake_ms);
  const chosen_method sampled{std::string(seen.method), true, seen.milliseconds};
  const chosen_method first{std::string(unseen.method), worth, unseen.milliseconds};
  // On a GPU nothing waits for the sample.
  if (worth && (!request.cuda || repeatable)) return {sampled, sampled};
  return repeatable ? chosen_methods{first, first} : chosen_methods{first, sampled};
}

/// The costs of the variants of a model.
[[nodiscard]] std::vector<detail::named_cost> variant_costs(const std::string& model, const row& load) {
  const double occupancy = load.at("occupancy");
  const int threads = load.at("threads");
  const bool cuda = load.value("cuda", false);
  if (model == "circles") {
    const int dimension = load.at("dimension");
    const double growth = load.value("growth", static_cast<double>(dimension));
    return detail::circles_costs({load.at("agents"), dimension, occupancy, growth, threads, cuda});
  }
  const double remade = load.value("remade", 0.0), cells = load.value("cells", 0.0);
  return detail::granular_costs({load.at("grains"), occupancy, remade, threads, cuda, cells});
}
[[nodiscard]] bool is_model(const std::string& module) { return module == "circles" || module == "granular"; }

/// Whether the module chooses parameters: all candidates then have one cost function, with amounts of their own.
[[nodiscard]] bool has_parameters(const std::string& module) {
  return module == detail::ewald_module || module == detail::transform_module;
}
[[nodiscard]] std::string_view parameter_cost_name(const std::string& module) {
  return module == detail::ewald_module ? detail::ewald_cost_name : detail::transform_cost_name;
}
[[nodiscard]] method_cost parameter_cost(const std::string& module, const row& load) {
  return module == detail::ewald_module ? detail::cost_of(ewald_work_of(load))
                                        : detail::transform_cost(transform_load_of(load));
}
[[nodiscard]] chosen_method choose_parameters(const std::string& module, const row& loads,
                                              const device_profile& profile) {
  chosen_method best{"", false, std::numeric_limits<double>::infinity()};
  for (const auto& [name, load] : loads.items()) {
    const double ms =
        detail::expected_ms(profile, module, parameter_cost_name(module), parameter_cost(module, load), 1);
    if (ms < best.expected_ms) best = {name, false, ms};
  }
  return best;
}

/// The number of threads that a choice assumes. Above the level none it does not depend on that of the context.
template <typename Request>
[[nodiscard]] int chosen_for(const Request& request) {
  return request.cuda || request.level == determinism::none ? request.threads : detail::usual_threads;
}

[[nodiscard]] chosen_methods choose_for(const row& measured, double uses, const device_profile& profile) {
  const std::string module = measured.at("op");
  const row& load = measured.at("load");
  if (has_parameters(module)) {
    const chosen_method only = choose_parameters(module, load, profile);
    return {only, only};
  }
  const auto expected_of = [&](const std::vector<detail::named_cost>& costs, determinism level) {
    return expected_times(costs, profile, module, uses, level);
  };
  const auto method_of = [](const std::vector<expected_time>& times, bool sampled) {
    return chosen_method{std::string(first_of(times).method), sampled, first_of(times).milliseconds};
  };
  if (module == "mesh") {
    detail::spread_request request = spread_request_of(load);
    request.threads = chosen_for(request);
    detail::spread_request plain = request;
    plain.sample = {};
    const chosen_method seen = method_of(expected_of(detail::spread_costs(request), request.level), true),
                        unseen = method_of(expected_of(detail::spread_costs(plain), request.level), false);
    const bool samples = request.level == determinism::none ||
                         detail::worth_sampling(request.cuda, unseen.expected_ms / detail::samples_of_points, true);
    return samples ? chosen_methods{seen, seen} : chosen_methods{unseen, unseen};
  }
  if (module == "keyed") {
    detail::key_request request = key_request_of(load);
    request.uses = uses;
    request.threads = chosen_for(request);
    return choose_keys(request, profile);
  }
  if (module == "neighbors") {
    const chosen_method only =
        method_of(expected_of(detail::neighbor_costs(neighbor_request_of(load)), determinism::none), true);
    return {only, only};
  }
  if (module == "contacts") {
    detail::pair_request request = pair_request_of(load);
    const chosen_method first = method_of(expected_of(detail::contact_costs(request), determinism::none), false);
    request.found = measured.value("contacts", -1.0);
    return {first, method_of(expected_of(detail::contact_costs(request), determinism::none), false)};
  }
  const chosen_method only = method_of(expected_of(variant_costs(module, load), determinism::none), false);
  return {only, only};
}

/// The time of a method for this many uses; infinite if it was not measured.
[[nodiscard]] double time_of(const row& measured, std::string name, double uses) {
  if (measured.at("op") == "keyed" && uses > 1) name += kept_suffix;
  const row& use = measured.at("use_ms");
  if (!use.contains(name)) return std::numeric_limits<double>::infinity();
  return measured.at("prepare_ms").at(name).get<double>() + uses * use.at(name).get<double>();
}

[[nodiscard]] std::vector<double> uses_of(const row& measured) {
  if (measured.at("op") == "mesh") return {1, 10, 100};
  if (measured.at("op") == "keyed") return {1, 10};
  return {1};
}

/// The methods that were timed, without the suffixes.
[[nodiscard]] std::vector<std::string> timed_methods(const row& measured) {
  std::vector<std::string> names;
  for (const auto& [name, ms] : measured.at("use_ms").items()) {
    if (!name.ends_with(kept_suffix)) names.push_back(name);
  }
  return names;
}

[[nodiscard]] row judged_row(const row& measured, double uses, const device_profile& profile) {
  row out{{"op", "choice"}, {"module", measured.at("op")}};
  for (const char* key : {"case", "precision", "dim", "n", "keys", "mesh", "order", "distribution", "storage", "level",
                          "accuracy", "modes", "tolerance", "value"}) {
    if (measured.contains(key)) out[key] = measured[key];
  }
  out["uses"] = uses;
  std::string best;
  double best_ms = std::numeric_limits<double>::infinity();
  for (const std::string& name : timed_methods(measured)) {
    const double ms = time_of(measured, name, uses);
    if (ms < best_ms) best = name, best_ms = ms;
  }
  const auto& [first, chosen] = choose_for(measured, uses, profile);
  const double ms = time_of(measured, chosen.name, uses);
  const double first_ms = time_of(measured, first.name, uses) + (first.sampled ? measured.value("sample_ms", 0.0) : 0);
  out["chosen"] = chosen.name;
  if (first.name != chosen.name) out["first_chosen"] = first.name;
  out["best"] = best;
  out["expected_ms"] = chosen.expected_ms;
  out["chosen_ms"] = ms;
  out["best_ms"] = best_ms;
  out["regret"] = ms / best_ms;
  out["first_regret"] = first_ms / best_ms;
  return out;
}

/// The equations in which the constants of one method occur: amounts of its terms, and the time that their sum should
/// give.
struct equations {
  std::vector<std::string> names;
  std::vector<std::vector<double>> amounts;
  std::vector<double> times, weights;
};

/// By method, and whether it is about preparation.
using all_equations = std::map<std::pair<std::string, bool>, equations>;

void add_equation(all_equations& all, const std::string& module, const std::string& method, bool once,
                  const method_cost& cost, double ms, double weight) {
  if (!(ms > 0)) return;
  equations& one = all[{module + "." + method, once}];
  std::vector<double> amounts(one.names.size(), 0.0);
  for (const detail::cost_term& term : cost.terms()) {
    if (term.once != once) continue;
    const std::string name = detail::constant_name(module, method, term);
    const auto found = std::ranges::find(one.names, name);
    const auto place = static_cast<std::size_t>(found - one.names.begin());
    if (found == one.names.end()) {
      one.names.push_back(name);
      amounts.push_back(0);
      for (auto& earlier : one.amounts) earlier.push_back(0);
    }
    amounts[place] += term.amount;
  }
  one.amounts.push_back(std::move(amounts));
  one.times.push_back(ms);
  one.weights.push_back(weight);
}

/// The weight of a method's time: times far longer than the best need not be known precisely.
[[nodiscard]] double weight_of(const row& measured, const std::string& name, double uses) {
  const row& use = measured.at("use_ms");
  const auto total = [&](const std::string& one) {
    return measured.at("prepare_ms").at(one).get<double>() + uses * use.at(one).get<double>();
  };
  double best = std::numeric_limits<double>::infinity();
  for (const auto& [other, ms] : use.items()) {
    if (other.ends_with(kept_suffix) == name.ends_with(kept_suffix)) best = std::min(best, total(other));
  }
  return best / total(name);
}

/// Adds the equations of a row for all methods with a cost.
void add_equations(all_equations& all, const row& measured, const std::string& suffix,
                   const std::vector<detail::named_cost>& costs) {
  const std::string module = measured.at("op");
  const row& use = measured.at("use_ms");
  for (const auto& [method, level, serves, cost] : costs) {
    const std::string name = std::string(method) + suffix;
    if (!use.contains(name)) continue;
    double weight = 0;
    for (const double uses : uses_of(measured)) {
      if (module == "keyed" && (uses > 1) == suffix.empty()) continue;
      weight = std::max(weight, weight_of(measured, name, uses));
    }
    add_equation(all, module, std::string(method), false, cost, use.at(name), weight);
    // The preparation of a hopeless method was not timed: 0, which is left out.
    add_equation(all, module, std::string(method), true, cost, measured.at("prepare_ms").at(name), weight);
  }
}

void add_row(all_equations& all, const row& measured) {
  if (!measured.contains("use_ms")) return;  // a case that was left out has no times of uses either
  const std::string module = measured.at("op");
  const row& load = measured.at("load");
  if (module == "mesh") add_equations(all, measured, "", detail::spread_costs(spread_request_of(load)));
  if (module == "neighbors") {
    detail::neighbor_request request = neighbor_request_of(load);
    request.found = measured.value("pairs", 0.0);
    add_equations(all, measured, "", detail::neighbor_costs(request));
  }
  if (module == "contacts") {
    detail::pair_request request = pair_request_of(load);
    request.found = measured.value("contacts", -1.0);
    add_equations(all, measured, "", detail::contact_costs(request));
  }
  if (has_parameters(module)) {
    for (const auto& [name, one] : load.items()) {
      if (!measured.at("use_ms").contains(name)) continue;
      add_equation(all, module, std::string(parameter_cost_name(module)), false, parameter_cost(module, one),
                   measured.at("use_ms").at(name), 1);
    }
  }
  if (is_model(module)) add_equations(all, measured, "", variant_costs(module, load));
  if (module != "keyed") return;
  detail::key_request request = key_request_of(load);
  request.uses = 1;
  add_equations(all, measured, "", detail::key_costs(request));
  request.uses = 10;
  add_equations(all, measured, std::string(kept_suffix), detail::key_costs(request));
}

}  // namespace

std::vector<row> judge(const row& measured, const device_profile& profile) {
  std::vector<row> results;
  if (!measured.contains("use_ms") || measured["use_ms"].empty()) return results;
  for (const double uses : uses_of(measured)) results.push_back(judged_row(measured, uses, profile));
  return results;
}

std::vector<row> summarize_regret(const std::vector<row>& judged) {
  std::map<std::string, std::vector<const row*>> by_module;
  for (const row& one : judged) by_module[one.at("module")].push_back(&one);
  std::vector<row> results;
  for (const auto& [module, rows] : by_module) {
    row summary{{"op", "choice_summary"}, {"module", module}, {"cases", rows.size()}};
    for (const std::string kind : {"", "first_"}) {
      std::vector<double> regrets;
      for (const row* const one : rows) regrets.push_back(one->at(kind + "regret"));
      std::ranges::sort(regrets);
      const auto at = [&](double share) {
        return regrets[static_cast<std::size_t>(share * static_cast<double>(regrets.size() - 1) + 0.5)];
      };
      summary[kind + "median"] = at(0.5);
      summary[kind + "percentile_95"] = at(0.95);
      summary[kind + "worst"] = at(1);
    }
    results.push_back(std::move(summary));
  }
  return results;
}

device_profile fit_profile(const std::vector<row>& measured, const device_profile& start) {
  all_equations all;
  for (const row& one : measured) add_row(all, one);
  device_profile profile = start;
  for (const auto& [method, one] : all) {
    // Without a sample one cannot predict that some bodies or agents take far longer.
    const std::string& name = method.first;
    const bool sampled = std::ranges::none_of(std::array{"contacts.", "circles.", "granular."},
                                              [&name](const char* module) { return name.starts_with(module); });
    const bool foreseen = start.device.cuda && sampled;
    const std::vector<double> constants = fit_relative(one.amounts, one.times, one.weights, !foreseen);
    for (std::size_t k = 0; k < one.names.size(); ++k) {
      // For amounts that are 0 in all cases (starts of threads with one thread, for example) the constant is kept.
      const bool seen = std::ranges::any_of(one.amounts, [k](const auto& amounts) { return amounts[k] > 0; });
      if (seen || !profile.constants.contains(one.names[k])) profile.constants[one.names[k]] = constants[k];
    }
  }
  return profile;
}

}  // namespace quadrat::bench
