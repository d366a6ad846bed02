// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "models/electrolyte/ranks/kernels.hpp"
#include "models/ranks/exchange.hpp"
#include "models/ranks/share.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/core/lattice.hpp"
#include "quadrat/distributed/electrostatics.hpp"
#include "quadrat/distributed/halo.hpp"
#include "quadrat/models/distributed_electrolyte.hpp"
#include "quadrat/parallel/workspace.hpp"
#include "quadrat/search/lattice_cells.hpp"

namespace quadrat::detail {

/// The ions of one rank and its ghosts.
template <typename Context, typename T>
class ions_of_rank final : public model_share<electrolyte<Context, T>> {
 public:
  /// `options`: checked. `sums`: those of one rank, or what is to be chosen.
  ions_of_rank(const Context& context, communicator& ranks, const electrolyte_options& options,
               const electrostatics_options& sums);

  void set(const electrolyte_state<T>& state) override;
  int advance(std::size_t steps, const std::function<int()>& wish) override;
  void check() override;
  [[nodiscard]] electrolyte_state<T> gather() override;

  [[nodiscard]] std::uint64_t step() const override { return step_; }
  [[nodiscard]] std::size_t own() const override { return own_; }
  [[nodiscard]] rank_report report() const override { return exchange_.report(own_, sums_.ghosts()); }
  [[nodiscard]] std::size_t bytes() const override;
  [[nodiscard]] const electrostatics_report& sums() const { return sums_.report(); }

 private:
  [[nodiscard]] points_view<T, 3> points(std::size_t count) const { return points_of(positions_.data(), count); }
  [[nodiscard]] electrolyte_ions<T> ions() {
    return {positions_.data(), velocities_.data(), masses_.data(), repulsion_.data(), coulomb_.data()};
  }
  void exchange();
  void take_step(int wish);
  void find_forces();

  Context context_;
  communicator& ranks_;
  electrolyte_options options_;
  box<T, 3> domain_;
  T reach_;
  T skin_;
  rank_exchange<Context, T, 3> exchange_;
  halo<Context, T, 3> borders_;
  lattice_cells<Context, T, 3> cells_;
  distributed_electrostatics<Context, T> sums_;
  std::size_t own_ = 0;
  array<vec<T, 3>, Context> positions_, velocities_, before_, spare_positions_, spare_velocities_, coulomb_;
  array<ion_kept<T>, Context> kept_, spare_kept_;
  array<T, Context> charges_, masses_, radii_;
  array<interaction<T, 3>, Context> repulsion_;
  array<std::uint64_t, Context> fault_;
  workspace<Context> scratch_;
  std::uint64_t step_ = 0;
  std::optional<data_error> broken_;  ///< why the simulation is invalid; the same on all ranks
};

}  // namespace quadrat::detail
