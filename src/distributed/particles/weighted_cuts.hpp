// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "distributed/particles/bisection.hpp"

namespace quadrat::detail {

/// Bins of a histogram of one part along one axis, over layers of cells: bin b holds the layers [first + b << shift,
/// first + (b + 1) << shift).
struct layer_bins {
  int first;
  int end;
  int shift;
  std::uint32_t offset;  ///< of bin 0 in the joint histogram

  [[nodiscard]] QUADRAT_HD int count() const {
    return static_cast<int>((static_cast<std::int64_t>(end) - first + (std::int64_t{1} << shift) - 1) >> shift);
  }
};

/// Finds the cut of each part of one level by the weights of layers. A first histogram over all axes tells which axis
/// to cut. Further histograms, each over one bin of the previous one, narrow the cut down to a layer. So the cost does
/// not grow with the number of cells, and a stray point far away does not coarsen the bins of the others.
template <int D>
class weighted_cuts {
 public:
  static constexpr int most_bins = 2048;

  weighted_cuts(const std::vector<typename bisection<D>::part>& parts, const vec<double, D>& edges);

  /// Bins by [part][axis]; empty for axes that are already excluded.
  [[nodiscard]] const std::vector<layer_bins>& bins() const { return bins_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  /// Takes the histogram over these bins, summed over all ranks. Returns whether all cuts are known.
  [[nodiscard]] bool take(const std::vector<std::uint64_t>& histogram);

  [[nodiscard]] const std::vector<int>& axes() const { return axes_; }
  [[nodiscard]] const std::vector<int>& cells() const { return cells_; }

 private:
  void open(std::size_t p, int axis, int first, int end);
  void number_bins();
  void choose_axis(std::size_t p, const std::vector<std::uint64_t>& histogram);
  void narrow(std::size_t p, const std::vector<std::uint64_t>& histogram);

  std::vector<typename bisection<D>::part> parts_;
  vec<double, D> edges_;
  std::vector<layer_bins> bins_;
  std::size_t size_ = 0;
  std::vector<int> axes_, cells_;
  std::vector<std::uint64_t> totals_, below_;  ///< weight of the part, and weight below its bins
  std::vector<bool> known_;
};

}  // namespace quadrat::detail
