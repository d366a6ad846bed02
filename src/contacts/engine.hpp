// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "contacts/bodies/placed.hpp"
#include "contacts/bodies/size_histogram.hpp"
#include "contacts/families.hpp"
#include "parallel/count_limit.hpp"
#include "quadrat/contacts/contact.hpp"
#include "quadrat/contacts/shapes.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/box.hpp"
#include "quadrat/core/config.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/parallel/fault.hpp"
#include "tune/cost.hpp"

/// What all methods of contacts share: an engine arranges bodies in rows, and traverses its rows twice, to count and to
/// write what they find.
namespace quadrat::detail {

/// The most bodies for which testing every pair is considered: what data can make quadratic is never chosen.
inline constexpr std::size_t brute_force_most_bodies = 256;
/// The same for methods whose work is quadratic in crowds only, on GPUs, which do as much at once.
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

/// `cost()` of a method that is chosen for a few thousand bodies whose contacts have been counted, on GPUs only: in
/// crowds that nobody knows of it may take ten times as long as `levels`.
template <typename Cost>
[[nodiscard]] method_cost for_crowds(const pair_request& request, const Cost& cost) {
  if (!request.cuda || request.boxes) return method_cost().last_resort("not faster than levels");
  if (request.found < 0) return cost().last_resort("contacts have not been counted");
  return request.bodies > crowd_most_bodies ? cost().last_resort("may test every pair") : cost();
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

/// All placed bodies, with their domain and sizes.
template <typename T>
struct placed_bodies {
  const placed_body<T>* bodies;  ///< in the memory of the context
  std::size_t count;             ///< at least 1
  const size_histogram<T>* sizes;
  box<T, 3> domain;  ///< around most centers; along periodic axes around all
  fault_flag faults;
};

/// Requested bins.
template <typename T>
struct bin_options {
  T size;         ///< edge; 0: chosen
  bool balanced;  ///< for methods that balance
};

/// Chosen bins, and the reason.
template <typename T>
struct planned_bins {
  T edge;  ///< of the finest; 0: no bins
  std::string reason;
};

/// Two passes over the rows of an engine, for one family of bodies. Asynchronous.
template <typename Family, typename Sink>
class row_passes {
 public:
  /// Sets counts[r] to the number of contacts or pairs of row r. May end at the limit.
  virtual void count(const Family& family, std::uint32_t* counts, count_limit& limit) const = 0;
  /// Writes the offsets[r + 1] - offsets[r] results of row r, from offsets[r] on.
  virtual void fill(const Family& family, const Sink& sink, const std::uint64_t* offsets) const = 0;

 protected:
  ~row_passes() = default;
};

template <typename T>
using sphere_passes = row_passes<sphere_family<T>, contact_sink<T>>;
template <typename T>
using body_passes = row_passes<any_family<T>, contact_sink<T>>;
template <typename T>
using box_passes = row_passes<box_family<T>, pair_sink>;

/// Finds contacts from the caller's bodies directly, if it serves them; placed bodies are needed for a plan only.
template <typename Context, typename T>
class direct_search {
 public:
  virtual ~direct_search() = default;
  [[nodiscard]] virtual bool serves(const bodies_view<T>& bodies) const = 0;
  /// Whether the last plan still fits, as far as the host can see.
  [[nodiscard]] virtual bool planned_for(const bodies_view<T>& bodies) = 0;
  /// Makes a plan from the sizes of all bodies, which must be valid. Synchronizes.
  [[nodiscard]] virtual planned_bins<T> plan(const bodies_view<T>& bodies, const box<T, 3>& domain, T bin_size) = 0;
  /// Finds the contacts, growing `contacts` if necessary; returns their number, or nullopt if some body is invalid or
  /// does not fit the plan. Synchronizes.
  [[nodiscard]] virtual std::optional<std::uint64_t> find(const bodies_view<T>& bodies, const pair_masks& masks,
                                                          array<contact<T>, Context>& contacts) = 0;
  /// Bytes of the context's memory held.
  [[nodiscard]] virtual std::size_t bytes() const = 0;
};

/// A method of contacts. Each pair of bodies is found in exactly one row. If the context asks for run_to_run, the order
/// of rows and of their results depends on the bodies alone.
template <typename Context, typename T>
class pair_engine {
 public:
  explicit pair_engine(const Context& context) : context_(context) {}
  virtual ~pair_engine() = default;

  /// Chooses bins. Throws argument_error if the requested size gives too many.
  [[nodiscard]] virtual planned_bins<T> plan(const placed_bodies<T>& bodies, const bin_options<T>& options) = 0;
  /// Arranges the bodies of the last plan in rows. May synchronize. Throws argument_error if they touch too many bins.
  virtual void insert(const placed_bodies<T>& bodies) = 0;
  /// Rows of the last insert, below 2^31.
  [[nodiscard]] virtual std::size_t rows() const = 0;

  [[nodiscard]] virtual const sphere_passes<T>& spheres() const = 0;
  /// nullptr: this method cannot find pairs of boxes.
  [[nodiscard]] virtual const box_passes<T>* boxes() const { return nullptr; }
  /// nullptr: contacts of arbitrary shapes are searched among pairs of boxes.
  [[nodiscard]] virtual const body_passes<T>* bodies() const { return nullptr; }
  /// nullptr: no direct search.
  [[nodiscard]] virtual direct_search<Context, T>* direct() { return nullptr; }

  /// Bytes of the context's memory held.
  [[nodiscard]] virtual std::size_t bytes() const = 0;

 protected:
  [[nodiscard]] const Context& context() const { return context_; }

 private:
  Context context_;
};

/// An engine whose rows are those of `Engine::search()`, for spheres and boxes alike. Its source includes
/// row_passes.hpp.
template <typename Engine, typename Context, typename T>
class row_engine : public pair_engine<Context, T>, public sphere_passes<T>, public box_passes<T> {
 public:
  using pair_engine<Context, T>::pair_engine;

  [[nodiscard]] const sphere_passes<T>& spheres() const override { return *this; }
  [[nodiscard]] const box_passes<T>* boxes() const override { return this; }
  void count(const sphere_family<T>& family, std::uint32_t* counts, count_limit& limit) const override;
  void fill(const sphere_family<T>& family, const contact_sink<T>& sink, const std::uint64_t* offsets) const override;
  void count(const box_family<T>& family, std::uint32_t* counts, count_limit& limit) const override;
  void fill(const box_family<T>& family, const pair_sink& sink, const std::uint64_t* offsets) const override;

 private:
  [[nodiscard]] const Engine& self() const { return static_cast<const Engine&>(*this); }
};

}  // namespace quadrat::detail
