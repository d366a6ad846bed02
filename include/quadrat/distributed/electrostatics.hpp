// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>

#include "quadrat/core/context.hpp"
#include "quadrat/core/grid.hpp"
#include "quadrat/core/instance.hpp"
#include "quadrat/core/views.hpp"
#include "quadrat/distributed/communicator.hpp"
#include "quadrat/distributed/decomposition.hpp"
#include "quadrat/ewald/electrostatics.hpp"

namespace quadrat {

/// Ewald sums (ewald/electrostatics.hpp) over the charges of all ranks, in one periodic box or slab with right angles.
/// The short range is summed over own charges and ghosts, the long range over a mesh in slabs or pencils (spreading, a
/// real Fourier transform, the influence function, and back). Methods are `spme` and `esp`. Move-only. All calls but
/// those that are const are collective, and synchronize.
///
/// Results are those of one rank with the same parameters within rounding. Determinism: at run_to_run the same bits in
/// every run on the same number of ranks.
template <typename Context, typename T>
class distributed_electrostatics {
  static_assert(detail::instance<Context, T, 3>::exists);

 public:
  /// `space`: the box, periodic along all axes or (a slab) along the first two, in cells of which ranks own blocks; not
  /// folded. The communicator must outlive this. Throws on all ranks what electrostatics throws for impossible options;
  /// argument_error for other boxes, and for the method `direct`.
  distributed_electrostatics(const Context& context, communicator& ranks, const grid<T, 3>& space,
                             const electrostatics_options& options = {});
  distributed_electrostatics(distributed_electrostatics&&) noexcept;
  distributed_electrostatics& operator=(distributed_electrostatics&&) noexcept;
  ~distributed_electrostatics();

  /// Who owns what: own points, any image of each, in cells of this rank's block, and their charges, in the memory of
  /// the context's device; charges are copied. At the first call, and where the number of charges of all ranks has
  /// changed, the parameters are chosen; rank 0 then needs 8 bytes (16 in double) for each charge of all. Throws on all
  /// ranks: what electrostatics throws; argument_error for a skin that is negative or not finite, and a decomposition
  /// of other cells or ranks; data_error for a point that another rank owns.
  void set(const decomposition<3>& shares, const points_view<T, 3>& points, const T* charges, T skin = T(0));

  /// For the charges of the last `set`, in the same order, each at most half of the skin from where it was then. Writes
  /// what `output` asks for: by own point, and energy and virial of all charges, the same on all ranks. The virial
  /// takes three times as long. Throws on all ranks what electrostatics throws for points and charges, naming a point
  /// of the rank where it is: those of others follow the own ones.
  void compute(const points_view<T, 3>& points, const electrostatics_output<T>& output);

  /// Of the last `set`. Throws argument_error before.
  [[nodiscard]] const electrostatics_report& report() const;
  [[nodiscard]] std::size_t own() const;
  [[nodiscard]] std::size_t ghosts() const;
  [[nodiscard]] std::size_t bytes() const;

 private:
  struct implementation;
  std::unique_ptr<implementation> implementation_;
};

}  // namespace quadrat
