// SPDX-License-Identifier: BSD-3-Clause
#include "contacts/triangles/tables.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "core/number_text.hpp"
#include "core/point_checks.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::detail {

namespace {

using place = vec<double, 3>;

constexpr std::size_t most_wall_triangles = std::size_t{1} << 29;  // corners have 32 bits

/// The place in the box of which a vertex is an image; those on a periodic face, to rounding, are at the lower one.
template <typename T>
[[nodiscard]] place place_in_box(const place& vertex, const box<T, 3>& domain) {
  constexpr double rounding = 1e-9;
  const box<double, 3> wide{cast<double>(domain.lower), cast<double>(domain.length), domain.periodic};
  place result = wide.wrap(vertex);
  for (int axis = 0; axis < 3; ++axis) {
    const double part = wide.fraction(result, axis);
    if (wide.periodic[axis] && std::fabs(part - std::round(part)) < rounding) result[axis] = wide.lower[axis];
  }
  return result;
}

[[nodiscard]] std::array<double, 3> ordered(const place& p) { return {p[0] + 0.0, p[1] + 0.0, p[2] + 0.0}; }

/// Numbers the points, and lists their corners.
template <typename T>
void join_vertices(const triangles_view& mesh, const box<T, 3>& domain, triangle_tables<T>& tables) {
  std::vector<place> places;
  places.reserve(mesh.vertices.size());
  for (const place& vertex : mesh.vertices) places.push_back(place_in_box(vertex, domain));
  std::vector<std::uint32_t> order(places.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return ordered(places[a]) < ordered(places[b]); });
  tables.points.resize(places.size());
  std::uint32_t count = 0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    if (k > 0 && ordered(places[order[k]]) != ordered(places[order[k - 1]])) ++count;
    tables.points[order[k]] = count;
  }
  tables.offsets.assign(order.empty() ? 1 : std::size_t{count} + 2, 0);
}

/// Which corners each point has; only of triangles in `kept`.
template <typename T>
void list_corners(const std::vector<std::uint32_t>& kept, triangle_tables<T>& tables) {
  const auto point_of = [&](std::uint32_t t, int k) { return tables.points[tables.triangles[t][k]]; };
  for (const std::uint32_t t : kept) {
    for (int k = 0; k < 3; ++k) ++tables.offsets[point_of(t, k) + 1];
  }
  std::partial_sum(tables.offsets.begin(), tables.offsets.end(), tables.offsets.begin());
  tables.corners.resize(3 * kept.size());
  std::vector<std::uint32_t> next(tables.offsets.begin(), tables.offsets.end() - 1);
  for (const std::uint32_t t : kept) {
    for (int k = 0; k < 3; ++k) tables.corners[next[point_of(t, k)]++] = 3 * t + static_cast<std::uint32_t>(k);
  }
}

/// The corners of a triangle, in order: each the number of its point, and the boxes from that of the first corner.
using triangle_key = std::array<std::array<std::int64_t, 4>, 3>;

template <typename T>
[[nodiscard]] triangle_key key_of(const triangles_view& mesh, std::size_t t, const box<T, 3>& domain,
                                  const std::vector<std::uint32_t>& points) {
  triangle_key key{};
  for (std::size_t k = 0; k < 3; ++k) {
    const std::uint32_t vertex = mesh.triangles[t][static_cast<int>(k)];
    const place away = mesh.vertices[vertex] - place_in_box(mesh.vertices[vertex], domain);
    key[k][0] = points[vertex];
    for (int axis = 0; axis < 3; ++axis) {
      if (domain.periodic[axis])
        key[k][static_cast<std::size_t>(axis) + 1] = std::lround(away[axis] / domain.length[axis]);
    }
  }
  std::sort(key.begin(), key.end());
  for (std::size_t k = 3; k-- > 0;) {
    for (std::size_t axis = 1; axis < 4; ++axis) key[k][axis] -= key[0][axis];
  }
  return key;
}

/// The triangles whose corners no earlier triangle has, increasing.
template <typename T>
[[nodiscard]] std::vector<std::uint32_t> different_triangles(const triangles_view& mesh, const box<T, 3>& domain,
                                                             const triangle_tables<T>& tables) {
  std::vector<std::pair<triangle_key, std::uint32_t>> keys;
  keys.reserve(mesh.triangles.size());
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    keys.emplace_back(key_of(mesh, t, domain, tables.points), static_cast<std::uint32_t>(t));
  }
  std::sort(keys.begin(), keys.end());
  std::vector<std::uint32_t> kept;
  for (std::size_t k = 0; k < keys.size(); ++k) {
    if (k == 0 || keys[k].first != keys[k - 1].first) kept.push_back(keys[k].second);
  }
  std::sort(kept.begin(), kept.end());
  return kept;
}

/// Orders leaves such that the halves of every node are apart along the longest axis of its centers.
void order_leaves(const std::vector<place>& centers, std::uint32_t* first, std::size_t count) {
  if (count < 2) return;
  place lower = centers[first[0]], upper = lower;
  for (std::size_t k = 1; k < count; ++k) {
    for (int axis = 0; axis < 3; ++axis) {
      lower[axis] = std::min(lower[axis], centers[first[k]][axis]);
      upper[axis] = std::max(upper[axis], centers[first[k]][axis]);
    }
  }
  int along = 0;
  for (int axis = 1; axis < 3; ++axis) {
    if (upper[axis] - lower[axis] > upper[along] - lower[along]) along = axis;
  }
  const std::size_t half = std::bit_ceil(count) / 2;
  std::nth_element(first, first + half, first + count, [&](std::uint32_t a, std::uint32_t b) {
    return centers[a][along] != centers[b][along] ? centers[a][along] < centers[b][along] : a < b;
  });
  order_leaves(centers, first, half);
  order_leaves(centers, first + half, count - half);
}

