// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "quadrat/core/context.hpp"
#include "quadrat/core/grid.hpp"
#include "quadrat/core/instance.hpp"
#include "quadrat/core/pimpl.hpp"
#include "quadrat/core/views.hpp"
#include "quadrat/distributed/communicator.hpp"
#include "quadrat/distributed/decomposition.hpp"
#include "quadrat/ewald/electrostatics.hpp"

namespace quadrat {

/// Ewald sums (ewald/electrostatics.hpp) over the charges of all ranks, in one periodic box or slab with right angles.
/// Each rank sums the short range over its own charges and ghosts. The long range is summed over a mesh in slabs or
/// pencils: spreading, a real Fourier transform, the influence function, and back. Methods are `spme` and `esp`.
/// Move-only. All calls but const ones are collective.
///
/// Results equal those of one rank with the same parameters, to rounding. Determinism: at run_to_run the same bits in
/// every run on the same number of ranks.
template <typename Context, typename T>
class distributed_electrostatics {
  static_assert(detail::instance<Context, T, 3>::exists);

 public:
  /// `space`: the box, periodic along all axes or (a slab) along the first two, divided into cells; ranks own blocks of
  /// them. It must not be folded. The communicator must outlive this. Throws on all ranks what electrostatics throws
  /// for impossible options; argument_error for other boxes, and for the method `direct`.
  distributed_electrostatics(const Context& context, communicator& ranks, const grid<T, 3>& space,
                             const electrostatics_options& options = {});

  /// Sets the charges of this rank: points in cells of its block (any periodic image), and their charges, which are
  /// copied. Arrays are in the memory of the context's device. The first call chooses the parameters; so does a call
  /// after the total number of charges has changed. Rank 0 then needs 8 bytes (16 in double) per charge of all ranks.
  /// Waits. May allocate. Throws on all ranks: what electrostatics throws; argument_error for a skin that is negative
  /// or not finite, and for a decomposition of other cells or ranks; data_error for a point that another rank owns.
  void set(const decomposition<3>& shares, const points_view<T, 3>& points, const T* charges, T skin = T(0));

  /// Computes for the charges of the last `set`, in the same order. Each may have moved by at most half of the skin
  /// since then. Writes what `output` asks for: values per own point, and energy and virial of all charges, the same on
  /// all ranks. The virial makes a call take three times as long. Waits. Allocates nothing after the first call. Throws
  /// on all ranks what electrostatics throws for points and charges. Errors name a point by its number on its rank;
  /// ghosts follow the own points.
  void compute(const points_view<T, 3>& points, const electrostatics_output<T>& output);

  /// The report of the last `set`. Throws argument_error before the first.
  [[nodiscard]] const electrostatics_report& report() const;
  [[nodiscard]] std::size_t own() const;
  [[nodiscard]] std::size_t ghosts() const;
  [[nodiscard]] std::size_t bytes() const;

 private:
  struct implementation;
  detail::pimpl<implementation> implementation_;
};

}  // namespace quadrat
