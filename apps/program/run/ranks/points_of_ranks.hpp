// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/finite.hpp"
#include "program/data_place.hpp"
#include "program/neighbors/box.hpp"
#include "program/particle_file.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/core/grid.hpp"
#include "quadrat/distributed/decomposition.hpp"

namespace quadrat::program {

/// Cells that blocks of ranks are made of.
template <typename T, int D>
[[nodiscard]] grid<T, D> space_of_ranks(const box<T, D>& domain) {
  return make_grid(domain, vec<int, D>::filled(32));
}
/// Throws argument_error for a tilted box.
template <typename T, int D>
[[nodiscard]] grid<T, D> space_of_ranks(const search_box& given) {
  const lattice<T, D> shape = lattice_of<T, D>(given);
  require(shape.orthorhombic, given.place, ": the box is tilted; over several ranks its angles must be right");
  const auto lengths = make_vec<T, D>([&](int axis) { return shape.vectors[axis][axis]; });
  return space_of_ranks(make_box_from_lengths(shape.origin, lengths, shape.periodic));
}

/// Blocks with about as many of these points each, which every rank has. Collective.
template <typename Context, typename T, int D>
[[nodiscard]] decomposition<D> shares_of(const Context& context, communicator& ranks, const grid<T, D>& space,
                                         const std::vector<vec<T, D>>& points) {
  const auto first = [&](int rank) {
    return points.size() * static_cast<std::size_t>(rank) / static_cast<std::size_t>(ranks.size());
  };
  const std::size_t begin = first(ranks.rank());
  const auto part = to_device(context, std::span(points).subspan(begin, first(ranks.rank() + 1) - begin));
  return balanced_decomposition(context, ranks, space, points_of(part));
}

/// The points of this rank, of a file that every rank has read. Throws data_error on all ranks that names the place of
/// a point that is not finite. Collective.
template <typename T, int D>
[[nodiscard]] std::vector<std::size_t> points_of_rank(communicator& ranks, const grid<T, D>& space,
                                                      const decomposition<D>& shares,
                                                      const std::vector<vec<T, D>>& points, const particle_file& file) {
  std::vector<std::size_t> own;
  const auto find = [&] {
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (!detail::is_finite(points[i])) {
        throw data_error(message("point ", i, " has a coordinate that is not finite"), i);
      }
      if (shares.view().owner(space.unfolded_cell_of(points[i])) == ranks.rank()) own.push_back(i);
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
