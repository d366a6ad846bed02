// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "program/box_options.hpp"
#include "program/particle_file.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/core/lattice.hpp"
#include "quadrat/core/vec.hpp"

namespace quadrat::program {

/// The box of a search. Only the first `dimension` vectors and components are used. In one dimension the second vector
/// spans an open axis, because searches need 2 or 3 dimensions.
struct search_box {
  vec<double, 3> origin{};
  vec<vec<double, 3>, 3> vectors{};
  vec<bool, 3> periodic{};
  bool accept_outside = false;  ///< points may be outside of open axes
  std::string source;           ///< "--box", "Lattice" or "bounding box"
  std::string place;            ///< its source for messages: "--box", "atoms.xyz:2: Lattice"
};

/// The box of the command line, else the one of the points' file, else the bounding box. A side chosen here is never
/// shorter than the cutoff. Throws argument_error that names the option if the box is impossible.
[[nodiscard]] search_box choose_box(const box_options& given, const particle_file& particles, double cutoff);

/// The box in the output of --json: source, origin, vectors, periodic.
[[nodiscard]] nlohmann::ordered_json as_json(const search_box& box, int dimension);

/// "2 x 2 x 2 (--box), periodic along xyz", with the vectors of a box that is not orthorhombic.
[[nodiscard]] std::string as_text(const search_box& box, int dimension);

/// Converts the box for the library. Throws argument_error that names the box's source.
template <typename T, int D>
[[nodiscard]] lattice<T, D> lattice_of(const search_box& box) {
  const auto leading = [](const vec<double, 3>& v) {
    return make_vec<T, D>([&](int axis) { return static_cast<T>(v[axis]); });
  };
  try {
    return make_lattice(leading(box.origin),
                        make_vec<vec<T, D>, D>([&](int axis) { return leading(box.vectors[axis]); }),
                        make_vec<bool, D>([&](int axis) { return box.periodic[axis]; }));
  } catch (const argument_error& problem) {
    throw argument_error(message(box.place, ": ", problem.what()));
  }
}

}  // namespace quadrat::program
