// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "models/brownian/options.hpp"
#include "models/brownian/ranks/kernels.hpp"
#include "models/ranks/exchange.hpp"
#include "models/ranks/share.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/distributed/halo.hpp"
#include "quadrat/distributed/mobility.hpp"
#include "quadrat/models/distributed_brownian.hpp"
#include "quadrat/parallel/workspace.hpp"

namespace quadrat::detail {

/// The spheres of one rank and its ghosts.
template <typename Context, typename T>
class spheres_of_rank final : public model_share<brownian<Context, T>> {
 public:
  /// `options`: completed. `count`: spheres of all ranks. Collective.
  spheres_of_rank(const Context& context, communicator& ranks, const brownian_options& options, std::size_t count);

  void set(const brownian_state<T>& state) override;
  int advance(std::size_t steps, const std::function<int()>& wish) override;
  void check() override;
  [[nodiscard]] brownian_state<T> gather() override;

  [[nodiscard]] std::uint64_t step() const override { return step_; }
  [[nodiscard]] std::size_t own() const override { return own_; }
  [[nodiscard]] rank_report report() const override;
  [[nodiscard]] std::size_t bytes() const override;
  [[nodiscard]] mobility_report mobility() const;

 private:
  using places_type = array<vec<T, 3>, Context>;

  [[nodiscard]] points_view<T, 3> own_points(const places_type& places) const { return points_of(places.data(), own_); }
  [[nodiscard]] std::size_t with_ghosts() const { return own_ + (chosen_ ? borders_.ghosts() : 0); }
  [[nodiscard]] bool interacts() const { return mobility_.has_value() && count_ > 0; }
  /// Whether there are forces at all.
  [[nodiscard]] bool pushed() const { return repulsion_ || bonded() || options_.force != vec<double, 3>{}; }
  [[nodiscard]] bool bonded() const { return options_.spring > 0 && !options_.bonds.empty(); }
  [[nodiscard]] run_fault fault_flag() { return run_fault{fault_.data()}; }
  [[nodiscard]] bonds_of_ranks bonds() const {
    return {bond_offsets_.data(), bond_ends_.data(), ids_.data(), place_.data()};
  }

  void keep_near(places_type& places, int wish, bool balances);
  void exchange(places_type& places);
  void choose_ghosts();
  template <typename E>
  void pass_on(array<E, Context>& values, array<E, Context>& spare, std::size_t room);
  void take_step(int wish);
  void euler_maruyama();
  void midpoint();
  void find_forces(places_type& places);
  void multiply(vec<T, 3>* velocities);
  void draw(std::uint64_t number, double scale, vec<T, 3>* velocities);
  void move(const brownian_velocities<T>& by);

  Context context_;
  communicator& ranks_;
  brownian_options options_;
  std::size_t count_;
  box<T, 3> domain_;
  T skin_;
  T reach_;      ///< of forces, with the skin
  double free_;  ///< mobility of a free sphere
  rank_exchange<Context, T, 3> exchange_;
  halo<Context, T, 3> borders_;  ///< of forces
  std::optional<distributed_mobility<Context, T>> mobility_;
  std::optional<brownian_pair_force<Context, T, soft_repulsion<T>>> repulsion_;
  bool chosen_ = false;  ///< whether there are ghosts
  std::size_t own_ = 0;
  places_type positions_, predicted_;  ///< with room for ghosts
  places_type before_, forces_, velocities_, noise_[2], spare_;
  array<vec<std::int32_t, 3>, Context> images_;
  array<sphere_kept<T>, Context> kept_, spare_kept_;
  array<particle_id, Context> ids_;             ///< with those of ghosts
  array<std::uint32_t, Context> bond_offsets_;  ///< by number
  array<particle_id, Context> bond_ends_;
  array<std::uint32_t, Context> place_;  ///< by number
  array<T, Context> more_reach_, spare_reach_;
  array<std::uint64_t, Context> fault_;
  workspace<Context> scratch_;
  std::uint64_t step_ = 0;
  std::optional<data_error> broken_;  ///< why the simulation is invalid; the same on all ranks
};

}  // namespace quadrat::detail
