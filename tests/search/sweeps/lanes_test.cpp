// SPDX-License-Identifier: BSD-3-Clause
#include "search/sweeps/lanes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "support/random.hpp"

// Every variant that this CPU can run agrees with the plain C++ expression, even if distance and cutoff agree to the
// last bit.

namespace quadrat::test {

namespace {

constexpr std::size_t words_a_chunk = detail::lanes_a_chunk / 64;

template <typename T, int D>
void expect_same_bits() {
  detail::candidate_lanes<T, D> lanes{};
  std::mt19937_64 generator(7);
  for (std::size_t k = 0; k < detail::lanes_a_chunk; ++k) {
    for (int axis = 0; axis < D; ++axis) {
      const T inside = 2 * random_unit<T>(generator) - 1;
      lanes.position[axis][k] = k % 7 == 6 ? std::numeric_limits<T>::infinity() : inside;
    }
  }
  const auto candidate = [&](std::size_t k) {
    return make_vec<T, D>([&](int axis) { return lanes.position[axis][k]; });
  };
  const auto from = vec<T, D>::filled(T(0.3));
  const auto translation = vec<T, D>::filled(T(-0.1));
  const T exact = squared_norm((candidate(11) - from) + translation);
  for (const T squared_reach : {T(0), T(0.5), exact, std::nextafter(exact, T(2))}) {
    for (const std::size_t first : {std::size_t{0}, std::size_t{8}, std::size_t{72}}) {
      for (std::size_t last = first; last <= detail::lanes_a_chunk; last += detail::lanes_a_step) {
        std::size_t variant = 0;
        for (const auto test : detail::test_lanes_functions<T, D>()) {
          std::array<std::uint64_t, words_a_chunk> words;
          words.fill(~std::uint64_t{0});
          const unsigned count = test(lanes, first, last, from, translation, squared_reach, words.data());
          unsigned expected = 0;
          for (std::size_t k = first; k < first + (last - first + 63) / 64 * 64; ++k) {
            const bool within = k < last && squared_norm((candidate(k) - from) + translation) < squared_reach;
            expected += within ? 1 : 0;
            const bool found = (words[(k - first) / 64] >> (k - first) % 64 & 1) != 0;
            ASSERT_EQ(found, within) << "variant " << variant << ", candidate " << k << " of " << last;
          }
          ASSERT_EQ(count, expected) << "variant " << variant;
          ++variant;
        }
      }
    }
  }
}

}  // namespace

TEST(neighbor_lanes_test, every_variant_gives_the_same_bits) {
  expect_same_bits<float, 2>();
  expect_same_bits<float, 3>();
  expect_same_bits<double, 2>();
  expect_same_bits<double, 3>();
}

namespace {

/// Each candidate with its own cutoff, of which some are exactly the distance.
template <typename T, int D>
void expect_same_bits_with_radii(bool larger) {
  detail::candidate_lanes<T, D> lanes{};
  std::mt19937_64 generator(5);
  const auto from = vec<T, D>::filled(T(0.3));
  const detail::row_radius<T> row{T(0.25), T(0.125)};
  for (std::size_t k = 0; k < detail::lanes_a_chunk; ++k) {
    for (int axis = 0; axis < D; ++axis) lanes.position[axis][k] = 2 * random_unit<T>(generator) - 1;
    lanes.radius[k] = random_unit<T>(generator);
    if (k % 5 != 0) continue;
    for (int axis = 0; axis < D; ++axis) lanes.position[axis][k] = from[axis];
    lanes.position[0][k] += T(1);  // at the cutoff, if the radius below is added or is the larger one
    lanes.radius[k] = (lanes.position[0][k] - from[0]) - row.skin - (larger ? T(0) : row.radius);
  }
  for (const auto translation : {vec<T, D>{}, vec<T, D>::filled(T(-0.1))}) {
    for (std::size_t last = 0; last <= detail::lanes_a_chunk; last += 3 * detail::lanes_a_step) {
      for (const auto test : detail::test_radii_functions<T, D>(larger)) {
        std::array<std::uint64_t, words_a_chunk> words{};
        const unsigned count = test(lanes, 0, last, from, translation, row, words.data());
        unsigned expected = 0;
        for (std::size_t k = 0; k < last; ++k) {
          const auto to = make_vec<T, D>([&](int axis) { return lanes.position[axis][k]; });
          const T other = lanes.radius[k];
          const T cutoff = (larger ? std::max(row.radius, other) : row.radius + other) + row.skin;
          const bool within = squared_norm((to - from) + translation) < cutoff * cutoff;
          expected += within ? 1 : 0;
          ASSERT_EQ((words[k / 64] >> k % 64 & 1) != 0, within) << "candidate " << k << " of " << last;
        }
        ASSERT_EQ(count, expected);
      }
    }
  }
}

}  // namespace

TEST(neighbor_lanes_test, every_variant_gives_the_same_bits_with_radii) {
  for (const bool larger : {false, true}) {
    expect_same_bits_with_radii<float, 2>(larger);
    expect_same_bits_with_radii<float, 3>(larger);
    expect_same_bits_with_radii<double, 2>(larger);
    expect_same_bits_with_radii<double, 3>(larger);
  }
}

namespace {

/// Random slots, some of them exactly at the reach of a block of random points, with room for a step after the last.
template <typename T, int D>
struct picked_slots {
  static constexpr std::size_t count = 90, stride = 112;
  std::vector<T> coordinates = std::vector<T>(D * stride), radii = std::vector<T>(stride);
  std::vector<particle_id> ids = std::vector<particle_id>(stride);
  std::vector<vec<T, D>> block;
  detail::reach_of_block<T, D> reach{};

