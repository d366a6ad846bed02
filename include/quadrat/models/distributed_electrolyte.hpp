// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "quadrat/core/instance.hpp"
#include "quadrat/models/distributed_model.hpp"
#include "quadrat/models/electrolyte.hpp"

namespace quadrat {

/// The electrolyte (electrolyte.hpp) over any number of ranks: each owns the ions of a block of cells; forces include
/// ghosts of other ranks, and all ranks share the mesh of the electrostatic sums (distributed/electrostatics.hpp). Ions
/// change ranks, and ghosts are chosen, when one has moved by half of a skin.
///
/// Random numbers depend on the ion. Forces equal those of one rank within rounding, so trajectories diverge as with
/// another precision. Determinism: with run_to_run the same bits in every run on the same number of ranks.
template <typename Context, typename T>
class distributed_electrolyte : public distributed_model<electrolyte<Context, T>> {
  static_assert(detail::instance<Context, T, 3>::exists);

 public:
  /// Rank 0 gives all ions; others give none. The communicator must outlive this. Throws on all ranks what
  /// `electrolyte` throws; argument_error for the method `direct`.
  distributed_electrolyte(const Context& context, communicator& ranks, const electrolyte_options& options,
                          const electrolyte_particles& particles);

  /// The parameters of the electrostatic sums: those of one rank, unless that would use `direct`.
  [[nodiscard]] const electrostatics_report& sums() const;
};

}  // namespace quadrat
