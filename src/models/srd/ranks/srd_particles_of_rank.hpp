// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <type_traits>

#include "models/ranks/late_value.hpp"
#include "models/ranks/ranked_steps.hpp"
#include "models/srd/options.hpp"
#include "models/srd/ranks/cell_window.hpp"
#include "models/srd/ranks/kernels.hpp"
#include "models/srd/ranks/shared_cells.hpp"
#include "parallel/streams/priority_stream.hpp"
#include "quadrat/models/distributed_srd.hpp"

namespace quadrat::detail {

/// The particles and cells of one rank.
template <typename Context, typename T, int D>
class srd_particles_of_rank : public particles_of_rank<Context, T, D> {
 public:
  using whole_type = srd<Context, T, D>;
  using base = particles_of_rank<Context, T, D>;
  using base::context_, base::ranks_, base::exchange_, base::own_, base::step_, base::faults_;

  /// `options`: with defaults filled in.
  srd_particles_of_rank(const Context& context, communicator& ranks, const srd_options<D>& options, std::size_t fluid,
                        std::span<const double> solute_masses);

  void load(const srd_state<T, D>& state, std::size_t first);
  [[nodiscard]] points_view<T, D> points() const;
  void start();
  [[nodiscard]] bool move(bool more);
  void exchange(bool balanced);
  void finish(bool more);
  void throw_fault(std::uint64_t word) const { throw_srd_fault(word, setup_.fastest); }
  void gather(srd_state<T, D>& state);
  [[nodiscard]] rank_report report() const { return exchange_.report(own_, 0); }
  [[nodiscard]] std::size_t bytes() const;

  /// The number of steps that may be enqueued at once. If ranks write into each other's memory, each device learns in
  /// which step a particle of any rank has left its window. All ranks halt at that step, and later steps that are
  /// already enqueued do nothing.
  [[nodiscard]] std::size_t ahead() const { return !borders_.direct() || to_be_sorted() ? 1 : most_ahead; }
  void move_ahead();
  [[nodiscard]] bool is_whole(std::uint64_t step) { return halted_[step % most_ahead].wait() == 0; }
  /// Prepares to finish a step that halted: sums of shared cells are kept, and other cells are already decided.
  void redo();

 private:
  /// Layers of cells around the block in which particles may be before they change ranks. With more layers each step
  /// sends more cells; with fewer, particles change ranks more often.
  static constexpr int layers = 2;
  /// Steps that are enqueued before the host checks whether all particles were in their windows.
  static constexpr std::size_t most_ahead = 8;
  using floating = srd_floating_sums<T, D>;
  using fixed = srd_fixed_sums<T, D>;
  template <typename Sums>
  using value_of = std::conditional_t<std::is_same_v<Sums, floating>, T, std::int64_t>;

  [[nodiscard]] auto traveling() {
    return std::apply([this](auto&... components) { return std::tie(components..., ids_); }, components_);
  }
  [[nodiscard]] srd_own_present<T, D> present();
  [[nodiscard]] srd_step_words words() { return {words_.data(), words_.data() + 1}; }
  [[nodiscard]] srd_stray_list strays() { return {words().strays, strays_.data()}; }
  [[nodiscard]] bool to_be_sorted() const { return step_ % sort_every_ == 0 && step_ != exchanged_at_; }
  void plan_cells();
  void change_ranks();
  template <typename Sums>
  [[nodiscard]] Sums sums();
  template <typename Sums>
  [[nodiscard]] cell_values<value_of<Sums>> values();
  template <typename Sums>
  void stream();
  template <typename Sums>
  void decide(bool only_shared = false);
  template <typename Sums>
  void decide_inner(const srd_decide_own<T, D, Sums>& body);
  template <typename Sums>
  [[nodiscard]] bool add_strays();
  template <typename Sums>
  void meet_again(bool balanced);
  void end_step();
  template <typename Sums>
  void begin_step();
  template <typename Sums>
  void enqueue_step();

  srd_setup<T, D> setup_;
  bool floating_;
  std::size_t sort_every_;
  double room_;
  fixed fixed_{};
  priority_stream<Context> border_stream_;
  shared_cells<Context, D> borders_;
  cell_window<D> window_{};
  std::array<array<T, Context>, 2 * static_cast<std::size_t>(D)> components_;  ///< positions, then velocities
  array<std::uint32_t, Context> ids_;
  array<T, Context> solute_masses_;
  array<srd_turn<T, D>, Context> turns_;
  array<std::byte, Context> sums_;
  array<std::uint64_t, Context> words_;
  array<std::uint32_t, Context> strays_;
  late_value<Context, std::uint64_t> some_strayed_;
  late_value<Context, std::uint64_t> halted_[most_ahead];  ///< after each step, in a ring
  std::uint64_t exchanged_at_ = 0;                         ///< the step of the last exchange
  bool pending_ = false;                                   ///< whether the collision of the last step is pending
  vec<T, D> last_shift_{};
  // State of this step:
  vec<T, D> shift_{};
  bool sorted_ = false;   ///< particles are to be sorted in this step
  bool kept_ = false;     ///< see redo
  bool decided_ = false;  ///< whether collisions are enqueued
};

}  // namespace quadrat::detail
