// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "quadrat/core/array.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/core/instance.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/keyed/reduce_ranges.hpp"
#include "quadrat/parallel/fault.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/scan.hpp"
#include "quadrat/parallel/sort.hpp"
#include "quadrat/parallel/workspace.hpp"

/// Reduction by key with a user-defined functor and type. Header only: on CUDA, for sources that nvcc compiles.

namespace quadrat {

namespace detail {

/// Entries that one index joins, and the marker of an empty entry.
inline constexpr std::size_t run_chunk = 16;
inline constexpr std::uint32_t no_entry = 0xffffffffu;

/// The elements: values in order of their keys.
template <typename Key, typename Value>
struct run_elements {
  const Key* keys;
  const Value* values;
  const std::uint32_t* order;  ///< index of the value of place i; nullptr: i

  /// Whether entry i is known to begin a run.
  [[nodiscard]] QUADRAT_HD static bool begins(std::size_t /*i*/) { return false; }
  [[nodiscard]] QUADRAT_HD std::uint32_t place(std::size_t i) const { return static_cast<std::uint32_t>(i); }
  [[nodiscard]] QUADRAT_HD Value value(std::size_t i) const { return values[order == nullptr ? i : order[i]]; }
};

/// Partial runs from the previous level: the first and the last of each chunk; the last is empty if it is also the
/// first.
template <typename Value>
struct run_parts {
  std::uint32_t* places;  ///< place of an element with the part's key, or no_entry
  Value* values;

  /// The first and the last run of a chunk may have the same key, even if a run between them is already written.
  [[nodiscard]] QUADRAT_HD static bool begins(std::size_t i) { return i % 2 == 1; }
  [[nodiscard]] QUADRAT_HD std::uint32_t place(std::size_t i) const { return places[i]; }
  [[nodiscard]] QUADRAT_HD Value value(std::size_t i) const { return values[i]; }
  QUADRAT_HD void put(std::size_t i, std::uint32_t place, const Value& value) const {
    places[i] = place;
    if (place != no_entry) values[i] = value;
  }
};

/// Joins the runs of one chunk of entries. Runs that touch neither end of it are complete, and are written to the
/// target; the first and the last may continue in adjacent chunks, and are left for the next level. `single`: there is
/// only one chunk, so all runs are complete.
template <typename Key, typename Value, typename Source, typename Target, typename Join>
struct join_runs {
  const Key* keys;
  Source from;
  std::size_t count;
  run_parts<Value> to;
  Target target;
  Join join;
  bool single;

  QUADRAT_HD void operator()(std::size_t chunk) const {
    const std::size_t begin = chunk * run_chunk, end = begin + run_chunk < count ? begin + run_chunk : count;
    // The first entry of a chunk is never empty.
    std::uint32_t place = from.place(begin);
    Value value = from.value(begin);
    bool first = true;
    for (std::size_t i = begin + 1; i < end; ++i) {
      const std::uint32_t next = from.place(i);
      if (next == no_entry) continue;
      if (!Source::begins(i) && keys[next] == keys[place]) {
        value = join(value, from.value(i));
        continue;
      }
      close(first, chunk, place, value);
      first = false;
      place = next;
      value = from.value(i);
    }
    if (single) {
      target.put(keys[place], place, value);
    } else {
      to.put(first ? 2 * chunk : 2 * chunk + 1, place, value);
      if (first) to.places[2 * chunk + 1] = no_entry;
    }
  }

 private:
  QUADRAT_HD void close(bool first, std::size_t chunk, std::uint32_t place, const Value& value) const {
    if (first && !single) {
      to.put(2 * chunk, place, value);
    } else {
      target.put(keys[place], place, value);
    }
  }
};

/// Writes to results[key]; skips keys out of range.
template <typename Value>
struct dense_target {
  Value* results;
  std::uint64_t key_count;

