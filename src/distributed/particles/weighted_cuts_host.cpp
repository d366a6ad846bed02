// SPDX-License-Identifier: BSD-3-Clause
#include "distributed/particles/weighted_cuts.hpp"

#include <algorithm>
#include <cmath>

namespace quadrat::detail {

template <int D>
weighted_cuts<D>::weighted_cuts(const std::vector<typename bisection<D>::part>& parts, const vec<double, D>& edges)
    : parts_(parts),
      edges_(edges),
      bins_(parts.size() * D),
      axes_(parts.size(), -1),
      cells_(parts.size(), 0),
      totals_(parts.size(), 0),
      below_(parts.size(), 0),
      known_(parts.size(), false) {
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    for (int axis = 0; axis < D; ++axis) open(p, axis, parts_[p].block.first[axis], parts_[p].block.end[axis]);
  }
  number_bins();
}

template <int D>
void weighted_cuts<D>::open(std::size_t p, int axis, int first, int end) {
  layer_bins& bins = bins_[p * D + static_cast<std::size_t>(axis)];
  bins = {first, end, 0, 0};
  while (bins.count() > most_bins) ++bins.shift;
}

template <int D>
void weighted_cuts<D>::number_bins() {
  size_ = 0;
  for (layer_bins& one : bins_) {
    one.offset = static_cast<std::uint32_t>(size_);
    size_ += static_cast<std::size_t>(std::max(one.count(), 0));
  }
}

template <int D>
bool weighted_cuts<D>::take(const std::vector<std::uint64_t>& histogram) {
  bool all = true;
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    if (known_[p]) continue;
    if (axes_[p] < 0) choose_axis(p, histogram);
    if (!known_[p]) narrow(p, histogram);
    all = all && known_[p];
  }
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    for (int axis = 0; axis < D; ++axis) {
      if (known_[p] || axis != axes_[p]) open(p, axis, 0, 0);
    }
  }
  number_bins();
  return all;
}

/// The axis with the longest range of occupied layers. A part without weight is cut evenly.
template <int D>
void weighted_cuts<D>::choose_axis(std::size_t p, const std::vector<std::uint64_t>& histogram) {
  double longest = -1;
  for (int axis = 0; axis < D; ++axis) {
    const layer_bins& bins = bins_[p * D + static_cast<std::size_t>(axis)];
    const auto begin = histogram.begin() + bins.offset;
    int first = -1, last = -1;
    std::uint64_t total = 0;
    for (int b = 0; b < bins.count(); ++b) {
      if (begin[b] == 0) continue;
      if (first < 0) first = b;
      last = b;
      total += begin[b];
    }
    totals_[p] = total;
    if (total == 0) break;
    const double length = edges_[axis] * std::ldexp(last - first + 1, bins.shift);
    if (length > longest && bins.end - bins.first > 1) {
      longest = length;
      axes_[p] = axis;
    }
  }
  if (axes_[p] >= 0) return;
  even_cut<D>(parts_[p], edges_, axes_[p], cells_[p]);
  known_[p] = true;
}

/// The bin that holds the cut or, if bins are single layers, the cut itself: where the weight below is nearest to the
/// share of the lower ranks. Both sides keep at least one layer.
template <int D>
void weighted_cuts<D>::narrow(std::size_t p, const std::vector<std::uint64_t>& histogram) {
  const int axis = axes_[p];
  const layer_bins bins = bins_[p * D + static_cast<std::size_t>(axis)];
  const auto begin = histogram.begin() + bins.offset;
  const double target =
      static_cast<double>(totals_[p]) * parts_[p].ranks_below() / static_cast<double>(parts_[p].ranks);
  if (bins.shift > 0) {
    int b = 0;
    while (b + 1 < bins.count() && static_cast<double>(below_[p] + begin[b]) <= target) below_[p] += begin[b++];
    const int first = bins.first + (b << bins.shift);
    open(p, axis, first, std::min(bins.end, first + (1 << bins.shift)));
    return;
  }
  const int least = parts_[p].block.first[axis] + 1, most = parts_[p].block.end[axis] - 1;
  std::uint64_t weight = below_[p];
  double nearest = HUGE_VAL;
  cells_[p] = std::clamp(bins.first, least, most);
  for (int layer = bins.first; layer <= bins.end; ++layer) {
    const double off = std::fabs(static_cast<double>(weight) - target);
    if (layer >= least && layer <= most && off < nearest) {
      nearest = off;
      cells_[p] = layer;
    }
    if (layer < bins.end) weight += begin[layer - bins.first];
  }
  known_[p] = true;
}

template class weighted_cuts<2>;
template class weighted_cuts<3>;

}  // namespace quadrat::detail
