// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "quadrat/core/lattice.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/shift_map.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/parallel/workspace.hpp"
#include "quadrat/search/neighbor_list.hpp"

/// The data that the functions of visit_list.hpp read.
namespace quadrat::detail {

/// A point of a neighbor list, wrapped into the box: one 16-byte load if T is float.
template <typename T, int D>
struct alignas(4 * sizeof(T)) pair_point {
  vec<T, D> position;
  T property;  ///< its radius or type, if the cutoff rule has one
};

/// Pairs of a row that are nearer than their cutoff. They are selected without branches, because a third of the listed
/// pairs would be mispredicted, before the functor is called.
template <typename T, int D>
struct selected_pairs {
  static constexpr std::size_t most = 256;
  static constexpr std::size_t beyond = 16;  ///< room for storing whole registers
  particle_id j[most + beyond];
  T separation[static_cast<std::size_t>(D)][most + beyond];
  T squared[most + beyond];
};

/// Entries of one row, for a selection with vector units.
template <typename T, int D>
struct pair_selection {
  const particle_id* neighbors;  ///< the first
  const pair_point<T, D>* points;
  vec<T, D> from;
  bool direct;       ///< otherwise the nearest image, by
  vec<T, D> length;  ///< 0 along open axes
  T squared_cutoff;
};

/// Selects among at most selected_pairs::most entries, in their order; returns how many.
template <typename T, int D>
using select_pairs_function = std::size_t (*)(const pair_selection<T, D>&, std::size_t entries, selected_pairs<T, D>&);

/// The entries of a neighbor list, and the points of the last call of build or update. In the memory of the list's
/// context; valid until its next call.
template <typename T, int D>
struct listed_pairs {
  std::size_t rows;
  std::uint64_t width;           ///< of a row of a matrix
  std::uint64_t capacity;        ///< entries that the arrays hold
  const std::uint64_t* offsets;  ///< nullptr: a matrix
  const std::uint32_t* counts;
  const particle_id* neighbors;
  const vec<int, D>* shifts;  ///< nullptr: the nearest image is the one within the cutoff
  const shift_map<D>* maps;   ///< of shifts, by system, to the vectors of the shapes; nullptr: already in these
  const pair_point<T, D>* points;
  const vec<int, D>* homes;  ///< with shifts: from `points` to the caller's points, in units of the shapes' vectors
  const std::uint32_t* system_of_point;  ///< nullptr: one system
  const lattice<T, D>* shapes;           ///< of several systems
  lattice<T, D> shape;                   ///< of one
  bool half;
  cutoff_rule rule;
  T cutoff;
  const T* type_cutoffs;
  std::uint32_t type_count;
  std::uint64_t version;               ///< differs between builds of one list
  select_pairs_function<T, D> select;  ///< for this CPU; nullptr: plain C++
};

/// The way to find the separation of a pair.
enum class image_kind {
  same,          ///< without an image: the row's point is farther than the cutoff from all periodic faces
  orthorhombic,  ///< the nearest image
  triclinic,     ///< the nearest image
  shifted        ///< the image given by the entry's shift
};

/// The point of one row, and the data common to all of its pairs.
template <typename T, int D>
class pair_row {
 public:
  QUADRAT_HD pair_row(const listed_pairs<T, D>& list, std::size_t row)
      : point_(list.points[row]),
        list_(list),
        shape_(list.system_of_point == nullptr ? list.shape : list.shapes[list.system_of_point[row]]),
        map_(list.maps == nullptr ? nullptr
                                  : list.maps + (list.system_of_point == nullptr ? 0 : list.system_of_point[row])),
        home_(list.shifts != nullptr ? list.homes[row] : vec<int, D>{}) {}

  /// First entry, and one past the last. A row that did not fit, which `check` reports, has none.
  [[nodiscard]] QUADRAT_HD std::uint64_t begin(std::size_t row) const {
    return list_.offsets != nullptr ? list_.offsets[row] : row * list_.width;
  }
  [[nodiscard]] QUADRAT_HD std::uint64_t end(std::size_t row) const {
    if (list_.offsets == nullptr) {
      return row * list_.width + (list_.counts[row] <= list_.width ? list_.counts[row] : list_.width);
    }
    return list_.offsets[row + 1] <= list_.capacity ? list_.offsets[row + 1] : list_.offsets[row];
  }

  [[nodiscard]] QUADRAT_HD image_kind kind() const {
    if (list_.shifts != nullptr) return image_kind::shifted;
    if (is_inner()) return image_kind::same;
    return shape_.orthorhombic ? image_kind::orthorhombic : image_kind::triclinic;
  }

