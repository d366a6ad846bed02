// SPDX-License-Identifier: BSD-3-Clause
// For any bytes, the readers of triangle meshes give a sound mesh, or an io_error that names the file.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuzz/expect.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/io/triangle_mesh.hpp"

namespace {

using quadrat::test::expect;

void expect_sound(const quadrat::io::triangle_mesh& mesh) {
  expect(!mesh.triangles.empty() && mesh.triangle_edges.size() == mesh.triangles.size(), "all have edges");
  expect(mesh.edge_triangles.size() == 3 * mesh.triangles.size(), "each edge knows its triangles");
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    for (int k = 0; k < 3; ++k) {
      expect(mesh.triangles[t][k] < mesh.vertices.size(), "vertices exist");
      const auto& edge = mesh.edges.at(mesh.triangle_edges[t][k]);
      expect(edge.begin < edge.end && edge.end <= mesh.edge_triangles.size(), "edges have triangles");
    }
    const auto& v = mesh.triangles[t];
    expect(quadrat::io::triangle_is_sound(mesh.vertices[v[0]], mesh.vertices[v[1]], mesh.vertices[v[2]]), "areas");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  quadrat::test::expect_sound_or_refused<quadrat::io_error>(
      "mesh.stl", [&] { expect_sound(quadrat::io::parse_stl(text, "mesh.stl")); });
  quadrat::test::expect_sound_or_refused<quadrat::io_error>(
      "mesh.obj", [&] { expect_sound(quadrat::io::parse_obj(text, "mesh.obj")); });
  return 0;
}
