// SPDX-License-Identifier: BSD-3-Clause
#include "keyed/key_choice.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "quadrat/core/error.hpp"

namespace quadrat::detail {

namespace {

/// Which operations a method leaves for the memory that all threads share.
enum class left_over {
  elements,    ///< one an element
  runs,        ///< one a run of equal keys in a row of 128 elements
  warp_keys,   ///< one a key in a warp
  block_keys,  ///< one a key in a block of 2048 elements
  nothing      ///< none: elements are sorted first
};

/// What a method costs. Times of elements are in picoseconds, with the whole device at work.
struct cuda_costs {
  std::string_view method;
  left_over leaves;
  double fixed;          ///< microseconds a reduction: launches
  double element;        ///< for each element: reading its key, and the instructions
  double byte;           ///< for each byte of its values
  double warp_key;       ///< for each key in a warp
  double prepare_fixed;  ///< microseconds of set_keys
  double prepare;        ///< of set_keys, for each element
  double bytes;          ///< that it holds for each element
  double bytes_key = 0;  ///< and for each key
};

/// By timings of one H200 (`quadrat bench keyed --op auto`).
constexpr std::array cuda_table{
    cuda_costs{"atomic", left_over::elements, 3.5, 0.8, 0.25, 0, 0, 0, 0},
    cuda_costs{"runs", left_over::runs, 3.5, 1.4, 0.25, 0, 0, 0, 0},
    cuda_costs{"warp_peers", left_over::warp_keys, 3.5, 5.0, 0.25, 0, 0, 0, 0},
    cuda_costs{"shared_bins", left_over::block_keys, 5, 3.2, 0.25, 0, 0, 0, 0},
    cuda_costs{"sort_reduce", left_over::nothing, 10, 25, 1, 0, 40, 15, 16},
    cuda_costs{"fixed_point", left_over::elements, 15, 2, 1, 0, 0, 0, 0, 52},
};
/// warp_peers with several uses: peers are found once.
constexpr cuda_costs kept_peers{"warp_peers", left_over::warp_keys, 3.5, 5.5, 0.25, 0, 5, 5, 4};
/// shared_bins with tables of all keys, which blocks have in so many bytes; beyond, they hash.
constexpr cuda_costs direct_bins{"shared_bins", left_over::nothing, 5, 2.0, 0.25, 0, 0, 0, 0};
constexpr double direct_bytes = 100 << 10;
/// Blocks that have one, elements of a block at least, and picoseconds for each of their results.
constexpr double direct_blocks = 264, direct_elements = 4096, direct_result = 4;
/// Elements that shared_bins hashes in a block, blocks at one time, and microseconds that a thread takes for the next
/// of a list: with lists of one length, and what is added where they are not.
constexpr double hashed_elements = 2048, hashed_at_once = 792, list_even = 0.05, list_uneven = 0.5;

/// Picoseconds that the shared second-level cache takes for the atomic operations of a warp: for each sector of 32
/// bytes that they meet, each key, each further lane with the same key; and for each operation on one and the same
/// word.
struct cache_costs {
  double sector, key, same_key, crowd;
};
constexpr cache_costs cache{8.4, 1.4, 7, 1760};
/// How much longer sectors take where results of the keys that are on the way at one time (up to 2^20), or all that
/// are in use (beyond), have 2^k bytes: k, factor.
struct cache_factor {
  double log_bytes, factor;
};
constexpr std::array cache_factors{cache_factor{10, 26}, cache_factor{14, 2.9}, cache_factor{17, 1.5},
                                   cache_factor{20, 1},  cache_factor{23, 1},   cache_factor{26, 2.8},
                                   cache_factor{29, 6}};
/// Elements that are on the way at one time, and picoseconds to clear a byte of the results.
constexpr double elements_at_once = 132 * 2048;
constexpr double clear_byte = 0.3;

/// The CPU: picoseconds of one thread. Rough: by runs on two cores.
struct cpu_costs {
  std::string_view method;
  double element;                   ///< for each element
  double key;                       ///< for each result
  double crowd;                     ///< for each element of the commonest key, if there are several threads
  double scan;                      ///< for each element where every thread reads all keys
  double prepare;                   ///< of set_keys, for each element
  double bytes_element, bytes_key;  ///< that it holds
};
constexpr cpu_costs private_tables_costs{"private_tables", 1000, 300, 0, 500, 0, 0, 0};
constexpr std::array cpu_table{
    private_tables_costs,
    cpu_costs{"atomic", 2500, 300, 40000, 0, 0, 0, 0},
    cpu_costs{"sort_reduce", 2500, 300, 0, 0, 8000, 20, 0},
    cpu_costs{"fixed_point", 6000, 1500, 40000, 0, 0, 0, 52},
};

/// A method and the milliseconds that it would take for a reduction on the machines of the tables, with its share of
/// the preparation: to compare methods with, as other machines are faster or slower.
struct expectation {
  std::string_view method;
  double milliseconds;
};

[[nodiscard]] const key_method* method_named(const key_circumstances& here, std::string_view name) {
  const auto found =
      std::find_if(here.methods.begin(), here.methods.end(), [&](const auto& method) { return method.name == name; });
  return found == here.methods.end() ? nullptr : &*found;
}

[[nodiscard]] bool suits(const key_circumstances& here, const key_setup& setup, std::string_view name) {
  const key_method* const method = method_named(here, name);
  return method != nullptr && (here.cuda ? method->on_cuda : method->on_cpu) && method->any_order &&
         method->reproducible >= here.level && (method->compensates || !setup.options.compensated);
}

[[nodiscard]] double factor_of_cache(double bytes) {
  const double log_bytes = std::log2(std::max(bytes, 1.0));
  if (log_bytes <= cache_factors.front().log_bytes) return cache_factors.front().factor;
  for (std::size_t k = 1; k < cache_factors.size(); ++k) {
    const cache_factor a = cache_factors[k - 1], b = cache_factors[k];
    if (log_bytes <= b.log_bytes) {
      return a.factor + (b.factor - a.factor) * (log_bytes - a.log_bytes) / (b.log_bytes - a.log_bytes);
    }
  }
  return cache_factors.back().factor;
}

/// What is to be reduced.
struct key_load {
  const key_sample& sample;
  double count;
  double keys;
  double row_bytes;  ///< of the values of an element
};

/// Elements of one key that a method joins to one operation, for the commonest key of those that are on the way.
[[nodiscard]] double joined(left_over leaves, const key_sample& sample) {
  switch (leaves) {
    case left_over::runs:
      return 128 / (1 + 127 * (1 - sample.same));
    case left_over::warp_keys:
      return std::max(1.0, 32 * std::max(sample.crowd, 1 / sample.warp_keys));
    case left_over::block_keys:
      return std::max(1.0, hashed_elements * std::max(sample.crowd, 1 / sample.block_keys));
    default:
      return 1;
  }
}

/// Keys of the elements that are on the way at one time: where neighbors are alike, much fewer than of all.
[[nodiscard]] double keys_at_once(const key_load& load) {
  const bool alike = load.sample.block_keys < std::min(load.keys, 4096.0) / 2;
  const double share = std::min(1.0, elements_at_once / load.count);
  return std::max(1.0,
                  alike ? std::max(load.sample.block_keys, share * load.keys) : std::min(load.keys, elements_at_once));
}

/// Atomic operations of a warp on memory: how many, on how many keys and sectors.
struct warp_operations {
  double operations, keys, sectors;
};

[[nodiscard]] warp_operations operations_left(left_over leaves, const key_load& load) {
  const key_sample& sample = load.sample;
  // The sample counts sectors of results of 4 bytes.
  const double sectors = std::min(sample.warp_keys * std::ceil(load.row_bytes / 32),
                                  std::max(1.0, load.row_bytes / 8) * sample.warp_sectors);
  switch (leaves) {
    case left_over::runs: {
      // Lanes have elements four apart, so that operations of a warp lie less close together.
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

/// Picoseconds that the cache takes for all atomic operations.
[[nodiscard]] double cache_time(left_over leaves, const key_load& load) {
  if (leaves == left_over::nothing) return 0;
  const warp_operations warp = operations_left(leaves, load);
  const double span = std::min(load.sample.span, load.keys);
  const double in_use = std::min(span, load.sample.block_span * elements_at_once / 4096);
  constexpr double roomy = 1 << 20;
  const double factor = factor_of_cache(std::min(2 * load.row_bytes * keys_at_once(load), roomy)) *
                        factor_of_cache(std::max(load.row_bytes * in_use, roomy));
  const double spread =
      cache.sector * warp.sectors * factor + cache.key * warp.keys + cache.same_key * (warp.operations - warp.keys);
  const double share = std::max(load.sample.crowd, 1 / keys_at_once(load));
  const double crowd = load.count * share / joined(leaves, load.sample) * cache.crowd;
  return std::max(load.count / 32 * spread, crowd);
}

/// How many times longer blocks take for tables of all keys where lanes of a warp meet in one copy.
[[nodiscard]] double direct_meetings(const key_load& load) {
  double copies = 32;
  while (copies > 1 && load.keys * load.row_bytes * copies > direct_bytes) copies /= 2;
  return std::max(1.0, 32 / load.sample.warp_keys / copies);
}

/// Picoseconds for lists that are longer than blocks have threads for.
[[nodiscard]] double list_time(const key_load& load) {
  const double rounds = std::max(1.0, load.count / hashed_elements / hashed_at_once);
  const double length = hashed_elements / std::clamp(load.sample.block_keys, 1.0, hashed_elements);
  return 1e6 * rounds * (length - 1) * (list_even + list_uneven * (1 - load.sample.same));
}

/// Milliseconds of a reduction, and its share of the preparation.
[[nodiscard]] double cuda_time(const cuda_costs& general, const key_load& load, double uses) {
  const bool bins = general.method == direct_bins.method;
  const bool direct = bins && load.keys * load.row_bytes <= direct_bytes;
  const cuda_costs& costs = direct ? direct_bins : general;
  double work = load.count * (costs.element + costs.byte * load.row_bytes) * (direct ? direct_meetings(load) : 1) +
                load.count / 32 * load.sample.warp_keys * costs.warp_key;
  if (bins && !direct) work += list_time(load);
  if (direct) work += direct_result * std::min(direct_blocks, load.count / direct_elements) * load.keys;
  // Neither hides all of the other.
  const double both = std::hypot(work, cache_time(costs.leaves, load));
  const double picoseconds = both + load.keys * load.row_bytes * clear_byte + load.count * costs.prepare / uses;
  return 1e-9 * picoseconds + 1e-3 * (costs.fixed + costs.prepare_fixed / uses);
}

/// Tables that the method makes; 0 where each thread reads all keys instead, as the engine decides.
[[nodiscard]] double tables_of(const key_circumstances& here, const cpu_costs& costs, double count, double key_count) {
  const double parts = here.level == determinism::none ? here.threads : 8;
  return costs.method == private_tables_costs.method && parts > 1 && count / 8 / parts >= key_count ? parts : 0;
}

[[nodiscard]] double cpu_time(const cpu_costs& costs, const key_sample& sample, double count, double key_count,
                              double uses, double threads, double tables) {
  const double crowd = threads > 1 ? count * sample.crowd * costs.crowd : 0;
  const double scan = threads > 1 && tables < 1 ? count * costs.scan : 0;
  return 1e-9 * (std::max(count * costs.element / threads, crowd) + scan +
                 (1 + tables) * costs.key * key_count / threads + count * costs.prepare / threads / uses);
}

[[nodiscard]] std::vector<expectation> expectations(const key_circumstances& here, const key_setup& setup,
                                                    std::size_t count, const key_sample& sample) {
  std::vector<expectation> result;
  const double elements = static_cast<double>(count), keys = setup.key_count, uses = std::max(setup.options.uses, 1.0);
  const double room = static_cast<double>(here.free_bytes);
  if (here.cuda) {
    for (cuda_costs costs : cuda_table) {
      if (costs.method == kept_peers.method && uses > 1) costs = kept_peers;
      if (!suits(here, setup, costs.method) || costs.bytes * elements + costs.bytes_key * keys > room) continue;
      const key_load load{sample, elements, keys, static_cast<double>(setup.options.value_bytes)};
      result.push_back({costs.method, cuda_time(costs, load, uses)});
    }
  } else {
    for (const cpu_costs& costs : cpu_table) {
      const double tables = tables_of(here, costs, elements, keys);
      const double table_bytes = tables * most_value_components * 8;
      const double bytes = costs.bytes_element * elements + (costs.bytes_key + table_bytes) * keys;
      if (!suits(here, setup, costs.method) || bytes > room) continue;
      result.push_back({costs.method, cpu_time(costs, sample, elements, keys, uses, here.threads, tables)});
    }
  }
  std::sort(result.begin(), result.end(), [](const auto& a, const auto& b) { return a.milliseconds < b.milliseconds; });
  return result;
}

/// `value` with two digits.
[[nodiscard]] double rounded(double value) {
  if (!(value > 0)) return 0;
  const double digits = std::pow(10, 1 - std::floor(std::log10(value)));
  return std::round(value * digits) / digits;
}

/// "of 4096 elements sampled 90 % have the key of the one before, 0 % a smaller one; 4.1 keys in 32 in a row, 520 in
/// 4096"
[[nodiscard]] std::string text_of(const key_sample& sample) {
  if (sample.seen < 1) return "no elements with keys in range were seen";
  std::string text =
      message("of ", sample.seen, " elements sampled ", std::round(100 * sample.same),
              " % have the key of the one before, ", std::round(100 * sample.descending), " % a smaller one; ",
              rounded(sample.warp_keys), " keys in 32 in a row, ", rounded(sample.block_keys), " in 4096");
  if (sample.crowd >= 0.01) text += message("; ", rounded(100 * sample.crowd), " % have the commonest key");
  return text;
}

constexpr std::array<std::string_view, 3> level_names{"none", "run_to_run", "canonical"};

/// The method where there is no time to compare: the first that suits.
[[nodiscard]] key_choice only_method(const key_circumstances& here, const key_setup& setup) {
  for (const std::string_view preferred : {"sort_reduce", "atomic"}) {
    if (suits(here, setup, preferred)) return {method_named(here, preferred)->name, "no other method is possible here"};
  }
  for (const key_method& method : here.methods) {
    if (suits(here, setup, method.name)) return {method.name, "no other method is possible here"};
  }
  throw argument_error(message("no method of reduction by key for keys in any order has ",
                               setup.options.compensated ? "compensated " : "", "sums of the level ",
                               level_names[static_cast<std::size_t>(here.level)], " here",
                               here.level == determinism::canonical ? "; ask for run_to_run" : ""));
}

}  // namespace

key_choice choose_key_method(const key_circumstances& here, const key_setup& setup, std::size_t count,
                             const key_sample& sample) {
  const std::vector<expectation> expected = expectations(here, setup, count, sample);
  if (expected.empty()) return only_method(here, setup);
  const double uses = std::max(setup.options.uses, 1.0);
  std::string reason = message(text_of(sample), "; for ", uses, uses > 1 ? " uses " : " use ", expected[0].method,
                               " is expected to take least");
  if (expected.size() > 1) {
    reason += message(", ", expected[1].method, " ", rounded(expected[1].milliseconds / expected[0].milliseconds),
                      " times as long");
  }
  return {method_named(here, expected[0].method)->name, reason};
}

}  // namespace quadrat::detail
