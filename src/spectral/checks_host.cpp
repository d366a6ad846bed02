// SPDX-License-Identifier: BSD-3-Clause
#include "spectral/checks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "mesh/shape.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/core/types.hpp"

namespace quadrat::detail {

std::size_t nufft_problem::stored_size() const {
  return static_cast<std::size_t>(systems) * static_cast<std::size_t>(stored(0)) * static_cast<std::size_t>(stored(1)) *
         static_cast<std::size_t>(stored(2));
}

bool nufft_problem::fits(double oversampling, int width) const {
  double size = 1;
  for (int axis = 3 - dimension; axis < 3; ++axis) {
    if (oversampling * modes[axis] > most_mesh_extent) return false;
    const int extent = good_fft_size(oversampling * modes[axis], true);
    if (extent > most_mesh_extent) return false;
    size *= extent;
  }
  if (systems == 1) return size <= most_points;
  const stacked_meshes all = meshes(oversampling, width);
  return all.size() <= most_points && static_cast<double>(systems) * all.stack.spacing <= most_stack_extent;
}

stacked_meshes nufft_problem::meshes(double oversampling, int width) const {
  stacked_meshes all{mesh(oversampling), {}, 3 - dimension};
  // An even number of mesh points beyond the end, so that real meshes begin where complex numbers can.
  if (systems > 1) all.stack = {systems, all.one.axis[all.first_axis] + width / 2 * 2};
  return all;
}

mesh_extents nufft_problem::mesh(double oversampling) const {
  mesh_extents extent{{1, 1, 1}};
  for (int axis = 3 - dimension; axis < 3; ++axis) extent.axis[axis] = good_fft_size(oversampling * modes[axis], true);
  return extent;
}

double nufft_problem::mesh_ratio(double oversampling) const {
  double least = std::numeric_limits<double>::infinity();
  for (int axis = 3 - dimension; axis < 3; ++axis) {
    if (oversampling * modes[axis] > most_mesh_extent) return oversampling;
    least = std::min(least, static_cast<double>(good_fft_size(oversampling * modes[axis], true)) / modes[axis]);
  }
  return least;
}

transform_shape nufft_problem::transform(const mesh_extents& extent) const {
  transform_shape shape{{extent.axis[0], extent.axis[1], extent.axis[2]}, {}, real};
  for (int axis = 0; axis < 3; ++axis) shape.band[axis] = {(modes[axis] + 1) / 2, modes[axis] / 2};
  if (real) shape.band[2] = {stored(2), 0};
  return shape;
}

std::string nufft_problem::too_large() const {
  std::string text = "for ";
  if (systems > 1) text += message(systems, " systems of ");
  for (int axis = 3 - dimension; axis < 3; ++axis) text += message(axis > 3 - dimension ? " x " : "", modes[axis]);
  return text + message(" modes the mesh would have more than ", systems > 1 ? most_stack_extent : most_mesh_extent,
                        " points along an axis or ", static_cast<std::uint64_t>(most_points), " in all");
}

template <int D>
nufft_problem nufft_problem_of(const vec<int, D>& modes, const nufft_options& options) {
  nufft_problem problem{D, {1, 1, 1}, {}, options.values == nufft_values::real, options.systems};
  require(options.systems >= 1, "there are ", options.systems, " systems; at least 1 is needed");
  for (int d = 0; d < D; ++d) {
    require(modes[d] >= 1, "there are ", modes[d], " modes along axis ", d, "; at least 1 is needed");
    problem.modes[3 - D + d] = modes[d];
    const double period = options.period[d];
    require(period >= 0 && std::isfinite(period), "the period along axis ", d, " is ", period,
            "; it must be positive, or 0 for 2 pi");
    require(std::isfinite(options.origin[d]), "the origin along axis ", d, " is ", options.origin[d],
            "; it must be finite");
    problem.period[d] = period > 0 ? period : 2 * std::numbers::pi;
  }
  require(options.oversampling == 0 || (options.oversampling > 1 && options.oversampling <= 4), "the oversampling is ",
          options.oversampling, "; above 1 to 4 is possible, or auto");
  return problem;
}

double checked_tolerance(double tolerance) {
  require(tolerance > 0 && tolerance <= 1, "the tolerance is ", tolerance, "; above 0 to 1 is possible");
  return tolerance;
}

int checked_sign(const nufft_call& call, int usual) {
  require(call.vectors >= 1, "there are ", call.vectors, " value vectors; at least 1 is needed");
  require(call.sign == 0 || call.sign == 1 || call.sign == -1, "the sign is ", call.sign,
          "; 1 and -1 are possible, and 0 for the usual one");
  return call.sign == 0 ? usual : call.sign;
}

template nufft_problem nufft_problem_of(const vec<int, 1>&, const nufft_options&);
template nufft_problem nufft_problem_of(const vec<int, 2>&, const nufft_options&);
template nufft_problem nufft_problem_of(const vec<int, 3>&, const nufft_options&);

}  // namespace quadrat::detail
