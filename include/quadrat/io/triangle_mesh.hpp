// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "quadrat/core/vec.hpp"

/// Surfaces made of triangles, from files in the formats STL (binary and ASCII) and OBJ.
namespace quadrat::io {

/// Triangles on the host. Corners at exactly the same place are one vertex. Vertices are numbered in the order in which
/// triangles first name them; triangles are in the order of the file. The corners of a triangle run counterclockwise
/// seen from its front. Every triangle has an area; the same triangle may occur several times.
struct triangle_mesh {
  std::vector<vec<double, 3>> vertices;
  std::vector<vec<std::uint32_t, 3>> triangles;  ///< by triangle: its vertices
};

/// The mesh of these triangles; three corners for each. Throws argument_error if the number of corners is not a
/// multiple of 3 or above 3 * 2^30, and data_error, naming the first triangle that is not sound (triangle_is_sound).
[[nodiscard]] triangle_mesh make_triangle_mesh(const std::vector<vec<double, 3>>& corners);

/// Reads a mesh; the ending of the name, .stl or .obj in upper or lower case, says which format. Throws io_error that
/// names the file, the line or the triangle, and what would be accepted.
[[nodiscard]] triangle_mesh read_triangle_mesh(const std::filesystem::path& file);

/// A file in the format STL: binary, if its length is that of a binary file with as many triangles as it says;
/// otherwise ASCII, if it begins with "solid". Normals in the file are not used. All solids of a file are one mesh.
/// `file` is its name for messages. Throws io_error, also for a file without triangles.
[[nodiscard]] triangle_mesh parse_stl(std::string_view bytes, const std::string& file);

/// A file in the format OBJ. Of its statements `v` and `f` are used; normals, textures, groups, materials, points and
/// lines are skipped, and others (curves and free-form surfaces) are refused. Indices may be negative: -1 is the last
/// vertex so far. Polygons must be convex; they are cut into triangles at their first corner. Throws io_error, also
/// for a file without faces.
[[nodiscard]] triangle_mesh parse_obj(std::string_view text, const std::string& file);

}  // namespace quadrat::io
