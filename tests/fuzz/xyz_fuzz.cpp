// SPDX-License-Identifier: BSD-3-Clause
// For any bytes, the reader of extended .xyz files gives a frame, or an io_error.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuzz/expect.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/io/xyz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  quadrat::test::expect_sound_or_refused<quadrat::io_error>("a.xyz", [&] {
    const auto frame = quadrat::io::parse_xyz({reinterpret_cast<const char*>(bytes), size}, "a.xyz");
    quadrat::test::expect(frame.positions.size() <= size / 5, "no more atoms than lines");
  });
  return 0;
}
