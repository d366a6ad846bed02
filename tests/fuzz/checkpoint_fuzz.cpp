// SPDX-License-Identifier: BSD-3-Clause
// For any bytes, the reader of checkpoints gives complete arrays, or an io_error; even if length and checksum of the
// file are correct.
#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "fuzz/expect.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/io/checkpoint.hpp"
#include "quadrat/io/scene.hpp"

namespace {

void read(std::string_view bytes) {
  using quadrat::test::expect;
  quadrat::test::expect_sound_or_refused<quadrat::io_error>("c.bin", [&] {
    const auto state = quadrat::io::parse_checkpoint(bytes, "c.bin");
    std::size_t held = state.parameters.size();
    for (const auto& array : state.arrays) {
      held += array.bytes.size();
      expect(array.bytes.size() % size_of(array.type) == 0, "arrays hold whole elements");
    }
    expect(held <= bytes.size(), "no more than the file holds");
    static_cast<void>(quadrat::io::first_difference(state.parameters, state.parameters));
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  std::string contents(reinterpret_cast<const char*>(bytes), size);
  read(contents);
  constexpr std::size_t length_at = 16, least = 64 + sizeof(std::uint32_t);
  if (size < least) return 0;
  const std::uint64_t length = size;
  std::memcpy(contents.data() + length_at, &length, sizeof length);
  const auto sum = static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(contents.data()), size - sizeof(std::uint32_t)));
  std::memcpy(contents.data() + size - sizeof sum, &sum, sizeof sum);
  read(contents);
  return 0;
}