  template <typename Key>
  QUADRAT_HD void put(Key key, std::uint32_t /*place*/, const Value& value) const {
    if (static_cast<std::uint64_t>(key) < key_count) results[static_cast<std::uint64_t>(key)] = value;
  }
};

/// Writes one row per run.
template <typename Key, typename Value>
struct runs_target {
  Key* keys;
  Value* results;
  const std::uint32_t* run_after;  ///< number of runs that begin before this place

  QUADRAT_HD void put(const Key& key, std::uint32_t place, const Value& value) const {
    const std::uint32_t run = run_after[place + 1] - 1;
    keys[run] = key;
    results[run] = value;
  }
};

template <typename Value>
struct fill_with {
  Value* results;
  Value value;
  QUADRAT_HD void operator()(std::size_t i) const { results[i] = value; }
};

template <typename Key>
struct mark_runs {
  const Key* keys;
  std::uint32_t* begins;
  QUADRAT_HD void operator()(std::size_t i) const { begins[i] = i == 0 || !(keys[i] == keys[i - 1]) ? 1 : 0; }
};

/// Raises a fault if a key is out of range, or less than the previous one.
template <typename Key>
struct look_at_keys {
  const Key* keys;
  std::uint64_t key_count;
  fault_flag faults;
  QUADRAT_HD void operator()(std::size_t i) const {
    if (static_cast<std::uint64_t>(keys[i]) >= key_count) faults.raise(fault_kind::key_range, i);
    if (i > 0 && keys[i] < keys[i - 1]) faults.raise(fault_kind::order, i);
  }
};

/// Keys for the sort; keys out of range come last.
template <typename Key>
struct copy_keys {
  const Key* keys;
  std::uint64_t key_count;
  fault_flag faults;
  std::uint32_t* copies;
  QUADRAT_HD void operator()(std::size_t i) const {
    const auto key = static_cast<std::uint64_t>(keys[i]);
    copies[i] = static_cast<std::uint32_t>(key < key_count ? key : key_count);
    if (key >= key_count) faults.raise(fault_kind::key_range, i);
  }
};

}  // namespace detail

/// Joins the values of elements that share a key, with a functor `join(a, b)` that is associative and need not be
/// commutative: a comes before b. A host-device functor (captures by value). Value: any trivially copyable type; only
/// the functor interprets it. Values are joined in order of their elements, with a bracketing that depends only on the
/// keys: bitwise the same in every run and with any number of threads (the level run_to_run), and for an exactly
/// associative functor the same as a serial loop. On the CPU reduce_ordered and reduce_any_order are always the same as
/// a serial loop that begins with the identity: each thread reads all keys and joins the elements of a range of keys.
///
/// Each call waits, may allocate, and throws data_error naming the first key that is out of range or not in order. Its
/// twin with _async does not wait, allocates nothing and can be captured in a CUDA graph. It uses memory from earlier
/// calls of at least that size, and throws argument_error if there is too little. It leaves faults of keys to `check`;
/// on a CPU it throws them itself.
///
/// For `count` elements about count / 7 * (bytes of a value + 4) bytes are held, plus 16 count for reduce_any_order and
/// 4 count for reduce_runs; on the CPU only reduce_runs needs any. All pointers are memory of the context's device;
/// results must not overlap what is read. At most 2^31 - 1 elements, and as many keys. CUDA: one launch per level of
/// the tree; one thread reads 16 consecutive elements, so it is slower than key_reducer, which knows its operations.
/// Move-only. Context: cpu_context or cuda_context.
template <typename Context>
class functor_reducer {
  static_assert(detail::instance<Context>::exists);

 public:
  explicit functor_reducer(const Context& context) : context_(context), faults_(context) {}

