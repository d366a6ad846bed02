// SPDX-License-Identifier: BSD-3-Clause
#include "keyed/partitioned.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "keyed/folds.hpp"
#include "keyed/row_join.hpp"

namespace quadrat::detail {

namespace {

/// The results of a range of keys: half of a level-2 cache.
constexpr std::size_t range_bytes = std::size_t{512} << 10;
/// Keys in a range take 16 bits; ranges with too few keys do not pay.
constexpr int most_range_bits = 16, least_range_bits = 4;
/// There are at least 2^5 ranges for threads to share, and at most 2^12, unless ranges would exceed 2^16 keys: each
/// range keeps a cache line of keys and of values open.
constexpr int few_ranges_bits = 5, many_ranges_bits = 12;
/// Elements of a block that is moved or stays. Results depend on it.
constexpr std::size_t moving_block = 1024;
/// With fewer blocks, a part of the elements does not pay for a thread.
constexpr std::size_t least_blocks = 8;
/// A range is cut into pieces if it has 1 / most_pieces of the elements.
constexpr std::size_t most_pieces = 16;
/// Places between two ranges. Without them, ranges with a power of two as size would compete for the same cache
/// lines.
constexpr std::size_t places_between = 96, places_aligned = 32;

[[nodiscard]] std::size_t row_bytes_for(int value_bytes) {
  return (static_cast<std::size_t>(std::clamp(value_bytes, 1, 64)) + 7) / 8 * 8;
}

[[nodiscard]] int range_bits_for(std::uint32_t key_count, std::size_t row_bytes) {
  const int key_bits = static_cast<int>(std::bit_width(key_count - 1));
  const int cached = std::min(most_range_bits, static_cast<int>(std::bit_width(range_bytes / row_bytes)) - 1);
  const int wanted = std::max(std::min(cached, key_bits - few_ranges_bits), key_bits - many_ranges_bits);
  return std::clamp(wanted, least_range_bits, most_range_bits);
}

/// The range of all keys of a block; no_key if there are several ranges or a key is out of range.
template <typename Key>
[[nodiscard]] std::uint32_t range_of(const Key* keys, std::size_t count, std::uint32_t key_count, int shift) {
  const Key range = keys[0] >> shift;
  if (keys[0] >= key_count || keys[count / 2] >> shift != range || keys[count - 1] >> shift != range) return no_key;
  Key differ = 0;
  for (std::size_t i = 0; i < count; ++i) differ |= keys[i] ^ keys[0];
  if (differ >> shift != 0) return no_key;
  if ((range + 1) << shift <= key_count) return static_cast<std::uint32_t>(range);
  bool fine = true;
  for (std::size_t i = 0; i < count; ++i) fine &= keys[i] < key_count;
  return fine ? static_cast<std::uint32_t>(range) : no_key;
}

/// Components [first, first + count).
template <typename T>
[[nodiscard]] component_values<T> some_components(const component_values<T>& all, int first, int count) {
  component_values<T> some = all;
  some.components = count;
  std::copy_n(all.component + first, count, some.component);
  return some;
}

}  // namespace

method_cost partitioned_method::cost(const key_request& request) {
  const std::size_t row_bytes = row_bytes_for(static_cast<int>(request.row_bytes));
  const double keys = std::clamp(request.keys, 1.0, 4294967295.0);
  const double range = std::exp2(range_bits_for(static_cast<std::uint32_t>(keys), row_bytes));
  // The sample shows the range of keys of twice as many elements.
  const double sampled = std::clamp(request.elements, 1.0, 2.0 * moving_block);
  const double block_span = request.sample.block_span * std::min(1.0, moving_block / sampled);
  const double moved = request.keys <= range ? 0 : std::min(1.0, block_span / range);
  const double piece = std::max(request.elements / most_pieces, 2 * range);
  const double fullest = std::max(request.sample.commonest, range / std::max(range, request.sample.span));
  const bool moves = starts_team(request, request.elements, 2.0 * least_blocks * moving_block);
  const bool joins = starts_team(request, request.elements + request.keys, cpu_tables_team);
  const bool collects = fullest * request.elements >= 2 * piece;
  const double threads = joins ? request.threads : 1, movers = moves ? request.threads : 1;
  method_cost cost;
  cost.once("start", cost_unit::launch, 1);
  cost.once("team", cost_unit::launch, moves ? 2 : 0);
  cost.once("elements", cost_unit::step, 1e-6 * request.elements / movers);
  cost.once("moved", cost_unit::step, 1e-6 * request.elements * moved / movers);
  cost.each("start", cost_unit::launch, 1);
  cost.each("team", cost_unit::launch, (moves ? 1 : 0) + (joins ? 1 : 0) + (joins && collects ? 1 : 0));
  cost.each("elements", cost_unit::step, 1e-6 * request.elements / threads);
  cost.each("bytes", cost_unit::byte, 1e-6 * request.elements * request.row_bytes / threads);
  constexpr double moved_byte = 0.2;  // relative to moving a key
  cost.each("moved", cost_unit::step, 1e-6 * request.elements * moved * (1 + moved_byte * request.row_bytes) / movers);
  const double alone = joins && !collects ? std::max(0.0, fullest - 1 / threads) : 0;
  cost.each("alone", cost_unit::step, 1e-6 * request.elements * alone);
  cost.each("waits", cost_unit::step, waiting_elements(request, 1 / threads));
  cost.each("clear", cost_unit::byte, 1e-6 * request.keys * request.row_bytes / threads);
  cost.each("clear_far", cost_unit::byte, far_result_bytes(request) / threads);
  return cost.holds((2 + static_cast<double>(row_bytes)) * request.elements);
}

partitioned_engine::partitioned_engine(const cpu_context& context, const key_setup& setup)
    : context_(context),
      setup_(setup),
      row_bytes_(row_bytes_for(setup.options.value_bytes)),
      shift_(range_bits_for(setup.key_count, row_bytes_)),
      ranges_(((std::size_t{setup.key_count} - 1) >> shift_) + 1) {}

std::size_t partitioned_engine::piece_elements(std::size_t count) const {
  return std::max(count / most_pieces, 2 * range_rows());
}

std::size_t partitioned_engine::places_for(std::size_t count) const {
  return count + ranges_ * (places_between + places_aligned);
}

std::size_t partitioned_engine::bytes_needed(std::size_t count) const {
  return places_for(count) * (sizeof(std::uint16_t) + row_bytes_) + tables_for(count) * range_rows() * row_bytes_;
}

std::size_t partitioned_engine::bytes() const {
  return range_of_block_.bytes() + blocks_.bytes() + shares_.bytes() + next_.bytes() + where_.bytes() +
         moved_keys_.bytes() + moved_values_.bytes() + tables_.bytes();
}

void partitioned_engine::allocate(std::size_t count) {
  const std::size_t blocks = (count + moving_block - 1) / moving_block;
  block_parts_ = partition_for(context_, blocks, least_blocks);
  range_of_block_.resize_discarding(context_, blocks);
  blocks_.resize_discarding(context_, blocks);
  shares_.resize_discarding(context_, block_parts_.parts * part_ranges());
  next_.resize_discarding(context_, block_parts_.parts * part_ranges());
  where_.resize_discarding(context_, ranges_);
  moved_keys_.resize_discarding(context_, places_for(count));
  moved_values_.resize_discarding(context_, places_for(count) * row_bytes_);
  tables_.resize_discarding(context_, tables_for(count) * range_rows() * row_bytes_);
}

template <typename Key>
void partitioned_engine::count_part(const Key* keys, std::size_t part) {
  range_share* const shares = shares_of(part);
  std::fill_n(shares, ranges_, range_share{0, 0});
  for (std::size_t block = block_parts_.first(part); block < block_parts_.last(part); ++block) {
    const std::size_t first = block * moving_block, last = std::min(first + moving_block, keys_.count);
    const std::uint32_t range = range_of(keys + first, last - first, keys_.key_count, shift_);
    range_of_block_.data()[block] = range;
    if (range != no_key) {
      ++shares[range].blocks;
      continue;
    }
    for (std::size_t i = first; i < last; ++i) {
      const std::uint32_t key = keys_.checked(narrow_key(keys[i]), i);
      if (key != no_key) ++shares[key >> shift_].moved;
    }
  }
}

/// Turns the shares into the places of their first blocks and elements: by range, then by part.
void partitioned_engine::place_shares() {
  std::uint64_t block = 0, place = 0;
  for (std::size_t range = 0; range < ranges_; ++range) {
    key_range& where = where_.data()[range];
    where = {block, 0, place, 0};
    for (std::size_t part = 0; part < block_parts_.parts; ++part) {
      range_share& share = shares_of(part)[range];
      const range_share here = share;
      share = {block, place};
      block += here.blocks;
      place += here.moved;
    }
    where.stay = (block - where.first_block) * moving_block;
    where.moved = place - where.first_moved;
    place = (place + places_between + places_aligned - 1) / places_aligned * places_aligned;
  }
  const std::size_t rest = keys_.count % moving_block;
  if (rest == 0) return;
  const std::uint32_t last = range_of_block_.data()[block_parts_.count - 1];
  if (last != no_key) where_.data()[last].stay -= moving_block - rest;
}

void partitioned_engine::list_blocks(std::size_t part) {
  range_share* const shares = shares_of(part);
  for (std::size_t block = block_parts_.first(part); block < block_parts_.last(part); ++block) {
    const std::uint32_t range = range_of_block_.data()[block];
    if (range != no_key) blocks_.data()[shares[range].blocks++] = block;
  }
}

void partitioned_engine::cut_pieces() {
  const std::size_t least = piece_elements(keys_.count);
  std::uint32_t tables = 0;
  pieces_.clear();
  for (std::size_t range = 0; range < ranges_; ++range) {
    const std::size_t elements = where_.data()[range].stay + where_.data()[range].moved;
    const partition cuts{elements, std::max<std::size_t>(elements / least, 1)};
    for (std::size_t cut = 0; cut < cuts.parts; ++cut) {
      pieces_.push_back(
          {static_cast<std::uint32_t>(range), cut == 0 ? no_table : tables++, cuts.first(cut), cuts.last(cut)});
    }
  }
}

void partitioned_engine::set_keys(const key_source& keys) {
  allocate(keys.count);
  keys_ = keys;
  with_keys(keys_, [&](const auto* words) {
    for_each_part_of(context_, block_parts_.parts, keys_.count, [&](std::size_t part) { count_part(words, part); });
  });
  place_shares();
  for_each_part_of(context_, block_parts_.parts, keys_.count, [&](std::size_t part) { list_blocks(part); });
  cut_pieces();
}

/// Moves the elements of a part, with some components of their values.
template <int Components, typename T, typename Key, typename Source>
void partitioned_engine::move_part(const Key* keys, std::size_t part, const Source& source, int components) {
  const range_share* const shares = shares_of(part);
  std::uint64_t* const next = next_.data() + part * part_ranges();
  for (std::size_t range = 0; range < ranges_; ++range) next[range] = shares[range].moved;
  std::uint16_t* const moved = moved_keys_.data();
  const packed_rows<Components, T> rows{reinterpret_cast<T*>(moved_values_.data()),
                                        static_cast<std::size_t>(components)};
  const auto in_range = static_cast<std::uint32_t>(range_rows() - 1);
  const std::uint32_t key_count = keys_.key_count;
  const int shift = shift_, width = Components > 0 ? Components : components;
  for (std::size_t block = block_parts_.first(part); block < block_parts_.last(part); ++block) {
    if (range_of_block_.data()[block] != no_key) continue;
    const std::size_t first = block * moving_block, last = std::min(first + moving_block, keys_.count);
    for (std::size_t i = first; i < last; ++i) {
      if (keys[i] >= key_count) continue;
      const auto key = static_cast<std::uint32_t>(keys[i]);
      const std::uint64_t place = next[key >> shift]++;
      moved[place] = static_cast<std::uint16_t>(key & in_range);
      if constexpr (!std::is_same_v<Source, ones>) {
        for (int c = 0; c < width; ++c) rows.at(place, c) = source.load(i, c);
      }
    }
  }
}

template <int Components, typename T>
packed_rows<Components, T> partitioned_engine::table_of(const piece& work, int components) {
  return {reinterpret_cast<T*>(tables_.data() + work.table * range_rows() * row_bytes_),
          static_cast<std::size_t>(components)};
}

/// Joins elements of blocks, then moved ones.
template <typename Join, typename Moved>
void partitioned_engine::join_elements(const piece& work, const Join& join, const Moved& join_moved) {
  const key_range where = where_.data()[work.range];
  const auto in_range = static_cast<std::uint32_t>(range_rows() - 1);
  with_keys(keys_, [&, in_range](const auto* keys) {
    const std::uint64_t end = std::min(work.last, where.stay);
    for (std::uint64_t at = work.first; at < end;) {
      const std::size_t in_block = at % moving_block;
      const std::size_t first = blocks_.data()[where.first_block + at / moving_block] * moving_block + in_block;
      const std::size_t here = std::min(moving_block - in_block, end - at);
      for (std::size_t i = first; i < first + here; ++i) join(i, static_cast<std::uint32_t>(keys[i]) & in_range);
      at += here;
    }
  });
  const std::uint16_t* const keys = moved_keys_.data();
  const std::size_t begin = where.first_moved + std::max(work.first, where.stay) - where.stay;
  const std::size_t end = where.first_moved + std::max(work.last, where.stay) - where.stay;
  for (std::size_t place = begin; place < end; ++place) join_moved(place, keys[place]);
}

template <typename Fold, int Components, typename T, typename Source, typename Rows>
void partitioned_engine::join_piece(const piece& work, const Source& source, const Rows& results, int components,
                                    bool accumulate) {
  const std::size_t first_key = std::size_t{work.range} << shift_;
  const std::size_t rows = std::min(range_rows(), std::size_t{setup_.key_count} - first_key);
  const auto join_to = [&](const auto& target) {
    const auto join = make_row_join<Fold, Components>(source, target, components);
    if (work.table != no_table || !accumulate) join.clear(0, rows);
    if constexpr (std::is_same_v<Source, ones>) {
      join_elements(work, join, join);
    } else {
      const packed_rows<Components, const T> moved{reinterpret_cast<const T*>(moved_values_.data()),
                                                   static_cast<std::size_t>(components)};
      join_elements(work, join, make_row_join<Fold, Components>(moved, target, components));
    }
  };
  if (work.table != no_table) return join_to(table_of<Components, T>(work, components));
  join_to(results.from(first_key));
}

/// Joins a part of the rows of all tables to the results.
template <typename Fold, int Components, typename T, typename Rows>
void partitioned_engine::collect(std::size_t part, std::size_t parts, const Rows& results, int components) {
  const auto join = make_row_join<Fold, Components>(ones{}, results, components);
  for (const piece& work : pieces_) {
    if (work.table == no_table) continue;
    const auto table = table_of<Components, T>(work, components);
    const std::size_t first_key = std::size_t{work.range} << shift_;
    const partition rows{std::min(range_rows(), std::size_t{setup_.key_count} - first_key), parts};
    for (std::size_t row = rows.first(part); row < rows.last(part); ++row) {
      for (int c = 0; c < join.components(); ++c) join.join(first_key + row, c, table.at(row, c));
    }
  }
}

template <typename Fold, int Components, typename T, typename Source, typename Rows>
void partitioned_engine::join(const Source& source, const Rows& results, int components, bool accumulate) {
  const std::size_t work = keys_.count + setup_.key_count;
  with_keys(keys_, [&](const auto* keys) {
    for_each_part_of(context_, block_parts_.parts, keys_.count,
                     [&](std::size_t part) { move_part<Components, T>(keys, part, source, components); });
  });
  const auto count = static_cast<std::int64_t>(pieces_.size());
  const int threads = context_.threads();
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads) if (threads > 1 && work >= cpu_tables_team)
  for (std::int64_t k = 0; k < count; ++k) {
    join_piece<Fold, Components, T>(pieces_[static_cast<std::size_t>(k)], source, results, components, accumulate);
  }
  if (pieces_.size() == ranges_) return;
  const auto parts = static_cast<std::size_t>(threads);
  for_each_part_of(context_, parts, work,
                   [&](std::size_t part) { collect<Fold, Components, T>(part, parts, results, components); });
}

