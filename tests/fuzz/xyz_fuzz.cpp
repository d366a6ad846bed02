// SPDX-License-Identifier: BSD-3-Clause
// For any bytes, the reader of extended .xyz files gives its frames, or an io_error.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuzz/expect.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/io/xyz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  quadrat::test::expect_sound_or_refused<quadrat::io_error>("a.xyz", [&] {
    const std::string_view text(reinterpret_cast<const char*>(bytes), size);
    const auto frame = quadrat::io::parse_xyz(text, "a.xyz");
    quadrat::test::expect(frame.positions.size() <= size / 5, "no more atoms than lines");
    std::size_t frames = 0;
    quadrat::io::parse_xyz_frames(text, "a.xyz", {.species = true}, [&](const quadrat::io::xyz_frame& next) {
      ++frames;
      quadrat::test::expect(next.species.empty() || next.species.size() == next.positions.size(), "a species an atom");
    });
    quadrat::test::expect(frames == frame.frames, "as many frames as were counted");
    quadrat::io::parse_xyz_frames(text, "a.xyz", {.charges = true}, [&](const quadrat::io::xyz_frame& next) {
      quadrat::test::expect(next.charges.size() == next.positions.size(), "a charge an atom");
      for (const double charge : next.charges) quadrat::test::expect(std::isfinite(charge), "finite charges");
    });
  });
  return 0;
}
