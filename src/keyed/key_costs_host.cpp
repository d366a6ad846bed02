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
  runs,        ///< one a run of equal keys in a warp
  warp_keys,   ///< one a key in a warp
  block_keys,  ///< one a key in a block of 4096 elements
  nothing      ///< none: elements are sorted first
};

/// What a method costs. Times of elements are in picoseconds, with the whole device at work.
struct cuda_costs {
  std::string_view method;
  left_over leaves;
  double fixed;          ///< microseconds a reduction: launches
  double element;        ///< for each element: reading it, and the instructions
  double warp_key;       ///< for each key in a warp
  double alike;          ///< for each element whose key another lane of its warp has, too
  double prepare_fixed;  ///< microseconds of set_keys
  double prepare;        ///< of set_keys, for each element
  double bytes;          ///< that it holds for each element
  double bytes_key = 0;  ///< and for each key
};

/// One value of 4 bytes, by timings of one H200; of shared_bins, sort_reduce and fixed_point, and of the crowd below,
/// estimates.
constexpr std::array cuda_table{
    cuda_costs{"atomic", left_over::elements, 4, 2.0, 0, 0, 0, 0, 0},
    cuda_costs{"runs", left_over::runs, 4, 3.8, 0, 0, 0, 0, 0},
    cuda_costs{"warp_peers", left_over::warp_keys, 4, 5.8, 0, 0, 0, 0, 0},
    cuda_costs{"shared_bins", left_over::block_keys, 6, 8.0, 0, 6, 0, 0, 0},
    cuda_costs{"sort_reduce", left_over::nothing, 10, 25, 0, 0, 40, 25, 16},
    cuda_costs{"fixed_point", left_over::elements, 20, 12, 0, 0, 0, 0, 0, 16},
};
/// warp_peers with several uses: peers are found once.
constexpr cuda_costs kept_peers{"warp_peers", left_over::warp_keys, 4, 5.0, 0, 0, 5, 5, 4};

/// Picoseconds that the shared second-level cache takes for the atomic operations of a warp: for each sector of 32
/// bytes that they meet, each key, each further lane with the same key; and for each operation on one and the same
/// word.
struct cache_costs {
  double sector, key, same_key, crowd;
};
constexpr cache_costs cache{8.4, 1.4, 8, 590};
/// How much longer they take where results in use at one time span 2^k bytes: k, factor.
struct cache_factor {
  double log_bytes, factor;
};
constexpr std::array cache_factors{cache_factor{14, 2.9}, cache_factor{17, 1.5}, cache_factor{20, 1},
                                   cache_factor{23, 1},   cache_factor{26, 2.8}, cache_factor{29, 6}};
/// Elements that are on the way at one time, and picoseconds to clear a result of 4 bytes.
constexpr double elements_at_once = 132 * 2048;
constexpr double clear_result = 1.2;

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
    cpu_costs{"fixed_point", 6000, 1500, 40000, 0, 0, 0, 16},
};

/// A method and the milliseconds that it is expected to take for a reduction, with its share of the preparation.
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

/// Atomic operations of a warp on memory: how many, on how many keys and sectors.
struct warp_operations {
  double operations, keys, sectors;
};

[[nodiscard]] warp_operations operations_left(left_over leaves, const key_sample& sample) {
  switch (leaves) {
    case left_over::elements:
      return {32, sample.warp_keys, sample.warp_sectors};
    case left_over::runs:
      return {std::max(1 + 31 * (1 - sample.same), sample.warp_keys), sample.warp_keys, sample.warp_sectors};
    case left_over::warp_keys:
      return {sample.warp_keys, sample.warp_keys, sample.warp_sectors};
    case left_over::block_keys: {
      // Keys that are binned together go out in no order: each for itself.
      const double keys = std::min(sample.block_keys / 128, sample.warp_keys);
      return {keys, keys, keys};
    }
    default:
      return {0, 0, 0};
  }
}

/// Picoseconds that the cache takes for all atomic operations.
[[nodiscard]] double cache_time(left_over leaves, const key_sample& sample, double count, double key_count) {
  if (leaves == left_over::nothing) return 0;
  const warp_operations warp = operations_left(leaves, sample);
  const double span = std::min(sample.span, key_count);
  const double in_use = std::min(span, sample.block_span * elements_at_once / 4096);
  const double spread = (cache.sector * warp.sectors + cache.key * warp.keys) * factor_of_cache(4 * in_use) +
                        cache.same_key * (warp.operations - warp.keys);
  // Elements of the commonest key are joined before as others are, and at most to one an operation.
  const double joined = leaves == left_over::block_keys ? 4096 : leaves == left_over::elements ? 1 : 32;
  const double crowd = count * std::min(sample.crowd, 1 / joined) * cache.crowd;
  return std::max(count / 32 * spread, crowd);
}

/// Milliseconds of a reduction, and its share of the preparation.
[[nodiscard]] double cuda_time(const cuda_costs& costs, const key_sample& sample, double count, double key_count,
                               double uses) {
  const double work = count * (costs.element + costs.alike * (1 - sample.warp_keys / 32)) +
                      count / 32 * sample.warp_keys * costs.warp_key;
  // Neither hides all of the other.
  const double both = std::hypot(work, cache_time(costs.leaves, sample, count, key_count));
  const double picoseconds = both + key_count * clear_result + count * costs.prepare / uses;
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
      result.push_back({costs.method, cuda_time(costs, sample, elements, keys, uses)});
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
                               " takes about ", rounded(expected[0].milliseconds), " ms");
  if (expected.size() > 1) {
    reason += message(", ", expected[1].method, " ", rounded(expected[1].milliseconds), " ms");
  }
  return {method_named(here, expected[0].method)->name, reason};
}

}  // namespace quadrat::detail
