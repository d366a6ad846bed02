// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string_view>

#include "keyed/sample.hpp"
#include "quadrat/core/types.hpp"
#include "tune/cost.hpp"

/// Expected costs of reductions by key, for the records of the methods.
namespace quadrat::detail {

/// The reduction that a method is chosen for.
struct key_request {
  bool cuda;
  int threads;  ///< of the CPU
  determinism level;
  std::size_t free_bytes;  ///< what the reducer may hold
  bool compensated;        ///< whether sums are compensated
  double elements;
  double keys;
  double row_bytes;  ///< of the values of an element
  double uses;       ///< reductions per set of keys
  key_sample sample;
  double values = 1;  ///< numbers of an element: so many have row_bytes

  [[nodiscard]] bool wide() const { return row_bytes > 6 * values; }  ///< in double precision
};

/// The base of records: the defaults.
struct key_record {
  static constexpr bool any_order = true;     ///< takes keys in any order
  static constexpr bool compensates = false;  ///< supports compensated sums
  static bool serves(const key_request& request) { return !request.compensated; }
};

/// Elements of a block of threads that joins equal keys in shared memory.
inline constexpr double key_block_elements = 2048;

/// Which atomic operations on global memory a method leaves.
enum class left_over {
  elements,    ///< one per element
  runs,        ///< one per run of equal keys in a row of 128 elements
  warp_keys,   ///< one per key in a warp
  block_keys,  ///< one per key in a block of elements
  nothing      ///< none
};

/// The work of a method on a GPU, in relative units: how it divides between threads and the cache that atomic
/// operations meet in. The profile says how long it takes.
struct cuda_costs {
  left_over leaves;
  double element;                  ///< for each element: reading its key, and the instructions
  double byte;                     ///< for each byte of its values
  double bytes = 0;                ///< held for each element
  double bytes_key = 0;            ///< held for each key
  std::string_view work = "work";  ///< the name of its term: methods that work in several ways have several
};

/// The terms of a reduction: starts, the work of threads and of the cache, results filled; once, starts and elements.
/// `more` is added to the work of the threads.
[[nodiscard]] method_cost cuda_cost(const cuda_costs& costs, const key_request& request, double more = 0);

/// Sums of several words on a GPU, value by value.
[[nodiscard]] method_cost cuda_fixed_point_cost(const key_request& request);

/// Elements sorted by key on a GPU.
[[nodiscard]] method_cost cuda_sort_cost(const key_request& request);

/// The least number of elements or keys for which loops of the CPU's methods use several threads.
inline constexpr double cpu_team_elements = 2048;
/// The same where tables are filled: each element takes about a nanosecond, to wake a team up to 35 microseconds on
/// virtual machines.
inline constexpr std::size_t cpu_tables_team = 16384;

/// Whether a loop over this much runs on several threads: their start then takes as long as thousands of elements.
[[nodiscard]] inline bool starts_team(const key_request& request, double work, double least = cpu_team_elements) {
  return request.threads > 1 && work >= least;
}

/// The same on the CPU, for one thread.
struct cpu_costs {
  double element;            ///< for each element
  double crowd = 0;          ///< for each element of the most frequent key, if there are several threads
  double scan = 0;           ///< for each element where every thread reads all keys
  double bytes_element = 0;  ///< held for each element
  double bytes_key = 0;
  double teams = 1;                ///< loops that start threads
  double set_teams = 0;            ///< the same for what is prepared
  double set_elements = 0;         ///< that are gone through to prepare, by all threads
  double clears = 1;               ///< share of the results that one thread clears
  double table_row_bytes = 0;      ///< held for each row of a table
  std::string_view work = "work";  ///< the names of its terms: methods that work in several ways have several
  std::string_view elements = "elements";
};

/// The same for a method that makes `tables` tables of results in addition; with none, every thread reads all keys if
/// `scan` says so. Work is divided between threads where a team is started.
[[nodiscard]] method_cost cpu_cost(const cpu_costs& costs, const key_request& request, double tables = 0);

/// Millions of elements that wait for the one before, which a CPU adds to the same result. A thread has this share of
/// the elements.
[[nodiscard]] double waiting_elements(const key_request& request, double share);

/// Millions of bytes of the results that do not stay in a CPU's cache.
[[nodiscard]] double far_result_bytes(const key_request& request);

/// Picoseconds for joining an element to its result on the CPU, where a thread has this share of the results.
[[nodiscard]] double cpu_join(const key_request& request, double share = 1);

}  // namespace quadrat::detail
