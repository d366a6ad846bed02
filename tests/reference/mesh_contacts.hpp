// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "quadrat/contacts/triangles.hpp"
#include "quadrat/core/vec.hpp"

/// Contacts of spheres with triangles by brute force: every sphere with every triangle, in open space.
namespace quadrat::reference {

struct mesh_contact {
  std::uint32_t sphere;
  std::uint32_t triangle;
  std::uint32_t part;
  vec<double, 3> point;  ///< of the surface
  double distance;       ///< from the center
};

/// The closest point of a triangle (Ericson 2005, Real-Time Collision Detection, section 5.1.5), and the part where it
/// is.
[[nodiscard]] inline vec<double, 3> closest_on_triangle(const vec<double, 3>& p, const vec<double, 3>& a,
                                                        const vec<double, 3>& b, const vec<double, 3>& c,
                                                        std::uint32_t& part) {
  const vec<double, 3> ab = b - a, ac = c - a, ap = p - a, bp = p - b, cp = p - c;
  const double d1 = dot(ab, ap), d2 = dot(ac, ap), d3 = dot(ab, bp), d4 = dot(ac, bp), d5 = dot(ab, cp),
               d6 = dot(ac, cp);
  const double va = d3 * d6 - d5 * d4, vb = d5 * d2 - d1 * d6, vc = d1 * d4 - d3 * d2;
  if (d1 <= 0 && d2 <= 0) return part = triangle_corner, a;
  if (d3 >= 0 && d4 <= d3) return part = triangle_corner + 1, b;
  if (d6 >= 0 && d5 <= d6) return part = triangle_corner + 2, c;
  if (vc <= 0 && d1 >= 0 && d3 <= 0) return part = triangle_edge, a + ab * (d1 / (d1 - d3));
  if (va <= 0 && d4 >= d3 && d5 >= d6) {
    return part = triangle_edge + 1, b + (c - b) * ((d4 - d3) / ((d4 - d3) + (d5 - d6)));
  }
  if (vb <= 0 && d2 >= 0 && d6 <= 0) return part = triangle_edge + 2, a + ac * (d2 / (d2 - d6));
  return part = triangle_face, a + ab * (vb / (va + vb + vc)) + ac * (vc / (va + vb + vc));
}

/// In order of (sphere, triangle). Vertices at one place must be one.
[[nodiscard]] inline std::vector<mesh_contact> mesh_contacts(const triangles_view& mesh,
                                                             const std::vector<vec<double, 3>>& centers,
                                                             const std::vector<double>& radii) {
  std::set<std::array<std::uint32_t, 3>> seen;
  std::vector<std::uint32_t> different;
  for (std::uint32_t t = 0; t < mesh.triangles.size(); ++t) {
    std::array<std::uint32_t, 3> corners{mesh.triangles[t][0], mesh.triangles[t][1], mesh.triangles[t][2]};
    std::sort(corners.begin(), corners.end());
    if (seen.insert(corners).second) different.push_back(t);
  }
  std::vector<mesh_contact> result;
  for (std::uint32_t i = 0; i < centers.size(); ++i) {
    std::vector<mesh_contact> near;
    for (const std::uint32_t t : different) {
      const vec<std::uint32_t, 3>& v = mesh.triangles[t];
      mesh_contact one{i, t, 0, {}, 0};
      one.point =
          closest_on_triangle(centers[i], mesh.vertices[v[0]], mesh.vertices[v[1]], mesh.vertices[v[2]], one.part);
      one.distance = norm(one.point - centers[i]);
      near.push_back(one);
    }
    const auto has = [&](std::uint32_t t, std::uint32_t vertex) {
      const vec<std::uint32_t, 3>& v = mesh.triangles[t];
      return v[0] == vertex || v[1] == vertex || v[2] == vertex;
    };
    for (const mesh_contact& one : near) {
      if (!(one.distance < radii[i])) continue;
      const vec<std::uint32_t, 3>& v = mesh.triangles[one.triangle];
      const int k = one.part == triangle_face ? 0 : static_cast<int>((one.part - 1) % 3);
      bool reports = true;
      for (const mesh_contact& other : near) {
        const bool shares = one.part != triangle_face && has(other.triangle, v[k]) &&
                            (one.part >= triangle_corner || has(other.triangle, v[(k + 1) % 3]));
        if (!shares) continue;
        const bool elsewhere = norm(other.point - one.point) > 1e-12;
        if (elsewhere || other.triangle < one.triangle) reports = false;
      }
      if (reports) result.push_back(one);
    }
  }
  return result;
}

}  // namespace quadrat::reference
