// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "quadrat/core/context.hpp"
#include "quadrat/parallel/fault.hpp"
#include "quadrat/parallel/for_each_part.hpp"

/// Reduction by key with a functor on the CPU: for functor_reducer.
namespace quadrat::detail {

/// One call. Key: any integer type.
template <typename Key, typename Value, typename Join>
struct range_reduction {
  const Key* keys;
  const Value* values;
  std::size_t count;
  Value* results;
  std::uint64_t key_count;
  Join join;
  Value identity;
  fault_flag faults;
  bool in_order;  ///< keys must be in order

  /// The key of element i; at least key_count if it is out of range.
  [[nodiscard]] std::uint64_t key(std::size_t i) const { return static_cast<std::uint64_t>(keys[i]); }

  /// Joins the elements [begin, end), whose keys must be in [first, last), as a plain loop does.
  void run_part(std::size_t begin, std::size_t end, std::uint64_t first, std::uint64_t last) const {
    std::fill(results + first, results + last, identity);
    if (in_order || !far(first, last)) return take_right(begin, end, first, last);
    for (std::size_t stop = begin; begin < end; begin = stop) {
      stop = std::min(begin + block, end);
      if (!seems_ordered(begin, stop) && in_range(begin, stop, first, last)) {
        take_far(begin, stop, [](std::size_t i) { return i; });
      } else {
        take_right(begin, stop, first, last);
      }
    }
  }
  /// Joins the elements whose keys are in [first, last). Finds them block by block, without branches.
  void run_range(std::uint64_t first, std::uint64_t last) const {
    std::array<std::uint32_t, block> places;
    std::fill(results + first, results + last, identity);
    for (std::size_t begin = 0; begin < count; begin += block) {
      const std::size_t here = std::min(block, count - begin);
      std::size_t found = 0;
      for (std::size_t j = 0; j < here; ++j) {
        places[found] = static_cast<std::uint32_t>(j);
        found += key(begin + j) - first < last - first ? 1 : 0;
      }
      const auto element = [&](std::size_t j) { return begin + places[j]; };
      if (far(first, last)) {
        take_far(0, found, element);
      } else {
        for (std::size_t j = 0; j < found; ++j) take(element(j));
      }
    }
  }
  /// Raises a fault for each invalid key of the elements [begin, end).
  void look_at_part(std::size_t begin, std::size_t end) const {
    for (std::size_t i = in_range(begin, end, 0, key_count) ? end : begin; i < end; ++i) look_at(i);
  }
  /// First keys of `parts` ranges with about as many elements each, by a sample, and the number of keys. Returns
  /// whether the sample is in order.
  bool choose_ranges(std::size_t parts, std::uint64_t* ranges) const {
    constexpr std::size_t most = 1024;
    std::array<std::uint64_t, most> sample;
    const std::size_t wanted = std::min(most, count);
    std::size_t seen = 0;
    for (std::size_t s = 0; s < wanted; ++s) {
      const std::uint64_t key_here = key(count * s / wanted);
      if (key_here < key_count) sample[seen++] = key_here;
    }
    const auto end = sample.begin() + static_cast<std::ptrdiff_t>(seen);
    const bool ordered = std::is_sorted(sample.begin(), end);
    std::sort(sample.begin(), end);
    ranges[0] = 0;
    for (std::size_t part = 1; part < parts; ++part) ranges[part] = seen > 0 ? sample[seen * part / parts] : key_count;
    ranges[parts] = key_count;
    return ordered;
  }
  /// The first element with a key of at least `first`, if keys are in order.
  [[nodiscard]] std::size_t first_of(std::uint64_t first) const {
    return static_cast<std::size_t>(std::lower_bound(keys, keys + count, first, is_less) - keys);
  }
  /// Whether the elements [begin, end) and the one before are in order.
  [[nodiscard]] bool ascends(std::size_t begin, std::size_t end) const {
    bool fine = true;
    for (std::size_t i = std::max<std::size_t>(begin, 1); i < end; ++i) fine &= key(i - 1) <= key(i);
    return fine;
  }

 private:
  static constexpr std::size_t block = 2048;
  /// Results of a thread larger than this are prefetched this many elements ahead. Smaller ones need no
  /// prefetch.
  static constexpr std::size_t near_bytes = std::size_t{16} << 20;
  static constexpr std::size_t elements_ahead = 32;

