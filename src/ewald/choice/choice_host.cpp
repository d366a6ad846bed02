// SPDX-License-Identifier: BSD-3-Clause
#include "ewald/choice/choice.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/automatic.hpp"
#include "ewald/choice/cost.hpp"
#include "ewald/choice/search.hpp"
#include "ewald/methods.hpp"
#include "quadrat/core/error.hpp"
#include "spectral/fft/lines.hpp"

namespace quadrat::detail {

namespace {

using ewald_methods::direct;
using ewald_methods::esp;
using ewald_methods::spme;

/// The accuracy limit of rounding.
[[nodiscard]] double least_accuracy(const ewald_request& request) { return request.single_precision ? 1e-6 : 1e-14; }

void check_mesh(const ewald_request& request) {
  const vec<int, 3>& mesh = request.given.mesh;
  if (mesh[0] == 0 && mesh[1] == 0 && mesh[2] == 0) return;
  const bool modes = request.method == direct::name;
  for (int axis = 0; axis < 3; ++axis) {
    const int extent = mesh[axis], least = modes ? 1 : std::max(request.given.order, 3);
    require(extent >= least, modes ? "the largest mode" : "the mesh's extent", " along axis ", axis, " is ", extent,
            "; at least ", least, " is possible, or auto");
    if (modes) continue;
    const int good = good_fft_size(extent, axis == 2);
    require(good == extent, "the mesh's extent along axis ", axis, " is ", extent, "; products of 2, 3 and 5",
            axis == 2 ? " that are even" : "", " are possible, such as ", good);
  }
}

void check_given(const ewald_request& request) {
  const ewald_parameters& given = request.given;
  require(given.splitting == 0 || !is_automatic(request.method), "the splitting is ", given.splitting,
          ", which is alpha for spme and direct, and c for esp: a method must be given with it");
  check_mesh(request);
  if (given.splitting == 0) return;
  if (request.method == esp::name) {
    require(given.splitting >= 1 && given.splitting <= ewald_splitting::most_band, "the splitting is ", given.splitting,
            "; c of esp can be 1 to ", ewald_splitting::most_band);
  } else if (given.cutoff > 0) {
    const double decay = given.cutoff * given.splitting;
    require(decay >= 0.1 && decay <= most_decay, "the cutoff ", given.cutoff, " times the splitting ", given.splitting,
            " is ", decay, "; 0.1 to ", most_decay, " is possible");
  }
}

void check_request(const ewald_request& request) {
  check_ewald_numbers(request.accuracy, request.given);
  require(request.accuracy >= least_accuracy(request), "the accuracy is ", request.accuracy, "; in single precision ",
          least_accuracy(request), " can be reached");
  require(is_automatic(request.method) || request.method == spme::name || request.method == esp::name ||
              request.method == direct::name,
          "there is no method \"", request.method, "\" for Ewald sums; there are spme, esp and direct");
  require(request.method != esp::name || request.law == pair_law::coulomb,
          "the method esp serves Coulomb's law only; spme and direct serve 1/r^6");
  check_given(request);
}

/// The systems with charges; if there are none, all systems with unit charges, so that charges can come later.
[[nodiscard]] std::vector<charged_system> with_charges(const std::vector<charged_system>& systems) {
  std::vector<charged_system> result;
  for (const charged_system& system : systems) {
    if (system.points > 0 && system.sum_of_squares > 0) result.push_back(system);
  }
  if (!result.empty()) return result;
  for (charged_system system : systems) {
    system.points = std::max(system.points, 1.0);
    system.sum_of_squares = system.points;
    system.sum_of_fourth_powers = 0;
    system.net_charge = 0;
    result.push_back(system);
  }
  return result;
}

[[nodiscard]] ewald_load load_of(const ewald_request& request, const std::vector<charged_system>& systems) {
  constexpr std::size_t most = 16;
  ewald_load load;
  load.place = request.place;
  load.single_precision = request.single_precision;
  for (const charged_system& system : systems) load.points += system.points;
  load.systems = static_cast<double>(systems.size());
  const std::size_t count = std::min(most, systems.size());
  for (std::size_t i = 0; i < count; ++i) load.kinds.push_back(systems[i * systems.size() / count]);
  load.weight = load.systems / static_cast<double>(count);
  return load;
}

/// The first guess of the system with the largest error: errors in units of the reference force grow with the distance
/// of neighbors.
[[nodiscard]] std::size_t sparsest(const std::vector<charged_system>& systems) {
  const auto spacing = [](const charged_system& it) { return it.volume() / it.points * std::max(1.0, it.crowding); };
  return static_cast<std::size_t>(
      std::max_element(systems.begin(), systems.end(),
                       [&](const charged_system& a, const charged_system& b) { return spacing(a) < spacing(b); }) -
      systems.begin());
}

/// The compared candidates, for a table.
[[nodiscard]] std::vector<candidate> shown(const ewald_search& search, std::string_view method, double accuracy) {
  std::vector<candidate> result;
  for (const ewald_candidate& one : search.compared()) {
    const bool accurate = one.error <= accuracy;
    result.push_back({ewald_candidate_name(method, one.parameters.order),
                      accurate ? one.cost : std::numeric_limits<double>::infinity(), 0,
                      accurate ? "" : "does not reach the accuracy"});
  }
  return result;
}

/// The best choice of one method. Parameters found for one system are checked for all systems, and with more nodes.
[[nodiscard]] ewald_choice choice_of(const ewald_request& request, std::string_view method,
                                     const std::vector<charged_system>& systems) {
  const ewald_load load = load_of(request, systems);
  ewald_search search(request, method, load);
  ewald_choice choice{{method, request.law, {}}, "", {}, std::numeric_limits<double>::infinity(), 0};
  double accuracy = request.accuracy;
  std::size_t worst = sparsest(systems);
  for (int attempt = 0; attempt < 8; ++attempt) {
    const ewald_candidate found = search.best(systems[worst], accuracy);
    choice.candidates = shown(search, method, accuracy);
    if (!(found.cost < std::numeric_limits<double>::infinity())) break;
    choice.setup.parameters = found.parameters;
    choice.cost = found.cost;
    choice.pairs = load.work(false, found.parameters.cutoff, 0, 0).pairs;
    const largest_errors largest = predicted_errors(choice.setup, systems);
    choice.errors = largest.errors;
    choice.worst = largest.system;
    const double total = largest.errors.total();
    if (total <= request.accuracy || found.error > accuracy) break;
    if (worst == largest.system) accuracy *= std::min(0.97, request.accuracy / total);
    worst = largest.system;
  }
  return choice;
}

[[nodiscard]] bool serves(const ewald_choice& choice, const ewald_request& request) {
  return choice.cost < std::numeric_limits<double>::infinity() && choice.errors.total() <= request.accuracy;
}

/// Round numbers up to 1: 1, 2 or 5 times a power of ten, three for each power; number 0 is 1.
[[nodiscard]] double round_number(int k) {
  constexpr double digits[] = {1, 2, 5};
  const int decade = (k - 2) / 3;
  return digits[k - 3 * decade] / std::pow(10, -decade);
}
/// The first one from `accuracy` on.
[[nodiscard]] int round_number_from(double accuracy) {
  int k = -42;  // the least possible accuracy, 1e-14
  while (round_number(k) < accuracy * (1 - 1e-9)) ++k;
  return k;
}

/// The cheapest choice of one method for this accuracy and for the next tighter round numbers. What serves those serves
/// this one too: the expected time does not rise when less is asked for, although each search finds its least only to
/// some percent.
[[nodiscard]] ewald_choice cheapest_of(const ewald_request& request, std::string_view method,
                                       const std::vector<charged_system>& systems) {
  ewald_choice best = choice_of(request, method, systems);
  if (request.given.mesh[0] > 0) return best;
  constexpr int tighter_numbers = 2;
  const int from = round_number_from(request.accuracy);
  ewald_request tighter = request;
  for (int k = from - 1; k >= from - tighter_numbers && round_number(k) >= 1e-14; --k) {
    tighter.accuracy = round_number(k);
    ewald_choice here = choice_of(tighter, method, systems);
    if (serves(here, request) && (!serves(best, request) || here.cost < best.cost)) best = std::move(here);
  }
  return best;
}

[[nodiscard]] std::vector<std::string_view> methods_for(const ewald_request& request) {
  if (request.method == spme::name) return {spme::name};
  if (request.method == esp::name) return {esp::name};
  if (request.method == direct::name) return {direct::name};
  std::vector<std::string_view> methods{spme::name};
  // Below this, rounding of the window and of the splitting becomes visible.
  if (request.law == pair_law::coulomb && request.accuracy >= 5e-8) methods.push_back(esp::name);
  if (request.given.mesh[0] == 0 && request.given.order == 0) methods.push_back(direct::name);
  return methods;
}

/// Throws, and names the least round accuracy that can be reached: the same whatever was asked for.
[[noreturn]] void refuse(const ewald_request& request, std::string_view method,
                         const std::vector<charged_system>& systems) {
  int k = round_number_from(request.accuracy / request.strictness);
  ewald_request easier = request;
  for (; k < 0; ++k) {
    easier.accuracy = round_number(k) * request.strictness;
    if (easier.accuracy > request.accuracy && serves(choice_of(easier, method, systems), easier)) break;
  }
  require(k<0, "no accuracy can be reached by the method ", method, " with at most 2^31 - 1 mesh points",
              request.given.cutoff> 0
              ? message(" and the cutoff ", request.given.cutoff)
              : std::string());
  throw argument_error(message("the accuracy is ", request.accuracy / request.strictness, "; with the method ", method,
                               " and at most 2^31 - 1 mesh points, ", round_number(k), " can be reached"));
}

}  // namespace

std::string ewald_candidate_name(std::string_view method, int order) {
  return order == 0 ? std::string(method) : message(method, " of order ", order);
}

void check_ewald_numbers(double accuracy, const ewald_parameters& given) {
  require(accuracy >= 1e-14 && accuracy <= 0.5, "the accuracy is ", accuracy, "; 1e-14 to 0.5 is possible");
  const auto serves = [](double x) { return x >= 0 && std::isfinite(x); };
  require(serves(given.cutoff), "the cutoff is ", given.cutoff, "; it must be positive and finite, or auto");
  require(serves(given.splitting), "the splitting is ", given.splitting, "; it must be positive and finite, or auto");
  require(given.order == 0 || (given.order >= 3 && given.order <= 8), "the order is ", given.order,
          "; 3 to 8 is possible, or auto");
}

ewald_choice choose_ewald(const ewald_request& request, const std::vector<charged_system>& systems) {
  check_request(request);
  require(!systems.empty(), "there is no system to choose parameters for");
  const std::vector<charged_system> charged = with_charges(systems);
  const auto methods = methods_for(request);
  ewald_choice best;
  std::vector<candidate> candidates;
  for (const std::string_view method : methods) {
    ewald_choice here = cheapest_of(request, method, charged);
    candidates.insert(candidates.end(), here.candidates.begin(), here.candidates.end());
    const bool better = serves(here, request) != serves(best, request) ? serves(here, request)
                        : serves(here, request)                        ? here.cost < best.cost
                                                                       : here.errors.total() < best.errors.total();
    if (method == methods.front() || better) best = here;
  }
  std::ranges::stable_sort(candidates, {}, &candidate::milliseconds);
  best.candidates = std::move(candidates);
  const ewald_parameters& given = request.given;
  const bool any_given = given.cutoff > 0 || given.splitting > 0 || given.mesh[0] > 0 || given.order > 0;
  const bool impossible = !(best.cost < std::numeric_limits<double>::infinity());
  if (impossible || (!serves(best, request) && !any_given)) refuse(request, best.setup.method, charged);
  best.reason = methods.size() == 1 ? "asked for" : "the least expected time within the accuracy";
  if (charged.size() == systems.size() && systems.front().sum_of_squares > 0) return best;
  const largest_errors largest = predicted_errors(best.setup, systems);
  best.errors = largest.errors;
  best.worst = largest.system;
  return best;
}

}  // namespace quadrat::detail
