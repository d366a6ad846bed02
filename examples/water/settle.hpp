// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <quadrat/core/macros.hpp>
#include <quadrat/core/vec.hpp>

#include <cmath>

// The rigid molecule, O, H, H, and its constraints, solved exactly: S. Miyamoto, P. Kollman, J. Comput. Chem. 13, 952
// (1992).

namespace water {

using vector = quadrat::vec<double, 3>;

[[nodiscard]] QUADRAT_HD constexpr double mass_of(int atom) { return atom == 0 ? 15.9994 : 1.008; }
inline constexpr double molecule_mass = mass_of(0) + 2 * mass_of(1);
inline constexpr double hydrogen_distance = 1.6329931618554521;  // sqrt(8/3): the angle of a tetrahedron
inline constexpr double hydrogen_height = 0.57735026918962576;   // of their middle over the oxygen
/// From atom k to the next one.
[[nodiscard]] QUADRAT_HD constexpr double distance_of(int k) { return k == 1 ? double{hydrogen_distance} : 1.0; }

[[nodiscard]] QUADRAT_HD inline vector unit(const vector& a) { return a / norm(a); }

/// Three axes at right angles.
struct frame {
  vector x, y, z;
  [[nodiscard]] QUADRAT_HD vector inside(const vector& a) const { return {dot(x, a), dot(y, a), dot(z, a)}; }
  [[nodiscard]] QUADRAT_HD vector outside(const vector& a) const { return x * a[0] + y * a[1] + z * a[2]; }
};

/// Moves the atoms of a molecule to the right distances, by forces along the lines between them in `before`, where
/// distances are right.
QUADRAT_HD inline void settle_positions(const vector* before, vector* atoms) {
  constexpr double top = hydrogen_height * 2 * mass_of(1) / molecule_mass;  // oxygen over the center of mass
  constexpr double bottom = hydrogen_height - top, half = hydrogen_distance / 2;
  const vector center = (atoms[0] * mass_of(0) + (atoms[1] + atoms[2]) * mass_of(1)) / molecule_mass;
  // z: across the molecule before; x: across the new place of the oxygen and z.
  frame axes{};
  axes.z = unit(cross(before[1] - before[0], before[2] - before[0]));
  axes.x = unit(cross(atoms[0] - center, axes.z));
  axes.y = cross(axes.z, axes.x);
  const vector b0 = axes.inside(before[1] - before[0]), c0 = axes.inside(before[2] - before[0]);
  const vector a1 = axes.inside(atoms[0] - center), b1 = axes.inside(atoms[1] - center);
  const vector c1 = axes.inside(atoms[2] - center);
  // The rotations phi about x and psi about y give the right heights along z.
  const double sin_phi = a1[2] / top, cos_phi = std::sqrt(1 - sin_phi * sin_phi);
  const double sin_psi = (b1[2] - c1[2]) / (2 * half * cos_phi), cos_psi = std::sqrt(1 - sin_psi * sin_psi);
  const double a_y = top * cos_phi, b_x = -half * cos_psi;
  const double b_y = -bottom * cos_phi - half * sin_psi * sin_phi, c_y = -bottom * cos_phi + half * sin_psi * sin_phi;
  // The rotation theta about z gives displacements along the lines before.
  const double alpha = b_x * (b0[0] - c0[0]) + b_y * b0[1] + c_y * c0[1];
  const double beta = b_x * (c0[1] - b0[1]) + b_y * b0[0] + c_y * c0[0];
  const double gamma = b0[0] * b1[1] - b1[0] * b0[1] + c0[0] * c1[1] - c1[0] * c0[1];
  const double square = alpha * alpha + beta * beta;
  const double sin_theta = (alpha * gamma - beta * std::sqrt(square - gamma * gamma)) / square;
  const double cos_theta = std::sqrt(1 - sin_theta * sin_theta);
  const auto turned = [&](double x, double y, double z) {
    return center + axes.outside({x * cos_theta - y * sin_theta, x * sin_theta + y * cos_theta, z});
  };
  atoms[0] = turned(0, a_y, a1[2]);
  atoms[1] = turned(b_x, b_y, b1[2]);
  atoms[2] = turned(-b_x, c_y, c1[2]);
}

/// Takes away the relative velocities along the lines between atoms, by impulses along these lines. Line k is from atom
/// k to the next one.
QUADRAT_HD inline void settle_velocities(const vector* atoms, vector* velocities) {
  vector along[3], wrong{};
  for (int k = 0; k < 3; ++k) {
    const int next = (k + 1) % 3;
    along[k] = unit(atoms[next] - atoms[k]);
    wrong[k] = dot(along[k], velocities[next] - velocities[k]);
  }
  // The effect of a unit impulse along one line on the relative velocities along all of them: a symmetric matrix.
  vector effect[3];
  for (int k = 0; k < 3; ++k) {
    const int next = (k + 1) % 3;
    effect[k][k] = 1 / mass_of(k) + 1 / mass_of(next);
    effect[k][next] = effect[next][k] = -dot(along[k], along[next]) / mass_of(next);
  }
  const vector across = cross(effect[1], effect[2]);
  const double determinant = dot(effect[0], across);
  const vector impulse{dot(wrong, across) / determinant, dot(wrong, cross(effect[2], effect[0])) / determinant,
                       dot(wrong, cross(effect[0], effect[1])) / determinant};
  for (int k = 0; k < 3; ++k) {
    velocities[k] += along[k] * (impulse[k] / mass_of(k));
    velocities[(k + 1) % 3] -= along[k] * (impulse[k] / mass_of((k + 1) % 3));
  }
}

}  // namespace water
