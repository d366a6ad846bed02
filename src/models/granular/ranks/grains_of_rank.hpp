// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>

#include "models/granular/engine.hpp"
#include "models/granular/ranks/kernels.hpp"
#include "models/granular/ranks/rows_of_rank.hpp"
#include "models/ranks/fitted_cells.hpp"
#include "models/ranks/late_value.hpp"
#include "models/ranks/ranked_steps.hpp"
#include "models/ranks/traveling_ghosts.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/models/distributed_granular.hpp"

namespace quadrat::detail {

/// The grains of one rank and its ghosts, and their exchange.
template <typename Context, typename T>
class grains_of_rank : public particles_of_rank<Context, T, 3> {
 public:
  using whole_type = granular<Context, T>;
  using base = particles_of_rank<Context, T, 3>;
  using base::context_, base::ranks_, base::exchange_, base::own_, base::step_, base::faults_, base::scratch_;

  grains_of_rank(const Context& context, communicator& ranks, const granular_setup<T>& setup,
                 const granular_parameters& parameters, T skin, bool overlaps);

  void load(const granular_state<T>& state, std::size_t first);
  [[nodiscard]] points_view<T, 3> points() const { return points(own_); }
  void start();
  [[nodiscard]] bool move(bool more);
  /// Completes ghosts that are on their way, and undoes forces that were enqueued early.
  void settle();
  void exchange(bool balanced);
  void finish(bool more);
  static void throw_fault(std::uint64_t word) { throw_if_blown_up(word); }
  void gather(granular_state<T>& state);
  [[nodiscard]] granular_statistics measure();
  [[nodiscard]] rank_report report() const { return exchange_.report(own_, ghosts_.number()); }
  [[nodiscard]] std::size_t bytes() const;

  [[nodiscard]] const packed_record<T, 3>* positions() const { return positions_[now_].data(); }
  [[nodiscard]] const velocity_record<T>* velocities() const { return velocities_[now_].data(); }
  [[nodiscard]] decomposition_view<3> shares() const { return exchange_.on_device(); }

 private:
  [[nodiscard]] points_view<T, 3> points(std::size_t count) const {
    return points_of_records<T, 3>(positions_[now_].data(), count);
  }
  [[nodiscard]] grain_records<T> grains(int set) { return {positions_[set].data(), velocities_[set].data()}; }
  void move_grains();
  /// Requests the largest distance that a grain has moved.
  void request_largest();
  [[nodiscard]] bool expects_an_exchange() const;
  /// `set`: the grains of this step.
  [[nodiscard]] bool far_from_ghosts(T moved, int set);
  [[nodiscard]] T skin_to_come();
  [[nodiscard]] bool has_rows();
  void build_cells();
  void push(bool move);
  template <typename View>
  void push_by(const View& view, bool move);
  template <bool Canonical, typename View>
  void enqueue_push(const View& view, bool move);
  void undo_push();
  void choose_ghosts();
  void migrate();

  using rows_type = std::conditional_t<std::is_same_v<Context, cpu_context>, rows_of_rank<T>, no_rows>;

  granular_setup<T> setup_;
  granular_parameters parameters_;
  T least_skin_;
  T skin_;         ///< the skin for which ghosts are chosen
  bool overlaps_;  ///< grains with copies are computed first, and travel during the computation of the others
  fitted_cells<Context, T, 3> cells_;
  bool fitted_ = false;  ///< cells_ is fitted since ghosts were chosen
  rows_type rows_;
  traveling_ghosts<Context, T, 3> ghosts_;
  array<T, Context> largest_;
  late_value<Context, T> largest_moves_[2];
  int asked_ = 0;             ///< index of the last request in largest_moves_
  bool moved_ahead_ = false;  ///< the move of the next step has been made
  double last_move_ = 0;      ///< the largest, of the last step
  std::size_t since_ = 0;     ///< steps since the last exchange
  std::size_t interval_ = 1;  ///< steps after which the next one is expected
  int early_ = -1;            ///< the set of the grains of this step, if the forces on them are enqueued early
  bool moves_early_ = false;  ///< and the move of the next step with them
  int ghosts_of_ = -1;        ///< index into positions_ and velocities_ of the set with ghosts
  double moved_ = 0;          ///< bound on the move of every grain since the ghosts were chosen
  std::size_t unsorted_ = 0;  ///< exchanges in which grains kept their places, since the last sort
  int now_ = 0;               ///< present index into positions_ and velocities_
  array<packed_record<T, 3>, Context> positions_[2], before_;
  array<velocity_record<T>, Context> velocities_[2];
};

}  // namespace quadrat::detail
