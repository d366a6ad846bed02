// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "quadrat/core/context.hpp"
#include "quadrat/core/instance.hpp"
#include "quadrat/core/pimpl.hpp"
#include "quadrat/distributed/communicator.hpp"
#include "quadrat/keyed/key_reducer.hpp"

namespace quadrat {

/// Keys [first, end).
struct key_share {
  std::uint64_t first;
  std::uint64_t end;
};

/// The keys whose results a rank holds: consecutive keys, equally many for each rank except the last ones, which may
/// have fewer or none.
[[nodiscard]] key_share keys_of_rank(std::uint64_t key_count, int rank, int ranks);

/// Reduction by key over all ranks. Each element goes to the rank that owns its key, where a key_reducer (its methods,
/// options, limits) reduces. Elements arrive in order of rank. Move-only. All calls are collective.
///
/// A rank may first combine its own elements of equal key, so that it sends each key only once, however many elements
/// have it. It does so if the number of keys is at least a quarter below that of elements, and if the result cannot
/// change (sums of integers, minima, maxima, counts) or is not promised to be reproducible (sums of floats at `none`).
///
/// Determinism: at run_to_run, if ranks hold consecutive parts of a sequence, the bits of one rank with the same
/// method; at canonical for any distribution of the elements.
template <typename Context>
class distributed_key_reducer {
  static_assert(detail::instance<Context>::exists);

 public:
  /// The communicator must outlive this. Throws what key_reducer throws, on all ranks.
  distributed_key_reducer(const Context& context, communicator& ranks, std::uint64_t key_count,
                          const key_reducer_options& options = {});

  /// Sets the keys of this rank's elements, in the memory of the context. Waits. May allocate. The first reduction of
  /// each kind sends the keys to their owners: it waits and allocates, too. Throws data_error on all ranks for a key
  /// out of range, naming the element and its rank.
  void set_keys(const std::uint32_t* keys, std::size_t count);
  void set_keys(const std::uint64_t* keys, std::size_t count);

  /// results[key - share().first][c] = the operation over all elements of all ranks with that key. V: std::int32_t,
  /// std::int64_t, float, double. Waits. May allocate. Throws what key_reducer::reduce throws.
  template <typename V>
  void reduce(const component_values<const V>& values, const component_values<V>& results, key_operation operation) {
    reduce_async(values, results, operation), wait();
  }
  /// results[key - share().first] = the number of elements of all ranks with that key. Waits. May allocate.
  void count(std::uint64_t* results) { count_async(results), wait(); }
  /// The same. Do not wait where the messages of the communicator do not, after the first call. Allocate nothing after
  /// the first call.
  template <typename V>
  void reduce_async(const component_values<const V>& values, const component_values<V>& results,
                    key_operation operation);
  void count_async(std::uint64_t* results);

  /// The keys whose results this rank holds.
  [[nodiscard]] key_share share() const;
  /// Rows that this rank received in the last reduction: elements, or combined elements.
  [[nodiscard]] std::size_t element_count() const;

 private:
  void wait() const;

  struct implementation;
  detail::pimpl<implementation> implementation_;
};

}  // namespace quadrat
