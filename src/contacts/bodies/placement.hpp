// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include "contacts/bodies/domains.hpp"
#include "contacts/bodies/placed.hpp"
#include "contacts/bodies/size_histogram.hpp"
#include "contacts/control.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/parallel/atomic.hpp"
#include "quadrat/parallel/fault.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/workspace.hpp"

namespace quadrat::detail {

/// Bounds of centers.
template <typename T>
struct center_bounds {
  vec<T, 3> lower;
  vec<T, 3> upper;
};

/// The bodies for which bins were planned.
template <typename T>
struct plan_limits {
  T widest = std::numeric_limits<T>::infinity();  ///< half extent; wider bodies must be noted (note_width)
  /// Wider bodies do not fit the plan and raise a fault.
  T most = std::numeric_limits<T>::infinity();
  center_bounds<T> centers{vec<T, 3>::filled(-std::numeric_limits<T>::infinity()),
                           vec<T, 3>::filled(std::numeric_limits<T>::infinity())};

  [[nodiscard]] QUADRAT_HD bool hold(const vec<T, 3>& center, T half_extent) const {
    bool inside = half_extent <= most;
    for (int axis = 0; axis < 3; ++axis) {
      inside = inside && center[axis] >= centers.lower[axis] && center[axis] <= centers.upper[axis];
    }
    return inside;
  }
  /// Raises the largest half extent, in bits, if it is above that of the plan.
  QUADRAT_HD void note_width(T half_extent, std::uint64_t* largest) const {
    if (half_extent > widest) atomic_max(largest, bits_of_size(half_extent));
  }
};

/// Index: body. Place: (number of a body, faults) -> placed_body.
template <typename T, typename Place>
struct place_bodies {
  Place place;
  plan_limits<T> limits;
  fault_flag faults;
  std::uint64_t* largest;
  placed_body<T>* placed;

  QUADRAT_HD void operator()(std::size_t i) const {
    const placed_body<T> body = place(i, faults);
    limits.note_width(body.widest(), largest);
    if (!limits.hold(body.center, body.widest())) faults.raise(fault_kind::value_range, misfit_fault_base + i);
    placed[i] = body;
  }
};

/// All placed bodies of a search, with their domain and sizes.
template <typename Context, typename T>
struct placed_bodies {
  const placed_body<T>* bodies;  ///< in the memory of the context
  std::size_t count;             ///< at least 1
  const size_histogram<T>* sizes;
  box<T, 3> domain;  ///< around most centers; along periodic axes around all
  search_control<Context>* control;
  system_domains<T> domains{domain};  ///< for engines that serve several systems
};

/// The first pass over all bodies: finds their positions and sizes, and checks them.
template <typename Context, typename T>
class body_placement {
 public:
  explicit body_placement(const Context& context) : context_(context), control_(context) {}

  void begin(bool waits) {
    control_.begin(waits);
    placed_now_ = false;
  }
  /// Runs the pass and reads back the data for planning bins. Synchronizes.
  template <typename Place>
  [[nodiscard]] fault_report look(std::size_t count, const Place& place) {
    limits_ = {};
    this->place(count, place);
    return measure();
  }
  /// Sets the limits for later bodies.
  void set_limits(const plan_limits<T>& limits) { limits_ = limits; }
  [[nodiscard]] plan_limits<T> limits() const {
    // A search that does not wait cannot plan other bins, and is complete in these for any bodies.
    return control_.waits() ? limits_ : plan_limits<T>{limits_.widest};
  }
  /// Runs the pass, unless this search has already looked. Asynchronous.
  template <typename Place>
  void place(std::size_t count, const Place& place) {
    if (std::exchange(placed_now_, true)) return;
    count_ = count;
    placed_.resize_discarding(context_, count);
    for_each(context_, "contacts.place", count,
             place_bodies<T, Place>{place, limits(), control_.faults(),
                                    control_.data(search_control<Context>::largest_word), placed_.data()});
  }

  [[nodiscard]] search_control<Context>& control() { return control_; }
  [[nodiscard]] const search_control<Context>& control() const { return control_; }
  [[nodiscard]] const placed_body<T>* bodies() const { return placed_.data(); }
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] const center_bounds<T>& bounds() const { return bounds_; }
  [[nodiscard]] const size_histogram<T>& sizes() const { return sizes_; }
  [[nodiscard]] placed_bodies<Context, T> all(const box<T, 3>& domain) {
    return {placed_.data(), count_, &sizes_, domain, &control_};
  }
  [[nodiscard]] std::size_t bytes() const { return placed_.bytes() + control_.bytes() + scratch_.bytes(); }

 private:
  [[nodiscard]] fault_report measure();

  Context context_;
  std::size_t count_ = 0;
  bool placed_now_ = false;
  plan_limits<T> limits_{};
  array<placed_body<T>, Context> placed_;
  search_control<Context> control_;
  workspace<Context> scratch_;
  center_bounds<T> bounds_{};
  size_histogram<T> sizes_{};
};

}  // namespace quadrat::detail
