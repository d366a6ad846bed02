// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <vector>

#include "models/friction/ranks/kernels.hpp"
#include "models/friction/setup.hpp"
#include "models/ranks/borders_first.hpp"
#include "models/ranks/exchange.hpp"
#include "models/ranks/priority_stream.hpp"
#include "models/ranks/share.hpp"
#include "quadrat/contacts/contact_matcher.hpp"
#include "quadrat/core/lattice.hpp"
#include "quadrat/distributed/halo.hpp"
#include "quadrat/models/distributed_friction.hpp"
#include "quadrat/search/neighbor_list.hpp"

namespace quadrat::detail {

/// The grains of one rank with the histories of their contacts, and its ghosts. Grains are double-buffered, as in
/// friction_storage: a step reads own grains and ghosts of one set, and writes own ones of the other.
template <typename Context, typename T>
class friction_share final : public model_share<granular_friction<Context, T>> {
 public:
  /// `setup`: without radii. `count`: grains of all ranks.
  friction_share(const Context& context, communicator& ranks, const friction_setup<T>& setup, std::size_t count);

  void set(const granular_friction_state<T>& state) override;
  int advance(std::size_t steps, const std::function<int()>& wish) override;
  void check() override;
  [[nodiscard]] granular_friction_state<T> gather() override;
  /// As many rebuilds as on one rank, which builds twice to start.
  void amend(granular_friction_statistics& result) const override { result.rebuilds = rebuilds_; }

  [[nodiscard]] std::uint64_t step() const override { return step_; }
  [[nodiscard]] std::size_t own() const override { return own_; }
  [[nodiscard]] rank_report report() const override { return exchange_.report(own_, borders_.ghosts()); }
  [[nodiscard]] std::size_t bytes() const override;

 private:
  struct sent_grain;

  [[nodiscard]] moving_grains<T> grains(int set);
  [[nodiscard]] friction_partners<T> near();
  [[nodiscard]] points_view<T, 3> points() const { return points_of_records<T, 3>(places_[now_].data(), own_); }
  void take_step(int wish);
  /// With `restoring`, grains are where the list was built, and leaving_ has their histories.
  void rebuild(bool restoring);
  void pack_histories(bool restoring);
  void send_histories();
  void send_grains(bool restoring);
  template <typename E>
  void send(array<E, Context>& elements, array<E, Context>& spare);
  void choose_ghosts();
  template <typename E>
  void grow(array<E, Context>& elements, array<E, Context>& spare);
  void fetch_ghosts();
  void send_ghosts(int set);
  void receive_ghosts();
  void build_list();
  void recall();
  [[nodiscard]] std::vector<granular_contact_memory<T>> own_contacts();

  Context context_;
  communicator& ranks_;
  friction_setup<T> setup_;
  std::size_t count_;
  grid<T, 3> cells_;
  lattice<T, 3> box_;
  rank_exchange<Context, T, 3> exchange_;
  migration<Context> histories_;
  priority_stream<Context> border_stream_;
  halo<Context, T, 3> borders_;
  neighbor_list<Context, T, 3> list_;
  contact_matcher<Context> matcher_;
  array<friction_wall<T>, Context> walls_;

  std::size_t own_ = 0;
  int now_ = 0;  ///< the present set of grains
  array<grain_place<T>, Context> places_[2];
  array<grain_velocity<T>, Context> velocities_[2];
  array<grain_spin<T>, Context> spins_[2];
  array<vec<T, 3>, Context> remainders_[2];
  array<contact_memory<T>, Context> wall_memories_, spare_wall_memories_;
  array<vec<T, 3>, Context> listed_;
  array<vec<T, 3>, Context> present_, spare_present_;  ///< positions, while a state is restored
  array<T, Context> radii_;
  array<std::uint64_t, Context> ranks_in_order_;

  const std::uint64_t* offsets_ = nullptr;  ///< of rows of the list; none before the first
  array<std::uint32_t, Context> partners_, counts_, destinations_;
  array<contact_memory<T>, Context> memories_;
  array<traveling_memory<T>, Context> leaving_, arrived_;
  array<particle_id, Context> first_, second_;
  array<std::uint64_t, Context> words_;
  workspace<Context> scratch_;

  std::uint64_t step_ = 0;
  std::uint64_t rebuilds_ = 1;
  std::uint64_t fault_;
  std::exception_ptr failure_;  ///< the same on all ranks
};

}  // namespace quadrat::detail
