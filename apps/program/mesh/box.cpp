// SPDX-License-Identifier: BSD-3-Clause
#include "program/mesh/box.hpp"

#include <vector>

#include "core/counted.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::program {
namespace {

/// Throws argument_error unless the vectors lie along x, y and z.
vec<double, 3> lengths_of_lattice(const particle_file& particles) {
  vec<double, 3> lengths{};
  for (int axis = 0; axis < 3; ++axis) {
    for (int k = 0; k < 3; ++k) {
      const double component = (*particles.box->vectors)[axis][k];
      require(k == axis ? component > 0 : component == 0, particles.place_of_box(), ": vector ", axis + 1,
              " of the Lattice has the component ", component, " along ", "xyz"[k],
              "; meshes need an upright box, with vectors along x, y and z (or give --box)");
    }
    lengths[axis] = (*particles.box->vectors)[axis][axis];
  }
  return lengths;
}

}  // namespace

mesh_box choose_mesh_box(const box_options& given, const particle_file& particles) {
  const int dimension = particles.dimension;
  const bool lattice = particles.box && particles.box->vectors;
  mesh_box box;
  if (lattice) box.periodic = particles.box->periodic;
  if (given.periodic) box.periodic = periodic_of_option(*given.periodic, dimension);
  require(given.box || lattice || !given.origin, "--origin needs --box");
  if (given.box) {
    box.source = "--box";
    const std::size_t numbers = numbers_of_option("--box", *given.box).size();
    require(numbers == static_cast<std::size_t>(dimension), "--box: ", detail::there_are(numbers, "number"),
            "; points in ", detail::counted(dimension, "dimension"), " need the ", detail::counted(dimension, "length"),
            " of an upright box");
    const auto vectors = vectors_of_option(*given.box, dimension);
    for (int axis = 0; axis < dimension; ++axis) box.length[axis] = vectors[axis][axis];
  } else if (lattice) {
    box.source = "Lattice";
    box.length = lengths_of_lattice(particles);
    box.origin = particles.box->origin;
  } else {
    box.source = "unit box";
    box.assumed = true;
  }
  if (given.origin) box.origin = origin_of_option(*given.origin, dimension);
  return box;
}

}  // namespace quadrat::program
