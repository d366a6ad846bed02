// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "quadrat/core/context.hpp"
#include "quadrat/core/grid.hpp"
#include "quadrat/core/instance.hpp"
#include "quadrat/core/views.hpp"
#include "quadrat/distributed/communicator.hpp"
#include "quadrat/distributed/decomposition.hpp"

namespace quadrat {

/// An array of own particles, then ghosts.
struct halo_array {
  void* data;
  std::size_t element_bytes;  ///< a multiple of 4
};

/// How near a particle must be to a rank to be its ghost: reach + of_rank[rank] + of_point[i], for instance a cutoff,
/// or the radii of bodies.
template <typename T>
struct halo_reach {
  T reach = T(0);
  std::span<const T> of_rank{};  ///< on the host, one for each rank, the same on all; empty: 0
  const T* of_point = nullptr;   ///< in the memory of the context, one for each own particle; nullptr: 0
};

/// A plan that gives each rank copies (ghosts) of the particles of others that are near its block. A ghost keeps the
/// position of its owner, and comes once, however many of its periodic images are near: own particles and ghosts
/// together are particles of the whole box, over which every method of the library works as it does on one rank. The
/// results of own particles are then complete; those of ghosts are not.
///
/// Near means: a cell of the block can hold a point closer than the reach (grid::reach), so that no pair below it is
/// missed, whatever the rounding; some ghosts are farther. Particles may have left their block by up to d, if the reach
/// is larger by 2 d. Ghosts come in order of their owner's rank, then of the owner's memory. Deterministic.
///
/// All calls are collective. Counts travel only in `build`; the others allocate nothing once they have been called with
/// the same arrays.
template <typename Context, typename T, int D>
class halo {
  static_assert(detail::instance<Context, T, D>::exists);

 public:
  /// The communicator must outlive this.
  halo(const Context& context, communicator& ranks);
  halo(halo&&) noexcept;
  halo& operator=(halo&&) noexcept;
  ~halo();

  /// `points`: the own particles; `space` is not folded. Synchronizes. Throws on all ranks: argument_error for a reach
  /// that is negative or not finite, a decomposition of other cells or ranks, more than 2^31 - 1 particles with ghosts.
  void build(const grid<T, D>& space, const decomposition_view<D>& shares, const points_view<T, D>& points,
             const halo_reach<T>& reach);

  [[nodiscard]] std::size_t own() const;
  [[nodiscard]] std::size_t ghosts() const;
  /// Copies that this rank sends.
  [[nodiscard]] std::size_t sent() const;
  /// By own particle, in the memory of the context: its copies on other ranks. One without is, until the next `build`,
  /// not near any ghost, if it and these move by no more than the reach allows.
  [[nodiscard]] const std::uint32_t* copies() const;
  /// The own particles that have copies, in increasing order, in the memory of the context.
  [[nodiscard]] std::span<const std::uint32_t> bordering() const;
  [[nodiscard]] const std::vector<std::size_t>& ghosts_by_rank() const;
  /// Bytes of the context's memory held.
  [[nodiscard]] std::size_t bytes() const;

  /// Writes the ghosts' elements, [own, own + ghosts), of each array, from those of their owners: one message to each
  /// rank for all arrays. Deterministic.
  void forward(std::span<const halo_array> arrays);
  template <typename E>
  void forward(E* elements) {
    static_assert(std::is_trivially_copyable_v<E>);
    const halo_array one{elements, sizeof(E)};
    forward(std::span(&one, 1));
  }
  /// The same in two parts, between which work that needs no ghosts can be enqueued.
  void start_forward(std::span<const halo_array> arrays);
  void finish_forward();

  /// Adds the ghosts' values to those of their owners, in order of rank. `values`: (own + ghosts) x components; those
  /// of ghosts stay. V: float, double, std::uint32_t, std::uint64_t. Deterministic, without atomics.
  template <typename V>
  void reverse(V* values, int components = 1);

 private:
  struct implementation;
  std::unique_ptr<implementation> implementation_;
};

}  // namespace quadrat
