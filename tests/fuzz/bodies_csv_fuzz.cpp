// SPDX-License-Identifier: BSD-3-Clause
// For any bytes, the reader of bodies gives valid bodies, or an io_error that names the file.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuzz/expect.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/io/bodies_file.hpp"

namespace {

using quadrat::test::expect;

void expect_sound(const quadrat::io::body_list& bodies) {
  const std::size_t count = bodies.size();
  expect(bodies.centers.size() == count && bodies.sizes.size() == count, "all have a place and a size");
  expect(bodies.orientations.empty() || bodies.orientations.size() == count, "all are turned or none");
  expect(bodies.groups.empty() || bodies.groups.size() == count, "all have groups or none");
  for (std::size_t i = 0; i < count; ++i) {
    for (int axis = 0; axis < 3; ++axis) expect(std::isfinite(bodies.centers[i][axis]), "centers are finite");
    const double norm = bodies.orientations.empty() ? 1.0 : squared_norm(bodies.orientations[i]);
    expect(std::fabs(norm - 1.0) < 1e-12, "quaternions are of length one");
    expect(quadrat::sizes_are_sound(bodies.shapes[i], bodies.sizes[i], norm), "sizes are sound");
    expect(bodies.groups.empty() || bodies.groups[i] < 32, "groups are below 32");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  quadrat::test::expect_sound_or_refused<quadrat::io_error>("bodies.csv", [&] {
    expect_sound(quadrat::io::parse_bodies({reinterpret_cast<const char*>(bytes), size}, "bodies.csv"));
  });
  return 0;
}