  /// results[key] for keys 0 to key_count - 1, in ascending order; `identity` for a key without elements:
  /// join(identity, a) must be a. Key: any integer type. Waits. May allocate. Throws argument_error for too many
  /// elements or keys, or no keys.
  template <typename Key, typename Value, typename Join>
  void reduce_ordered(const Key* keys, const Value* values, std::size_t count, Value* results, std::uint64_t key_count,
                      const Join& join, const Value& identity) {
    join_ordered(keys, values, count, results, key_count, join, identity, true);
  }
  /// The same. Does not wait. Allocates nothing. Can be captured.
  template <typename Key, typename Value, typename Join>
  void reduce_ordered_async(const Key* keys, const Value* values, std::size_t count, Value* results,
                            std::uint64_t key_count, const Join& join, const Value& identity) {
    join_ordered(keys, values, count, results, key_count, join, identity, false);
  }

  /// The same for keys in any order: they are sorted first, with the places of their values. Values of a key are joined
  /// in their given order. Waits. May allocate.
  template <typename Key, typename Value, typename Join>
  void reduce_any_order(const Key* keys, const Value* values, std::size_t count, Value* results,
                        std::uint64_t key_count, const Join& join, const Value& identity) {
    join_any_order(keys, values, count, results, key_count, join, identity, true);
  }
  /// The same. Does not wait. Allocates nothing. Can be captured.
  template <typename Key, typename Value, typename Join>
  void reduce_any_order_async(const Key* keys, const Value* values, std::size_t count, Value* results,
                              std::uint64_t key_count, const Join& join, const Value& identity) {
    join_any_order(keys, values, count, results, key_count, join, identity, false);
  }

  /// One row for each run of consecutive equal keys, in order: run_keys[r] and results[r], both with room for all
  /// possible runs (at most `count`), and the number of runs in *run_count. A key that appears again later begins
  /// another run. Key: any trivially copyable type with a host-device operator==. Waits. May allocate.
  template <typename Key, typename Value, typename Join>
  void reduce_runs(const Key* keys, const Value* values, std::size_t count, Key* run_keys, Value* results,
                   std::uint32_t* run_count, const Join& join) {
    join_all_runs(keys, values, count, run_keys, results, run_count, join, true);
  }
  /// The same. Does not wait. Allocates nothing. Can be captured.
  template <typename Key, typename Value, typename Join>
  void reduce_runs_async(const Key* keys, const Value* values, std::size_t count, Key* run_keys, Value* results,
                         std::uint32_t* run_count, const Join& join) {
    join_all_runs(keys, values, count, run_keys, results, run_count, join, false);
  }

  /// Waits. Allocates nothing. Throws data_error when keys since the last check were out of range or not in order,
  /// naming the first such element; the results since then are invalid.
  void check() {
    const fault_report report = faults_.read(context_);
    if (report.kind == fault_kind::none) return;
    faults_.clear(context_);
    throw data_error(
        message("the key of element ", report.index,
                report.kind == fault_kind::order ? std::string(" is less than the one before; keys must be in order")
                                                 : message(" is out of range; keys must be 0 to ", key_count_ - 1)),
        report.index);
  }

  /// Bytes of the context's memory held.
  [[nodiscard]] std::size_t bytes() const {
    return parts_.bytes() + sorted_.bytes() + numbers_.bytes() + scratch_.bytes();
  }

 private:
  static constexpr bool on_cpu = std::is_same_v<Context, cpu_context>;

  template <typename Key, typename Value, typename Join>
  void join_ordered(const Key* keys, const Value* values, std::size_t count, Value* results, std::uint64_t key_count,
                    const Join& join, const Value& identity, bool waits) {
    check_dense(keys, values, count, results, key_count);
    key_count_ = key_count;
    if constexpr (on_cpu) {
      reduce_ranges(context_, range_reduction_of(keys, values, count, results, join, identity, true), ranges_);
    } else {
      const std::array<std::byte*, 2> levels = memory_of_levels<Value>(count, waits);
      for_each(context_, "keyed.fill", key_count, detail::fill_with<Value>{results, identity});
      for_each(context_, "keyed.look", count, detail::look_at_keys<Key>{keys, key_count, faults_.flag()});
      join_all(detail::run_elements<Key, Value>{keys, values, nullptr}, count,
               detail::dense_target<Value>{results, key_count}, join, levels);
    }
    if (waits || on_cpu) check();
  }

