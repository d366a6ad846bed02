// SPDX-License-Identifier: BSD-3-Clause
// Whatever the bytes, the reader of bodies gives bodies that can be, or an io_error that names the file.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "quadrat/core/error.hpp"
#include "quadrat/io/bodies_file.hpp"

namespace {

void expect(bool condition) {
  if (!condition) std::abort();
}

void expect_sound(const quadrat::io::body_list& bodies) {
  const std::size_t count = bodies.size();
  expect(bodies.centers.size() == count && bodies.sizes.size() == count);
  expect(bodies.orientations.empty() || bodies.orientations.size() == count);
  expect(bodies.groups.empty() || bodies.groups.size() == count);
  for (std::size_t i = 0; i < count; ++i) {
    for (int axis = 0; axis < 3; ++axis) expect(std::isfinite(bodies.centers[i][axis]));
    const double norm = bodies.orientations.empty() ? 1.0 : squared_norm(bodies.orientations[i]);
    expect(std::fabs(norm - 1.0) < 1e-12);
    expect(quadrat::sizes_are_sound(bodies.shapes[i], bodies.sizes[i], norm));
    expect(bodies.groups.empty() || bodies.groups[i] < 32);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  try {
    expect_sound(quadrat::io::parse_bodies({reinterpret_cast<const char*>(bytes), size}, "bodies.csv"));
  } catch (const quadrat::io_error& problem) {
    expect(std::string_view(problem.what()).starts_with("bodies.csv:"));
  }
  return 0;
}
