// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "arrays.hpp"

namespace quadrat::python {

/// Boxes of `count` systems, on the host: vectors as rows, origins, periodic axes.
struct boxes_given {
  int dimension = 3;
  std::size_t count = 1;
  std::vector<double> vectors{};
  std::vector<double> origins{};
  std::vector<int> periodic{};

  /// Whether any axis is open, so that points may be anywhere along it.
  [[nodiscard]] bool open() const { return std::find(periodic.begin(), periodic.end(), 0) != periodic.end(); }
  [[nodiscard]] quadrat_boxes view() const { return {vectors.data(), origins.data(), periodic.data(), count}; }
  /// The box of a system, which is axis-aligned.
  [[nodiscard]] quadrat_domain domain(std::size_t system = 0) const;
};

/// Along which axes a box must have a length or a vector that is not zero.
enum class extents { of_periodic_axes, of_all_axes };

/// `box`: None (open), D lengths, D vectors as rows, or one of these per system. `periodic` and `origin`: None, one
/// value, or one per axis, or those of each system. By default all axes are periodic if there is a box.
/// Along an open axis a length or a vector of zeros says that the box has no end there. Throws ValueError saying what
/// was given and what is accepted.
[[nodiscard]] boxes_given boxes_from(nb::handle box, int dimension, nb::handle periodic, nb::handle origin,
                                     std::size_t systems = 1, extents needed = extents::of_periodic_axes);

/// How many boxes there are for several systems, or whatever `of` says: 1 stands for all of them. Throws ValueError for
/// the shape (D, D), which could be lengths for each of D systems as well as vectors for all.
[[nodiscard]] std::size_t boxes_in(nb::handle box, int dimension, const std::string& of);

/// The number of systems: of the boxes, if there is one for each; else as many as points, and queries, belong to.
[[nodiscard]] std::size_t systems_of(std::optional<given_array>& systems, nb::handle box, int dimension,
                                     const origin_of_arrays& where, int threads,
                                     std::optional<given_array>* of_queries = nullptr);

}  // namespace quadrat::python
