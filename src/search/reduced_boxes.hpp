// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "core/reduced_lattice.hpp"
#include "quadrat/core/lattice.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/vec.hpp"
#include "search/kernels.hpp"

/// Lists are searched in the box with the shortest vectors that has the same images as the caller's box. In a strongly
/// sheared box more points are close to its faces, each face within reach costs the search of one more image, and cells
/// along its vectors are long.
namespace quadrat::detail {

/// Whether the origin is so far from 0 that make_search_systems refuses the box.
template <typename T, int D>
[[nodiscard]] bool has_lost_origin(const lattice<T, D>& shape) {
  bool lost = false;
  for (int axis = 0; axis < D; ++axis) {
    T size = T(0);
    for (int k = 0; k < D; ++k) size += std::fabs(shape.inverse[axis][k] * shape.origin[k]);
    lost = lost || !(2 * std::numeric_limits<T>::epsilon() * size < T(0.1));
  }
  return lost;
}

/// The boxes that are searched. `maps` stays empty if they are the given ones.
template <typename T, int D>
[[nodiscard]] std::vector<lattice<T, D>> searched_boxes(std::span<const lattice<T, D>> given,
                                                        std::vector<shift_map<D>>& maps) {
  std::vector<lattice<T, D>> boxes;
  boxes.reserve(given.size());
  maps.reserve(given.size());
  bool changed = false;
  for (const lattice<T, D>& shape : given) {
    const reduced_lattice<T, D> box = has_lost_origin(shape) ? reduced_lattice<T, D>{shape} : reduced(shape, true);
    boxes.push_back(box.shape);
    maps.push_back(box.changed ? box.map : shift_map<D>::none());
    changed = changed || box.changed;
  }
  if (!changed) maps.clear();
  return boxes;
}

/// Index: row * lanes + lane. Turns the shifts of a row's entries into those of the caller's boxes.
template <typename T, int D>
struct give_shifts {
  neighbor_search<T, D> search;
  neighbor_sink<T, D> sink;
  unsigned lanes;

  QUADRAT_HD void operator()(std::size_t i) const {
    const std::size_t row = i / lanes;
    const shift_map<D>& map = search.maps[search.system_at(search.system_of_row(), row)];
    const std::uint64_t begin = sink.begin(row);
    std::uint64_t end = sink.limit(row);
    if (sink.offsets == nullptr && begin + sink.counts[row] < end) end = begin + sink.counts[row];
    for (std::uint64_t at = begin + i % lanes; at < end; at += lanes) {
      const vec<int, D> shift = sink.shifts[at];
      if (shift == vec<int, D>{}) continue;  // true for most entries
      sink.shifts[at] = map.to_given(shift);
    }
  }
};

}  // namespace quadrat::detail
