// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "keyed/sample.hpp"
#include "quadrat/core/types.hpp"

/// What reductions by key are expected to cost, for the records of the methods.
namespace quadrat::detail {

/// The reduction that a method is chosen for.
struct key_request {
  bool cuda;
  int threads;  ///< of the CPU
  determinism level;
  std::size_t free_bytes;  ///< that the reducer may hold
  bool compensated;        ///< sums shall be
  double elements;
  double keys;
  double row_bytes;  ///< of the values of an element
  double uses;       ///< of one set of keys
  key_sample sample;
};

/// The base of records: what most methods have in common.
struct key_record {
  static constexpr bool any_order = true;     ///< takes keys in any order
  static constexpr bool compensates = false;  ///< has compensated sums
  static bool serves(const key_request& request) { return !request.compensated; }
};

/// Elements of a block of threads that joins equal keys in shared memory.
inline constexpr double key_block_elements = 2048;

/// Which operations a method leaves for the memory that all threads share.
enum class left_over {
  elements,    ///< one an element
  runs,        ///< one a run of equal keys in a row of 128 elements
  warp_keys,   ///< one a key in a warp
  block_keys,  ///< one a key in a block of elements
  nothing      ///< none
};

/// What a method costs on a GPU, by timings of one H200 (`quadrat bench keyed --op auto`). Times of elements are in
/// picoseconds, with the whole device at work.
struct cuda_costs {
  left_over leaves;
  double fixed;              ///< microseconds a reduction: launches
  double element;            ///< for each element: reading its key, and the instructions
  double byte;               ///< for each byte of its values
  double warp_key = 0;       ///< for each key in a warp
  double prepare_fixed = 0;  ///< microseconds of set_keys
  double prepare = 0;        ///< of set_keys, for each element
  double bytes = 0;          ///< that it holds for each element
  double bytes_key = 0;      ///< and for each key
};

/// Milliseconds of a reduction with its share of the preparation, `more` picoseconds added to the work of the threads;
/// infinite where the memory is not enough.
[[nodiscard]] double cuda_time(const cuda_costs& costs, const key_request& request, double more = 0);

/// The CPU: picoseconds of one thread. Rough: by runs on two cores.
struct cpu_costs {
  double element;            ///< for each element
  double key;                ///< for each result
  double crowd = 0;          ///< for each element of the commonest key, if there are several threads
  double scan = 0;           ///< for each element where every thread reads all keys
  double prepare = 0;        ///< of set_keys, for each element
  double bytes_element = 0;  ///< that it holds
  double bytes_key = 0;
};

/// The same for a method that makes so many tables of results besides; where it makes none, every thread reads all
/// keys, if `scan` says so.
[[nodiscard]] double cpu_time(const cpu_costs& costs, const key_request& request, double tables = 0);

}  // namespace quadrat::detail
