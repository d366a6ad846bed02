// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/io/triangle_mesh.hpp"

#include <algorithm>
#include <numeric>

#include "io/text.hpp"
#include "io/triangle_corners.hpp"
#include "quadrat/contacts/triangles.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::io {
namespace {

using place = vec<double, 3>;

bool comes_before(const place& a, const place& b) {
  for (int axis = 0; axis < 3; ++axis) {
    if (a[axis] != b[axis]) return a[axis] < b[axis];
  }
  return false;
}

/// Gives equal corners one vertex, numbered by the first corner there.
void merge_corners(const std::vector<place>& corners, triangle_mesh& mesh) {
  std::vector<std::uint32_t> order(corners.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::uint32_t j, std::uint32_t k) {
    if (comes_before(corners[j], corners[k])) return true;
    return !comes_before(corners[k], corners[j]) && j < k;
  });
  std::vector<std::uint32_t> first(corners.size());  // by corner: the first corner at its place
  for (std::size_t k = 0; k < order.size(); ++k) {
    const bool fresh = k == 0 || comes_before(corners[order[k - 1]], corners[order[k]]);
    first[order[k]] = fresh ? order[k] : first[order[k - 1]];
  }
  std::vector<std::uint32_t> vertex(corners.size());
  mesh.triangles.resize(corners.size() / 3);
  for (std::size_t k = 0; k < corners.size(); ++k) {
    if (first[k] == k) {
      vertex[k] = static_cast<std::uint32_t>(mesh.vertices.size());
      mesh.vertices.push_back(corners[k]);
    }
    mesh.triangles[k / 3][static_cast<int>(k % 3)] = vertex[first[k]];
  }
}

}  // namespace

triangle_mesh make_triangle_mesh(const std::vector<vec<double, 3>>& corners) {
  require(corners.size() % 3 == 0 && corners.size() / 3 <= most_triangles, "there are ", corners.size(),
          " corners; a mesh has three for each triangle, and at most ", most_triangles, " triangles");
  for (std::size_t k = 0; k < corners.size(); k += 3) {
    if (!triangle_is_sound(corners[k], corners[k + 1], corners[k + 2])) {
      throw data_error(message("triangle ", k / 3, unsound_triangle), k / 3);
    }
  }
  triangle_mesh mesh;
  merge_corners(corners, mesh);
  return mesh;
}

triangle_mesh read_triangle_mesh(const std::filesystem::path& file) {
  std::string ending = file.extension().string();
  for (char& c : ending) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (ending == ".stl") return parse_stl(read_whole_file(file), file.string());
  if (ending == ".obj") return parse_obj(read_whole_file(file), file.string());
  throw io_error(message(file.string(), ": meshes are read from files whose names end in .stl or .obj"));
}

}  // namespace quadrat::io
