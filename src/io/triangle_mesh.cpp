// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/io/triangle_mesh.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "io/text.hpp"
#include "io/triangle_corners.hpp"
#include "quadrat/contacts/shapes.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::io {
namespace {

constexpr double least_height = 1e-12;  // of the longest edge

using place = vec<double, 3>;

bool comes_before(const place& a, const place& b) {
  for (int axis = 0; axis < 3; ++axis) {
    if (a[axis] != b[axis]) return a[axis] < b[axis];
  }
  return false;
}

/// The largest magnitude of a component.
double magnitude(const place& p) { return std::max({std::fabs(p[0]), std::fabs(p[1]), std::fabs(p[2])}); }

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

/// One side of a triangle.
struct side {
  std::uint32_t low, high, triangle;
  int number;
};

void find_edges(triangle_mesh& mesh) {
  std::vector<side> sides;
  sides.reserve(3 * mesh.triangles.size());
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    for (int k = 0; k < 3; ++k) {
      const auto [low, high] = std::minmax(mesh.triangles[t][k], mesh.triangles[t][(k + 1) % 3]);
      sides.push_back({low, high, static_cast<std::uint32_t>(t), k});
    }
  }
  std::sort(sides.begin(), sides.end(), [](const side& a, const side& b) {
    return std::array{a.low, a.high, a.triangle} < std::array{b.low, b.high, b.triangle};
  });
  mesh.triangle_edges.resize(mesh.triangles.size());
  mesh.edge_triangles.reserve(sides.size());
  for (const side& next : sides) {
    const auto at = static_cast<std::uint32_t>(mesh.edge_triangles.size());
    if (mesh.edges.empty() || !(mesh.edges.back().vertices == vec<std::uint32_t, 2>{next.low, next.high})) {
      mesh.edges.push_back({{next.low, next.high}, at, at});
    }
    mesh.edges.back().end = at + 1;
    mesh.edge_triangles.push_back(next.triangle);
    mesh.triangle_edges[next.triangle][next.number] = static_cast<std::uint32_t>(mesh.edges.size() - 1);
  }
}

}  // namespace

bool triangle_is_sound(const vec<double, 3>& a, const vec<double, 3>& b, const vec<double, 3>& c) {
  for (const place& corner : {a, b, c}) {
    for (int axis = 0; axis < 3; ++axis) {
      if (!(std::fabs(corner[axis]) <= largest_length<double>)) return false;  // or not a number
    }
  }
  const place sides[3] = {b - a, c - b, a - c};
  // Sides are scaled to about one: squares of short ones would underflow.
  const double most = std::max({magnitude(sides[0]), magnitude(sides[1]), magnitude(sides[2])});
  if (most < smallest_length<double>) return false;
  double longest = 0;
  for (const place& edge : sides) longest = std::max(longest, squared_norm(edge * (1 / most)));
  return std::sqrt(squared_norm(cross(sides[0] * (1 / most), sides[1] * (1 / most)))) > least_height * longest;
}

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
  find_edges(mesh);
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