  picked_slots() {
    std::mt19937_64 generator(9);
    reach = {vec<T, D>::filled(T(1)), vec<T, D>::filled(T(0)), {T(0.25), T(0.125)}};
    for (int k = 0; k < 7; ++k) {
      block.push_back(make_vec<T, D>([&](int) { return T(0.4) + T(0.2) * random_unit<T>(generator); }));
      for (int axis = 0; axis < D; ++axis) {
        reach.lower[axis] = std::min(reach.lower[axis], block.back()[axis]);
        reach.upper[axis] = std::max(reach.upper[axis], block.back()[axis]);
      }
    }
    for (std::size_t k = 0; k < stride; ++k) {
      ids[k] = static_cast<particle_id>(1000 - k);
      radii[k] = T(0.3) * random_unit<T>(generator);
      for (std::size_t axis = 0; axis < D; ++axis)
        coordinates[axis * stride + k] = 2 * random_unit<T>(generator) - T(0.5);
      if (k % 6 != 0) continue;
      for (std::size_t axis = 0; axis < D; ++axis)
        coordinates[axis * stride + k] = block[k % 7][static_cast<int>(axis)];
      coordinates[k] += radii[k] + reach.largest.radius + reach.largest.skin;
    }
  }
  [[nodiscard]] vec<T, D> point(std::size_t k) const {
    return make_vec<T, D>([&](int axis) { return coordinates[static_cast<std::size_t>(axis) * stride + k]; });
  }
  /// Whether a slot is within its cutoff of any point of the block, as the tests decide it.
  [[nodiscard]] bool is_neighbor(std::size_t k, cutoff_rule rule, const vec<T, D>& translation) const {
    const T cutoff = detail::cutoff_of_radii(rule, reach.largest.radius, radii[k], reach.largest.skin);
    return std::any_of(block.begin(), block.end(), [&](const vec<T, D>& from) {
      return squared_norm((point(k) - from) + translation) < cutoff * cutoff;
    });
  }
};

/// All neighbors of a block and its own slots are picked, and nothing that is too far away from its box.
template <typename T, int D>
void expect_neighbors_picked(cutoff_rule rule) {
  const auto pick = detail::pick_lanes<T, D>(rule);
  if (pick == nullptr) return;
  const picked_slots<T, D> slots;
  for (const auto translation : {vec<T, D>{}, vec<T, D>::filled(T(-0.1))}) {
    for (std::size_t count = 0; count <= slots.count; ++count) {
      const std::size_t own_first = count / 2, own_last = std::min(count, own_first + 11);
      const detail::slot_run<T> run{
          slots.coordinates.data(), slots.stride, slots.radii.data(), slots.ids.data(), count, own_first, own_last};
      detail::candidate_lanes<T, D> lanes{};
      std::array<particle_id, detail::lanes_a_chunk + detail::ids_beyond> found{};
      const std::size_t last = pick(run, slots.reach, translation, lanes, found.data(), 3);
      std::size_t lane = 3;
      for (std::size_t k = 0; k < count; ++k) {
        const bool own = k >= own_first && k < own_last;
        const bool picked = lane < last && found[lane] == slots.ids[k];
        ASSERT_TRUE(picked || !(own || slots.is_neighbor(k, rule, translation))) << k << " of " << count;
        if (!picked) continue;
        T squared = 0;
        for (int axis = 0; axis < D; ++axis) {
          const T at = slots.point(k)[axis] + translation[axis];
          const T gap = std::max({slots.reach.lower[axis] - at, at - slots.reach.upper[axis], T(0)});
          squared += gap * gap;
          ASSERT_EQ(lanes.position[axis][lane], slots.point(k)[axis]);
        }
        const auto& largest = slots.reach.largest;
        ASSERT_EQ(lanes.radius[lane], slots.radii[k]);
        const T cutoff = detail::cutoff_of_radii(rule, largest.radius, slots.radii[k], largest.skin);
        ASSERT_TRUE(own || squared < T(1.0001) * cutoff * cutoff) << k << " of " << count;
        ++lane;
      }
      ASSERT_EQ(lane, last);
    }
  }
}

}  // namespace

TEST(neighbor_lanes_test, all_neighbors_of_a_block_are_picked) {
  for (const cutoff_rule rule : {cutoff_rule::sum_of_radii, cutoff_rule::larger_radius, cutoff_rule::own_radius}) {
    expect_neighbors_picked<float, 2>(rule);
    expect_neighbors_picked<float, 3>(rule);
    expect_neighbors_picked<double, 2>(rule);
    expect_neighbors_picked<double, 3>(rule);
  }
}

TEST(neighbor_lanes_test, every_variant_picks_the_same_ids) {
  std::array<particle_id, detail::lanes_a_chunk + detail::ids_beyond> ids{};
  std::mt19937_64 generator(8);
  for (std::size_t k = 0; k < ids.size(); ++k) ids[k] = static_cast<particle_id>(1000 + 3 * k);
  for (std::size_t lanes = 0; lanes <= detail::lanes_a_chunk; lanes += detail::lanes_a_step) {
    std::array<std::uint64_t, words_a_chunk> words{};
    std::vector<particle_id> expected;
    for (std::size_t k = 0; k < lanes; ++k) {
      if (random_unit<double>(generator) < 0.6) continue;
      words[k / 64] |= std::uint64_t{1} << k % 64;
      expected.push_back(ids[k]);
    }
    for (const auto pick : detail::pick_ids_functions()) {
      std::vector<particle_id> found(expected.size() + detail::ids_beyond);
      pick(ids.data(), lanes, words.data(), found.data());
      found.resize(expected.size());
      ASSERT_EQ(found, expected) << lanes;
    }
  }
}

TEST(neighbor_lanes_test, every_variant_keeps_the_same_ids) {
  std::array<particle_id, detail::lanes_a_chunk + detail::ids_beyond> ids{};
  std::mt19937_64 generator(9);
  for (particle_id& id : ids) id = static_cast<particle_id>(generator());
  ids[3] = 0, ids[5] = 0xffffffffu;
  for (std::size_t lanes = 0; lanes <= detail::lanes_a_chunk; lanes += detail::lanes_a_step) {
    std::array<std::uint64_t, words_a_chunk> words{};
    for (std::size_t k = 0; k < lanes; ++k) words[k / 64] |= (generator() & 1) << k % 64;
    for (const particle_id least : {particle_id{0}, ids[7], ids[7] + 1, particle_id{0x80000000u}, ids[5]}) {
      auto expected = words;
      unsigned count = 0;
      for (std::size_t k = 0; k < lanes; ++k) {
        const std::uint64_t bit = std::uint64_t{1} << k % 64;
        if (ids[k] < least) expected[k / 64] &= ~bit;
        if ((expected[k / 64] & bit) != 0) ++count;
      }
      for (const auto keep : detail::keep_ids_functions()) {
        auto kept = words;
        EXPECT_EQ(keep(ids.data(), lanes, least, kept.data()), count);
        ASSERT_EQ(kept, expected) << lanes << " lanes from " << least;
      }
    }
  }
}

TEST(neighbor_lanes_test, every_variant_moves_the_same_ids_to_the_front) {
  std::mt19937_64 generator(9);
  for (unsigned count = 0; count <= 200; ++count) {
    std::vector<particle_id> ids(count + detail::ids_beyond);
    for (particle_id& id : ids) id = static_cast<particle_id>(generator());
    if (count > 5) ids[3] = 0, ids[5] = 0xffffffffu;
    for (const particle_id least : {particle_id{0}, ids[0], ids[0] + 1, particle_id{0x80000000u}, 0xffffffffu}) {
      std::vector<particle_id> expected;
      std::copy_if(ids.begin(), ids.begin() + count, std::back_inserter(expected),
                   [&](auto id) { return id >= least; });
      for (const auto sift : detail::sift_ids_functions()) {
        auto sifted = ids;
        ASSERT_EQ(sift(sifted.data(), count, least), expected.size()) << count << " ids from " << least;
        sifted.resize(expected.size());
        EXPECT_EQ(sifted, expected);
      }
    }
  }
}

TEST(neighbor_lanes_test, copies_past_the_caches_write_all_bytes_and_no_others) {
  std::vector<unsigned char> from(700), to(900);
  for (std::size_t k = 0; k < from.size(); ++k) from[k] = static_cast<unsigned char>(1 + k % 251);
  for (std::size_t begin = 0; begin < 130; begin += 3) {
    for (const std::size_t bytes : {0, 1, 12, 63, 64, 65, 127, 128, 129, 480, 700}) {
      std::fill(to.begin(), to.end(), static_cast<unsigned char>(0));
      detail::copy_streaming(to.data() + begin, from.data(), bytes);
      detail::finish_streaming();
      for (std::size_t k = 0; k < to.size(); ++k) {
        const bool inside = k >= begin && k < begin + bytes;
        ASSERT_EQ(to[k], inside ? from[k - begin] : 0) << k << " of " << bytes << " bytes at " << begin;
      }
    }
  }
}

}  // namespace quadrat::test
