// SPDX-License-Identifier: BSD-3-Clause
#include "keyed/atomic/bin_slots.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "quadrat/core/error.hpp"
#include "quadrat/core/types.hpp"
#include "support/random.hpp"

// What a block of `shared_bins` does follows the number of its keys, whatever keys they are: their lists are counted.

namespace quadrat::test {

namespace {

using keys_of_block = std::vector<std::uint32_t>;

/// What a block does besides one list for each key.
struct bin_work {
  unsigned longest = 0;  ///< keys in a slot
  double others = 0;     ///< share of keys that find another in their slot
};

[[nodiscard]] bin_work work_of(keys_of_block keys) {
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  std::vector<unsigned> in_slot(detail::bin_slots, 0);
  for (const std::uint32_t key : keys) ++in_slot[detail::bin_slot_of(key)];
  bin_work work;
  for (const unsigned here : in_slot) {
    work.longest = std::max(work.longest, here);
    work.others += here > 0 ? here - 1 : 0;
  }
  work.others /= static_cast<double>(keys.size());
  return work;
}

[[nodiscard]] keys_of_block strided(std::uint64_t first, std::uint64_t stride) {
  keys_of_block keys;
  for (std::uint64_t key = first; key <= max_count && keys.size() < detail::bin_slots; key += stride) {
    keys.push_back(static_cast<std::uint32_t>(key));
  }
  return keys;
}

void expect_about_as_random(const keys_of_block& keys, const bin_work& random) {
  const bin_work work = work_of(keys);
  EXPECT_LE(work.longest, 2 * random.longest);
  EXPECT_LE(work.others, 1.5 * random.others);
}

}  // namespace

TEST(bin_slots, and_high_bits_determine_the_key) {
  keys_of_block keys = random_words<std::uint32_t>(10'000, 1, static_cast<std::uint32_t>(max_count));
  for (const std::uint32_t key : {0u, 1u, 2047u, 2048u, 4095u, 0x7ffffffeu, 0x7fffffffu}) keys.push_back(key);
  for (const std::uint32_t key : keys) {
    const unsigned slot = detail::bin_slot_of(key);
    EXPECT_LT(slot, detail::bin_slots);
    EXPECT_EQ(detail::key_of_bin_slot(slot, key >> detail::bin_slot_bits), key);
  }
}

TEST(bin_slots, of_every_distribution_of_keys_are_shared_about_as_those_of_random_keys_are) {
  const bin_work random = work_of(random_words<std::uint32_t>(detail::bin_slots, 2, 1u << 30));
  for (std::uint64_t stride = 1; stride < 5000; ++stride) {
    SCOPED_TRACE(message("stride ", stride));
    expect_about_as_random(strided(12'345, stride), random);
  }
  for (int bit = 0; bit < 26; ++bit) {
    for (const std::int64_t more : {-1, 0, 1}) {
      for (const std::int64_t factor : {1, 3, 5, 1000}) {
        const std::int64_t stride = factor * (std::int64_t{1} << bit) + more;
        if (stride < 1 || stride > (1 << 26)) continue;
        SCOPED_TRACE(message("stride ", stride));
        expect_about_as_random(strided(0, static_cast<std::uint64_t>(stride)), random);
      }
    }
  }
  // Cells of blocks of meshes.
  for (const std::uint32_t row : {64u, 100u, 128u, 256u, 300u, 1000u, 2048u, 4096u, 10'000u, 65'536u, 1u << 20}) {
    for (const std::uint32_t width : {8u, 16u, 32u}) {
      SCOPED_TRACE(message("rows of ", width, " at a distance of ", row));
      keys_of_block keys;
      for (std::uint32_t k = 0; k < detail::bin_slots; ++k) keys.push_back(12'345 + k % width + k / width * row);
      expect_about_as_random(keys, random);
    }
  }
}

/// As of sorted elements.
TEST(bin_slots, of_neighboring_keys_are_seldom_shared) {
  double others = 0;
  std::size_t windows = 0;
  for (std::uint64_t first = 0; first < 2'000'000; first += 977, ++windows) {
    keys_of_block keys = strided(first, 1);
    keys.resize(300);
    others += work_of(keys).others;
  }
  EXPECT_LT(others / static_cast<double>(windows), 0.02);
}

}  // namespace quadrat::test
