// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <span>
#include <vector>

#include "quadrat/core/lattice.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/vec.hpp"
#include "search/kernels.hpp"
#include "search/request.hpp"

/// Lists are searched for in a box that has the images of the caller's box and the shortest vectors: where a box is
/// strongly sheared, more points are close to its faces, and each face within reach costs the search of one more image.
namespace quadrat::detail {

/// Shifts in vectors of a box and in those of the box that is searched.
template <int D>
struct shift_map {
  vec<vec<int, D>, D> given;     ///< [k]: vector k of the searched box, in vectors of the caller's
  vec<vec<int, D>, D> searched;  ///< [k]: vector k of the caller's box, in vectors of the searched one

  [[nodiscard]] QUADRAT_HD vec<int, D> to_given(const vec<int, D>& shift) const { return sum(shift, given); }
  [[nodiscard]] QUADRAT_HD vec<int, D> to_searched(const vec<int, D>& shift) const { return sum(shift, searched); }

 private:
  [[nodiscard]] QUADRAT_HD static vec<int, D> sum(const vec<int, D>& shift, const vec<vec<int, D>, D>& vectors) {
    vec<int, D> result{};
    for (int k = 0; k < D; ++k) result += shift[k] * vectors[k];
    return result;
  }
};

/// Replaces the periodic vectors of a box by the shortest ones with the same images: in the end no sum or difference of
/// them is shorter than the longest that is in it (H. Minkowski's reduction, in up to three dimensions).
template <typename T, int D>
class box_reduction {
 public:
  explicit box_reduction(const lattice<T, D>& shape) : shape_(shape) {
    for (int k = 0; k < D; ++k) vectors_[k] = cast<double>(shape.vectors[k]);
    while (fits_ && shorten()) changed_ = true;
  }

  /// The map between equal boxes.
  [[nodiscard]] static shift_map<D> none() {
    shift_map<D> map{};
    for (int k = 0; k < D; ++k) map.given[k][k] = map.searched[k][k] = 1;
    return map;
  }

  /// Whether the box is other than the given one.
  [[nodiscard]] bool changed() const { return changed_ && fits_; }
  [[nodiscard]] const shift_map<D>& map() const { return map_; }
  /// Only if it has changed.
  [[nodiscard]] lattice<T, D> box() const {
    vec<vec<T, D>, D> vectors{};
    for (int k = 0; k < D; ++k) vectors[k] = cast<T>(vectors_[k]);
    return make_lattice(shape_.origin, vectors, shape_.periodic);
  }

 private:
  static constexpr double rounding = 1e-6;     // what is shorter by less stays as it is
  static constexpr double most_vectors = 300;  // of one box in a vector of the other: shifts stay below 2^31

  [[nodiscard]] bool periodic(int a, int b) const { return a != b && shape_.periodic[a] && shape_.periodic[b]; }

  /// Shortens one vector, if that is possible.
  [[nodiscard]] bool shorten() {
    for (int a = 0; a < D; ++a) {
      for (int b = 0; b < D; ++b) {
        if (!periodic(a, b)) continue;
        const double number = std::nearbyint(dot(vectors_[a], vectors_[b]) / squared_norm(vectors_[b]));
        if (shortens(a, number * vectors_[b])) return subtract(a, b, number);
        if constexpr (D == 3) {
          const int c = 3 - a - b;
          const double other = dot(vectors_[a], vectors_[c]) < 0 ? -1 : 1;
          if (!periodic(a, c) || !periodic(b, c)) continue;
          for (const double sign : {-1.0, 1.0}) {
            if (!shortens(a, sign * vectors_[b] + other * vectors_[c])) continue;
            return subtract(a, b, sign) && subtract(a, c, other);
          }
        }
      }
    }
    return false;
  }
  [[nodiscard]] bool shortens(int a, const vec<double, D>& less) const {
    return squared_norm(vectors_[a] - less) < (1 - rounding) * squared_norm(vectors_[a]);
  }
  bool subtract(int a, int b, double number) {
    fits_ = fits_ && std::fabs(number) <= most_vectors;
    if (!fits_) return false;
    const int whole = static_cast<int>(number);
    vectors_[a] -= number * vectors_[b];
    map_.given[a] -= whole * map_.given[b];
    for (int k = 0; k < D; ++k) {
      map_.searched[k][b] += whole * map_.searched[k][a];
      for (int m = 0; m < D; ++m) fits_ = fits_ && std::abs(map_.given[k][m]) <= most_vectors;
      for (int m = 0; m < D; ++m) fits_ = fits_ && std::abs(map_.searched[k][m]) <= most_vectors;
    }
    return true;
  }

  const lattice<T, D>& shape_;
  vec<vec<double, D>, D> vectors_{};
  shift_map<D> map_ = none();
  bool changed_ = false;
  bool fits_ = true;
};

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
    maps.push_back(box_reduction<T, D>::none());
    const box_reduction<T, D> reduction(shape);
    if (reduction.changed() && !has_lost_origin(shape)) {
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
