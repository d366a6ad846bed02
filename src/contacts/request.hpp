// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "quadrat/core/config.hpp"
#include "quadrat/core/context.hpp"
#include "tune/cost.hpp"

/// The request to the descriptors of methods, and the cost terms that several share.
namespace quadrat::detail {

/// The most bodies for which testing every pair is considered, because its time is quadratic.
inline constexpr std::size_t brute_force_most_bodies = 256;
/// The same for methods whose threads share all tests evenly, on GPUs.
inline constexpr std::size_t counted_most_bodies = 4096;

/// A request to the descriptors of methods.
struct pair_request {
  std::size_t bodies;
  bool boxes = false;  ///< pairs of boxes are requested instead of contacts
  bool cuda = false;
  bool spheres = true;  ///< all bodies are spheres
  int threads = 1;      ///< of the CPU
  int number_bytes = 4;
  bool systems = false;       ///< bodies are of several systems
  bool known_domain = false;  ///< given by the caller, not found from the bodies
  double found = -1;          ///< contacts counted by an earlier search; below 0: not known

  /// Millions of contacts.
  [[nodiscard]] double megacontacts() const {
    constexpr double unseen_contacts = 2;  // of a body
    return 1e-6 * (found >= 0 ? found : unseen_contacts * static_cast<double>(bodies));
  }
  /// The contacts of a body where bodies are dense, in millions, which one GPU thread finds sequentially. For uneven
  /// bodies, more than the mean, but at most the number of bodies.
  [[nodiscard]] double densest() const {
    constexpr double uneven = 3;
    return bodies > 0 ? std::min(uneven * megacontacts() / static_cast<double>(bodies), megabodies()) : 0;
  }
  /// `amount` for bodies other than spheres, else 0: their additional cost.
  [[nodiscard]] double turned(double amount) const { return spheres ? 0 : amount; }
  /// The same in double precision.
  [[nodiscard]] double wide(double amount) const { return number_bytes == 8 ? amount : 0; }
  /// Whether a choice made for `other` holds. It fails if the contacts found change by half and by more than a few.
  [[nodiscard]] bool asks_the_same(const pair_request& other) const {
    const double small = 0.5 * other.found + 0.05 * static_cast<double>(bodies);
    const bool as_many = found < 0 || (other.found >= 0 && std::abs(found - other.found) <= small);
    return bodies == other.bodies && boxes == other.boxes && spheres == other.spheres && systems == other.systems &&
           known_domain == other.known_domain && as_many;
  }
  /// Whether times measured for `other` predict this one: similar numbers of bodies and contacts.
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
  /// The amount per thread. A GPU counts as one.
  [[nodiscard]] double share(double amount) const { return starts_teams() ? amount / threads : amount; }
  [[nodiscard]] double megabodies() const { return 1e-6 * static_cast<double>(bodies); }
};

/// Adds the cost of the narrow phase and of writing, which differs between methods.
[[nodiscard]] inline method_cost with_contacts(method_cost cost, const pair_request& request) {
  const double contacts = request.share(request.megacontacts());
  return cost.each("contacts", cost_unit::step, contacts)
      .each("turned_contacts", cost_unit::step, request.turned(contacts));
}

/// On a GPU adds the cost of dense places: one thread finds all contacts of a body.
[[nodiscard]] inline method_cost with_densest(method_cost cost, const pair_request& request) {
  const double densest = request.densest();
  return cost.each("densest", cost_unit::step, densest)
      .each("turned_densest", cost_unit::step, request.turned(densest));
}

/// The terms of a detection over cells of about a body: starts, putting bodies into cells, and testing pairs, whose
/// number grows with that of contacts.
[[nodiscard]] inline method_cost detection_cost(const pair_request& request) {
  const double bodies = request.megabodies();
  method_cost cost;
  cost.each("start", cost_unit::launch, 1);
  cost.each("bodies", cost_unit::step, request.share(bodies));
  cost.each("wide", cost_unit::step, request.wide(request.share(bodies)));
  cost.each("turned", cost_unit::step, request.turned(request.share(bodies)));
  if (!request.cuda) {
    cost.each("team", cost_unit::launch, request.starts_teams() ? 1 : 0);
    cost.each("alone", cost_unit::step, bodies);  // work that threads on shared cores do not speed up
  }
  cost = with_contacts(cost, request);
  return request.cuda
             ? with_densest(cost, request).each("wide_densest", cost_unit::step, request.wide(request.densest()))
             : cost;
}

/// `cost()` of a method that GPUs choose only for few bodies with counted contacts: in an unknown crowd it may take ten
/// times as long as `levels`.
template <typename Cost>
[[nodiscard]] method_cost where_counted(const pair_request& request, std::size_t most_bodies, const Cost& cost) {
  if (!request.cuda || request.boxes) return method_cost().last_resort("not faster than levels");
  if (request.found < 0) return cost().last_resort("contacts have not been counted");
  return request.bodies > most_bodies ? cost().last_resort("may test every pair") : cost();
}

/// Defaults of the descriptors. Besides these and the members that method_choice.hpp requires, a descriptor has
///   static constexpr std::string_view limits;  with a `serves` of its own: its limits, and why
///   template <typename Context, typename T> using engine
struct contact_method_defaults {
  static constexpr bool on_cpu = true;
  static constexpr bool on_cuda = true;
  static constexpr determinism reproducible = determinism::canonical;
  static constexpr bool bins = true;       ///< whether the size of its bins can be set
  static constexpr bool balances = false;  ///< whether bin_options::balanced makes a difference
  static constexpr bool systems = false;   ///< whether bodies of several systems are served, as `serves` must say
  /// Whether its work can grow with the square of the number of bodies. It then has no finite `cost` for more than
  /// brute_force_most_bodies or counted_most_bodies, and is never chosen for them.
  static constexpr bool quadratic = false;
  [[nodiscard]] static bool serves(const pair_request& request) { return !request.systems; }
};

}  // namespace quadrat::detail
