// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "hydro/pair_tensor.hpp"
#include "hydro/place.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/parallel/workspace.hpp"
#include "quadrat/search/lattice/image_rows.hpp"

/// The near part as a sparse matrix: the Lanczos method multiplies by it several times for one set of points.
namespace quadrat::detail {

/// A neighbor and its symmetric tensor, xx, xy, xz, yy, yz, zz, read and written as a whole.
template <typename T>
struct alignas(16) near_entry {
  T tensor[6];
  std::uint32_t column;
};

/// The input of a product. Rows are slots. Slices of `slice` rows have room for equally many entries and are stored
/// entry by entry, so that reads of a warp coalesce (sliced ELLPACK; Monakov, Lokhmotov, Avetisyan 2010). Each image of
/// a sphere is a separate entry. The diagonal is `self`.
template <typename T>
struct near_rows {
  static constexpr std::size_t slice = 32;
  std::size_t count;
  const std::uint64_t* offsets;  ///< by slice, in entries of a row
  const std::uint32_t* lengths;  ///< by row
  const near_entry<T>* entries;
  T self;

  /// Row `slot` times the vector whose entries are load(slot).
  QUADRAT_CALLS_ANY
  template <typename Load>
  [[nodiscard]] QUADRAT_HD vec<T, 3> times(std::size_t slot, Load&& load) const {
    const near_entry<T>* entry = entries + offsets[slot / slice] * slice + slot % slice;
    const std::uint32_t length = lengths[slot];
    vec<T, 3> sum = self * load(slot);
    for (std::uint32_t k = 0; k < length; ++k, entry += slice) {
      const near_entry<T> own = *entry;
      const vec<T, 3> v = load(own.column);
      const auto& t = own.tensor;
      sum[0] += t[0] * v[0] + t[1] * v[1] + t[2] * v[2];
      sum[1] += t[1] * v[0] + t[3] * v[1] + t[4] * v[2];
      sum[2] += t[2] * v[0] + t[4] * v[1] + t[5] * v[2];
    }
    return sum;
  }
};

/// The positions of spheres.
template <typename T>
struct sphere_cells {
  sphere_domain<T> domain;
  const std::uint32_t* offsets;  ///< by cell: its first slot
  const sphere_vector<T>* places;

  /// Calls f(slot, whether the box is the same, separation, squared distance) for each sphere nearer than the cutoff.
  QUADRAT_CALLS_ANY
  template <typename F>
  QUADRAT_HD void for_each_near(const vec<T, 3>& own, T cutoff, F&& f) const {
    const T squared_cutoff = cutoff * cutoff;
    const image_rows<T, 3> walk(domain.grid, offsets, own, cutoff);
    walk.for_each_image([&](const vec<int, 3>& shift) {
      const vec<T, 3> from = own - domain.shape.translation(shift);
      const bool same_image = shift == vec<int, 3>{};
      walk.for_each_range(shift, [&](const row_range<3>& range) {
        for (std::uint32_t other = range.first; other < range.last; ++other) {
          const vec<T, 3> separation = places[other].value - from;
          const T squared_distance = squared_norm(separation);
          if (squared_distance < squared_cutoff) f(other, same_image, separation, squared_distance);
        }
      });
    });
  }
};

/// The spheres of one device: rows and columns are slots.
template <typename T>
struct placed_spheres {
  sphere_cells<T> cells;
  std::size_t count;

  /// Calls f(slot, separation, squared distance) for all neighbors of a slot, images of itself included.
  QUADRAT_CALLS_ANY
  template <typename F>
  QUADRAT_HD void for_each_neighbor(std::size_t slot, T cutoff, F&& f) const {
    cells.for_each_near(cells.places[slot].value, cutoff,
                        [&](std::uint32_t other, bool same_image, const vec<T, 3>& separation, T squared_distance) {
                          if (!same_image || other != slot) f(other, separation, squared_distance);
                        });
  }
};

/// The same over ranks. Rows are own spheres, which come first; columns also include ghosts. Slots are those of cells.
template <typename T>
struct spheres_among_ghosts {
  sphere_cells<T> cells;
  const particle_id* elements;  ///< by slot
  given_spheres<T> given;
  std::size_t count;  ///< own

  QUADRAT_CALLS_ANY
  template <typename F>
  QUADRAT_HD void for_each_neighbor(std::size_t row, T cutoff, F&& f) const {
    cells.for_each_near(given.wrapped(given.points[row]), cutoff,
                        [&](std::uint32_t other, bool same_image, const vec<T, 3>& separation, T squared_distance) {
                          const particle_id id = elements[other];
                          if (!same_image || id != row) f(id, separation, squared_distance);
                        });
  }
};

template <typename Context, typename T>
class near_matrix {
 public:
  /// Counts the entries of each row. If the number of pairs in boxes, at `pairs`, is outside [least, most), all
  /// counts are 0. `stored` receives the sum of row lengths over slices, and `pairs` the number of entries.
  /// Asynchronous.
  struct guard {
    const double* pairs;
    double least;
    double most;
  };
  /// `Spheres`: placed_spheres or spheres_among_ghosts.
  template <typename Spheres>
  void count(const Context& context, const Spheres& spheres, T cutoff, const guard& when, std::uint64_t* stored,
             double* pairs);

  /// Fills the entries. `stored`: the result of count. Throws argument_error if they exceed memory, or `most_bytes` if
  /// that is not 0. Asynchronous.
  template <typename Spheres>
  void fill(const Context& context, const Spheres& spheres, const near_tensor<T>& law, std::uint64_t stored,
            std::size_t most_bytes);

  [[nodiscard]] near_rows<T> rows() const;
  [[nodiscard]] std::size_t bytes() const {
    return lengths_.bytes() + widths_.bytes() + offsets_.bytes() + entries_.bytes() + scratch_.bytes();
  }

 private:
  std::size_t count_ = 0;
  T self_ = T(0);
  array<std::uint32_t, Context> lengths_;
  array<std::uint32_t, Context> widths_;  // by slice
  array<std::uint64_t, Context> offsets_;
  array<near_entry<T>, Context> entries_;
  workspace<Context> scratch_;
};

}  // namespace quadrat::detail
