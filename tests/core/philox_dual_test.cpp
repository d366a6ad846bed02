// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/core/philox.hpp"

#include <gtest/gtest.h>

#include <array>

#include "quadrat/core/array.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "support/backend.hpp"

namespace quadrat::test {

namespace {

struct philox_answer {
  philox_block counter;
  std::uint64_t key;
  philox_block expected;
};

/// Known answers from the authors' own implementation, Random123 (kat_vectors, philox4x32 10).
constexpr std::array<philox_answer, 3> known_answers{{
    {{{0, 0, 0, 0}}, 0, {{0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u}}},
    {{{~0u, ~0u, ~0u, ~0u}}, ~std::uint64_t{0}, {{0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu}}},
    {{{0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u}},
     0x299f31d0a4093822u,
     {{0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u}}},
}};

struct draw {
  philox_block counter;
  std::uint64_t key;
  philox_block* result;
  QUADRAT_HD void operator()(std::size_t /*i*/) const { *result = philox(counter, key); }
};

class philox_words : public backend_test {};

TEST_F(philox_words, are_those_of_random123) {
  const backend_context context;
  array<philox_block, backend_context> result(context, 1);
  for (const philox_answer& one : known_answers) {
    for_each(context, "test.philox", 1, draw{one.counter, one.key, result.data()});
    const philox_block found = to_host(context, result)[0];
    const philox_block on_host = philox(one.counter, one.key);
    for (int i = 0; i < 4; ++i) {
      EXPECT_EQ(found.word[i], one.expected.word[i]) << "word " << i;
      EXPECT_EQ(on_host.word[i], one.expected.word[i]) << "word " << i;
    }
  }
}

}  // namespace

}  // namespace quadrat::test
