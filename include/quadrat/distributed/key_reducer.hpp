// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "quadrat/core/context.hpp"
#include "quadrat/core/instance.hpp"
#include "quadrat/distributed/communicator.hpp"
#include "quadrat/keyed/key_reducer.hpp"

namespace quadrat {

/// Keys [first, end).
struct key_share {
  std::uint64_t first;
  std::uint64_t end;
};

/// The keys whose results a rank holds: consecutive, as many for each rank but the last ones, which may have fewer or
/// none.
[[nodiscard]] key_share keys_of_rank(std::uint64_t key_count, int rank, int ranks);

/// Reduction by key over all ranks: each element goes to the rank that owns its key, where key_reducer (its methods,
/// options, limits) reduces. Elements arrive in order of rank, so that at `run_to_run` ranks that hold consecutive
/// parts of a sequence get the bits of one rank with the same method, and at `canonical` any ranks do. Move-only. All
/// calls are collective.
///
/// Where it cannot change the result (sums of integers, minima, maxima, counts), and for sums of floats at `none`, a
/// rank first combines its elements of equal key, if they are fewer keys than elements by a quarter: each then sends
/// a key once, however crowded it is.
template <typename Context>
class distributed_key_reducer {
  static_assert(detail::instance<Context>::exists);

 public:
  /// The communicator must outlive this. Throws what key_reducer throws, on all ranks.
  distributed_key_reducer(const Context& context, communicator& ranks, std::uint64_t key_count,
                          const key_reducer_options& options = {});
  distributed_key_reducer(distributed_key_reducer&&) noexcept;
  distributed_key_reducer& operator=(distributed_key_reducer&&) noexcept;
  ~distributed_key_reducer();

  /// Sets the keys of this rank's elements, in the memory of the context. The first reduction of a kind sends them to
  /// their owners, and synchronizes. Synchronizes. Throws data_error on all ranks for a key out of range, naming the
  /// element and its rank.
  void set_keys(const std::uint32_t* keys, std::size_t count);
  void set_keys(const std::uint64_t* keys, std::size_t count);

  /// results[key - share().first][c] = the operation over all elements of all ranks with that key. V: std::int32_t,
  /// std::int64_t, float, double. Asynchronous where messages are. Throws what key_reducer::reduce throws.
  template <typename V>
  void reduce(const component_values<const V>& values, const component_values<V>& results, key_operation operation);
  /// results[key - share().first] = the number of elements of all ranks with that key.
  void count(std::uint64_t* results);

  /// The keys of this rank.
  [[nodiscard]] key_share share() const;
  /// Rows that this rank has got in the last reduction: elements, or combinations of them.
  [[nodiscard]] std::size_t element_count() const;

 private:
  struct implementation;
  std::unique_ptr<implementation> implementation_;
};

}  // namespace quadrat
