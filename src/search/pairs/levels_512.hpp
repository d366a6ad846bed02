// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "quadrat/core/vec.hpp"
#include "search/pairs/lanes_512.hpp"

#if QUADRAT_HAS_PAIR_LANES

namespace quadrat::detail {

/// Counts of squared distances less than each edge, the largest edge first, by registers of AVX-512. A few edges at a
/// time are compared with whole registers; what is below the last of them is packed together and waits for the next
/// ones. So the work for an edge follows the number of pairs below it.
template <typename T>
class level_counts {
  using lanes = pair_lanes_512<T>;
  using vector = typename lanes::vector;
  using mask = typename lanes::mask;
  static constexpr std::size_t at_once = 4, room = 4096;

 public:
  level_counts(const T* squared_edges, std::size_t bins)
      : levels_((bins + at_once) / at_once * at_once, T(0)), below_(levels_.size()), waiting_(room + lanes::count) {
    std::reverse_copy(squared_edges, squared_edges + bins + 1, levels_.begin());
  }

  /// Counts the distances from a point to the targets in [first, last), whose arrays may be read beyond that by one
  /// register.
  QUADRAT_SELECT_TARGET void add(const vec<T, 3>& point, const vec<T, 3>& translation, const T* const (&targets)[3],
                                 std::size_t first, std::size_t last) {
    for (std::size_t end = 0; first < last; first = end) {
      if (size_ + 512 > room) drain();
      end = std::min(last, first + 512);
      if (translation == vec<T, 3>{}) {
        add_part<false>(point, translation, targets, first, end);
      } else {
        add_part<true>(point, translation, targets, first, end);
      }
    }
  }
  /// Adds the numbers of distances in each bin.
  void take(std::uint64_t* counts, std::size_t bins) {
    drain();
    for (std::size_t k = 0; k < bins; ++k) counts[k] += below_[bins - k - 1] - below_[bins - k];
    std::fill(below_.begin(), below_.end(), 0);
  }

 private:
  template <bool Moved>
  QUADRAT_SELECT_TARGET void add_part(const vec<T, 3>& point, const vec<T, 3>& translation,
                                      const T* const (&targets)[3], std::size_t first, std::size_t last) {
    vector from[3], moved[3], level[at_once];
    for (int axis = 0; axis < 3; ++axis) {
      from[axis] = lanes::filled(point[axis]);
      moved[axis] = lanes::filled(translation[axis]);
    }
    for (std::size_t k = 0; k < at_once; ++k) level[k] = lanes::filled(levels_[k]);
    std::uint64_t below[at_once] = {};
    T* out = waiting_.data() + size_;
    for (std::size_t j = first; j < last; j += lanes::count) {
      vector r[3];
      for (int axis = 0; axis < 3; ++axis) {
        r[axis] = lanes::row(targets[axis] + j) - from[axis];
        if constexpr (Moved) r[axis] = r[axis] + moved[axis];
      }
      const std::size_t left = last - j;
      const unsigned valid = left < lanes::count ? (1u << left) - 1 : (1u << lanes::count) - 1;
      out = count(r[0] * r[0] + r[1] * r[1] + r[2] * r[2], static_cast<mask>(valid), level, below, out);
    }
    size_ = static_cast<std::size_t>(out - waiting_.data());
    for (std::size_t k = 0; k < at_once; ++k) below_[k] += below[k];
  }
  /// Counts one register; stores what is below the last level and returns the end.
  [[gnu::always_inline]] QUADRAT_SELECT_TARGET static inline T* count(vector squared, mask which,
                                                                      const vector (&level)[at_once],
                                                                      std::uint64_t (&below)[at_once], T* out) {
    for (std::size_t k = 0; k < at_once; ++k) {
      which = static_cast<mask>(lanes::less(squared, level[k]) & which);
      below[k] += static_cast<std::uint64_t>(__builtin_popcount(which));
    }
    lanes::store(out, which, squared);
    return out + __builtin_popcount(which);
  }
  /// Compares all that waits with the other levels.
  QUADRAT_SELECT_TARGET void drain() {
    for (std::size_t first = at_once; first < levels_.size() && size_ > 0; first += at_once) {
      vector level[at_once];
      for (std::size_t k = 0; k < at_once; ++k) level[k] = lanes::filled(levels_[first + k]);
      std::uint64_t below[at_once] = {};
      std::fill_n(waiting_.data() + size_, lanes::count, std::numeric_limits<T>::infinity());
      T* out = waiting_.data();
      for (std::size_t j = 0; j < size_; j += lanes::count) {
        out = count(lanes::row(waiting_.data() + j), static_cast<mask>(~0u), level, below, out);
      }
      size_ = static_cast<std::size_t>(out - waiting_.data());
      for (std::size_t k = 0; k < at_once; ++k) below_[first + k] += below[k];
    }
    size_ = 0;
  }

  std::vector<T> levels_;             ///< zeros at the end: nothing is below them
  std::vector<std::uint64_t> below_;  ///< by level
  std::vector<T> waiting_;            ///< below the first levels, not yet compared with the others
  std::size_t size_ = 0;
};

}  // namespace quadrat::detail

#endif
