// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "quadrat/core/instance.hpp"
#include "quadrat/models/distributed_model.hpp"
#include "quadrat/models/srd.hpp"

namespace quadrat {

/// Stochastic rotation dynamics (srd.hpp) over any number of ranks. Cells of the shifted grid are owned by ranks, in
/// blocks that stay where they are while the grid shifts: particles stay on their rank until one has left its window,
/// the block and two layers of cells around it. A step sends the sums of the cells in which ranks meet to their owners,
/// and their collisions back, in messages of fixed size, besides one small record by which ranks agree. Random numbers
/// are those of the cell in the whole box.
///
/// Determinism: with fixed sums, the bits of `srd` on one rank, on any number of ranks: sums of integers. With floating
/// sums: none.
template <typename Context, typename T, int D>
class distributed_srd : public distributed_model<srd<Context, T, D>> {
  static_assert(detail::instance<Context, T, D>::exists);

 public:
  /// Particles are those that rank 0 gives; others give none. The communicator must outlive this. Throws on all ranks
  /// what `srd` throws.
  distributed_srd(const Context& context, communicator& ranks, const srd_options<D>& options,
                  const srd_particles<D>& particles);
};

}  // namespace quadrat