  static bool is_less(const Key& a, std::uint64_t b) { return static_cast<std::uint64_t>(a) < b; }
  /// Whether all keys of the elements [begin, end) are in [first, last).
  [[nodiscard]] bool in_range(std::size_t begin, std::size_t end, std::uint64_t first, std::uint64_t last) const {
    bool fine = true;
    for (std::size_t i = begin; i < end; ++i) fine &= key(i) - first < last - first;
    return fine;
  }
  /// Judges by some keys of the elements [begin, end). If they are in order, results need no prefetch.
  [[nodiscard]] bool seems_ordered(std::size_t begin, std::size_t end) const {
    constexpr std::size_t step = 64;
    for (std::size_t i = begin + step; i < end; i += step) {
      if (key(i) < key(i - step)) return false;
    }
    return true;
  }
  /// Whether most of these results are far from the caches.
  [[nodiscard]] static bool far(std::uint64_t first, std::uint64_t last) {
    return (last - first) * sizeof(Value) > near_bytes;
  }
  void take(std::size_t i) const {
    Value& result = results[key(i)];
    result = join(result, values[i]);
  }
  void fetch(std::size_t i) const {
#if defined(__GNUC__)
    __builtin_prefetch(results + key(i), 1);
#else
    static_cast<void>(i);
#endif
  }
  /// Joins element(j) for j in [begin, end), and prefetches their results.
  template <typename Element>
  void take_far(std::size_t begin, std::size_t end, const Element& element) const {
    for (; begin + elements_ahead < end; ++begin) {
      fetch(element(begin + elements_ahead));
      take(element(begin));
    }
    for (; begin < end; ++begin) take(element(begin));
  }
  /// Joins the elements [begin, end); elements with invalid keys raise faults instead.
  void take_right(std::size_t begin, std::size_t end, std::uint64_t first, std::uint64_t last) const {
    while (begin < end) {
      begin =
          in_order ? take_while_right<true>(begin, end, first, last) : take_while_right<false>(begin, end, first, last);
      if (begin == end) return;
      look_at(begin);
      if (key(begin) - first < last - first) take(begin);
      ++begin;
    }
  }
  /// Joins elements from `begin` up to one whose key is out of range, or less than the previous one. Returns where it
  /// stopped.
  template <bool InOrder>
  std::size_t take_while_right(std::size_t begin, std::size_t end, std::uint64_t first, std::uint64_t last) const {
    const Key* const all_keys = keys;
    const Value* const all_values = values;
    Value* const all_results = results;
    const Join join_here = join;
    std::uint64_t before = InOrder && begin > 0 ? key(begin - 1) : 0;
    for (std::size_t i = begin; i < end; ++i) {
      const auto here = static_cast<std::uint64_t>(all_keys[i]);
      if (here - first >= last - first || (InOrder && here < before)) return i;
      Value& result = all_results[here];
      result = join_here(result, all_values[i]);
      if constexpr (InOrder) before = here;
    }
    return end;
  }
  void look_at(std::size_t i) const {
    if (key(i) >= key_count) faults.raise(fault_kind::key_range, i);
    if (in_order && i > 0 && keys[i] < keys[i - 1]) faults.raise(fault_kind::order, i);
  }
};

/// Each thread joins the elements of a range of keys, in their order. So results are bitwise those of a plain loop,
/// with any number of threads. If keys are in order, these elements are consecutive. Otherwise each thread reads all
/// keys, unless values are so small, and results so few, that one thread is as fast. `ranges` is scratch memory.
/// Exceptions of the functor are passed on.
template <typename Key, typename Value, typename Join>
void reduce_ranges(const cpu_context& context, const range_reduction<Key, Value, Join>& work,
                   std::vector<std::uint64_t>& ranges) {
  constexpr std::uint64_t worth_a_team = 2048;
  const auto parts = static_cast<std::size_t>(context.threads());
  if (parts == 1 || work.count + work.key_count < worth_a_team) return work.run_part(0, work.count, 0, work.key_count);
  ranges.resize(2 * parts + 1);
  bool ordered = work.choose_ranges(parts, ranges.data()) || work.in_order;
  std::uint64_t* const ascending = ranges.data() + parts + 1;
  const auto first_of = [&](std::size_t part) { return work.count * part / parts; };
  if (ordered && !work.in_order) {
    for_each_part(static_cast<int>(parts), parts,
                  [&](std::size_t p) { ascending[p] = work.ascends(first_of(p), first_of(p + 1)) ? 1 : 0; });
    ordered = std::all_of(ascending, ascending + parts, [](std::uint64_t one) { return one == 1; });
  }
  // Reading all keys would take each thread as long as joining all elements.
  constexpr std::uint64_t small_value = 8, small_results = 1 << 20;
  const bool cached = sizeof(Value) <= small_value && work.key_count * sizeof(Value) <= small_results;
  if (!ordered && cached) return work.run_part(0, work.count, 0, work.key_count);
  for_each_part(static_cast<int>(parts), parts, [&](std::size_t p) {
    if (!ordered) {
      work.run_range(ranges[p], ranges[p + 1]);
      return work.look_at_part(first_of(p), first_of(p + 1));
    }
    // Keys that are not in order are a fault. Even then each element is in exactly one part.
    std::size_t begin = 0, end = 0;
    for (std::size_t part = 0; part <= p; ++part) {
      begin = end;
      end = part + 1 == parts ? work.count : std::max(end, work.first_of(ranges[part + 1]));
    }
    work.run_part(begin, end, ranges[p], ranges[p + 1]);
  });
}

}  // namespace quadrat::detail
