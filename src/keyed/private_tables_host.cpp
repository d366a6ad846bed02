// SPDX-License-Identifier: BSD-3-Clause
#include "keyed/private_tables.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <utility>

#include "keyed/folds.hpp"
#include "keyed/keys_in_range.hpp"
#include "keyed/row_join.hpp"
#include "parallel/partition.hpp"

namespace quadrat::detail {

namespace {

/// The number of parts if sums must be the same with any number of threads.
constexpr std::size_t fixed_parts = 8;
/// The least number of elements per result of a table, so that clearing and joining tables takes little time.
constexpr std::size_t elements_a_result = 4;
/// The largest table. Caches hold too little of larger ones, so that a part of the results per thread is faster.
constexpr std::size_t most_table_bytes = std::size_t{32} << 20;
/// Rows per key if the table then fits a level-1 cache, and the size of that cache.
constexpr std::size_t most_copies = 4;
constexpr std::size_t copied_table_bytes = std::size_t{32} << 10;
/// Tables up to this size have room for rows of all components of the largest type, larger ones for those expected.
constexpr std::size_t roomy_table_bytes = std::size_t{3} << 20;
/// Tables begin this many words apart, so that no two share a pair of cache lines.
constexpr std::size_t table_words = 16;

/// Whether a table has several rows for each key.
[[nodiscard]] constexpr bool has_copies(double keys, double row_bytes) {
  return static_cast<double>(most_copies) * keys * row_bytes <= static_cast<double>(copied_table_bytes);
}

/// Words of 8 bytes for each row of a table.
[[nodiscard]] std::size_t words_of_row(double keys, double row_bytes) {
  const bool roomy = keys * row_bytes <= static_cast<double>(roomy_table_bytes);
  return roomy ? most_value_components : static_cast<std::size_t>(std::ceil(row_bytes / 8));
}

/// Parts of the elements that have a table each; 0: ranges of keys instead.
[[nodiscard]] std::size_t parts_with_tables(determinism level, int threads, double elements, double keys,
                                            double row_bytes) {
  const std::size_t parts = level == determinism::none ? static_cast<std::size_t>(threads) : fixed_parts;
  const bool worth_it = parts > 1 || has_copies(keys, row_bytes);
  const bool many = elements >= static_cast<double>(elements_a_result * parts) * keys;
  return worth_it && many && keys * row_bytes <= static_cast<double>(most_table_bytes) ? parts : 0;
}

/// Joins elements [first, last) to a table of `Copies` rows for each key.
template <std::size_t Copies, typename Key, typename Join>
void fill_table(const key_source& source, const Key* keys, std::size_t first, std::size_t last, const Join& join) {
  const std::uint32_t key_count = source.key_count;
  const auto take = [&, key_count, keys, join](std::size_t i, std::size_t copy) {
    if (keys[i] < key_count) {
      join(i, static_cast<std::size_t>(keys[i]) * Copies + copy);
    } else {
      static_cast<void>(source.checked(no_key, i));
    }
  };
  const auto take_all = [&]<std::size_t... Copy>(std::index_sequence<Copy...>) {
    for (; first + Copies <= last; first += Copies) {
      if ((... && (keys[first + Copy] < key_count))) {
        (join(first + Copy, static_cast<std::size_t>(keys[first + Copy]) * Copies + Copy), ...);
      } else {
        (take(first + Copy, Copy), ...);
      }
    }
  };
  take_all(std::make_index_sequence<Copies>());
  for (; first < last; ++first) take(first, 0);
}

/// Elements whose keys are tested together.
constexpr std::size_t keys_a_block = 2048;
/// Results of a thread with more bytes than this are far: they are prefetched this many elements ahead.
constexpr std::size_t near_bytes = std::size_t{1} << 20;
constexpr std::size_t elements_ahead = 64;

/// Joins element(j), j < count, whose keys are in range.
template <typename Key, typename Join, typename Element>
void join_all(const Key* keys, std::size_t count, bool far, const Join& join, const Element& element) {
  const auto key_of = [&](std::size_t j) { return static_cast<std::size_t>(keys[element(j)]); };
  std::size_t j = 0;
  for (; far && j + elements_ahead < count; ++j) {
    join.prefetch(key_of(j + elements_ahead));
    join(element(j), key_of(j));
  }
  for (; j < count; ++j) join(element(j), key_of(j));
}

/// Joins elements [first, end) to far results.
template <typename Key, typename Join>
void fill_far(const key_source& source, const Key* keys, std::size_t first, std::size_t end, const Join& join) {
  for (; first < end; first += keys_a_block) {
    const std::size_t last = std::min(first + keys_a_block, end);
    Key wrong = 0;
    for (std::size_t i = first; i < last; ++i) wrong |= keys[i] < source.key_count ? 0 : 1;
    if (wrong == 0) {
      join_all(keys, last - first, true, join, [&](std::size_t j) { return first + j; });
    } else {
      fill_table<1>(source, keys, first, last, join);
    }
  }
}

/// Elements of a range of keys, found block by block without branches.
template <typename Key>
class range_reader {
 public:
  /// far: whether results are far (see near_bytes).
  range_reader(const key_source& source, const Key* keys, bool far) : source_(source), keys_(keys), far_(far) {}

