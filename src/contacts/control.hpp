// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "contacts/bodies/size_histogram.hpp"
#include "parallel/host_mirror.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/parallel/fault.hpp"
#include "quadrat/parallel/for_each.hpp"

namespace quadrat::detail {

/// Numbers of faults. Those below the first base are bodies with impossible data; the smallest number is reported.
inline constexpr std::uint64_t misfit_fault_base = std::uint64_t{1} << 40;  ///< a body that does not fit the bins
inline constexpr std::uint64_t id_fault_base = std::uint64_t{1} << 41;
inline constexpr std::uint64_t room_fault_base = std::uint64_t{1} << 42;  ///< plus the word of the array without room

/// The number of results, such as pairs.
struct device_count {
  std::uint64_t most = 0;                ///< indices of kernels: the room, or the number if it is known
  const std::uint64_t* value = nullptr;  ///< in the memory of the context; 0 if the search has failed
};

/// Index: 0. Passes on a number, unless the search has failed or the room is too small.
struct settle_count {
  const std::uint64_t* found;
  std::uint64_t room;
  std::uint64_t* settled;
  fault_flag faults;
  std::uint64_t fault;

  QUADRAT_HD void operator()(std::size_t) const {
    const std::uint64_t number = *found;
    const bool sound = number <= room && *faults.first == ~std::uint64_t{0};
    if (number > room) faults.raise_overflow(fault, number);
    *settled = sound ? number : 0;
  }
};

/// The words that kernels of a search write and the host reads. A search that waits reads the numbers that determine
/// sizes of arrays, and lets arrays grow. One that does not wait uses the existing room, and raises faults.
template <typename Context>
class search_control {
 public:
  /// The last two are written by body_placement::look.
  enum word : std::size_t {
    fault_word,
    needed_word,
    bins_word,   ///< entries of bodies in bins that they touch
    pairs_word,  ///< of boxes
    contacts_word,
    far_word,      ///< whether a body is far (level_grids::is_far)
    largest_word,  ///< bits of the largest half extent, if it is above that of the plan
    bounds_word,   ///< center_bounds: six numbers
    sizes_word = bounds_word + 6,
    words = sizes_word + size_classes
  };

  explicit search_control(const Context& context) : context_(context), control_(context, words) {}

  void begin(bool waits) {
    if (!clean_ || !waits) fill_bytes(context_, control_.data() + fault_word, 0xff, sizeof(std::uint64_t));
    fill_bytes(context_, control_.data() + needed_word, 0, (bounds_word - needed_word) * sizeof(std::uint64_t));
    waits_ = clean_ = waits;
  }
  [[nodiscard]] bool waits() const { return waits_; }
  [[nodiscard]] fault_flag faults() { return {control_.data() + fault_word, control_.data() + needed_word}; }
  [[nodiscard]] std::uint64_t* data(word which) { return control_.data() + which; }

  /// Reads the first `count` words back. Synchronizes. Valid until the next call.
  const std::uint64_t* read(std::size_t count = largest_word) {
    read_ = mirror_.read(context_, control_.data(), count);
    failed_ = read_[fault_word] != ~std::uint64_t{0};
    clean_ = clean_ && !failed_;
    return read_;
  }
  /// The words read last, and whether they have a fault.
  [[nodiscard]] const std::uint64_t* last_read() const { return read_; }
  [[nodiscard]] bool failed() const { return failed_; }

  /// `found`: the number, in the memory of the context. room() is what there is room for. If the search waits,
  /// grow(number) makes room for more. Where the room differs from that of the last search that waited, `most` is the
  /// whole room instead of the number: what follows then takes memory for all of it, which searches that do not wait
  /// need.
  template <typename Room, typename Grow>
  [[nodiscard]] device_count settle(word which, const std::uint64_t* found, const Room& room, const Grow& grow) {
    std::uint64_t* const settled = control_.data() + which;
    if (!waits_ || found != settled) {
      const std::uint64_t most = waits_ ? ~std::uint64_t{0} : static_cast<std::uint64_t>(room());
      for_each(context_, "contacts.settle", 1, settle_count{found, most, settled, faults(), room_fault_base + which});
    }
    if (!waits_) return {room(), settled};
    const std::uint64_t number = read()[which];
    if (failed_) return {0, settled};
    if (number > room()) grow(number);
    const std::uint64_t now = room();
    return {std::exchange(prepared_[which], now) == now ? number : now, settled};
  }

  [[nodiscard]] std::size_t bytes() const { return control_.bytes(); }

 private:
  Context context_;
  bool waits_ = true;
  bool clean_ = false;  // the words have no fault
  bool failed_ = false;
  const std::uint64_t* read_ = nullptr;
  std::uint64_t prepared_[far_word]{};  // the room of each kind in the last search that waited
  array<std::uint64_t, Context> control_;
  host_mirror<Context> mirror_;
};

}  // namespace quadrat::detail