  template <typename Key, typename Value, typename Join>
  void join_any_order(const Key* keys, const Value* values, std::size_t count, Value* results, std::uint64_t key_count,
                      const Join& join, const Value& identity, bool waits) {
    check_dense(keys, values, count, results, key_count);
    key_count_ = key_count;
    if constexpr (on_cpu) {
      reduce_ranges(context_, range_reduction_of(keys, values, count, results, join, identity, false), ranges_);
    } else {
      const std::array<std::byte*, 2> levels = memory_of_levels<Value>(count, waits);
      // The scratch memory of the sort must serve the largest count and bits together.
      const int bits = key_bits_for(key_count + 1);
      const bool fits = count <= sorted_count_ && bits <= sorted_bits_;
      require(waits || fits, "there are ", count, " elements with keys of ", bits, " bits, and there is room to sort ",
              sorted_count_, " of ", sorted_bits_, " bits; reduce_any_order makes room");
      const std::size_t bytes = detail::aligned_bytes(count * sizeof(std::uint32_t));
      std::byte* const memory = sorted_.request(context_, 4 * bytes);
      const auto part = [&](std::size_t k) { return reinterpret_cast<std::uint32_t*>(memory + k * bytes); };
      const sort_buffers<std::uint32_t> buffers{{part(0), part(1)}, {part(2), part(3)}};
      for_each(context_, "keyed.fill", key_count, detail::fill_with<Value>{results, identity});
      for_each(context_, "keyed.copy_keys", count, detail::copy_keys<Key>{keys, key_count, faults_.flag(), part(0)});
      const int side = sort_pairs(context_, buffers, count, bits, scratch_, sort_values::index);
      if (!fits) {
        sorted_count_ = count;
        sorted_bits_ = bits;
      }
      join_all(detail::run_elements<std::uint32_t, Value>{buffers.keys[side], values, buffers.values[side]}, count,
               detail::dense_target<Value>{results, key_count}, join, levels);
    }
    if (waits || on_cpu) check();
  }

  template <typename Key, typename Value, typename Join>
  void join_all_runs(const Key* keys, const Value* values, std::size_t count, Key* run_keys, Value* results,
                     std::uint32_t* run_count, const Join& join, bool waits) {
    static_assert(std::is_trivially_copyable_v<Key>, "keys are trivially copyable");
    check_elements(keys, values, count);
    require_pointer(run_keys, count, "keys of runs");
    require_pointer(results, count, "results");
    require_pointer(run_count, 1, "numbers of runs");
    const std::array<std::byte*, 2> levels = memory_of_levels<Value>(count, waits);
    if (count == 0) {
      fill_bytes(context_, run_count, 0, sizeof(std::uint32_t));
    } else {
      auto* const numbers =
          reinterpret_cast<std::uint32_t*>(memory_in(numbers_, (count + 1) * sizeof(std::uint32_t), waits));
      for_each(context_, "keyed.mark_runs", count, detail::mark_runs<Key>{keys, numbers});
      exclusive_scan_with_total(context_, numbers, numbers, count, scratch_);
      copy_bytes(context_, numbers + count, run_count, sizeof(std::uint32_t));
      join_all(detail::run_elements<Key, Value>{keys, values, nullptr}, count,
               detail::runs_target<Key, Value>{run_keys, results, numbers}, join, levels);
    }
    if (waits) context_.synchronize();
  }

  /// Memory of at least this many bytes; existing memory if `grows` is false.
  [[nodiscard]] std::byte* memory_in(workspace<Context>& space, std::size_t bytes, bool grows) {
    require(grows || bytes <= space.bytes(), "the call needs ", bytes, " bytes of memory, and there are ",
            space.bytes(), "; the call without _async makes room");
    return space.request(context_, bytes);
  }

