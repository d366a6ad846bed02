// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/friction/laws.hpp"
#include "models/friction/options.hpp"
#include "models/friction/ranks/kernels.hpp"
#include "models/friction/setup.hpp"
#include "models/ranks/ranked_steps.hpp"
#include "models/ranks/traveling_ghosts.hpp"
#include "quadrat/contacts/contact_matcher.hpp"
#include "quadrat/core/lattice.hpp"
#include "quadrat/distributed/migration.hpp"
#include "quadrat/models/distributed_granular_friction.hpp"
#include "quadrat/search/neighbor_list.hpp"

namespace quadrat::detail {

/// The grains of one rank with the histories of their contacts, and its ghosts. Grains are double-buffered, as in
/// friction_storage: a step reads own grains and ghosts of one set, and writes own ones of the other.
template <typename Context, typename T>
class friction_grains_of_rank : public particles_of_rank<Context, T, 3> {
 public:
  using whole_type = granular_friction<Context, T>;
  using base = particles_of_rank<Context, T, 3>;
  using base::context_, base::ranks_, base::exchange_, base::own_, base::step_, base::scratch_;

  /// `setup`: on rank 0 with the radii and materials of all. `count`: grains of all ranks.
  friction_grains_of_rank(const Context& context, communicator& ranks, const friction_setup<T>& setup,
                          std::size_t count);

  void load(const granular_friction_state<T>& state, std::size_t first);
  [[nodiscard]] points_view<T, 3> points() const { return points_of_records<T, 3>(places_[now_].data(), own_); }
  void start();
  [[nodiscard]] bool move(bool more);
  void settle() { ghosts_.receive(); }
  void exchange(bool balanced);
  void finish(bool more);
  [[nodiscard]] std::uint64_t first_fault() const { return fault_; }
  static void throw_fault(std::uint64_t word) {
    if (word != no_run_fault) throw friction_blow_up(word >> 32, word & 0xffffffffu);
  }
  void gather(granular_friction_state<T>& state);
  /// Counts as many rebuilds as one rank, which builds twice at the start.
  void amend(granular_friction_statistics& result) const { result.rebuilds = rebuilds_; }
  [[nodiscard]] rank_report report() const { return exchange_.report(own_, ghosts_.number()); }
  [[nodiscard]] std::size_t bytes() const;

 private:
  struct sent_grain;

  [[nodiscard]] moving_grains<T> grains(int set);
  [[nodiscard]] friction_partners<T> near();
  /// Of the histories with walls: one of the number of own grains for each wall and layer.
  [[nodiscard]] std::size_t wall_planes() const { return laws_.walls() * setup_.layers(); }
  /// With `restoring`, grains are at the positions of the list's build, and leaving_ has their histories.
  void rebuild(bool restoring);
  void pack_histories(bool restoring);
  void send_histories();
  void send_grains(bool restoring);
  void choose_ghosts();
  void fetch_ghosts();
  void build_list();
  void recall();
  [[nodiscard]] std::vector<granular_contact_memory<T>> own_contacts();

  friction_setup<T> setup_;
  grid<T, 3> cells_;
  lattice<T, 3> box_;
  migration<Context> histories_;
  traveling_ghosts<Context, T, 3> ghosts_;
  neighbor_list<Context, T, 3> list_;
  contact_matcher<Context> matcher_;
  friction_laws<Context, T> laws_;

  int now_ = 0;  ///< the present set of grains
  array<grain_place<T>, Context> places_[2];
  array<grain_velocity<T>, Context> velocities_[2];
  array<grain_spin<T>, Context> spins_[2];
  array<vec<T, 3>, Context> remainders_[2];
  array<contact_memory<T>, Context> wall_memories_, spare_wall_memories_;
  array<vec<T, 3>, Context> listed_;
  array<vec<T, 3>, Context> present_;  ///< positions, while a state is restored
  array<T, Context> radii_;
  array<std::uint32_t, Context> materials_;  ///< own grains and ghosts; none for one material
  array<std::uint64_t, Context> ranks_in_order_;

  const std::uint64_t* offsets_ = nullptr;  ///< of rows of the list; none before the first
  array<std::uint32_t, Context> partners_, counts_, destinations_;
  array<contact_memory<T>, Context> memories_;
  array<traveling_memory<T>, Context> leaving_, arrived_;
  array<particle_id, Context> first_, second_;
  array<std::uint64_t, Context> words_;

  bool has_ghosts_ = false;  ///< ghosts of this step have arrived or are on their way
  std::uint64_t rebuilds_ = 1;
  std::uint64_t fault_ = no_run_fault;  ///< of the own grains
};

}  // namespace quadrat::detail
