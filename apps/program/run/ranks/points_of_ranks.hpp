// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "core/finite.hpp"
#include "program/data_place.hpp"
#include "program/particle_file.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/core/grid.hpp"
#include "quadrat/core/lattice.hpp"
#include "quadrat/distributed/decomposition.hpp"

namespace quadrat::program {

/// Cells that blocks of ranks are made of, in a box of any shape: slices along its vectors, by the distance of a point
/// from the faces through the origin.
template <typename T, int D>
class slices_of_box {
 public:
  explicit slices_of_box(const lattice<T, D>& box)
      : shape_(box),
        heights_(make_vec<T, D>([&](int axis) { return box.height(axis); })),
        space_(make_grid(make_box_from_lengths(vec<T, D>{}, heights_, box.periodic), vec<int, D>::filled(32))) {}

  [[nodiscard]] const grid<T, D>& space() const { return space_; }
  /// The place of a point in that grid.
  [[nodiscard]] vec<T, D> operator()(const vec<T, D>& point) const {
    return make_vec<T, D>([&](int axis) { return shape_.fraction(point, axis) * heights_[axis]; });
  }

 private:
  lattice<T, D> shape_;
  vec<T, D> heights_;
  grid<T, D> space_;
};

/// Blocks with about as many of these points each, which every rank has. Collective.
template <typename Context, typename T, int D>
[[nodiscard]] decomposition<D> shares_of(const Context& context, communicator& ranks, const slices_of_box<T, D>& slices,
                                         const std::vector<vec<T, D>>& points) {
  const auto first = [&](int rank) {
    return points.size() * static_cast<std::size_t>(rank) / static_cast<std::size_t>(ranks.size());
  };
  std::vector<vec<T, D>> part;
  for (std::size_t i = first(ranks.rank()); i < first(ranks.rank() + 1); ++i) part.push_back(slices(points[i]));
  const auto there = to_device(context, part);
  return balanced_decomposition(context, ranks, slices.space(), points_of(there));
}

/// The points of this rank, of a file that every rank has read. Throws data_error on all ranks that names the place of
/// a point that is not finite. Collective.
template <typename T, int D>
[[nodiscard]] std::vector<std::size_t> points_of_rank(communicator& ranks, const slices_of_box<T, D>& slices,
                                                      const decomposition<D>& shares,
                                                      const std::vector<vec<T, D>>& points, const particle_file& file) {
  std::vector<std::size_t> own;
  const auto find = [&] {
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (!detail::is_finite(points[i])) {
        throw data_error(message("point ", i, " has a coordinate that is not finite"), i);
      }
      const vec<int, D> cell = slices.space().unfolded_cell_of(slices(points[i]));
      if (shares.view().owner(cell) == ranks.rank()) own.push_back(i);
    }
  };
  together(ranks, [&] { naming_places(file.file, file.lines, find); });
  return own;
}

/// The values of those elements.
template <typename E>
[[nodiscard]] std::vector<E> values_at(const std::vector<std::size_t>& elements, const std::vector<E>& of) {
  std::vector<E> values;
  values.reserve(elements.size());
  for (const std::size_t i : elements) values.push_back(of[i]);
  return values;
}

}  // namespace quadrat::program