  template <typename Key, typename Value, typename Join>
  [[nodiscard]] detail::range_reduction<Key, Value, Join> range_reduction_of(const Key* keys, const Value* values,
                                                                             std::size_t count, Value* results,
                                                                             const Join& join, const Value& identity,
                                                                             bool in_order) {
    return {keys, values, count, results, key_count_, join, identity, faults_.flag(), in_order};
  }
  static void check_elements(const void* keys, const void* values, std::size_t count) {
    require(count <= max_count, count, " elements are too many; 2147483647 are possible");
    require_pointer(keys, count, "keys");
    require_pointer(values, count, "values");
  }
  template <typename Key>
  static void check_dense(const Key* keys, const void* values, std::size_t count, const void* results,
                          std::uint64_t key_count) {
    static_assert(std::is_integral_v<Key>, "keys that are places of results are integers; reduce_runs takes others");
    check_elements(keys, values, count);
    require(key_count >= 1 && key_count <= max_count, "the number of keys is ", key_count,
            "; it must be 1 to 2147483647");
    require_pointer(results, key_count, "results");
  }

  /// Partial runs that a level produces.
  [[nodiscard]] static std::size_t parts_of(std::size_t entries) {
    return 2 * ((entries + detail::run_chunk - 1) / detail::run_chunk);
  }

  template <typename Value>
  [[nodiscard]] detail::run_parts<Value> parts_at(std::byte* memory, std::size_t entries) {
    const std::size_t values = detail::aligned_bytes(entries * sizeof(Value));
    return {reinterpret_cast<std::uint32_t*>(memory + values), reinterpret_cast<Value*>(memory)};
  }
  template <typename Value>
  [[nodiscard]] static std::size_t bytes_of(std::size_t entries) {
    return detail::aligned_bytes(entries * sizeof(Value)) + detail::aligned_bytes(entries * sizeof(std::uint32_t));
  }

  /// The two buffers between which the levels alternate.
  template <typename Value>
  [[nodiscard]] std::array<std::byte*, 2> memory_of_levels(std::size_t count, bool grows) {
    static_assert(std::is_trivially_copyable_v<Value> && alignof(Value) <= 64, "values are kept in raw memory");
    const std::size_t entries = parts_of(count), first = bytes_of<Value>(entries);
    std::byte* const memory = memory_in(parts_, first + bytes_of<Value>(parts_of(entries)), grows);
    return {memory, memory + first};
  }

  /// Reduces level by level until one chunk holds everything.
  template <typename Key, typename Value, typename Target, typename Join>
  void join_all(const detail::run_elements<Key, Value>& elements, std::size_t count, const Target& target,
                const Join& join, const std::array<std::byte*, 2>& places) {
    if (count == 0) return;
    std::size_t entries = parts_of(count);
    auto parts = parts_at<Value>(places[0], entries);
    join_level(elements.keys, elements, count, parts, target, join);
    for (int side = 1; count > detail::run_chunk; side = 1 - side) {
      count = entries;
      entries = parts_of(count);
      const auto next = parts_at<Value>(places[side], entries);
      join_level(elements.keys, parts, count, next, target, join);
      parts = next;
    }
  }

  template <typename Key, typename Value, typename Source, typename Target, typename Join>
  void join_level(const Key* keys, const Source& from, std::size_t count, const detail::run_parts<Value>& to,
                  const Target& target, const Join& join) {
    const std::size_t chunks = (count + detail::run_chunk - 1) / detail::run_chunk;
    for_each(context_, "keyed.join_runs", chunks,
             detail::join_runs<Key, Value, Source, Target, Join>{keys, from, count, to, target, join, chunks == 1});
  }

  Context context_;
  fault_state<Context> faults_;
  workspace<Context> parts_, sorted_, numbers_, scratch_;
  std::size_t sorted_count_ = 0;
  int sorted_bits_ = 0;
  std::vector<std::uint64_t> ranges_;  // CPU
  std::uint64_t key_count_ = 0;        // of the last reduction to dense results
};

}  // namespace quadrat
