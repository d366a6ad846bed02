// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "quadrat/core/instance.hpp"
#include "quadrat/models/distributed_model.hpp"
#include "quadrat/models/srd.hpp"

namespace quadrat {

/// Stochastic rotation dynamics (srd.hpp) over any number of ranks. Cells of the shifted grid are owned by ranks, in
/// blocks that do not move with the shifts of the grid. Particles stay on their rank until one has left its window: the
/// block and two layers of cells around it. A step sends the sums of cells shared by ranks to their owners, and their
/// collisions back, in messages of fixed size, and one small record for the agreement of ranks. Random numbers depend
/// on the cell in the whole box.
///
/// Determinism: with fixed sums, the bits of `srd` on one rank, on any number of ranks: sums of integers. With floating
/// sums: none.
template <typename Context, typename T, int D>
class distributed_srd : public distributed_model<srd<Context, T, D>> {
  static_assert(detail::instance<Context, T, D>::exists);

 public:
  /// Rank 0 gives all particles; others give none. The communicator must outlive this. Throws on all ranks what `srd`
  /// throws.
  distributed_srd(const Context& context, communicator& ranks, const srd_options<D>& options,
                  const srd_particles<D>& particles);
};

}  // namespace quadrat
