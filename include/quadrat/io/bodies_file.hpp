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

/// Bodies as a table (quadrat/io/csv.hpp). Columns, in any order; others do not count:
///   x, y, z          the center
///   shape            sphere, ellipsoid, capsule or box. Left out, all are of the shape that the columns of sizes tell:
///                    radius alone: spheres; radius and half_length: capsules; a, b, c: ellipsoids
///   radius           of a sphere (where it is left out: a), of a capsule
///   half_length      of a capsule: half the distance between the centers of its caps, along its own z; may be 0
///   a, b, c          of an ellipsoid its half-axes, of a box half of its edges, along its own x, y, z
///   qw, qx, qy, qz   the orientation, a quaternion of any length but 0; left out: no body is turned
///   group            0 to 31; left out: 0
/// Where there is a column `shape`, sizes that a shape does not use may be empty. Lengths are accepted from
/// smallest_length to largest_length of double, half-axes of one ellipsoid within most_slender of one another.
namespace quadrat::io {

/// Bodies on the host, by body. All numbers describe bodies: sizes_are_sound.
struct body_list {
  std::string file;                ///< for messages
  std::vector<std::size_t> lines;  ///< by body: its line in the file, from 1
  std::vector<body_shape> shapes;
  std::vector<vec<double, 3>> centers;
  std::vector<vec<double, 3>> sizes;             ///< as the shape says; what it does not use is 0
  std::vector<quaternion<double>> orientations;  ///< of length one; empty: no body is turned
  std::vector<std::uint32_t> groups;             ///< empty: all of group 0

  [[nodiscard]] std::size_t size() const { return shapes.size(); }
};

/// Throws io_error that names file, line and column of what is wrong, and what would be accepted.
[[nodiscard]] body_list read_bodies(const std::filesystem::path& file);
/// The same for a text in memory; `file` is its name for messages.
[[nodiscard]] body_list parse_bodies(std::string_view text, const std::string& file);

}  // namespace quadrat::io
