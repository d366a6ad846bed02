// SPDX-License-Identifier: BSD-3-Clause
#include "keyed/distributions.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "harness/points.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::bench {

namespace {

using key_list = std::vector<std::uint32_t>;

/// Keys in which element i has f(i).
template <typename F>
[[nodiscard]] key_list keys_by(std::size_t n, const F& f) {
  key_list keys(n);
  const auto last = static_cast<std::int64_t>(n);
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < last; ++i) keys[static_cast<std::size_t>(i)] = f(static_cast<std::uint64_t>(i));
  return keys;
}

[[nodiscard]] std::uint32_t draw_key(std::uint64_t seed, std::uint64_t i, std::uint32_t key_count) {
  return static_cast<std::uint32_t>(random_word(seed, i) % key_count);
}

[[nodiscard]] key_list random_keys(std::size_t n, std::uint32_t key_count, std::uint64_t seed) {
  return keys_by(n, [=](std::uint64_t i) { return draw_key(seed, i, key_count); });
}

/// Random keys, sorted by counting.
[[nodiscard]] key_list ordered_keys(std::size_t n, std::uint32_t key_count, std::uint64_t seed) {
  std::vector<std::size_t> first(std::size_t{key_count} + 1, 0);
  for (std::size_t i = 0; i < n; ++i) ++first[std::size_t{draw_key(seed, i, key_count)} + 1];
  std::partial_sum(first.begin(), first.end(), first.begin());
  key_list keys(n);
#pragma omp parallel for schedule(static)
  for (std::int64_t k = 0; k < std::int64_t{key_count}; ++k) {
    const auto key = static_cast<std::size_t>(k);
    for (std::size_t i = first[key]; i < first[key + 1]; ++i) keys[i] = static_cast<std::uint32_t>(key);
  }
  return keys;
}

[[nodiscard]] key_list shifted_keys(std::size_t n, std::uint32_t key_count, std::uint64_t seed) {
  const key_list ordered = ordered_keys(n, key_count, seed);
  const std::array<std::uint32_t, 3> extent = key_grid(key_count);
  return keys_by(n, [&, extent, seed](std::uint64_t i) {
    const std::uint64_t moves = random_word(seed + 1, i) >> 61;
    std::uint32_t rest = ordered[i];
    std::uint32_t key = 0;
    std::uint32_t stride = 1;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const auto move = static_cast<std::uint32_t>(moves >> axis & 1);
      key += (rest % extent[axis] + move) % extent[axis] * stride;
      rest /= extent[axis];
      stride *= extent[axis];
    }
    return key;
  });
}

/// Density 1 / x over [1, key_count + 1); the frequent keys are not adjacent.
[[nodiscard]] key_list zipf_keys(std::size_t n, std::uint32_t key_count, std::uint64_t seed) {
  std::uint64_t apart = 7919;
  while (std::gcd(apart, std::uint64_t{key_count}) != 1) ++apart;
  return keys_by(n, [=](std::uint64_t i) {
    const double rank = std::pow(key_count + 1.0, random_unit(seed, i)) - 1;
    return static_cast<std::uint32_t>(static_cast<std::uint64_t>(rank) * apart % key_count);
  });
}

[[nodiscard]] key_list keys_in_sorted_blocks(std::size_t n, std::uint32_t key_count, std::uint64_t seed) {
  constexpr std::size_t block = 4096;
  key_list keys = random_keys(n, key_count, seed);
  const auto blocks = static_cast<std::int64_t>((n + block - 1) / block);
#pragma omp parallel for schedule(static)
  for (std::int64_t b = 0; b < blocks; ++b) {
    const auto begin = static_cast<std::size_t>(b) * block;
    std::sort(keys.begin() + static_cast<std::ptrdiff_t>(begin),
              keys.begin() + static_cast<std::ptrdiff_t>(std::min(n, begin + block)));
  }
  return keys;
}

/// A last incomplete block stays in place.
[[nodiscard]] key_list keys_in_shuffled_blocks(std::size_t n, std::uint32_t key_count, std::uint64_t seed) {
  constexpr std::size_t block = 256;
  const key_list ordered = ordered_keys(n, key_count, seed);
  std::vector<std::size_t> place(n / block);
  std::iota(place.begin(), place.end(), std::size_t{0});
  std::ranges::sort(place, {}, [&](std::size_t b) { return random_word(seed + 1, b); });
  return keys_by(n, [&](std::uint64_t i) {
    const std::size_t b = i / block;
    return ordered[b < place.size() ? place[b] * block + i % block : i];
  });
}

[[nodiscard]] key_list nearly_ordered_keys(std::size_t n, std::uint32_t key_count, std::uint64_t seed) {
  key_list keys = ordered_keys(n, key_count, seed);
  for (std::size_t i = 0; i < n; i += 100) std::swap(keys[i], keys[random_word(seed + 1, i) % n]);
  return keys;
}

}  // namespace

std::array<std::uint32_t, 3> key_grid(std::uint32_t key_count) {
  const auto divisor_near = [](std::uint32_t number, double wanted) {
    auto divisor = std::max(1u, static_cast<std::uint32_t>(wanted + 1e-6));
    while (number % divisor != 0) --divisor;
    return divisor;
  };
  const std::uint32_t x = divisor_near(key_count, std::cbrt(static_cast<double>(key_count)));
  const std::uint32_t rest = key_count / x;
  const std::uint32_t y = divisor_near(rest, std::sqrt(static_cast<double>(rest)));
  return {x, y, rest / y};
}

std::vector<std::uint32_t> make_keys(std::string_view order, std::size_t n, std::uint32_t key_count,
                                     std::uint64_t seed) {
  require(key_count > 0, "keys are drawn from at least one");
  if (order == "random") return random_keys(n, key_count, seed);
  if (order == "ordered") return ordered_keys(n, key_count, seed);
  if (order == "shifted") return shifted_keys(n, key_count, seed);
  if (order == "one_key") return key_list(n, key_count / 2);
  if (order == "zipf") return zipf_keys(n, key_count, seed);
  if (order == "sorted_blocks") return keys_in_sorted_blocks(n, key_count, seed);
  if (order == "shuffled_blocks") return keys_in_shuffled_blocks(n, key_count, seed);
  if (order == "runs") return keys_by(n, [=](std::uint64_t i) { return draw_key(seed, i / 8, key_count); });
  if (order == "nearly_ordered") return nearly_ordered_keys(n, key_count, seed);
  require(order == "round_robin", "no order of keys is called \"", order, "\"");
  return keys_by(n, [=](std::uint64_t i) { return static_cast<std::uint32_t>(i % key_count); });
}

}  // namespace quadrat::bench
