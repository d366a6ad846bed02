// SPDX-License-Identifier: BSD-3-Clause
#include "keyed/cost.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "keyed/engine.hpp"
#include "keyed/papers/linked_lists.hpp"
#include "keyed/sorted/sort_reduce.hpp"

namespace quadrat::detail {

namespace {

/// Picoseconds of the shared second-level cache for the atomic operations of a warp: for each sector of 32 bytes
/// touched (once per lane with the same key), for each key, and for each operation on the same word.
struct cache_costs {
  double sector, key, word;
};
constexpr cache_costs cache{8.4, 1.4, 1760};
/// The slowdown of sectors if the results of the keys in flight (up to 2^20), or of all keys in use (beyond), have 2^k
/// bytes: k, factor. Few bytes are in few parts of the cache, and each part takes one operation at a time.
struct cache_factor {
  double log_bytes, factor;
};
constexpr std::array cache_factors{cache_factor{6, 140},  cache_factor{8, 60},   cache_factor{10, 40},
                                   cache_factor{12, 9},   cache_factor{14, 4.5}, cache_factor{16, 2},
                                   cache_factor{18, 1.1}, cache_factor{20, 1},   cache_factor{23, 1},
                                   cache_factor{26, 2.8}, cache_factor{29, 6}};
/// Elements in flight at one time.
constexpr double elements_at_once = 132 * 2048;

/// Picoseconds for joining an element to a result on a CPU if the results in use have 2^k bytes: k, time.
constexpr std::array cpu_joins{cache_factor{15, 800},  cache_factor{18, 1100}, cache_factor{20, 1500},
                               cache_factor{23, 2200}, cache_factor{24, 4000}, cache_factor{26, 7500},
                               cache_factor{30, 15000}};

/// Interpolates linearly between the given numbers of bytes; constant beyond.
[[nodiscard]] double factor_of(std::span<const cache_factor> factors, double bytes) {
  const double log_bytes = std::log2(std::max(bytes, 1.0));
  if (log_bytes <= factors.front().log_bytes) return factors.front().factor;
  for (std::size_t k = 1; k < factors.size(); ++k) {
    const cache_factor a = factors[k - 1], b = factors[k];
    if (log_bytes <= b.log_bytes) {
      return a.factor + (b.factor - a.factor) * (log_bytes - a.log_bytes) / (b.log_bytes - a.log_bytes);
    }
  }
  return factors.back().factor;
}
[[nodiscard]] double factor_of_cache(double bytes) { return factor_of(cache_factors, bytes); }

/// Elements that a method joins per operation, for the most frequent key of those in flight.
[[nodiscard]] double joined(left_over leaves, const key_sample& sample) {
  switch (leaves) {
    case left_over::runs:
      return 128 / (1 + 127 * (1 - sample.same));
    case left_over::warp_keys:
      return std::max(1.0, 32 * std::max(sample.commonest, 1 / sample.warp_keys));
    case left_over::block_keys:
      return std::max(1.0, key_block_elements * std::max(sample.commonest, 1 / sample.block_keys));
    default:
      return 1;
  }
}

/// Distinct keys among the elements in flight: far fewer than all keys if neighbors have equal keys.
[[nodiscard]] double keys_at_once(const key_request& request) {
  const bool alike = request.sample.block_keys < std::min(request.keys, 4096.0) / 2;
  const double share = std::min(1.0, elements_at_once / request.elements);
  return std::max(1.0, alike ? std::max(request.sample.block_keys, share * request.keys)
                             : std::min(request.keys, elements_at_once));
}

/// Atomic operations of a warp on memory: how many, on how many keys and sectors.
struct warp_operations {
  double operations, keys, sectors;
};

/// Sequential operations on adjacent components that take as long as one operation by neighboring lanes.
constexpr double components_of_a_sector = 2;

/// One component, or two or four floats.
[[nodiscard]] bool joined_by_one_operation(double row_bytes) { return row_bytes <= 8 || row_bytes == 16; }

[[nodiscard]] key_request with_row_bytes(key_request request, double row_bytes) {
  request.row_bytes = row_bytes;
  return request;
}

[[nodiscard]] warp_operations operations_left(left_over leaves, const key_request& request) {
  const key_sample& sample = request.sample;
  // The sample counts sectors of results of 4 bytes.
  const double sectors = std::min(sample.warp_keys * std::ceil(request.row_bytes / 32),
                                  std::max(1.0, request.row_bytes / 8) * sample.warp_sectors);
  if (leaves != left_over::elements && !joined_by_one_operation(request.row_bytes)) {
    // Components are joined one after another, not by neighboring lanes as in `atomic`.
    warp_operations warp = operations_left(leaves, with_row_bytes(request, 4));
    const double times = std::max(1.0, request.row_bytes / 4 / components_of_a_sector);
    return {warp.operations * times, warp.keys, warp.sectors * times};
  }
  switch (leaves) {
    case left_over::runs: {
      // A lane has four consecutive elements, so the operations of a warp are more spread out.
      const double share = std::max(1 / joined(leaves, sample), sample.warp_keys / 32 / 4);
      return {32 * share, std::min(32 * share, sample.warp_keys), std::min(32 * share, 1.3 * sectors)};
    }
    case left_over::warp_keys:
      return {sample.warp_keys, sample.warp_keys, sectors};
    case left_over::block_keys: {
      const double keys = std::min(sample.block_keys / 128, sample.warp_keys);
      return {keys, keys, std::min(keys, sectors)};
    }
    default:
      return {32, sample.warp_keys, sectors};
  }
}

/// Picoseconds that the cache takes for all atomic operations of a reduction.
[[nodiscard]] double cache_time(left_over leaves, const key_request& request) {
  if (leaves == left_over::nothing) return 0;
  const warp_operations warp = operations_left(leaves, request);
  const double span = std::min(request.sample.span, request.keys);
  const double in_use = std::min(span, request.sample.block_span * elements_at_once / 4096);
  constexpr double roomy = 1 << 20;
  const double beyond = factor_of_cache(std::max(request.row_bytes * in_use, roomy));
  const double factor = factor_of_cache(std::min(request.row_bytes * keys_at_once(request), roomy)) * beyond;
  const double times = std::max(1.0, warp.operations / warp.keys);
  const double spread = cache.sector * warp.sectors * times * factor + cache.key * warp.keys;
  const double share = std::max(request.sample.commonest, 1 / keys_at_once(request));
  // Beyond the cache, operations on the commonest key also wait for those on other keys.
  const double commonest = request.elements * share / joined(leaves, request.sample) * cache.word * beyond;
  return std::max(request.elements / 32 * spread, commonest);
}

}  // namespace

method_cost cuda_cost(const cuda_costs& costs, const key_request& request, double more) {
  const double count = request.elements, keys = request.keys;
  const double work = count * (costs.element + costs.byte * request.row_bytes) + more;
  method_cost cost;
  // Pairs of adjacent elements with different keys.
  const double changes = 1e-6 * count * (1 - request.sample.same);
  cost.once("start", cost_unit::launch, 1);
  cost.once("elements", cost_unit::step, 1e-6 * count);
  cost.each("start", cost_unit::launch, 1);
  cost.each("values", cost_unit::launch, request.values);
  // Threads and the cache overlap only in part.
  cost.each(costs.work, cost_unit::step, 1e-9 * std::hypot(work, cache_time(costs.leaves, request)));
  cost.each("elements", cost_unit::byte, 1e-6 * count);
  cost.each("changes", cost_unit::step, changes);
  cost.each("wide_changes", cost_unit::step, request.wide() ? changes : 0);
  // Additions to the commonest of the keys in flight.
  const double share = std::max(request.sample.commonest, 1 / keys_at_once(request));
  cost.each("commonest", cost_unit::step, 1e-6 * count * request.values * share);
  cost.each("clear", cost_unit::byte, 1e-6 * keys * request.row_bytes);
  return cost.holds(costs.bytes * count + costs.bytes_key * keys);
}

namespace {

/// Millions of bytes of results that elements reach, by the sectors of a warp.
[[nodiscard]] double reached_bytes(const key_request& request) {
  return 1e-6 * request.elements * request.sample.warp_sectors / 32 * request.row_bytes;
}

}  // namespace

method_cost cuda_fixed_point_cost(const key_request& request) {
  constexpr double bytes_of_key = 52, most_waiting = 1.0 / 64;
  const double values = 1e-6 * request.elements * request.values;
  // Additions conflict in the words of a sum.
  const key_request words = with_row_bytes(request, bytes_of_key);
  const double work = std::hypot(request.elements * (2 + request.row_bytes), cache_time(left_over::elements, words));
  method_cost cost;
  cost.once("start", cost_unit::launch, 1);
  cost.once("elements", cost_unit::step, 1e-6 * request.elements);
  cost.each("start", cost_unit::launch, request.values);
  cost.each("elements", cost_unit::step, values);
  cost.each("work", cost_unit::step, 1e-9 * work * request.values);
  cost.each("reached", cost_unit::byte, reached_bytes(request));
  // Additions to one result wait for each other; a warp's are combined.
  cost.each("commonest", cost_unit::step, values * std::min(most_waiting, 1 / keys_at_once(request)));
  cost.each("clear", cost_unit::byte, 1e-6 * request.keys * request.values);
  return cost.holds(bytes_of_key * request.keys);
}

method_cost cuda_sort_cost(const key_request& request) {
  // The most elements that one block sorts at once.
  constexpr double alone = 4864, digit_bits = 8, bytes_of_element = 16;
  const double count = request.elements, megas = 1e-6 * count;
  const double passes = std::ceil(std::log2(request.keys + 1) / digit_bits), starts = count > alone ? passes : 0;
  const double work = count * (25 + request.row_bytes);
  method_cost cost;
  cost.once("start", cost_unit::launch, 1);
  cost.once("passes", cost_unit::launch, starts);
  cost.once("elements", cost_unit::step, megas);
  cost.once("sorted", cost_unit::step, megas * passes);
  cost.each("start", cost_unit::launch, 1);
  cost.each("values", cost_unit::launch, request.values);
  cost.each("passes", cost_unit::launch, starts);
  cost.each("work", cost_unit::step, 1e-9 * work * request.values);
  cost.each("reached", cost_unit::byte, reached_bytes(request));
  cost.each("clear", cost_unit::byte, 1e-6 * request.keys * request.row_bytes);
  return cost.holds(bytes_of_element * count);
}

method_cost cpu_cost(const cpu_costs& costs, const key_request& request, double tables) {
  const double count = request.elements, threads = costs.teams > 0 ? request.threads : 1;
  const double set_threads = costs.set_teams > 0 ? request.threads : 1;
  const double table_bytes = tables * costs.table_row_bytes;
  const double commonest = threads > 1 ? count * request.sample.commonest * costs.commonest : 0;
  const double scan = request.threads > 1 && tables < 1 ? count * costs.scan * request.threads / threads : 0;
  method_cost cost;
  cost.once("start", cost_unit::launch, 1);
  cost.once("team", cost_unit::launch, costs.set_teams);
  cost.once("elements", cost_unit::step, 1e-6 * costs.set_elements / set_threads);
  cost.each("start", cost_unit::launch, 1);
  cost.each("team", cost_unit::launch, costs.teams);
  cost.each("bytes", cost_unit::byte, 1e-6 * count * request.row_bytes / threads);
  cost.each(costs.work, cost_unit::step, 1e-9 * (std::max(count * costs.element / threads, commonest) + scan));
  cost.each(costs.elements, cost_unit::step, 1e-6 * count / threads);
  cost.each("clear", cost_unit::byte,
            1e-6 * (1 + tables) * request.keys * request.row_bytes * std::max(costs.clears, 1 / threads));
  return cost.holds(costs.bytes_element * count + (costs.bytes_key + table_bytes) * request.keys);
}

method_cost sort_reduce_method::cpu_sort_cost(const key_request& request) {
  constexpr double digit_bits = 11, least_sorted = 2 * 8192, chunk = 4096;
  const double count = request.elements, passes = std::ceil(std::log2(std::max(request.keys + 1, 2.0)) / digit_bits);
  const bool takes = starts_team(request, count), sorts = starts_team(request, count, least_sorted);
  const bool joins = starts_team(request, count, chunk + 1);
  const double threads = joins ? request.threads : 1;
  // Values are read in the order of the keys, which is random access unless the elements are sorted.
  const double disorder = std::min(1.0, 2 * request.sample.descending);
  const double far = disorder * factor_of(cpu_joins, count * request.row_bytes) / cpu_joins.front().factor;
  method_cost cost;
  cost.once("start", cost_unit::launch, 1);
  cost.once("team", cost_unit::launch, (takes ? 1 : 0) + (sorts ? passes : 0));
  cost.once("elements", cost_unit::step, 1e-6 * count / (takes ? request.threads : 1));
  cost.once("sorted", cost_unit::step, 1e-6 * count * passes / (sorts ? request.threads : 1));
  cost.each("start", cost_unit::launch, 1);
  cost.each("team", cost_unit::launch, joins ? 1 : 0);
  cost.each("elements", cost_unit::step, 1e-6 * count / threads);
  cost.each("bytes", cost_unit::byte, 1e-6 * count * request.row_bytes / threads);
  cost.each("far", cost_unit::byte, 1e-6 * count * far / threads);
  cost.each("rows", cost_unit::step, 1e-6 * std::min(count, request.sample.span) / threads);
  cost.each("clear", cost_unit::byte, 1e-6 * request.keys * request.row_bytes);
  cost.each("clear_far", cost_unit::byte, far_result_bytes(request));
  return cost.holds(20 * count);
}

method_cost linked_lists_method::cost(const key_request& request) {
  method_cost cost;
  if (request.cuda) return cost.last_resort("a thread takes all elements of a key");
  const double count = request.elements, keys = request.keys, span = std::min(keys, request.sample.span);
  const bool links = starts_team(request, count), joins = starts_team(request, keys);
  const double linkers = links ? request.threads : 1, threads = joins ? request.threads : 1;
  // One thread walks a list, whose elements are not moved.
  const double near = cpu_joins.front().factor, far = factor_of(cpu_joins, count * (request.row_bytes + 4)) / near;
  const double walked = count * std::max(1 / threads, request.sample.commonest);
  cost.once("start", cost_unit::launch, 1);
  cost.once("team", cost_unit::launch, links ? 1 : 0);
  cost.once("elements", cost_unit::step, 1e-6 * count / linkers);
  cost.once("far", cost_unit::byte, 1e-6 * count * (factor_of(cpu_joins, 4 * span) / near - 1) / linkers);
  cost.once("commonest", cost_unit::step, links ? 1e-6 * count * request.sample.commonest : 0);
  cost.once("clear", cost_unit::byte, 4e-6 * keys);
  cost.each("start", cost_unit::launch, 1);
  cost.each("team", cost_unit::launch, joins ? 1 : 0);
  cost.each("keys", cost_unit::step, 1e-6 * keys / threads);
  cost.each("elements", cost_unit::step, 1e-6 * walked);
  cost.each("bytes", cost_unit::byte, 1e-6 * walked * request.row_bytes);
  cost.each("far", cost_unit::byte, 1e-6 * walked * (far - 1));
  cost.each("clear", cost_unit::byte, 1e-6 * keys * request.row_bytes);
  return cost.holds(4 * (count + keys));
}

double waiting_elements(const key_request& request, double share) {
  // An addition need not wait if enough nearby additions to other results can run meanwhile.
  constexpr double in_flight = 32;
  return 1e-6 * request.elements * share * std::pow(request.sample.same, in_flight);
}

double far_result_bytes(const key_request& request) {
  constexpr double near_megabytes = 4, line = 64;
  // Few elements reach few of the results.
  const double reached =
      std::min(request.keys * request.row_bytes, request.elements * std::max(line, request.row_bytes));
  return std::max(0.0, 1e-6 * reached - near_megabytes);
}

double cpu_join(const key_request& request, double share) {
  const double keys = std::min({request.keys * share, request.sample.span, 4 * request.sample.block_span});
  return factor_of(cpu_joins, keys * request.row_bytes);
}

}  // namespace quadrat::detail