template <typename T>
void partitioned_engine::run(const key_reduction<T>& reduction) {
  if (reduction.accumulate) clear_results(context_, reduction);
  const int at_a_time = static_cast<int>(row_bytes_ / sizeof(T));
  for (int first = 0; first < reduction.results.components; first += at_a_time) {
    const int components = std::min(at_a_time, reduction.results.components - first);
    const auto results = some_components(reduction.results, first, components);
    with_fold(reduction.fold, [&](auto fold) {
      using fold_type = decltype(fold);
      with_rows<fold_type>(some_components(reduction.values, first, components), results,
                           [&](auto constant, const auto& source, const auto& rows) {
                             join<fold_type, constant.value, T>(source, rows, components, reduction.accumulate);
                           });
    });
  }
}

void partitioned_engine::count(std::uint64_t* results, bool accumulate) {
  join<sum_fold, 1, std::uint64_t>(ones{}, packed_rows<1, std::uint64_t>{results, 1}, 1, accumulate);
}

template void partitioned_engine::run(const key_reduction<std::int32_t>&);
template void partitioned_engine::run(const key_reduction<std::int64_t>&);
template void partitioned_engine::run(const key_reduction<float>&);
template void partitioned_engine::run(const key_reduction<double>&);

}  // namespace quadrat::detail