  /// Calls join(element, key) for the elements with a key in [first, last), in order, and returns their number.
  template <typename Join>
  std::size_t read(Key first, Key last, const Join& join) {
    // The CPU is queried once, because the query allocates.
    static const keys_in_range_function<Key> find = keys_in_range_functions<Key>().front();
    const Key* const keys = keys_;
    std::size_t all = 0;
    for (std::size_t begin = 0; begin < source_.count; begin += block) {
      const std::size_t here = std::min(block, source_.count - begin);
      const std::size_t found =
          (here == block ? find : keys_in_range_plain<Key>)(keys + begin, here, first, last, places_.data());
      join_all(keys, found, far_, join, [&](std::size_t j) { return begin + places_[j]; });
      all += found;
    }
    return all;
  }

 private:
  static constexpr std::size_t block = keys_a_block;
  static_assert(block % keys_a_step == 0);
  key_source source_;
  const Key* keys_;
  bool far_;
  std::array<std::uint32_t, block + keys_a_step> places_;
};

/// The beginnings, and the end, of `parts` ranges of about equal work: elements to join, by a sample, and results to
/// clear, of row_bytes each. The elements of one key are not divided. Sampled elements are at random distances, because
/// at equal distances they could all have the same key.
void choose_ranges(const key_source& keys, std::size_t parts, double row_bytes, std::uint32_t* ranges) {
  constexpr std::size_t most = 1024;
  constexpr double bytes_cleared = 64;  // in the time of joining one element
  std::array<std::uint32_t, most> sample;
  const std::size_t wanted = std::min(most, keys.count);
  std::size_t seen = 0;
  std::uint64_t random = 1;
  for (std::size_t s = 0; s < wanted; ++s) {
    const std::size_t first = keys.count * s / wanted, width = keys.count * (s + 1) / wanted - first;
    random = random * 6364136223846793005u + 1442695040888963407u;
    const std::uint32_t key = keys.raw(first + (random >> 32) % width);
    if (key < keys.key_count) sample[seen++] = key;
  }
  const auto begin = sample.begin(), end = begin + static_cast<std::ptrdiff_t>(seen);
  std::sort(begin, end);
  const double all = keys.key_count, elements = seen > 0 ? static_cast<double>(keys.count) : 0;
  const double joined = elements / static_cast<double>(std::max<std::size_t>(seen, 1)),
               cleared = row_bytes / bytes_cleared;
  auto next = begin;  // in the sample: the first element not fully before the range
  double before = 0;  // elements of the sample before it
  ranges[0] = 0;
  for (std::size_t part = 1; part < parts; ++part) {
    const double share = (elements + cleared * all) * static_cast<double>(part) / static_cast<double>(parts);
    for (; next != end && before + joined + cleared * *next <= share; ++next) before += joined;
    double first = (share - before) / cleared;
    // The key whose sampled elements are cut, or would be in the wrong range.
    auto cut = end;
    if (next != end && first >= *next) cut = next;
    if (cut == end && next != begin && first < *(next - 1) + 1.0) cut = next - 1;
    if (cut != end) {
      const auto [same, other] = std::equal_range(begin, end, *cut);
      first = *cut + (next - same < other - next ? 0.0 : 1.0);
    }
    ranges[part] = std::max(ranges[part - 1], static_cast<std::uint32_t>(std::min(first, all)));
  }
  ranges[parts] = keys.key_count;
}

}  // namespace

std::size_t private_tables_engine::table_parts(std::size_t count) const {
  return parts_with_tables(context_.reproducibility(), context_.threads(), static_cast<double>(count), setup_.key_count,
                           setup_.options.value_bytes);
}

std::size_t private_tables_engine::row_words() const {
  return words_of_row(setup_.key_count, setup_.options.value_bytes);
}

std::size_t private_tables_engine::part_words() const {
  const std::size_t copies = has_copies(setup_.key_count, 4) ? most_copies : 1;
  const std::size_t words = copies * setup_.key_count * row_words();
  return (words + table_words - 1) / table_words * table_words;
}

method_cost private_tables_method::cost(const key_request& request) {
  const std::size_t parts =
      parts_with_tables(request.level, request.threads, request.elements, request.keys, request.row_bytes);
  const double copies = parts > 0 && has_copies(request.keys, request.row_bytes) ? most_copies : 1;
  const double waits = copies > 1 ? 0.6 : 1;
  // Fetching far results takes time, however close to each other they are.
  constexpr double fetch = 2000;
  const bool fetches = parts > 0 && request.keys * request.row_bytes > static_cast<double>(near_bytes);
  const double join = waits * cpu_join(request, parts > 0 ? 1 : 1.0 / request.threads) + (fetches ? fetch : 0);
  // One thread does the work of a range, even if all of it belongs to a single key.
  const double alone = parts > 0 ? 0 : join;
  const double tables = static_cast<double>(parts);
  const bool fills =
      parts == 1 ? false : starts_team(request, request.elements + (parts > 0 ? 0 : request.keys), cpu_tables_team);
  const bool collects = parts > 0 && starts_team(request, tables * request.keys, cpu_tables_team);
  constexpr double sampled = 1024;
  // One thread does the elements of a part, or of a key.
  const double own = parts > 0 ? 1.0 / request.threads : std::max(1.0 / request.threads, request.sample.commonest);
  return cpu_cost({.element = join,
                   .commonest = alone,
                   .scan = fills ? 500.0 : 0,
                   .teams = (fills ? 1.0 : 0) + (collects ? 1 : 0),
                   .set_elements = parts > 0 || !fills ? 0 : std::min(sampled, request.elements),
                   .clears = 0,
                   .table_row_bytes = 8.0 * static_cast<double>(words_of_row(request.keys, request.row_bytes)),
                   .work = parts > 0 ? "work" : "ranged_work",
                   .elements = parts > 0 ? "elements" : "ranged_elements"},
                  request, tables * copies)
      .each("waits", cost_unit::step, copies > 1 ? 0 : waiting_elements(request, own))
      .each("clear_far", cost_unit::byte, (1 + tables) * far_result_bytes(request) / (fills ? request.threads : 1));
}

void private_tables_engine::set_keys(const key_source& keys) {
  const std::size_t parts = table_parts(keys.count);
  tables_.resize_discarding(context_, parts * part_words());
  const auto threads = static_cast<std::size_t>(context_.threads());
  const bool may_have_ranges = parts == 0 || row_words() < most_value_components;
  if (may_have_ranges && threads > 1 && keys.count + setup_.key_count >= cpu_tables_team) {
    ranges_.resize(threads + 1);
    choose_ranges(keys, threads, setup_.options.value_bytes, ranges_.data());
  }
  keys_ = keys;
}

template <typename Fold, int Components, std::size_t Copies, typename T, typename Source, typename Rows>
void private_tables_engine::join_tables(const Source& source, const Rows& results, int components, bool accumulate) {
  const std::size_t parts = table_parts(keys_.count), key_count = setup_.key_count;
  const auto width = static_cast<std::size_t>(components);
  const auto table = [&](std::size_t part) {
    T* const first = reinterpret_cast<T*>(tables_.data() + part * part_words());
    return packed_rows<Components, T>{first, width};
  };
  const partition elements{keys_.count, parts};
  with_keys(keys_, [&](const auto* keys) {
    for_each_part_of(context_, parts, keys_.count, [&](std::size_t part) {
      const auto join = make_row_join<Fold, Components>(source, table(part), components);
      join.clear(0, key_count * Copies);
      const std::size_t first = elements.first(part), last = elements.last(part);
      if (Copies == 1 && key_count * width * sizeof(T) > near_bytes) return fill_far(keys_, keys, first, last, join);
      fill_table<Copies>(keys_, keys, first, last, join);
    });
  });
  const partition key_ranges = partition_for(context_, key_count, 1);
  for_each_part_of(context_, key_ranges.parts, parts * key_count, [&](std::size_t range) {
    const auto join = make_row_join<Fold, Components>(source, results, components);
    const std::size_t first = key_ranges.first(range), last = key_ranges.last(range);
    if (!accumulate) join.clear(first, last);
    for (std::size_t part = 0; part < parts; ++part) {
      const T* from = table(part).rows + first * Copies * width;
      for (std::size_t row = first * Copies; row < last * Copies; ++row) {
        for (int c = 0; c < join.components(); ++c) join.join(row / Copies, c, *from++);
      }
    }
  });
}

template <typename Fold, int Components, typename Source, typename Rows>
void private_tables_engine::join_ranges(const Source& source, const Rows& results, int components, bool accumulate) {
  const std::size_t work = keys_.count + setup_.key_count;
  // One thread takes all keys at once.
  const auto threads = work < cpu_tables_team ? 1 : static_cast<std::size_t>(context_.threads());
  std::atomic<std::size_t> joined{0};
  with_keys(keys_, [&](const auto* keys) {
    for_each_part_of(context_, threads, work, [&](std::size_t part) {
      using key = std::remove_cvref_t<decltype(*keys)>;
      const auto join = make_row_join<Fold, Components>(source, results, components);
      if (!accumulate && threads == 1) join.clear(0, setup_.key_count);
      if (!accumulate && threads > 1) join.clear(ranges_[part], ranges_[part + 1]);
      const std::size_t row_bytes = static_cast<std::size_t>(components) * sizeof(results.at(0, 0));
      const bool far = setup_.key_count * row_bytes > threads * near_bytes;
      if (threads == 1 && far) return fill_far(keys_, keys, 0, keys_.count, join);
      if (threads == 1) return fill_table<1>(keys_, keys, 0, keys_.count, join);
      range_reader<key> reader(keys_, keys, far);
      joined += reader.read(ranges_[part], ranges_[part + 1], join);
    });
    // A key in no range is invalid. Only then are all keys checked again.
    if (threads == 1 || joined == keys_.count) return;
    for (std::size_t i = 0; i < keys_.count; ++i) static_cast<void>(keys_.checked(narrow_key(keys[i]), i));
  });
}

template <typename Fold, int Components, typename T, typename Source, typename Rows>
void private_tables_engine::join(const Source& source, const Rows& results, int components, bool accumulate) {
  const bool fits = static_cast<std::size_t>(components) * sizeof(T) <= row_words() * sizeof(std::uint64_t);
  if (table_parts(keys_.count) == 0 || !fits)
    return join_ranges<Fold, Components>(source, results, components, accumulate);
  if (has_copies(setup_.key_count, static_cast<double>(components) * sizeof(T))) {
    join_tables<Fold, Components, most_copies, T>(source, results, components, accumulate);
  } else {
    join_tables<Fold, Components, 1, T>(source, results, components, accumulate);
  }
}

template <typename T>
void private_tables_engine::run(const key_reduction<T>& reduction) {
  if (reduction.accumulate) clear_results(context_, reduction);
  with_fold(reduction.fold, [&](auto fold) {
    using fold_type = decltype(fold);
    with_rows<fold_type>(
        reduction.values, reduction.results, [&](auto components, const auto& source, const auto& rows) {
          join<fold_type, components.value, T>(source, rows, reduction.results.components, reduction.accumulate);
        });
  });
}

void private_tables_engine::count(std::uint64_t* results, bool accumulate) {
  join<sum_fold, 1, std::uint64_t>(ones{}, packed_rows<1, std::uint64_t>{results, 1}, 1, accumulate);
}

template void private_tables_engine::run(const key_reduction<std::int32_t>&);
template void private_tables_engine::run(const key_reduction<std::int64_t>&);
template void private_tables_engine::run(const key_reduction<float>&);
template void private_tables_engine::run(const key_reduction<double>&);

}  // namespace quadrat::detail
