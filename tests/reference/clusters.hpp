// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "quadrat/core/lattice.hpp"
#include "quadrat/search/cluster_finder.hpp"

/// Clusters by brute force: every pair, every image of it, serially on the host.
namespace quadrat::reference {

struct cluster_result {
  std::vector<std::int32_t> labels;
  std::vector<std::uint32_t> sizes;
  /// The smallest difference of a squared distance and the squared cutoff, in units of possible rounding.
  double margin = std::numeric_limits<double>::infinity();
};

/// Whether any image of b is linked to a, both wrapped. Lowers the margin.
template <typename T, int D>
[[nodiscard]] bool are_linked(const lattice<T, D>& box, const vec<T, D>& a, const vec<T, D>& b, T cutoff,
                              double& margin) {
  bool linked = false;
  // Points in a tilted box may be further apart than a box is high.
  const auto images = [&](int axis) { return box.periodic[axis] ? (box.orthorhombic ? 1 : 2) : 0; };
  vec<int, D> shift{};
  const auto test = [&] {
    const vec<T, D> r = (b - a) + box.translation(shift);
    double size = 0;
    for (int axis = 0; axis < D; ++axis) {
      size += std::fabs(static_cast<double>(a[axis])) + std::fabs(static_cast<double>(b[axis]));
    }
    const double rounding =
        std::numeric_limits<T>::epsilon() * static_cast<double>(cutoff) * (size + 4 * static_cast<double>(cutoff));
    const double difference =
        static_cast<double>(squared_norm(r)) - static_cast<double>(cutoff) * static_cast<double>(cutoff);
    margin = std::min(margin, std::fabs(difference) / rounding);
    linked = linked || squared_norm(r) < cutoff * cutoff;
  };
  for (int x = -images(0); x <= images(0); ++x) {
    for (int y = -images(1); y <= images(1); ++y) {
      const int most = D == 3 ? images(D - 1) : 0;
      for (int z = -most; z <= most; ++z) {
        shift[0] = x;
        shift[1] = y;
        if constexpr (D == 3) shift[2] = z;
        test();
      }
    }
  }
  return linked;
}

template <typename T, int D>
[[nodiscard]] cluster_result clusters(const lattice<T, D>& box, const std::vector<vec<T, D>>& points,
                                      const cluster_options<T>& options) {
  cluster_result result;
  const std::size_t n = points.size();
  std::vector<vec<T, D>> wrapped;
  vec<int, D> ignored{};
  for (const auto& point : points) wrapped.push_back(box.wrap(point, ignored));
  std::vector<std::vector<std::size_t>> near(n);  // with the point itself
  for (std::size_t i = 0; i < n; ++i) {
    near[i].push_back(i);
    for (std::size_t j = 0; j < i; ++j) {
      if (!are_linked(box, wrapped[i], wrapped[j], options.cutoff, result.margin)) continue;
      near[i].push_back(j);
      near[j].push_back(i);
    }
  }
  const auto is_core = [&](std::size_t i) { return near[i].size() >= options.min_points; };
  result.labels.assign(n, noise_label);
  std::int32_t next = 0;
  for (std::size_t start = 0; start < n; ++start) {
    if (!is_core(start) || result.labels[start] != noise_label) continue;
    std::vector<std::size_t> open{start};
    result.labels[start] = next;
    while (!open.empty()) {
      const std::size_t i = open.back();
      open.pop_back();
      for (const std::size_t j : near[i]) {
        if (!is_core(j) || result.labels[j] != noise_label) continue;
        result.labels[j] = next;
        open.push_back(j);
      }
    }
    ++next;
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (is_core(i)) continue;
    for (const std::size_t j : near[i]) {
      const std::int32_t label = result.labels[j];
      if (is_core(j) && (result.labels[i] == noise_label || label < result.labels[i])) result.labels[i] = label;
    }
  }
  result.sizes.assign(static_cast<std::size_t>(next), 0);
  for (const std::int32_t label : result.labels) {
    if (label != noise_label) ++result.sizes[static_cast<std::size_t>(label)];
  }
  return result;
}

}  // namespace quadrat::reference
