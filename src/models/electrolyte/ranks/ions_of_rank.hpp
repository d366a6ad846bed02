// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "models/electrolyte/options.hpp"
#include "models/electrolyte/ranks/kernels.hpp"
#include "models/ranks/ranked_steps.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/core/lattice.hpp"
#include "quadrat/distributed/electrostatics.hpp"
#include "quadrat/distributed/halo.hpp"
#include "quadrat/models/distributed_electrolyte.hpp"
#include "quadrat/search/lattice_cells.hpp"

namespace quadrat::detail {

/// The ions of one rank and its ghosts.
template <typename Context, typename T>
class ions_of_rank : public particles_of_rank<Context, T, 3> {
 public:
  using base = particles_of_rank<Context, T, 3>;
  using base::context_, base::ranks_, base::exchange_, base::own_, base::step_, base::faults_, base::scratch_;
  using whole_type = electrolyte<Context, T>;

  /// `options`: checked. `sums`: the options that one rank would use, with parameters already chosen or still to be
  /// chosen.
  ions_of_rank(const Context& context, communicator& ranks, const electrolyte_options& options,
               const electrostatics_options& sums);

  void load(const electrolyte_state<T>& state, std::size_t first);
  [[nodiscard]] points_view<T, 3> points() const { return points_of(positions_.data(), own_); }
  void start();
  [[nodiscard]] bool move(bool more);
  void exchange(bool balanced);
  void finish(bool more);
  void check_cells() { cells_.check(); }
  static void throw_fault(std::uint64_t word) { throw_electrolyte_fault(word); }
  [[nodiscard]] data_error blown_up(const data_error& error) const;
  void gather(electrolyte_state<T>& state);
  [[nodiscard]] rank_report report() const { return exchange_.report(own_, sums_.ghosts()); }
  [[nodiscard]] std::size_t bytes() const;
  [[nodiscard]] const electrostatics_report& sums() const { return sums_.report(); }

 private:
  [[nodiscard]] electrolyte_ions<T> ions() {
    return {positions_.data(), velocities_.data(), masses_.data(), repulsion_.data(), coulomb_.data()};
  }
  void find_forces();

  electrolyte_options options_;
  box<T, 3> domain_;
  T reach_;
  T skin_;
  halo<Context, T, 3> borders_;
  lattice_cells<Context, T, 3> cells_;
  distributed_electrostatics<Context, T> sums_;
  array<vec<T, 3>, Context> positions_, velocities_, before_, coulomb_;
  array<ion_kept<T>, Context> kept_;
  array<T, Context> charges_, masses_, radii_;
  array<interaction<T, 3>, Context> repulsion_;
};

}  // namespace quadrat::detail
