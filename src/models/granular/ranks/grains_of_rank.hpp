// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "models/granular/engine.hpp"
#include "models/granular/ranks/kernels.hpp"
#include "quadrat/cells/counting.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/distributed/decomposition.hpp"
#include "quadrat/distributed/halo.hpp"
#include "quadrat/distributed/migration.hpp"
#include "quadrat/models/distributed_granular.hpp"
#include "quadrat/parallel/workspace.hpp"

namespace quadrat::detail {

/// What all ranks know of each after a move, by which they agree whether to go on as they are.
struct rank_pulse {
  double moved;  ///< the largest distance of an own grain from where it was when ghosts were chosen
  std::uint64_t grains;
};

/// The grains of one rank and its ghosts, and how they come and go.
template <typename Context, typename T>
class grains_of_rank {
 public:
  grains_of_rank(const Context& context, communicator& ranks, const granular_setup<T>& setup, T skin);

  /// Replaces all grains: each rank gives some, by host memory. Balances.
  void set(std::span<const packed_record<T, 3>> positions, std::span<const velocity_record<T>> velocities);
  /// Takes one step, the `step`-th.
  void advance(std::uint64_t step);
  /// The smallest word of a run_fault of all ranks. Collective.
  [[nodiscard]] std::uint64_t fault();

  [[nodiscard]] std::size_t own() const { return own_; }
  [[nodiscard]] const packed_record<T, 3>* positions() const { return positions_.data(); }
  [[nodiscard]] const velocity_record<T>* velocities() const { return velocities_[now_].data(); }
  [[nodiscard]] granular_rank_report report() const;
  [[nodiscard]] std::size_t bytes() const;

 private:
  /// Steps that balancing costs, about.
  static constexpr double balance_cost = 20;
  using cell_list = typename cell_methods::counting::type<Context, T, 3>;

  [[nodiscard]] points_view<T, 3> points(std::size_t count) const;
  [[nodiscard]] grain_records<T> grains() { return {positions_.data(), velocities_[now_].data()}; }
  void move(std::uint64_t step);
  void push(std::uint64_t step);
  void choose_ghosts();
  void balance();
  void migrate();
  void sort();

  Context context_;
  communicator& ranks_;
  granular_setup<T> setup_;
  T skin_;
  cell_list cells_;
  decomposition<3> shares_;
  device_decomposition<Context, 3> device_shares_;
  migration<Context> moves_;
  halo<Context, T, 3> borders_;
  std::size_t own_ = 0;
  int now_ = 0;  ///< of velocities_
  array<packed_record<T, 3>, Context> positions_, before_;
  array<velocity_record<T>, Context> velocities_[2];
  array<std::uint32_t, Context> owners_, keys_[2], order_[2];
  array<std::uint64_t, Context> fault_;
  workspace<Context> scratch_;
  granular_rank_report report_;
  double lost_since_balance_ = 0;
};

}  // namespace quadrat::detail
