// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "models/granular/engine.hpp"
#include "models/granular/ranks/kernels.hpp"
#include "models/granular/ranks/rows_of_rank.hpp"
#include "models/ranks/borders_first.hpp"
#include "models/ranks/exchange.hpp"
#include "models/ranks/fitted_cells.hpp"
#include "models/ranks/late_value.hpp"
#include "models/ranks/priority_stream.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/distributed/halo.hpp"
#include "quadrat/distributed/sparse_migration.hpp"
#include "quadrat/models/distributed_granular.hpp"
#include "quadrat/parallel/workspace.hpp"

namespace quadrat::detail {

/// The grains of one rank and its ghosts, and how they come and go.
template <typename Context, typename T>
class grains_of_rank {
 public:
  grains_of_rank(const Context& context, communicator& ranks, const granular_setup<T>& setup, T skin, bool overlaps);

  /// Replaces all grains: each rank gives some, by host memory. Balances.
  void set(std::span<const packed_record<T, 3>> positions, std::span<const velocity_record<T>> velocities);
  /// Takes one step, the `step`-th. Returns the largest `wish` of all ranks. `more`: another step follows if that is 0;
  /// its move is then made with the forces of this one.
  std::int64_t advance(std::uint64_t step, bool more, std::int64_t wish = 0);
  /// The smallest word of a run_fault of all ranks. Collective.
  [[nodiscard]] std::uint64_t fault() { return first_fault(context_, ranks_, faults_); }

  [[nodiscard]] std::size_t own() const { return own_; }
  [[nodiscard]] const packed_record<T, 3>* positions() const { return positions_[now_].data(); }
  [[nodiscard]] const velocity_record<T>* velocities() const { return velocities_[now_].data(); }
  [[nodiscard]] decomposition_view<3> shares() const { return exchange_.on_device(); }
  [[nodiscard]] rank_report report() const {
    rank_report result = exchange_.report(own_, borders_.ghosts());
    result.exchanges += in_place_;
    return result;
  }
  [[nodiscard]] std::size_t bytes() const;

 private:
  [[nodiscard]] points_view<T, 3> points(std::size_t count) const {
    return points_of_records<T, 3>(positions_[now_].data(), count);
  }
  [[nodiscard]] grain_records<T> grains(int set) { return {positions_[set].data(), velocities_[set].data()}; }
  void move(std::uint64_t step);
  /// Asks for the largest distance that a grain has moved.
  void request_largest();
  [[nodiscard]] bool expects_an_exchange() const;
  void exchange();
  /// `set`: the grains of this step.
  [[nodiscard]] bool far_from_ghosts(T moved, int set);
  [[nodiscard]] T skin_to_come();
  [[nodiscard]] bool has_rows();
  void build_cells();
  void send_ghosts();
  void receive_ghosts();
  void push(std::uint64_t step, bool move);
  template <typename View>
  void push_by(const View& view, std::uint64_t step, bool move);
  template <bool Canonical, typename View>
  void enqueue_push(const View& view, std::uint64_t step, bool move);
  void choose_ghosts();
  void migrate();
  void migrate_in_place();

  using rows_type = std::conditional_t<std::is_same_v<Context, cpu_context>, rows_of_rank<T>, no_rows>;

  Context context_;
  communicator& ranks_;
  granular_setup<T> setup_;
  T least_skin_;
  T skin_;         ///< ghosts are chosen for
  bool overlaps_;  ///< grains that have copies are pushed first, and travel while the others are pushed
  priority_stream<Context> border_stream_;
  fitted_cells<Context, T, 3> cells_;
  bool fitted_ = false;  ///< cells_, since ghosts were chosen
  rows_type rows_;
  rank_exchange<Context, T, 3> exchange_;
  sparse_migration<Context> few_;
  halo<Context, T, 3> borders_;
  std::size_t own_ = 0;
  array<T, Context> largest_;
  late_value<Context, T> largest_moves_[2];
  int asked_ = 0;             ///< of largest_moves_, last
  bool moved_ahead_ = false;  ///< the move of the next step has been made
  double last_move_ = 0;      ///< the largest, of the last step
  std::size_t since_ = 0;     ///< steps since the last exchange
  std::size_t interval_ = 1;  ///< steps after which the next one is expected
  bool traveling_ = false;    ///< ghosts are on their way
  int ghosts_of_ = -1;        ///< which of positions_ and velocities_ has ghosts, or gets them
  double moved_ = 0;          ///< no grain has moved farther since the ghosts were chosen
  std::size_t in_place_ = 0;  ///< exchanges in which grains kept their places
  std::size_t unsorted_ = 0;  ///< the same since they were last in order of cells
  int now_ = 0;               ///< of positions_ and velocities_
  array<packed_record<T, 3>, Context> positions_[2], before_;
  array<velocity_record<T>, Context> velocities_[2];
  array<std::uint32_t, Context> owners_;
  array<std::uint64_t, Context> faults_;
  workspace<Context> scratch_;
};

}  // namespace quadrat::detail
