// SPDX-License-Identifier: BSD-3-Clause
// For any bytes, the reader of .gsd files gives its frames, or an io_error.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include "fuzz/expect.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/io/gsd.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(bytes), size);
  for (const bool charges : {false, true}) {
    quadrat::test::expect_sound_or_refused<quadrat::io_error>("a.gsd", [&] {
      quadrat::io::gsd_reader reader(text, "a.gsd", {.species = true, .charges = charges, .fields = true});
      quadrat::io::file_frame frame;
      std::size_t frames = 0;
      while (reader.next(frame)) {
        quadrat::test::expect(frame.positions.size() <= size, "no more particles than bytes");
        quadrat::test::expect(frame.species.size() == frame.positions.size(), "a species a particle");
        quadrat::test::expect(!charges || frame.charges.size() == frame.positions.size(), "a charge a particle");
        for (const double charge : frame.charges) quadrat::test::expect(std::isfinite(charge), "finite charges");
        ++frames;
      }
      quadrat::test::expect(frames == reader.count_rest(), "as many frames as were counted");
    });
  }
  return 0;
}
