// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "models/brownian/options.hpp"
#include "models/brownian/ranks/kernels.hpp"
#include "models/ranks/ranked_steps.hpp"
#include "quadrat/distributed/halo.hpp"
#include "quadrat/distributed/mobility.hpp"
#include "quadrat/models/distributed_brownian.hpp"

namespace quadrat::detail {

/// The spheres of one rank and its ghosts.
template <typename Context, typename T>
class spheres_of_rank : public particles_of_rank<Context, T, 3> {
 public:
  using base = particles_of_rank<Context, T, 3>;
  using base::context_, base::ranks_, base::exchange_, base::own_, base::step_, base::faults_, base::scratch_;
  using whole_type = brownian<Context, T>;

  /// `options`: with defaults filled in. `count`: spheres of all ranks. Collective.
  spheres_of_rank(const Context& context, communicator& ranks, const brownian_options& options, std::size_t count);

  void load(const brownian_state<T>& state, std::size_t first);
  [[nodiscard]] points_view<T, 3> points() const { return own_points(positions_); }
  void start() { exchange(true); }
  [[nodiscard]] bool move(bool more);
  void exchange(bool balanced);
  void finish(bool more);
  static void throw_fault(std::uint64_t word) { throw_brownian_fault(word); }
  void gather(brownian_state<T>& state);
  [[nodiscard]] rank_report report() const;
  [[nodiscard]] std::size_t bytes() const;
  [[nodiscard]] mobility_report mobility() const;

 private:
  using places_type = array<vec<T, 3>, Context>;

  [[nodiscard]] points_view<T, 3> own_points(const places_type& places) const { return points_of(places.data(), own_); }
  [[nodiscard]] std::size_t with_ghosts() const { return own_ + (chosen_ ? borders_.ghosts() : 0); }
  [[nodiscard]] bool interacts() const { return mobility_.has_value() && count_ > 0; }
  /// Whether there are forces at all.
  [[nodiscard]] bool pushed() const { return repulsion_ || bonded() || options_.force != vec<double, 3>{}; }
  [[nodiscard]] bool bonded() const { return options_.spring > 0 && !options_.bonds.empty(); }
  [[nodiscard]] run_fault fault_flag() { return run_fault{faults_.data()}; }
  [[nodiscard]] bonds_of_ranks bonds() const {
    return {bond_offsets_.data(), bond_ends_.data(), ids_.data(), place_.data()};
  }

  /// Whether spheres at `places` have moved too far for the present ghosts.
  [[nodiscard]] bool far_from_ghosts(const places_type& places) {
    return this->far_from(own_points(before_), own_points(places), skin_, "brownian.moved");
  }
  void exchange_in_the_middle();
  /// Sends spheres to the ranks that own their cells, by their positions at `places`.
  void leave(places_type& places);
  void arrive(places_type& places);
  void euler_maruyama();
  void midpoint();
  void find_forces(places_type& places);
  void multiply(vec<T, 3>* velocities);
  void draw(std::uint64_t number, double scale, vec<T, 3>* velocities);
  void move(const brownian_velocities<T>& by);

  brownian_options options_;
  std::size_t count_;
  box<T, 3> domain_;
  T skin_;
  T reach_;                      ///< of forces, skin included
  double free_;                  ///< mobility of a free sphere
  halo<Context, T, 3> borders_;  ///< halo for forces
  std::optional<distributed_mobility<Context, T>> mobility_;
  std::optional<brownian_pair_force<Context, T, soft_repulsion<T>>> repulsion_;
  bool chosen_ = false;                ///< whether ghosts have been chosen
  places_type positions_, predicted_;  ///< with room for ghosts
  places_type before_, forces_, velocities_, noise_[2];
  array<vec<std::int32_t, 3>, Context> images_;
  array<sphere_kept<T>, Context> kept_;
  array<particle_id, Context> ids_;             ///< of own spheres, then of ghosts
  array<std::uint32_t, Context> bond_offsets_;  ///< by number
  array<particle_id, Context> bond_ends_;
  array<std::uint32_t, Context> place_;  ///< by number
  array<T, Context> more_reach_;
};

}  // namespace quadrat::detail
