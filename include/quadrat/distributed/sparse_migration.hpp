// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>

#include "quadrat/core/context.hpp"
#include "quadrat/core/instance.hpp"
#include "quadrat/distributed/communicator.hpp"

namespace quadrat {

/// An array whose elements change ranks.
struct migrated_array {
  void* data;
  std::size_t element_bytes;  ///< a multiple of 4
};

/// A plan that sends some elements to other ranks and leaves the others where they are: for steps in which few leave.
/// What it costs follows those that leave, but for one read of the destinations. Made once, then applied to any number
/// of arrays. Move-only.
///
/// Arriving elements, in order of the sending rank and there of memory, take the places of those that have left, in
/// ascending order, and then places at the end. Where more leave than arrive, the last elements that stay fill what is
/// left open. Deterministic.
///
/// All calls are collective. Counts travel only in `build`.
template <typename Context>
class sparse_migration {
  static_assert(detail::instance<Context>::exists);

 public:
  /// The communicator must outlive this.
  sparse_migration(const Context& context, communicator& ranks);
  sparse_migration(sparse_migration&&) noexcept;
  sparse_migration& operator=(sparse_migration&&) noexcept;
  ~sparse_migration();

  /// destinations[i]: the rank that gets element i; that of this rank: it stays. Synchronizes. Throws on all ranks:
  /// argument_error for more than 2^31 - 1 elements, before or after; data_error for a rank that does not exist, naming
  /// the first element of the first rank that has one.
  void build(const std::uint32_t* destinations, std::size_t count);

  /// Elements that leave, that arrive, and that are here afterwards.
  [[nodiscard]] std::size_t leaving() const;
  [[nodiscard]] std::size_t arriving() const;
  [[nodiscard]] std::size_t size() const;
  /// Bytes of the context's memory held.
  [[nodiscard]] std::size_t bytes() const;

  /// Changes arrays of as many elements as `build` was given into ones of size(), in place: they have room for both.
  /// Several in one call need no more messages than one where ranks write to each other directly.
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
  std::unique_ptr<implementation> implementation_;
};

}  // namespace quadrat
