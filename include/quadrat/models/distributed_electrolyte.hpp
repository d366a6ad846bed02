// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "quadrat/core/instance.hpp"
#include "quadrat/models/distributed_model.hpp"
#include "quadrat/models/electrolyte.hpp"

namespace quadrat {

/// The electrolyte (electrolyte.hpp) over any number of ranks: each owns the ions of a block of cells; forces see the
/// ghosts of others, and the mesh of the electrostatic sums is that of all (distributed/electrostatics.hpp). Ions
/// change ranks, and ghosts are chosen, when one has moved by half of a skin.
///
/// Random numbers are those of the ion. Forces are those of one rank within rounding, so that trajectories diverge as
/// those of other precisions do. Determinism: with run_to_run the same bits in every run on the same number of ranks.
template <typename Context, typename T>
class distributed_electrolyte : public distributed_model<electrolyte<Context, T>> {
  static_assert(detail::instance<Context, T, 3>::exists);

 public:
  /// Ions are those that rank 0 gives; others give none. The communicator must outlive this. Throws on all ranks what
  /// `electrolyte` throws; argument_error for the method `direct`.
  distributed_electrolyte(const Context& context, communicator& ranks, const electrolyte_options& options,
                          const electrolyte_particles& particles);

  /// What the ranks sum with: as one rank would, unless that is `direct`.
  [[nodiscard]] const electrostatics_report& sums() const;
};

}  // namespace quadrat
