// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "contacts/bins/search.hpp"
#include "contacts/bodies/placed.hpp"
#include "contacts/bodies/size_histogram.hpp"
#include "contacts/brute_force/search.hpp"
#include "contacts/levels/plan.hpp"
#include "contacts/levels/search.hpp"
#include "contacts/methods.hpp"
#include "contacts/tight/search.hpp"
#include "parallel/host_mirror.hpp"
#include "quadrat/cells/counting.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/parallel/fault.hpp"
#include "quadrat/parallel/for_each.hpp"

namespace quadrat::detail {

/// Below so many bodies every pair is tried: what it costs to make bins is more.
inline constexpr std::size_t brute_force_most_bodies = 64;

/// What a caller asks of a search.
template <typename T>
struct pair_request {
  std::string method;
  std::optional<box<T, 3>> domain;
  T bin_size;
  bool balance_bins;
};

/// Bounds of centers.
template <typename T>
struct center_bounds {
  vec<T, 3> lower;
  vec<T, 3> upper;
};

/// Words that the device writes and the host reads.
enum search_word : std::size_t {
  search_fault_word,
  search_needed_word,
  search_largest_word,
  search_bounds_word,  ///< center_bounds: six numbers
  search_sizes_word = search_bounds_word + 6,
  search_words = search_sizes_word + size_classes
};

/// Index: body. Place: number of a body and faults -> placed_body.
template <typename T, typename Place>
struct place_bodies {
  Place place;
  fault_flag faults;
  placed_body<T>* placed;

  QUADRAT_HD void operator()(std::size_t i) const { placed[i] = place(i, faults); }
};

/// Bodies in whatever order and bins a method searches them in. Used as: place, plan, insert, and then one of the
/// searches. What is instantiated for each backend stands in pair_search_plan.hpp and pair_search_insert.hpp.
template <typename Context, typename T>
class pair_search {
 public:
  explicit pair_search(const Context& context);

  /// Looks at all bodies and reads back what was found. Synchronises.
  template <typename Place>
  [[nodiscard]] fault_report place(std::size_t count, const Place& place) {
    begin(count);
    for_each(context_, "contacts.place", count, place_bodies<T, Place>{place, faults(), placed_.data()});
    return measure();
  }
  /// Chooses method and bins. Throws argument_error.
  void plan(const pair_request<T>& request);
  /// Takes these levels instead.
  void take(const level_plan<T>& plan);
  /// Puts bodies where the searches find them. Synchronises for bins and tight_grid, which need M. Throws
  /// argument_error where that is too large.
  void insert();

  [[nodiscard]] pair_way way() const { return way_; }
  /// Of the search, which is one of the following.
  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] brute_search<T> brute() const { return {placed_.data(), count_}; }
  [[nodiscard]] level_search<T> levels() const { return {levels_, buckets_.view().offsets, slots_.data()}; }
  [[nodiscard]] tight_search<T> tight() const;
  [[nodiscard]] bins_search<T> bins() const;
  /// Calls f(search) where it is one of those by boxes: not for bins.
  template <typename F>
  void with_search(F&& f) const {
    if (way_ == pair_way::levels) {
      f(levels());
    } else if (way_ == pair_way::tight) {
      f(tight());
    } else {
      f(brute());
    }
  }

  [[nodiscard]] const placed_body<T>* placed() const { return placed_.data(); }
  [[nodiscard]] const box<T, 3>& domain() const { return domain_; }
  [[nodiscard]] std::string_view method() const { return method_; }
  [[nodiscard]] const std::string& reason() const { return reason_; }
  [[nodiscard]] T bin_size() const { return bin_size_; }
  [[nodiscard]] std::size_t bytes() const;

 private:
  [[nodiscard]] fault_flag faults() {
    return {control_.data() + search_fault_word, control_.data() + search_needed_word};
  }
  void begin(std::size_t count);
  [[nodiscard]] fault_report measure();
  void choose_method(const std::string& asked);
  void insert_in_levels();
  void find_touched_bins();
  void sort_touched_bins();
  void count_bodies_of_bins();

  Context context_;
  std::size_t count_ = 0;
  std::size_t rows_ = 0;
  array<placed_body<T>, Context> placed_;
  array<std::uint64_t, Context> control_;
  host_mirror<Context> mirror_;
  workspace<Context> scratch_;

  center_bounds<T> bounds_{};
  size_histogram<T> sizes_{};
  box<T, 3> domain_{};
  std::string_view method_;
  std::string choice_;  ///< why this method
  std::string reason_;  ///< and these bins
  pair_way way_ = pair_way::brute_force;
  T bin_size_ = T(0);
  bool balance_bins_ = true;

  level_grids<T> levels_{};
  counting_buckets<Context> buckets_;
  array<placed_body<T>, Context> slots_;

  // Under the names of parallel-binning-collision.
  grid<T, 3> bins_{};
  array<std::uint32_t, Context> bins_touched_T_;
  array<std::uint64_t, Context> offsets_of_T_;
  std::uint64_t entries_M_ = 0;
  array<cell_id, Context> bin_of_B_[2];  // keys, and room for the sort
  array<particle_id, Context> body_of_B_[2];
  int current_B_ = 0;
  array<std::uint32_t, Context> first_of_bin_;
  array<std::uint32_t, Context> bodies_of_C_[2];  // keys
  array<cell_id, Context> bin_of_C_[2];
  int current_C_ = 0;
  array<std::uint8_t, Context> masks_;  // of tight_grid
};

}  // namespace quadrat::detail
