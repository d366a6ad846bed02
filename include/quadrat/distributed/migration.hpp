// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "quadrat/core/context.hpp"
#include "quadrat/core/instance.hpp"
#include "quadrat/core/pimpl.hpp"
#include "quadrat/distributed/communicator.hpp"

namespace quadrat {

/// A plan that sends each element to a rank. It is built once from the destinations, then applied to any number of
/// arrays. Move-only. Elements arrive in order of the sending rank; those of one rank keep their order. So if ranks
/// hold consecutive parts of a sequence, its order is kept. Deterministic.
///
/// All calls are collective. Only `build` sends counts.
template <typename Context>
class migration {
  static_assert(detail::instance<Context>::exists);

 public:
  /// The communicator must outlive this.
  migration(const Context& context, communicator& ranks);

  /// destinations[i]: the rank that gets element i. Waits. May allocate. Throws on all ranks: argument_error for more
  /// than 2^31 - 1 elements on a rank, before or after; data_error for a rank that does not exist, naming the first
  /// such element of the first rank that has one.
  void build(const std::uint32_t* destinations, std::size_t count);

  /// The number of elements given to `build`, and the number that arrive here.
  [[nodiscard]] std::size_t leaving() const;
  [[nodiscard]] std::size_t arriving() const;
  /// The number of elements that arrive from each rank.
  [[nodiscard]] const std::vector<std::size_t>& arriving_by_rank() const;
  /// Bytes of the context's memory held.
  [[nodiscard]] std::size_t bytes() const;

  /// Moves the leaving() elements at `from` to their ranks. `to` has room for arriving() elements. An element's size
  /// must be a multiple of 4 bytes. Does not wait where the messages of the communicator do not. May allocate.
  void apply(const void* from, void* to, std::size_t element_bytes);
  template <typename E>
  void apply(const E* from, E* to) {
    static_assert(std::is_trivially_copyable_v<E>);
    apply(static_cast<const void*>(from), static_cast<void*>(to), sizeof(E));
  }

 private:
  struct implementation;
  detail::pimpl<implementation> implementation_;
};

}  // namespace quadrat
