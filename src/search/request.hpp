// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>

#include "quadrat/search/neighbor_list.hpp"
#include "search/levels/sizes.hpp"

/// What the records of methods read.
namespace quadrat::detail {

/// A slot shares a 32-bit word with 5 bits for the image.
inline constexpr std::size_t trimmed_rows_most_points = std::size_t{1} << 27;

/// Cells along a cutoff on the first axis, for the methods with trimmed rows.
inline constexpr int trimmed_cells_along_first_axis = 4;

/// Determines which methods serve a search, and which is expected to be fastest.
struct neighbor_request {
  bool cuda;
  std::size_t points;
  bool one_cutoff;        ///< the uniform rule, without queries and excluded pairs
  bool radii = false;     ///< a rule with radii
  bool excluded = false;  ///< excluded pairs are given

  bool operator==(const neighbor_request&) const = default;
};

/// Whether every box is orthorhombic, with periodic axes at least `cutoffs` times the reach long.
template <typename T, int D>
[[nodiscard]] bool boxes_hold(const neighbor_options<T>& options, std::span<const lattice<T, D>> boxes, T cutoffs) {
  const T least = cutoffs * (options.cutoff + options.skin);
  for (const lattice<T, D>& shape : boxes) {
    if (!shape.orthorhombic) return false;
    for (int axis = 0; axis < D; ++axis) {
      if (shape.periodic[axis] && least > shape.vectors[axis][axis]) return false;
    }
  }
  return true;
}
/// In these boxes a point has at most one image within reach of another, across either face.
inline constexpr double boxes_of_one_image = 1.1;
/// In these it is the nearest image.
inline constexpr double boxes_of_nearest_image = 2.001;

template <typename T, int D>
[[nodiscard]] neighbor_request make_request(bool cuda, const neighbor_options<T>& options,
                                            const neighbor_input<T, D>& input) {
  const bool excluded = input.excluded_offsets != nullptr;
  return {cuda, input.points.count, options.rule == cutoff_rule::uniform && !input.queries.has_value() && !excluded,
          has_radii(options.rule), excluded};
}

/// Shared by the methods with trimmed rows.
struct trimmed_rows_method {
  static constexpr determinism reproducible = determinism::run_to_run;
  static constexpr std::string_view served =
      "the uniform rule, without queries or excluded pairs, and at most 134217728 points";
  [[nodiscard]] static bool serves(const neighbor_request& request) {
    return request.one_cutoff && request.points <= trimmed_rows_most_points;
  }
};

}  // namespace quadrat::detail
