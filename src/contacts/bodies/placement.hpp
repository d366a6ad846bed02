// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "contacts/bodies/placed.hpp"
#include "contacts/bodies/size_histogram.hpp"
#include "parallel/host_mirror.hpp"
#include "quadrat/core/array.hpp"
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

/// Index: body. Place: (number of a body, faults) -> placed_body.
template <typename T, typename Place>
struct place_bodies {
  Place place;
  fault_flag faults;
  placed_body<T>* placed;

  QUADRAT_HD void operator()(std::size_t i) const { placed[i] = place(i, faults); }
};

/// The first pass over all bodies: finds their positions and sizes, and checks them.
template <typename Context, typename T>
class body_placement {
 public:
  explicit body_placement(const Context& context) : context_(context), control_(context, words) {}

  /// Runs the pass and reads back its results. Synchronizes.
  template <typename Place>
  [[nodiscard]] fault_report place(std::size_t count, const Place& place) {
    begin(count);
    for_each(context_, "contacts.place", count, place_bodies<T, Place>{place, faults(), placed_.data()});
    return measure();
  }

  [[nodiscard]] const placed_body<T>* bodies() const { return placed_.data(); }
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] const center_bounds<T>& bounds() const { return bounds_; }
  [[nodiscard]] const size_histogram<T>& sizes() const { return sizes_; }
  [[nodiscard]] fault_flag faults() { return {control_.data() + fault_word, control_.data() + needed_word}; }
  [[nodiscard]] std::size_t bytes() const { return placed_.bytes() + control_.bytes() + scratch_.bytes(); }

 private:
  /// Words that the device writes and the host reads.
  enum word : std::size_t {
    fault_word,
    needed_word,
    largest_word,
    bounds_word,  ///< center_bounds: six numbers
    sizes_word = bounds_word + 6,
    words = sizes_word + size_classes
  };

  void begin(std::size_t count);
  [[nodiscard]] fault_report measure();

  Context context_;
  std::size_t count_ = 0;
  array<placed_body<T>, Context> placed_;
  array<std::uint64_t, Context> control_;
  host_mirror<Context> mirror_;
  workspace<Context> scratch_;
  center_bounds<T> bounds_{};
  size_histogram<T> sizes_{};
};

}  // namespace quadrat::detail
