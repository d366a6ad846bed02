// SPDX-License-Identifier: BSD-3-Clause
#include "program/neighbors/box.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "program/run/summary.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::program {
namespace {

/// The smallest and the largest finite value of f(i) over the points; two zeros if there are none.
template <typename F>
vec<double, 2> range_of(std::size_t count, F&& f) {
  vec<double, 2> range{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  for (std::size_t i = 0; i < count; ++i) {
    const double value = f(i);
    if (!std::isfinite(value)) continue;
    range[0] = std::min(range[0], value);
    range[1] = std::max(range[1], value);
  }
  return range[0] <= range[1] ? range : vec<double, 2>{};
}

void put_around(search_box& box, const particle_file& particles, double cutoff) {
  for (int axis = 0; axis < particles.dimension; ++axis) {
    const auto range = range_of(particles.size(), [&](std::size_t i) { return particles.at(i, axis); });
    box.origin[axis] = range[0];
    // Wide enough for the largest coordinate if all are rounded to single precision.
    const double rounding = 4e-7 * (std::fabs(range[0]) + std::fabs(range[1]));
    const double length = std::max(range[1] - range[0] + rounding, cutoff);
    box.vectors[axis][axis] = length > 0 ? length : 1;
  }
}

/// Replaces zero vectors of open axes by vectors that are perpendicular to the others and span the points.
void complete_open_axes(search_box& box, const particle_file& particles, double cutoff) {
  const auto complete = complete_open_vectors(box.vectors, box.periodic);
  for (int axis = 0; axis < 3; ++axis) {
    if (norm(box.vectors[axis]) > 0) continue;
    require(!box.periodic[axis], box.place, ": vector ", axis + 1, " of the Lattice is zero, but its axis is periodic");
    const double longest = norm(complete[axis]);
    const vec<double, 3> unit = complete[axis] / (longest > 0 ? longest : 1.0);  // make_lattice rejects dependent ones
    const auto range = range_of(particles.size(), [&](std::size_t i) {
      return dot(vec<double, 3>{particles.at(i, 0), particles.at(i, 1), particles.at(i, 2)} - box.origin, unit);
    });
    box.origin += range[0] * unit;
    const double length = std::max(range[1] - range[0], cutoff);
    box.vectors[axis] = (length > 0 ? length : 1) * unit;
  }
}

/// Whether each vector k lies along axis k.
bool is_upright(const search_box& box, int dimension) {
  for (int axis = 0; axis < dimension; ++axis) {
    for (int k = 0; k < dimension; ++k) {
      if (k == axis ? box.vectors[axis][k] <= 0 : box.vectors[axis][k] != 0) return false;
    }
  }
  return true;
}

/// "2 x 2 x 2", or "vectors (2, 0, 0), (1, 2, 0), (0, 0, 2)".
std::string vectors_text(const search_box& box, int dimension) {
  const bool upright = is_upright(box, dimension);
  std::string text = upright ? "" : "vectors ";
  for (int axis = 0; axis < dimension; ++axis) {
    if (upright) {
      text += fmt::format("{}{:.6g}", axis > 0 ? " x " : "", box.vectors[axis][axis]);
      continue;
    }
    const double* const first = box.vectors[axis].component;
    text += fmt::format("{}({:.6g})", axis > 0 ? ", " : "", fmt::join(first, first + dimension, ", "));
  }
  return text;
}

/// Widens a one-dimensional box for a search in a plane.
void widen_line(search_box& box, int dimension, double cutoff) {
  if (dimension == 1) box.vectors[1][1] = cutoff > 0 ? cutoff : 1;
}

}  // namespace

search_box choose_box(const box_options& given, const particle_file& particles, double cutoff) {
  const int dimension = particles.dimension;
  const bool lattice = particles.box && particles.box->vectors;
  search_box box;
  if (particles.box) box.periodic = particles.box->periodic;
  if (given.periodic) box.periodic = periodic_of_option(*given.periodic, dimension);
  if (given.box) {
    box.source = box.place = "--box";
    box.vectors = vectors_of_option(*given.box, dimension);
    if (given.origin) box.origin = origin_of_option(*given.origin, dimension);
    widen_line(box, dimension, cutoff);
    return box;
  }
  require(!given.origin || lattice, "--origin needs --box");
  if (lattice) {
    box.source = "Lattice";
    box.place = particles.place_of_box();
    box.accept_outside = true;
    box.origin = given.origin ? origin_of_option(*given.origin, dimension) : particles.box->origin;
    box.vectors = *particles.box->vectors;
    complete_open_axes(box, particles, cutoff);
    return box;
  }
  const bool any = box.periodic[0] || box.periodic[1] || box.periodic[2];
  require(!any || !given.periodic, "--periodic ", given.periodic.value_or(""),
          " needs --box (or an .xyz file with a Lattice)");
  require(!any, particles.place_of_box(),
          ": pbc says that an axis is periodic, but there is no Lattice; give --box, or ", "--periodic none");
  box.source = "bounding box";
  box.place = particles.file;
  put_around(box, particles, cutoff);
  widen_line(box, dimension, cutoff);
  return box;
}

nlohmann::ordered_json as_json(const search_box& box, int dimension) {
  const auto components = [&](int axis) { return array_json(dimension, [&](int k) { return box.vectors[axis][k]; }); };
  return {{"source", box.source},
          {"origin", array_json(dimension, [&](int axis) { return box.origin[axis]; })},
          {"vectors", array_json(dimension, components)},
          {"periodic", array_json(dimension, [&](int axis) { return box.periodic[axis]; })}};
}

std::string as_text(const search_box& box, int dimension) {
  std::string axes;
  for (int axis = 0; axis < dimension; ++axis) {
    if (box.periodic[axis]) axes += "xyz"[axis];
  }
  return fmt::format("{} ({}), {}", vectors_text(box, dimension), box.source,
                     axes.empty() ? "open" : "periodic along " + axes);
}

}  // namespace quadrat::program