  /// The vector from the row's point to the entry's. The nearest image is correct for pairs within the cutoff, because
  /// periodic axes are at least twice as long.
  template <image_kind Kind>
  [[nodiscard]] QUADRAT_HD vec<T, D> separation(std::uint64_t entry, particle_id j, const vec<T, D>& to) const {
    vec<T, D> r = to - point_.position;
    if constexpr (Kind == image_kind::orthorhombic) {
      for (int axis = 0; axis < D; ++axis) {
        const T boxes = static_cast<T>(r[axis] >= length(axis) / 2) - static_cast<T>(r[axis] < -length(axis) / 2);
        r[axis] -= length(axis) * boxes;
      }
    } else if constexpr (Kind == image_kind::triclinic) {
      vec<int, D> boxes{};
      for (int axis = 0; axis < D; ++axis) {
        if (shape_.periodic[axis]) boxes[axis] = static_cast<int>(std::floor(dot(shape_.inverse[axis], r) + T(0.5)));
      }
      r -= shape_.translation(boxes);
    } else if constexpr (Kind == image_kind::shifted) {
      const vec<int, D>& given = list_.shifts[entry];
      r += shape_.translation((map_ != nullptr ? map_->to_searched(given) : given) - home_ + list_.homes[j]);
    }
    return r;
  }

  /// The square of the pair's cutoff; `property` is that of the other point.
  template <bool Uniform>
  [[nodiscard]] QUADRAT_HD T squared_cutoff(T property) const {
    if constexpr (Uniform) {
      return list_.cutoff * list_.cutoff;
    } else {
      const T cutoff = pair_cutoff(property);
      return cutoff * cutoff;
    }
  }

  /// The entries from `begin` on.
  template <image_kind Kind>
  [[nodiscard]] pair_selection<T, D> selection(std::uint64_t begin) const {
    pair_selection<T, D> result{list_.neighbors + begin,  list_.points, point_.position,
                                Kind == image_kind::same, {},           squared_cutoff<true>(T(0))};
    for (int axis = 0; axis < D; ++axis) result.length[axis] = length(axis);
    return result;
  }

 private:
  /// The length of a periodic axis of an orthorhombic box; 0 for an open axis, which has no images.
  [[nodiscard]] QUADRAT_HD T length(int axis) const {
    return shape_.periodic[axis] ? shape_.vectors[axis][axis] : T(0);
  }
  [[nodiscard]] QUADRAT_HD T pair_cutoff(T property) const {
    const T own = point_.property;
    switch (list_.rule) {
      case cutoff_rule::sum_of_radii:
        return own + property;
      case cutoff_rule::larger_radius:
        return own > property ? own : property;
      case cutoff_rule::own_radius:
        return own;
      case cutoff_rule::table_of_types:
        return list_
            .type_cutoffs[static_cast<std::size_t>(own) * list_.type_count + static_cast<std::size_t>(property)];
      case cutoff_rule::uniform:
        break;
    }
    return list_.cutoff;
  }
  [[nodiscard]] QUADRAT_HD bool is_inner() const {
    constexpr T rounding = sizeof(T) == 4 ? T(2e-6) : T(4e-15);  // 16 epsilon
    for (int axis = 0; axis < D; ++axis) {
      if (!shape_.periodic[axis]) continue;
      const T height = shape_.height(axis);
      T size = height;
      for (int k = 0; k < D; ++k) size += std::fabs(shape_.origin[k]) + std::fabs(point_.position[k]);
      const T margin = list_.cutoff * T(1.001) + rounding * size;
      const T from_face = shape_.fraction(point_.position, axis) * height;
      if (!(from_face >= margin && height - from_face >= margin)) return false;
    }
    return true;
  }

  pair_point<T, D> point_;
  const listed_pairs<T, D>& list_;
  const lattice<T, D>& shape_;
  const shift_map<D>* map_;
  vec<int, D> home_;
};

/// Working memory of the functions of visit_list.hpp; belongs to the list.
template <typename Context>
struct pair_memory {
  workspace<Context> scratch;  ///< of reductions
  workspace<Context> pages;    ///< the arrays of pair_pages
  workspace<Context> sums;     ///< of the pages
  std::size_t page_count = 0;  ///< sums that the pages hold
  std::uint64_t version = 0;   ///< version of the list for which the pages are; 0: none

  [[nodiscard]] std::size_t bytes() const { return scratch.bytes() + pages.bytes() + sums.bytes(); }
};

/// Access to a list for the functions of visit_list.hpp.
struct list_access {
  template <typename Context, typename T, int D>
  [[nodiscard]] static listed_pairs<T, D> pairs(const neighbor_list<Context, T, D>& list) {
    return list.pairs();
  }
  template <typename Context, typename T, int D>
  [[nodiscard]] static pair_memory<Context>& memory(const neighbor_list<Context, T, D>& list) {
    return list.pair_memory();
  }
};

}  // namespace quadrat::detail
