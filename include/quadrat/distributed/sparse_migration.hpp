// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "quadrat/core/context.hpp"
#include "quadrat/core/instance.hpp"
#include "quadrat/core/pimpl.hpp"
#include "quadrat/distributed/communicator.hpp"

namespace quadrat {

/// An array whose elements move between ranks.
struct migrated_array {
  void* data;
  std::size_t element_bytes;  ///< a multiple of 4
};

/// A plan that sends some elements to other ranks and leaves the others in place: for steps in which few elements
/// leave. Its cost grows with the number of elements that leave, apart from one read of the destinations. Built once,
/// then applied to any number of arrays. Move-only.
///
/// Arriving elements are in order of the sending rank, then of its memory. They take the places of those that left, in
/// ascending order, and then places at the end. If more elements leave than arrive, the last staying elements fill the
/// remaining gaps. Deterministic.
///
/// All calls are collective. Only `build` sends counts.
template <typename Context>
class sparse_migration {
  static_assert(detail::instance<Context>::exists);

 public:
  /// The communicator must outlive this.
  sparse_migration(const Context& context, communicator& ranks);

  /// destinations[i]: the rank that gets element i; this rank's own number: it stays. Waits. May allocate. Throws on
  /// all ranks: argument_error for more than 2^31 - 1 elements on a rank, before or after; data_error for a rank that
  /// does not exist, naming the first such element of the first rank that has one.
  void build(const std::uint32_t* destinations, std::size_t count);

  /// The numbers of elements that leave, that arrive, and that are here afterwards.
  [[nodiscard]] std::size_t leaving() const;
  [[nodiscard]] std::size_t arriving() const;
  [[nodiscard]] std::size_t size() const;
  /// Bytes of the context's memory held.
  [[nodiscard]] std::size_t bytes() const;

  /// Changes arrays of as many elements as `build` was given into arrays of size() elements, in place; each must have
  /// room for both. If ranks write to each other's memory, several arrays in one call need no more messages than one.
  /// Does not wait where the messages of the communicator do not. May allocate.
  void apply(std::span<const migrated_array> arrays);
  void apply(void* elements, std::size_t element_bytes) {
    const migrated_array one{elements, element_bytes};
    apply({&one, 1});
  }
  template <typename E>
  void apply(E* elements) {
    static_assert(std::is_trivially_copyable_v<E>);
    apply(static_cast<void*>(elements), sizeof(E));
  }

 private:
  struct implementation;
  detail::pimpl<implementation> implementation_;
};

}  // namespace quadrat
