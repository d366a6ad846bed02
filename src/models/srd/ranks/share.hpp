// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "models/ranks/exchange.hpp"
#include "models/ranks/late_value.hpp"
#include "models/ranks/priority_stream.hpp"
#include "models/ranks/share.hpp"
#include "models/srd/options.hpp"
#include "models/srd/ranks/cell_window.hpp"
#include "models/srd/ranks/kernels.hpp"
#include "models/srd/ranks/shared_cells.hpp"
#include "quadrat/distributed/sparse_migration.hpp"
#include "quadrat/models/distributed_srd.hpp"

namespace quadrat::detail {

/// The particles and the cells of one rank.
template <typename Context, typename T, int D>
class srd_share final : public model_share<srd<Context, T, D>> {
 public:
  /// `options`: completed.
  srd_share(const Context& context, communicator& ranks, const srd_options<D>& options, std::size_t fluid,
            std::span<const double> solute_masses);

  void set(const srd_state<T, D>& state) override;
  int advance(std::size_t steps, const std::function<int()>& wish) override;
  void check() override;
  [[nodiscard]] srd_state<T, D> gather() override;

  [[nodiscard]] std::uint64_t step() const override { return step_; }
  [[nodiscard]] std::size_t own() const override { return own_; }
  [[nodiscard]] rank_report report() const override {
    rank_report result = exchange_.report(own_, 0);
    result.exchanges += in_place_;
    return result;
  }
  [[nodiscard]] std::size_t bytes() const override;

 private:
  /// Layers of cells around the block that particles may be in before they change ranks. More of them are sent in each
  /// step; with fewer, particles change ranks more often.
  static constexpr int layers = 2;
  /// Steps that are enqueued before the host looks whether all particles were in their windows.
  static constexpr std::size_t most_ahead = 8;
  using floating = srd_floating_sums<T, D>;
  using fixed = srd_fixed_sums<T, D>;
  template <typename Sums>
  using value_of = std::conditional_t<std::is_same_v<Sums, floating>, T, std::int64_t>;

  [[nodiscard]] points_view<T, D> points() const { return points_in(components_); }
  [[nodiscard]] points_view<T, D> points_in(const array<T, Context> (&components)[2 * D]) const;
  [[nodiscard]] srd_own_present<T, D> present();
  [[nodiscard]] srd_step_words words() { return {words_.data(), words_.data() + 1}; }
  [[nodiscard]] srd_stray_list strays() { return {words().strays, strays_.data()}; }
  [[nodiscard]] bool to_be_sorted() const { return step_ % sort_every_ == 0 && step_ != exchanged_at_; }
  void plan_cells();
  void exchange();
  void exchange_in_place();
  template <typename Sums>
  [[nodiscard]] Sums sums();
  template <typename Sums>
  [[nodiscard]] cell_values<value_of<Sums>> values();
  template <typename Sums>
  void move(const vec<T, D>& shift);
  template <typename Sums>
  void decide(bool only_shared = false);
  template <typename Sums>
  void decide_inner(const srd_decide_own<T, D, Sums>& body);
  template <typename Sums>
  [[nodiscard]] bool add_strays(const vec<T, D>& shift);
  template <typename Sums>
  void meet_again(const vec<T, D>& shift, bool sorted, bool kept);
  void end_step(const vec<T, D>& shift);
  template <typename Sums>
  void take_step(int wish);
  template <typename Sums>
  void enqueue_step();
  template <typename Sums>
  int take_steps(std::size_t steps, const std::function<int()>& wish);

  Context context_;
  communicator& ranks_;
  srd_setup<T, D> setup_;
  bool floating_;
  std::size_t sort_every_;
  double room_;
  fixed fixed_{};
  rank_exchange<Context, T, D> exchange_;
  sparse_migration<Context> few_;
  priority_stream<Context> border_stream_;
  shared_cells<Context, D> borders_;
  cell_window<D> window_{};
  std::size_t own_ = 0;
  std::size_t in_place_ = 0;                            ///< exchanges in which particles kept their places
  array<T, Context> components_[2 * D], spare_[2 * D];  ///< of positions, then of velocities
  array<std::uint32_t, Context> ids_, spare_ids_, owners_;
  array<T, Context> solute_masses_;
  array<srd_turn<T, D>, Context> turns_;
  array<std::byte, Context> sums_;
  array<std::uint64_t, Context> words_, fault_;
  array<std::uint32_t, Context> strays_;
  late_value<Context, std::uint64_t> some_strayed_;
  late_value<Context, std::uint64_t> halted_[most_ahead];  ///< after each step, by turns
  std::uint64_t step_ = 0, exchanged_at_ = 0;
  bool pending_ = false;  ///< whether the collision of the last step is
  vec<T, D> last_shift_{};
};

}  // namespace quadrat::detail
