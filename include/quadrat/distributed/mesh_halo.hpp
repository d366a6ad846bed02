// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "quadrat/core/context.hpp"
#include "quadrat/core/instance.hpp"
#include "quadrat/core/pimpl.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/distributed/communicator.hpp"
#include "quadrat/distributed/decomposition.hpp"

namespace quadrat {

/// Mesh points [first, first + extent) along each axis. Along periodic axes these are indices before wrapping, and may
/// be any.
template <int D>
struct mesh_patch {
  vec<int, D> first;
  vec<int, D> extent;

  [[nodiscard]] std::size_t size() const {
    std::size_t product = 1;
    for (int axis = 0; axis < D; ++axis) product *= static_cast<std::size_t>(extent[axis]);
    return product;
  }
};

/// A plan between a mesh, of which each rank owns a block, and a patch of mesh points on each rank. Patches may
/// overlap, reach over periodic faces and wrap onto themselves. Arrays of blocks and patches are C-ordered:
/// [x][y][z][component]. Move-only. All calls are collective. `add` and `fetch` allocate nothing once they have been
/// called with as many components.
template <typename Context, typename T, int D>
class mesh_halo {
  static_assert(detail::instance<Context, T, D>::exists);

 public:
  /// `owners`: a decomposition whose cells are the mesh points, such as slab_decomposition. Points of a patch beyond an
  /// open axis have no owner: `add` ignores them, and `fetch` sets them to 0. The communicator must outlive this.
  /// Waits. Throws argument_error on all ranks for a patch without points, or with more than 2^31 - 1.
  mesh_halo(const Context& context, communicator& ranks, const decomposition<D>& owners, const mesh_patch<D>& patch);

  /// Mesh points of this rank's block and patch.
  [[nodiscard]] std::size_t block_size() const;
  [[nodiscard]] std::size_t patch_size() const;
  [[nodiscard]] std::size_t bytes() const;

  /// Sets the block to the sum over all patches, first this rank's own, then in order of rank: the same bits in every
  /// run. Does not wait where the messages of the communicator do not. Allocates nothing after the first call.
  void add(const T* patch, T* block, int components = 1);
  /// Sets the patch to the values of the owners. Does not wait where the messages of the communicator do not. Allocates
  /// nothing after the first call.
  void fetch(const T* block, T* patch, int components = 1);

 private:
  struct implementation;
  detail::pimpl<implementation> implementation_;
};

}  // namespace quadrat