/// The bounds of a triangle, with room for the rounding of coordinates.
template <typename T>
[[nodiscard]] triangle_bounds<T> bounds_of(const triangle_tables<T>& tables, std::uint32_t t) {
  const T room = 2 * rounding_unit<T> * tables.reach;
  const vec<T, 3>& first = tables.vertices[tables.triangles[t][0]];
  triangle_bounds<T> result{first, first};
  for (int k = 1; k < 3; ++k) {
    const vec<T, 3>& p = tables.vertices[tables.triangles[t][k]];
    for (int axis = 0; axis < 3; ++axis) {
      result.lower[axis] = std::min(result.lower[axis], p[axis]);
      result.upper[axis] = std::max(result.upper[axis], p[axis]);
    }
  }
  for (int axis = 0; axis < 3; ++axis) {
    result.lower[axis] -= room;
    result.upper[axis] += room;
  }
  return result;
}

template <typename T>
void grow_tree(triangle_tables<T>& tables) {
  const std::size_t count = tables.leaves.size();
  if (count == 0) return;
  tables.height = static_cast<int>(std::bit_width(count - 1));
  const std::size_t first_leaf = std::size_t{1} << tables.height;
  constexpr T far = std::numeric_limits<T>::infinity();
  tables.nodes.assign(first_leaf + count, {vec<T, 3>::filled(far), vec<T, 3>::filled(-far)});
  for (std::size_t k = first_leaf + count; k-- > 1;) {
    if (k >= first_leaf) tables.nodes[k] = bounds_of(tables, tables.leaves[k - first_leaf]);
    if (k == 1) break;
    triangle_bounds<T>& above = tables.nodes[k / 2];
    for (int axis = 0; axis < 3; ++axis) {
      above.lower[axis] = std::min(above.lower[axis], tables.nodes[k].lower[axis]);
      above.upper[axis] = std::max(above.upper[axis], tables.nodes[k].upper[axis]);
    }
  }
}

}  // namespace

template <typename T>
void check_triangles(const triangles_view& mesh) {
  require(mesh.group < 32, "the triangles are of group ", mesh.group, "; groups are below 32");
  require(mesh.triangles.size() <= most_wall_triangles && mesh.vertices.size() <= 3 * most_wall_triangles, "there are ",
          mesh.triangles.size(), " triangles and ", mesh.vertices.size(), " vertices; at most ", most_wall_triangles,
          " triangles and three times as many vertices are possible");
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const vec<std::uint32_t, 3>& corners = mesh.triangles[t];
    for (int k = 0; k < 3; ++k) {
      if (corners[k] >= mesh.vertices.size()) {
        throw data_error(message("triangle ", t, " has the vertex ", corners[k], "; there are ", mesh.vertices.size()),
                         t);
      }
      const place& p = mesh.vertices[corners[k]];
      for (int axis = 0; axis < 3; ++axis) {
        if (std::fabs(p[axis]) <= double{largest_length<T>}) continue;
        throw data_error(message("triangle ", t, " has a corner at ", vector_text(p),
                                 "; coordinates must be finite and of magnitude up to ", largest_length<T>),
                         t);
      }
    }
    if (triangle_is_sound(mesh.vertices[corners[0]], mesh.vertices[corners[1]], mesh.vertices[corners[2]])) continue;
    throw data_error(message("triangle ", t, " has no area; a triangle needs three corners that are not on one line"),
                     t);
  }
}

template <typename T>
triangle_tables<T> make_triangle_tables(const triangles_view& mesh, const box<T, 3>& domain) {
  check_triangles<T>(mesh);
  triangle_tables<T> tables;
  for (const place& vertex : mesh.vertices) tables.vertices.push_back(cast<T>(vertex));
  tables.triangles.assign(mesh.triangles.begin(), mesh.triangles.end());
  std::vector<place> centers;
  for (const vec<std::uint32_t, 3>& t : mesh.triangles) {
    const place &a = mesh.vertices[t[0]], b = mesh.vertices[t[1]], c = mesh.vertices[t[2]];
    for (const place& p : {a, b, c}) {
      for (int axis = 0; axis < 3; ++axis) tables.reach = std::max(tables.reach, static_cast<T>(std::fabs(p[axis])));
    }
    const place along = (b - a) * (1 / norm(b - a));
    const place up = cross(along, (c - a) * (1 / norm(c - a)));
    tables.normals.push_back(cast<T>(up * (1 / norm(up))));
    centers.push_back((a + b + c) * (1.0 / 3));
  }
  join_vertices(mesh, domain, tables);
  tables.leaves = different_triangles(mesh, domain, tables);
  list_corners(tables.leaves, tables);
  order_leaves(centers, tables.leaves.data(), tables.leaves.size());
  grow_tree(tables);
  return tables;
}

template void check_triangles<float>(const triangles_view&);
template void check_triangles<double>(const triangles_view&);
template triangle_tables<float> make_triangle_tables(const triangles_view&, const box<float, 3>&);
template triangle_tables<double> make_triangle_tables(const triangles_view&, const box<double, 3>&);

}  // namespace quadrat::detail
