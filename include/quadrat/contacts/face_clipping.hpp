// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>

#include "quadrat/contacts/quaternion.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/vec.hpp"

/// The face of one box, clipped to the prism over a face of another (Sutherland and Hodgman 1974).
namespace quadrat {

/// Features of face contacts are below this: they encode the box with the reference face, the two faces, and the two
/// lines that meet in the corner.
inline constexpr std::uint32_t clipped_features = 2 * 6 * 6 * 64;

/// The distance outside the prism, relative to the shorter half edge, up to which a corner of the clipped face is kept.
/// So rounding does not change the contacts in a stack, where corners lie above one another.
template <typename T>
inline constexpr T clipping_tolerance = T(1e-4);

/// A face of a box. Coordinates of a point: its places along two edges, from the middle, and its height.
template <typename T>
struct box_face {
  vec<T, 3> edge_1, edge_2, normal, middle;
  T half_1, half_2;
  std::uint32_t number;  ///< of the face, 0 to 5

  /// The face perpendicular to `axis` of a box around `center`, on the side of `outward`, which is +axis or -axis.
  QUADRAT_HD box_face(const axes<T>& frame, const vec<T, 3>& size, const vec<T, 3>& center, const vec<T, 3>& outward,
                      int axis)
      : edge_1(frame.axis[(axis + 1) % 3]),
        edge_2(frame.axis[(axis + 2) % 3]),
        normal(outward),
        middle(center + outward * size[axis]),
        half_1(size[(axis + 1) % 3]),
        half_2(size[(axis + 2) % 3]),
        number(static_cast<std::uint32_t>(axis) * 2 + (dot(frame.axis[axis], outward) > T(0) ? 1u : 0u)) {}

  [[nodiscard]] QUADRAT_HD vec<T, 3> to_face(const vec<T, 3>& point) const {
    const vec<T, 3> from = point - middle;
    return {dot(from, edge_1), dot(from, edge_2), dot(from, normal)};
  }
  [[nodiscard]] QUADRAT_HD vec<T, 3> to_space(const vec<T, 3>& place) const {
    return middle + edge_1 * place[0] + edge_2 * place[1] + normal * place[2];
  }
};

/// The face of a box that is most opposed to `face`, clipped to the prism over `face`.
template <typename T>
class clipped_face {
 public:
  QUADRAT_HD clipped_face(const box_face<T>& face, const axes<T>& frame, const vec<T, 3>& size, const vec<T, 3>& center)
      : face_(face) {
    int axis = 0;
    T most = T(-1);
    for (int k = 0; k < 3; ++k) {
      const T opposed = std::fabs(dot(frame.axis[k], face.normal));
      if (!(opposed > most)) continue;
      axis = k;
      most = opposed;
    }
    const T sign = dot(frame.axis[axis], face.normal) > T(0) ? T(-1) : T(1);
    start(box_face<T>(frame, size, center, frame.axis[axis] * sign, axis));
    cut(0, face.half_1);
    cut(1, face.half_2);
  }

  [[nodiscard]] QUADRAT_HD int count() const { return polygon_.count; }
  [[nodiscard]] QUADRAT_HD T depth(int k) const { return -polygon_.corner[k][2]; }
  [[nodiscard]] QUADRAT_HD vec<T, 3> point(int k) const { return face_.to_space(polygon_.corner[k]); }
  /// Unique among the corners, and unchanged as long as the same lines meet in the corner.
  [[nodiscard]] QUADRAT_HD std::uint32_t feature(int k) const {
    const int before = k == 0 ? polygon_.count - 1 : k - 1;
    return (face_.number * 6 + other_number_) * 64 + polygon_.line[before] * 8u + polygon_.line[k];
  }
  /// The deepest corner before clipping.
  [[nodiscard]] QUADRAT_HD vec<T, 3> deepest_corner() const { return face_.to_space(deepest_); }

 private:
  /// Corners in cyclic order; line[k] is the line of the side after corner k: 0 to 3 for sides of the clipped face, 4
  /// to 7 for cuts.
  struct polygon {
    int count = 0;
    vec<T, 3> corner[8];
    std::uint8_t line[8];

    QUADRAT_HD void add(const vec<T, 3>& place, std::uint8_t line_after) {
      if (count == 8) return;
      corner[count] = place;
      line[count++] = line_after;
    }
  };

  QUADRAT_HD void start(const box_face<T>& other) {
    other_number_ = other.number;
    least_half_ = std::fmin(other.half_1, other.half_2);
    for (std::uint8_t k = 0; k < 4; ++k) {
      const T sign_1 = k == 1 || k == 2 ? T(1) : T(-1), sign_2 = k >= 2 ? T(1) : T(-1);
      const vec<T, 3> corner =
          other.middle + other.edge_1 * (sign_1 * other.half_1) + other.edge_2 * (sign_2 * other.half_2);
      polygon_.add(face_.to_face(corner), k);
      if (k == 0 || polygon_.corner[k][2] < deepest_[2]) deepest_ = polygon_.corner[k];
    }
  }

  /// Keeps the part between the lines at +-`half` of one coordinate, and corners barely outside.
  QUADRAT_HD void cut(int coordinate, T half) {
    const T hardly = clipping_tolerance<T> * std::fmin(half, least_half_);
    for (int side = 0; side < 2; ++side) {
      const T sign = side == 0 ? T(-1) : T(1);
      const auto line = static_cast<std::uint8_t>(4 + 2 * coordinate + side);
      const polygon before = polygon_;
      polygon_.count = 0;
      for (int k = 0; k < before.count; ++k) {
        const vec<T, 3>& from = before.corner[k];
        const vec<T, 3>& to = before.corner[k + 1 == before.count ? 0 : k + 1];
        const T beyond_from = sign * from[coordinate] - half, beyond_to = sign * to[coordinate] - half;
        const bool from_stays = !(beyond_from > hardly), to_stays = !(beyond_to > hardly);
        if (from_stays) polygon_.add(from, before.line[k]);
        if (from_stays == to_stays) continue;
        if ((from_stays ? beyond_from : beyond_to) > T(0)) {
          // The side crosses the line at that corner, or not at all.
          if (from_stays) polygon_.line[polygon_.count - 1] = line;
          continue;
        }
        const vec<T, 3> crossing = from + (to - from) * (beyond_from / (beyond_from - beyond_to));
        polygon_.add(crossing, from_stays ? line : before.line[k]);
      }
    }
  }

  box_face<T> face_;
  polygon polygon_;
  vec<T, 3> deepest_{};
  std::uint32_t other_number_ = 0;
  T least_half_ = T(0);  ///< shorter half edge of the clipped face
};

}  // namespace quadrat
