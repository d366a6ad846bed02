// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/parallel/sort.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "parallel/partition.hpp"
#include "parallel/sort_common.hpp"

namespace quadrat {

namespace {

/// Bits sorted per pass. A level-2 cache holds about 2^11 open cache lines of keys and of values. More bits would need
/// fewer passes, but slower ones.
constexpr int most_digit_bits = 11;
/// With fewer pairs per thread, waking a thread takes too long.
constexpr std::size_t least_sorted_part = 8192;

/// A pass over one digit: its position in the key, and the partition of the pairs.
struct digit_pass {
  int shift;
  int bits;
  detail::partition split;

  [[nodiscard]] std::size_t digits() const { return std::size_t{1} << bits; }
  template <typename Key>
  [[nodiscard]] std::size_t digit(Key key) const {
    return static_cast<std::size_t>(key >> shift) & (digits() - 1);
  }
};

template <typename Key>
void count_digits(const digit_pass& pass, std::size_t part, const Key* keys, std::uint32_t* counts) {
  std::fill_n(counts, pass.digits(), 0u);
  const std::size_t last = pass.split.last(part);
  for (std::size_t i = pass.split.first(part); i < last; ++i) ++counts[pass.digit(keys[i])];
}

/// Replaces counts[part][digit] by the place of the part's first pair with that digit: ordered by digit, then by part,
/// so that the sort is stable.
void counts_to_places(const digit_pass& pass, std::uint32_t* counts) {
  std::uint32_t place = 0;
  for (std::size_t digit = 0; digit < pass.digits(); ++digit) {
    for (std::size_t part = 0; part < pass.split.parts; ++part) {
      place += std::exchange(counts[part * pass.digits() + digit], place);
    }
  }
}

template <typename Key>
struct pairs {
  Key* keys;
  std::uint32_t* values;  ///< nullptr: value i is i
};

template <typename Key>
void scatter(const digit_pass& pass, std::size_t part, const pairs<Key>& from, const pairs<Key>& to,
             std::uint32_t* places) {
  const std::size_t last = pass.split.last(part);
  for (std::size_t i = pass.split.first(part); i < last; ++i) {
    const Key key = from.keys[i];
    const std::uint32_t place = places[pass.digit(key)]++;
    to.keys[place] = key;
    to.values[place] = from.values != nullptr ? from.values[i] : static_cast<std::uint32_t>(i);
  }
}

template <typename Key>
void run_pass(const digit_pass& pass, const pairs<Key>& from, const pairs<Key>& to, std::uint32_t* counts) {
  const auto parts = static_cast<int>(pass.split.parts);
#pragma omp parallel num_threads(parts) if (parts > 1)
  {
#pragma omp for schedule(static, 1)
    for (int part = 0; part < parts; ++part) {
      const auto p = static_cast<std::size_t>(part);
      count_digits(pass, p, from.keys, counts + p * pass.digits());
    }
#pragma omp single
    counts_to_places(pass, counts);
#pragma omp for schedule(static, 1)
    for (int part = 0; part < parts; ++part) {
      const auto p = static_cast<std::size_t>(part);
      scatter(pass, p, from, to, counts + p * pass.digits());
    }
  }
}

/// The passes of a sort: as few as possible, of equal width.
struct sort_plan {
  int key_bits;
  int bits;
  detail::partition split;

  sort_plan(const cpu_context& context, std::size_t count, int wanted_bits)
      : key_bits(wanted_bits), bits(1), split(detail::partition_for(context, count, least_sorted_part)) {
    const int passes = (key_bits + most_digit_bits - 1) / most_digit_bits;
    if (passes > 0) bits = (key_bits + passes - 1) / passes;
  }
  /// Memory for one count per part and digit.
  [[nodiscard]] std::size_t bytes() const { return (split.parts << bits) * sizeof(std::uint32_t); }
};

template <typename Key>
int run_passes(const sort_plan& plan, const sort_buffers<Key>& buffers, std::byte* temporary, sort_values source) {
  auto* counts = reinterpret_cast<std::uint32_t*>(temporary);
  if (plan.key_bits == 0 && source == sort_values::index) {
    std::iota(buffers.values[0], buffers.values[0] + plan.split.count, 0u);
  }
  int current = 0;
  for (int shift = 0; shift < plan.key_bits; shift += plan.bits) {
    const bool made_up = shift == 0 && source == sort_values::index;
    const pairs<Key> from{buffers.keys[current], made_up ? nullptr : buffers.values[current]};
    current = 1 - current;
    const pairs<Key> to{buffers.keys[current], buffers.values[current]};
    run_pass(digit_pass{shift, std::min(plan.bits, plan.key_bits - shift), plan.split}, from, to, counts);
  }
  return current;
}

template <typename Key>
int sort(const cpu_context& context, const sort_buffers<Key>& buffers, std::size_t count, int key_bits,
         workspace<cpu_context>& scratch, sort_values source) {
  detail::require_sort_fits<Key>(count, key_bits);
  const sort_plan plan(context, count, key_bits);
  return run_passes(plan, buffers, scratch.request(context, plan.bytes()), source);
}

template <typename Key>
void sort(const cpu_context& context, Key* keys, std::uint32_t* values, std::size_t count, int key_bits,
          workspace<cpu_context>& scratch, sort_values source) {
  detail::require_sort_fits<Key>(count, key_bits);
  const sort_plan plan(context, count, key_bits);
  detail::sort_in_place(context, keys, values, count, plan.bytes(), scratch,
                        [&](const sort_buffers<Key>& buffers, std::byte* temporary) {
                          return run_passes(plan, buffers, temporary, source);
                        });
}

}  // namespace

template <typename Key>
std::size_t sort_scratch_bytes(const cpu_context& context, std::size_t count, int key_bits) {
  std::size_t bytes = 0;
  for (int bits = 0; bits <= key_bits; ++bits) bytes = std::max(bytes, sort_plan(context, count, bits).bytes());
  return bytes;
}
template std::size_t sort_scratch_bytes<std::uint32_t>(const cpu_context&, std::size_t, int);
template std::size_t sort_scratch_bytes<std::uint64_t>(const cpu_context&, std::size_t, int);

int sort_pairs(const cpu_context& context, const sort_buffers<std::uint32_t>& buffers, std::size_t count, int key_bits,
               workspace<cpu_context>& scratch, sort_values source) {
  return sort(context, buffers, count, key_bits, scratch, source);
}
int sort_pairs(const cpu_context& context, const sort_buffers<std::uint64_t>& buffers, std::size_t count, int key_bits,
               workspace<cpu_context>& scratch, sort_values source) {
  return sort(context, buffers, count, key_bits, scratch, source);
}
void sort_pairs(const cpu_context& context, std::uint32_t* keys, std::uint32_t* values, std::size_t count, int key_bits,
                workspace<cpu_context>& scratch, sort_values source) {
  sort(context, keys, values, count, key_bits, scratch, source);
}
void sort_pairs(const cpu_context& context, std::uint64_t* keys, std::uint32_t* values, std::size_t count, int key_bits,
                workspace<cpu_context>& scratch, sort_values source) {
  sort(context, keys, values, count, key_bits, scratch, source);
}

}  // namespace quadrat
