// SPDX-License-Identifier: BSD-3-Clause
// For any bytes, the reader of extended .xyz files gives its frames, or an io_error.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include "fuzz/expect.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/io/xyz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  quadrat::test::expect_sound_or_refused<quadrat::io_error>("a.xyz", [&] {
    const std::string text(reinterpret_cast<const char*>(bytes), size);
    quadrat::io::file_frame frame;
    std::size_t frames = 0;
    for (quadrat::io::xyz_reader all(text, "a.xyz", {.species = true, .fields = true}); all.next(frame);) {
      quadrat::test::expect(frame.positions.size() <= size / 5, "no more atoms than lines");
      quadrat::test::expect(frame.frames == ++frames, "frames are counted");
      quadrat::test::expect(frame.species.empty() || frame.species.size() == frame.positions.size(),
                            "a species an atom");
      for (const quadrat::io::frame_field& field : frame.fields) {
        const std::size_t values = field.reals.size() + field.integers.size() + field.words.size();
        quadrat::test::expect(values == field.width * frame.positions.size(), "as many values as columns");
      }
    }
    quadrat::io::xyz_reader first(text, "a.xyz");
    quadrat::test::expect(first.next(frame) && first.count_rest() == frames, "as many frames as were counted");
    for (quadrat::io::xyz_reader charged(text, "a.xyz", {.charges = true}); charged.next(frame);) {
      quadrat::test::expect(frame.charges.size() == frame.positions.size(), "a charge an atom");
      for (const double charge : frame.charges) quadrat::test::expect(std::isfinite(charge), "finite charges");
    }
  });
  return 0;
}
