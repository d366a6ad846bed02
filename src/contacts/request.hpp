// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "quadrat/core/config.hpp"
#include "quadrat/core/context.hpp"
#include "tune/cost.hpp"

/// What the records of methods are asked, and the terms of cost that several have.
namespace quadrat::detail {

/// The most bodies for which testing every pair is considered: what data can make quadratic is never chosen.
inline constexpr std::size_t brute_force_most_bodies = 256;
/// The same for those whose threads share all tests evenly, on GPUs, which do as much at once.
inline constexpr std::size_t crowd_most_bodies = 4096;

/// A request to the records of methods.
struct pair_request {
  std::size_t bodies;
  bool boxes = false;  ///< pairs of boxes are requested instead of contacts
  bool cuda = false;
  bool spheres = true;  ///< all bodies are spheres
  int threads = 1;      ///< of the CPU
  int number_bytes = 4;
  bool known_domain = false;  ///< given by the caller, not found from the bodies
  double found = -1;          ///< contacts, where an earlier search has counted them; below 0: not known

  /// Millions of contacts.
  [[nodiscard]] double megacontacts() const {
    constexpr double unseen_contacts = 2;  // of a body
    return 1e-6 * (found >= 0 ? found : unseen_contacts * static_cast<double>(bodies));
  }
  /// Contacts of a body in a crowd, in millions: a thread of a GPU finds them one after another. Where bodies are
  /// uneven it has more than the mean, but not more than there are bodies.
  [[nodiscard]] double crowd() const {
    constexpr double uneven = 3;
    return bodies > 0 ? std::min(uneven * megacontacts() / static_cast<double>(bodies), megabodies()) : 0;
  }
  /// `amount` for bodies that are no spheres, else 0: what it takes on top.
  [[nodiscard]] double turned(double amount) const { return spheres ? 0 : amount; }
  /// The same in double precision.
  [[nodiscard]] double wide(double amount) const { return number_bytes == 8 ? amount : 0; }
  /// Whether a choice made for `other` holds. What was found counts if it changes by half, and by more than a few.
  [[nodiscard]] bool asks_the_same(const pair_request& other) const {
    const double small = 0.5 * other.found + 0.05 * static_cast<double>(bodies);
    const bool as_many = found < 0 || (other.found >= 0 && std::abs(found - other.found) <= small);
    return bodies == other.bodies && boxes == other.boxes && spheres == other.spheres &&
           known_domain == other.known_domain && as_many;
  }
  /// Whether the times of searches for `other` say how long this one will take: about as many bodies and contacts.
  [[nodiscard]] bool resembles(const pair_request& other) const {
    constexpr double much = 1.5;
    const double now = static_cast<double>(bodies), before = static_cast<double>(other.bodies);
    pair_request as_many = *this;
    as_many.bodies = other.bodies;
    as_many.found *= before / std::max(now, 1.0);
    return as_many.asks_the_same(other) && now <= much * before && before <= much * now;
  }
  /// Whether loops over the rows of bodies start threads on a CPU (for_each_row).
  [[nodiscard]] bool starts_teams() const {
    constexpr double worth_a_team = 2048, steps_of_a_row = 4;
    const double rows = static_cast<double>(bodies);
    return !cuda && threads > 1 && std::max(steps_of_a_row * rows, rows + 1e6 * megacontacts()) >= worth_a_team;
  }
  /// Of one thread; a GPU is taken as a whole.
  [[nodiscard]] double share(double amount) const { return starts_teams() ? amount / threads : amount; }
  [[nodiscard]] double megabodies() const { return 1e-6 * static_cast<double>(bodies); }
};

/// What the narrow phase and writing take: it differs between methods.
[[nodiscard]] inline method_cost with_contacts(method_cost cost, const pair_request& request) {
  const double contacts = request.share(request.megacontacts());
  return cost.each("contacts", cost_unit::step, contacts)
      .each("turned_contacts", cost_unit::step, request.turned(contacts));
}

/// On a GPU crowds count: the contacts of a body, which one thread finds.
[[nodiscard]] inline method_cost with_crowd(method_cost cost, const pair_request& request) {
  const double crowd = request.crowd();
  return cost.each("crowd", cost_unit::step, crowd).each("turned_crowd", cost_unit::step, request.turned(crowd));
}

/// The terms of a detection over cells of about a body: starts, bodies put into cells and their pairs tested, of which
/// there are more where there are more contacts.
[[nodiscard]] inline method_cost detection_cost(const pair_request& request) {
  const double bodies = request.megabodies();
  method_cost cost;
  cost.each("start", cost_unit::launch, 1);
  cost.each("bodies", cost_unit::step, request.share(bodies));
  cost.each("wide", cost_unit::step, request.wide(request.share(bodies)));
  cost.each("turned", cost_unit::step, request.turned(request.share(bodies)));
  if (!request.cuda) {
    cost.each("team", cost_unit::launch, request.starts_teams() ? 1 : 0);
    cost.each("alone", cost_unit::step, bodies);  // what threads that share a core or its memory do not gain by
  }
  cost = with_contacts(cost, request);
  return request.cuda ? with_crowd(cost, request).each("wide_crowd", cost_unit::step, request.wide(request.crowd()))
                      : cost;
}

/// `cost()` of a method that is chosen for few bodies whose contacts have been counted, on GPUs only: in crowds that
/// nobody knows of it may take ten times as long as `levels`.
template <typename Cost>
[[nodiscard]] method_cost for_crowds(const pair_request& request, std::size_t most_bodies, const Cost& cost) {
  if (!request.cuda || request.boxes) return method_cost().last_resort("not faster than levels");
  if (request.found < 0) return cost().last_resort("contacts have not been counted");
  return request.bodies > most_bodies ? cost().last_resort("may test every pair") : cost();
}

/// Defaults of the records. In addition to these and to the members that method_choice.hpp requires, a record has
///   static constexpr std::string_view limits;  with `serves`: what it cannot do, and why
///   template <typename Context, typename T> using engine
struct pair_record {
  static constexpr bool on_cpu = true;
  static constexpr bool on_cuda = true;
  static constexpr determinism reproducible = determinism::canonical;
  static constexpr bool bins = true;       ///< whether it has bins of a size that can be set
  static constexpr bool balances = false;  ///< whether bin_options::balanced makes a difference
  /// Whether its work can grow with the square of the number of bodies. It then has no finite `cost` for more than
  /// brute_force_most_bodies or crowd_most_bodies, and is never chosen for them.
  static constexpr bool quadratic = false;
};

}  // namespace quadrat::detail
