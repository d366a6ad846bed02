// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "spectral/fft/lines.hpp"

/// Lines of a mesh that are transformed together on CPUs.
namespace quadrat::detail {

/// A group of lines: where its first number is, and how many lines there are.
struct line_group {
  std::size_t first;
  int lines;
};

[[nodiscard]] inline mode_band all_of(int extent) { return {extent, 0}; }

/// Groups of at most `lanes` lines that begin at `base` plus the indices of a band of an axis of n numbers.
inline void add_groups(std::vector<line_group>& groups, std::size_t base, int n, const mode_band& band, int lanes) {
  const auto add = [&](int first, int last) {
    for (int i = first; i < last; i += lanes) {
      groups.push_back({base + static_cast<std::size_t>(i), std::min(lanes, last - i)});
    }
  };
  add(0, band.low);
  add(n - band.high, n);
}

/// The lines along axis 0 or 1 of a mesh with rows of `row` numbers, of which those in `across` are wanted: all lines
/// along axis 1, and along axis 0 those in the band of axis 1. One lane per adjacent number.
struct column_groups {
  int rows, planes;  ///< extents of axes 1 and 0
  mode_band band;    ///< of axis 1
  std::size_t row;   ///< numbers from one row to the next
  int extent;        ///< of the band `across`
  mode_band across;

  [[nodiscard]] std::vector<line_group> along(int axis, int lanes) const {
    std::vector<line_group> groups;
    if (axis == 1) {
      const std::size_t plane = static_cast<std::size_t>(rows) * row;
      for (int x = 0; x < planes; ++x) {
        add_groups(groups, static_cast<std::size_t>(x) * plane, extent, across, lanes);
      }
      return groups;
    }
    const auto add = [&](int y) { add_groups(groups, static_cast<std::size_t>(y) * row, extent, across, lanes); };
    for (int y = 0; y < band.low; ++y) add(y);
    for (int y = rows - band.high; y < rows; ++y) add(y);
    return groups;
  }
};

}  // namespace quadrat::detail
