// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "quadrat/core/context.hpp"
#include "quadrat/core/grid.hpp"
#include "quadrat/core/instance.hpp"
#include "quadrat/core/lattice.hpp"
#include "quadrat/core/pimpl.hpp"
#include "quadrat/core/views.hpp"
#include "quadrat/distributed/communicator.hpp"
#include "quadrat/distributed/decomposition.hpp"

namespace quadrat {

/// An array with elements of own particles, then of ghosts.
struct halo_array {
  void* data;
  std::size_t element_bytes;  ///< a multiple of 4
};

/// The reach: how near a particle must be to a rank to be its ghost. It is reach + of_rank[rank] + of_point[i], for
/// example a cutoff, or the radii of bodies.
template <typename T>
struct halo_reach {
  T reach = T(0);
  std::span<const T> of_rank{};  ///< on the host, one per rank, the same on all ranks; empty: 0
  const T* of_point = nullptr;   ///< one per own particle, in the memory of the context; nullptr: 0
};

/// A plan that gives each rank copies (ghosts) of the particles of other ranks that are near its block. A ghost keeps
/// the position of its owner. It comes once, however many of its periodic images are near: own particles and ghosts are
/// particles of the whole box, and every method of the library works on them as on one rank. Results of own particles
/// are then complete; those of ghosts are not.
///
/// A particle is near if a cell of the block can hold a point closer than the reach (grid::reach). So no pair within
/// the reach is missed, whatever the rounding; some ghosts are farther. Particles may have left their block by up to d
/// if the reach is larger by 2 d. Ghosts are in order of their owner's rank, then of its memory. Deterministic.
///
/// All calls are collective. Only `build` sends counts. The others allocate nothing once they have been called with the
/// same arrays.
template <typename Context, typename T, int D>
class halo {
  static_assert(detail::instance<Context, T, D>::exists);

 public:
  /// The communicator must outlive this.
  halo(const Context& context, communicator& ranks);

  /// Chooses the ghosts. `points`: the own particles; `space` must not be folded. Waits. May allocate. Throws on all
  /// ranks: argument_error for a reach that is negative or not finite, a decomposition of other cells or ranks, and
  /// more than 2^31 - 1 particles with ghosts.
  void build(const grid<T, D>& space, const decomposition_view<D>& shares, const points_view<T, D>& points,
             const halo_reach<T>& reach);
  /// The same in a box of any shape, without a decomposition: ranks may have any particles. The ghosts of a rank are
  /// the `points` of others within the reach of its `around`, or rather of their bounding box along the vectors of the
  /// box: so let each have particles of a block of space. A particle is tested for each rank. Waits. May allocate.
  /// Throws on all ranks: argument_error for a reach that is negative or not finite, and more than 2^31 - 1 particles
  /// with ghosts.
  void build(const lattice<T, D>& box, const points_view<T, D>& points, const points_view<T, D>& around, T reach);

  [[nodiscard]] std::size_t own() const;
  [[nodiscard]] std::size_t ghosts() const;
  /// The number of copies that this rank sends.
  [[nodiscard]] std::size_t sent() const;
  /// The number of copies of each own particle on other ranks, in the memory of the context. A particle without copies
  /// is not near any ghost until the next `build`, if particles move by no more than the reach allows.
  [[nodiscard]] const std::uint32_t* copies() const;
  /// The own particles that have copies, in increasing order, in the memory of the context.
  [[nodiscard]] std::span<const std::uint32_t> bordering() const;
  [[nodiscard]] const std::vector<std::size_t>& ghosts_by_rank() const;
  /// Bytes of the context's memory held.
  [[nodiscard]] std::size_t bytes() const;

  /// Copies elements of owners to their ghosts, [own, own + ghosts) of each array. One message to each rank for all
  /// arrays. Deterministic. Does not wait where the messages of the communicator do not. Allocates nothing after the
  /// first call.
  void forward(std::span<const halo_array> arrays);
  template <typename E>
  void forward(E* elements) {
    static_assert(std::is_trivially_copyable_v<E>);
    const halo_array one{elements, sizeof(E)};
    forward(std::span(&one, 1));
  }
  /// The same in two parts. Work that needs no ghosts can be enqueued between them. Do not wait where the messages of
  /// the communicator do not. Allocate nothing after the first call.
  void start_forward(std::span<const halo_array> arrays);
  void finish_forward();

  /// Adds the values of ghosts to those of their owners, in order of rank. `values`: (own + ghosts) x components; the
  /// values of ghosts are kept. V: float, double, std::uint32_t, std::uint64_t. Deterministic, without atomics. Does
  /// not wait where the messages of the communicator do not. Allocates nothing after the first call.
  template <typename V>
  void reverse(V* values, int components = 1);

 private:
  struct implementation;
  detail::pimpl<implementation> implementation_;
};

}  // namespace quadrat
