// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "quadrat/core/error.hpp"
#include "quadrat/core/grid.hpp"
#include "quadrat/core/views.hpp"
#include "quadrat/parallel/fault.hpp"

namespace quadrat::detail {

/// The state of a structure's builds: the context, the room in elements and buckets, and the faults. Faults stay until
/// the next check or the next build that waits. So builds that do not wait lose no fault, and need not clear any. A
/// check that finds a fault makes the structure unusable until the next build.
template <typename Context>
class build_state {
 public:
  explicit build_state(const Context& context) : context_(context), faults_(context) {}

  [[nodiscard]] const Context& context() const { return context_; }
  [[nodiscard]] fault_flag flag() { return faults_.flag(); }

  /// Calls grow(elements, buckets) if there is less room; then the last build is lost.
  template <typename Grow>
  void reserve(std::size_t elements, std::size_t buckets, const Grow& grow) {
    if (has_room(elements, buckets)) return;
    lose_result();
    elements = std::max(elements, elements_);
    buckets = std::max(buckets, buckets_);
    elements_ = buckets_ = 0;  // in case an allocation fails
    grow(elements, buckets);
    elements_ = elements;
    buckets_ = buckets;
  }
  /// The same for a structure that is all in these buckets.
  template <typename Buckets>
  void reserve_in(Buckets& held, std::size_t elements, std::size_t buckets) {
    reserve(elements, buckets, [&](std::size_t most, std::size_t cells) { held.reserve(context_, most, cells); });
  }
  /// Call this before memory of the result is released.
  void lose_result() {
    if (stage_ == stage::built) stage_ = stage::empty;
  }
  /// Throws argument_error, and changes nothing, if there is no room for such a build. `what` names the elements.
  void begin(std::size_t elements, std::size_t buckets, const char* what) {
    require(has_room(elements, buckets), "build_async has room for ", elements_, " ", what, " in ", buckets_,
            " cells, but was given ", elements, " in ", buckets, "; call reserve(", elements, ") or build first");
    stage_ = stage::built;
  }
  /// Does not wait.
  void forget_faults() { faults_.clear(context_); }
  /// Waits. Returns the faults of the builds since the last check, or again those of a failed check.
  [[nodiscard]] fault_report check() {
    if (stage_ == stage::failed) return found_;
    found_ = faults_.read(context_);
    if (found_.kind != fault_kind::none) {
      stage_ = stage::failed;
      forget_faults();
    }
    return found_;
  }
  /// Throws argument_error when nothing has been built, or the last check has found a fault.
  void require_usable() const {
    require(stage_ != stage::empty, "nothing has been built, or more room has been made since; call build first");
    require(stage_ != stage::failed, "the last check has found a fault; build again before using the result");
  }
  /// Memory held on the context's device, in bytes.
  [[nodiscard]] static constexpr std::size_t bytes() { return 2 * sizeof(std::uint64_t); }

 private:
  enum class stage { empty, built, failed };

  [[nodiscard]] bool has_room(std::size_t elements, std::size_t buckets) const {
    return elements <= elements_ && buckets <= buckets_;
  }

  Context context_;
  fault_state<Context> faults_;
  fault_report found_{};
  stage stage_ = stage::empty;
  std::size_t elements_ = 0;
  std::size_t buckets_ = 0;  // 0: nothing has been reserved
};

/// The same of a cell list, with the points of the last build.
template <typename Context, typename T, int D>
class point_build_state : public build_state<Context> {
 public:
  using build_state<Context>::build_state;

  /// Begins a build of these points, which are valid, into so many cells. Throws argument_error, and changes nothing,
  /// without room for it.
  void begin(const points_view<T, D>& points, std::uint64_t cells) {
    build_state<Context>::begin(points.count, cells, "points");
    points_ = points;
  }
  /// Waits. Throws data_error or overflow_error, at every call until the next build. `space` and `capacity` are for the
  /// messages.
  void check(const grid<T, D>& space, std::uint64_t capacity);

 private:
  points_view<T, D> points_{};
};

}  // namespace quadrat::detail
