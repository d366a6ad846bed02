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
#include "search/request.hpp"

/// Lists are searched for in a box that has the images of the caller's box and the shortest vectors: where a box is
/// strongly sheared, more points are close to its faces, and each face within reach costs the search of one more image.
namespace quadrat::detail {

/// About how many images of a box a point searches.
template <typename T, int D>
[[nodiscard]] double images_searched(const lattice<T, D>& shape, T reach) {
  double images = 1;
  for (int k = 0; k < D; ++k) {
    if (shape.periodic[k]) images *= 1 + 2 * static_cast<double>(reach) / static_cast<double>(shape.height(k));
  }
  return images;
}

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

/// The boxes that are searched. They are the given ones, and `maps` stays empty, unless another has a quarter less
/// images to search, which pays for wrapping points into it, and all are so large that at most one image of a point is
/// within reach of another: rows are sorted by (j, S) with the S of the box that is searched, and a half list of images
/// of one point depends on their signs.
template <typename T, int D>
[[nodiscard]] std::vector<lattice<T, D>> searched_boxes(std::span<const lattice<T, D>> given, T reach,
                                                        std::vector<shift_map<D>>& maps) {
  const T least = static_cast<T>(boxes_of_nearest_image) * reach;
  std::vector<lattice<T, D>> boxes;
  bool changed = false, large = true;
  for (const lattice<T, D>& shape : given) {
    boxes.push_back(shape);
    const lattice_reduction<T, D> reduction(shape);
    maps.push_back(shift_map<D>::none());
    if (reduction.changed() && reduction.maps_shifts() && !has_lost_origin(shape)) {
      const lattice<T, D> other = reduction.box();
      if (images_searched(shape, reach) > 1.25 * images_searched(other, reach)) {
        boxes.back() = other;
        maps.back() = reduction.map();
        changed = true;
      }
    }
    for (int k = 0; k < D; ++k) large = large && (!shape.periodic[k] || boxes.back().height(k) >= least);
  }
  if (changed && large) return boxes;
  maps.clear();
  return {given.begin(), given.end()};
}

/// Index: row * lanes + lane. Turns the shifts of a row's entries into those of the caller's boxes.
template <typename T, int D>
struct give_shifts {
  neighbor_search<T, D> search;
  neighbor_sink<T, D> sink;
  const shift_map<D>* maps;
  unsigned lanes;

  QUADRAT_HD void operator()(std::size_t i) const {
    const std::size_t row = i / lanes;
    const std::uint32_t* systems = search.own_queries ? search.system_of_query : search.system_of_point;
    const shift_map<D>& map = maps[search.system_at(systems, row)];
    const std::uint64_t begin = sink.begin(row);
    std::uint64_t end = sink.limit(row);
    if (sink.offsets == nullptr && begin + sink.counts[row] < end) end = begin + sink.counts[row];
    for (std::uint64_t at = begin + i % lanes; at < end; at += lanes) {
      sink.shifts[at] = map.to_given(sink.shifts[at]);
    }
  }
};

}  // namespace quadrat::detail
