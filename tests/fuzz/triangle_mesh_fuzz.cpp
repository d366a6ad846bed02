// SPDX-License-Identifier: BSD-3-Clause
// For any bytes, the readers of triangle meshes give a sound mesh, or an io_error that names the file.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuzz/expect.hpp"
#include "quadrat/contacts/triangles.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/io/triangle_mesh.hpp"

namespace {

using quadrat::test::expect;

void expect_sound(const quadrat::io::triangle_mesh& mesh) {
  expect(!mesh.triangles.empty(), "there are triangles");
  for (const auto& v : mesh.triangles) {
    for (int k = 0; k < 3; ++k) expect(v[k] < mesh.vertices.size(), "vertices exist");
    expect(quadrat::triangle_is_sound(mesh.vertices[v[0]], mesh.vertices[v[1]], mesh.vertices[v[2]]), "areas");
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
