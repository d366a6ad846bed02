// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string_view>

#include "keyed/sample.hpp"
#include "quadrat/core/types.hpp"
#include "tune/cost.hpp"

/// Expected costs of reductions by key, for the descriptors of the methods.
namespace quadrat::detail {

/// The reduction for which a method is chosen.
struct key_request {
  bool cuda;
  int threads;  ///< of the CPU
  determinism level;
  std::size_t free_bytes;  ///< memory the reducer may hold
  bool compensated;        ///< whether sums are compensated
  double elements;
  double keys;
  double row_bytes;  ///< of the values of an element
  double uses;       ///< reductions per set of keys
  key_sample sample;
  double values = 1;  ///< numbers per element, together row_bytes

  [[nodiscard]] bool wide() const { return row_bytes > 6 * values; }  ///< in double precision
};

/// The base of descriptors: the defaults.
struct key_method_defaults {
  static constexpr bool any_order = true;     ///< takes keys in any order
  static constexpr bool compensates = false;  ///< supports compensated sums
  static bool serves(const key_request& request) { return !request.compensated; }
};

/// Elements per block of threads that joins equal keys in shared memory.
inline constexpr double key_block_elements = 2048;

/// The atomic operations on global memory that remain in a method.
enum class left_over {
  elements,    ///< one per element
  runs,        ///< one per run of equal keys in a row of 128 elements
  warp_keys,   ///< one per key in a warp
  block_keys,  ///< one per key in a block of elements
  nothing      ///< none
};

/// The work of a method on a GPU in relative units, divided between threads and the cache in which atomic operations
/// run. The device profile gives the time per unit.
struct cuda_costs {
  left_over leaves;
  double element;                  ///< for each element: reading its key, and the instructions
  double byte;                     ///< for each byte of its values
  double bytes = 0;                ///< held for each element
  double bytes_key = 0;            ///< held for each key
  std::string_view work = "work";  ///< the name of its cost term: methods with several ways of working have several
};

/// The terms of a reduction: starts, work of threads and cache, results filled; once per set of keys: starts and
/// elements. `more` adds to the work of the threads.
[[nodiscard]] method_cost cuda_cost(const cuda_costs& costs, const key_request& request, double more = 0);

/// Sums of several words on a GPU, value by value.
[[nodiscard]] method_cost cuda_fixed_point_cost(const key_request& request);

/// Elements sorted by key on a GPU.
[[nodiscard]] method_cost cuda_sort_cost(const key_request& request);

/// The least number of elements or keys for which loops of the CPU's methods use several threads.
inline constexpr double cpu_team_elements = 2048;
/// The same for filling tables: an element takes about a nanosecond, and waking a team up to 35 microseconds on virtual
/// machines.
inline constexpr std::size_t cpu_tables_team = 16384;

/// Whether a loop over this much runs on several threads, whose start takes as long as thousands of elements.
[[nodiscard]] inline bool starts_team(const key_request& request, double work, double least = cpu_team_elements) {
  return request.threads > 1 && work >= least;
}

/// The same on the CPU, for one thread.
struct cpu_costs {
  double element;            ///< for each element
  double commonest = 0;      ///< for each element of the most frequent key, if there are several threads
  double scan = 0;           ///< for each element, if every thread reads all keys
  double bytes_element = 0;  ///< held for each element
  double bytes_key = 0;
  double teams = 1;                ///< loops that start threads
  double set_teams = 0;            ///< the same for preparation
  double set_elements = 0;         ///< elements that preparation reads, over all threads
  double clears = 1;               ///< fraction of the results that one thread clears
  double table_row_bytes = 0;      ///< held for each row of a table
  std::string_view work = "work";  ///< the names of its cost terms: methods with several ways of working have several
  std::string_view elements = "elements";
};

/// The same for a method with `tables` additional tables of results. With no tables every thread reads all keys, if
/// `scan` is set. Work is divided between threads if a team is started.
[[nodiscard]] method_cost cpu_cost(const cpu_costs& costs, const key_request& request, double tables = 0);

/// Millions of elements that wait for the previous addition to the same result on a CPU, for a thread with this share
/// of the elements.
[[nodiscard]] double waiting_elements(const key_request& request, double share);

/// Millions of bytes of results beyond a CPU's cache.
[[nodiscard]] double far_result_bytes(const key_request& request);

/// Picoseconds for joining an element to its result on the CPU, for a thread with this share of the results.
[[nodiscard]] double cpu_join(const key_request& request, double share = 1);

}  // namespace quadrat::detail
