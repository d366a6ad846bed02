// SPDX-License-Identifier: BSD-3-Clause
// For any bytes, the reader of .vti files gives a mesh whose extents and bytes agree, or an io_error.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuzz/expect.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/io/vtk.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using quadrat::test::expect;
  quadrat::test::expect_sound_or_refused<quadrat::io_error>("a.vti", [&] {
    const auto mesh = quadrat::io::parse_vti({reinterpret_cast<const char*>(bytes), size}, "a.vti");
    expect(!mesh.names.empty() && mesh.bytes.size() < size, "the data are no more than the file");
    const auto& extent = mesh.grid.extent;
    const std::size_t number = (mesh.single ? 4u : 8u) * (mesh.complex ? 2u : 1u);
    expect(mesh.bytes.size() == mesh.names.size() * extent[0] * extent[1] * extent[2] * number,
           "as many bytes as the extents say");
  });
  return 0;
}
