// SPDX-License-Identifier: BSD-3-Clause
// For any bytes, the reader of .npy files gives an array whose shape and bytes agree, or an io_error.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuzz/expect.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/io/npy.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using quadrat::test::expect;
  quadrat::test::expect_sound_or_refused<quadrat::io_error>("a.npy", [&] {
    const auto array = quadrat::io::parse_npy({reinterpret_cast<const char*>(bytes), size}, "a.npy");
    expect(array.bytes.size() < size, "the data are no more than the file");
    std::size_t elements = 1;
    for (const std::size_t extent : array.shape) elements *= extent;
    expect(array.bytes.size() == elements * size_of(array.type), "as many bytes as the shape says");
  });
  return 0;
}
