// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "quadrat/contacts/quaternion.hpp"
#include "quadrat/contacts/shapes.hpp"
#include "quadrat/core/vec.hpp"

/// Bodies as a table (quadrat/io/csv.hpp). Columns, in any order; others are ignored:
///   x, y, z          the center
///   shape            sphere, ellipsoid, capsule or box. If left out, the size columns determine it for all bodies:
///                    radius alone: spheres; radius and half_length: capsules; a, b, c: ellipsoids
///   radius           of a sphere (default: a), of a capsule
///   half_length      of a capsule: half the distance between the centers of its caps, along its own z; may be 0
///   a, b, c          half-axes of an ellipsoid or half-edges of a box, along its own x, y, z
///   qw, qx, qy, qz   the orientation, a quaternion of any nonzero length; left out: no body is rotated
///   group            0 to 31; left out: 0
/// With a column `shape`, fields of sizes that a shape does not use may be empty. Lengths from smallest_length to
/// largest_length of double are accepted. The half-axes of one ellipsoid may differ by a factor of most_slender.
namespace quadrat::io {

/// Bodies on the host. All arrays are indexed by body. All sizes are valid: see sizes_are_sound.
struct body_list {
  std::string file;                ///< for messages
  std::vector<std::size_t> lines;  ///< line in the file, from 1
  std::vector<body_shape> shapes;
  std::vector<vec<double, 3>> centers;
  std::vector<vec<double, 3>> sizes;             ///< meaning depends on the shape; unused ones are 0
  std::vector<quaternion<double>> orientations;  ///< of length one; empty: no body is rotated
  std::vector<std::uint32_t> groups;             ///< empty: all of group 0

  [[nodiscard]] std::size_t size() const { return shapes.size(); }
};

/// Throws io_error that names file, line and column of the error, and what would be accepted.
[[nodiscard]] body_list read_bodies(const std::filesystem::path& file);
/// The same for a text in memory; `file` is its name for messages.
[[nodiscard]] body_list parse_bodies(std::string_view text, const std::string& file);

}  // namespace quadrat::io
