// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "models/circles/engine.hpp"
#include "models/circles/fixed_sum.hpp"
#include "models/circles/ranks/kernels.hpp"
#include "models/ranks/borders_first.hpp"
#include "models/ranks/exchange.hpp"
#include "models/ranks/priority_stream.hpp"
#include "models/ranks/share.hpp"
#include "quadrat/cells/carry.hpp"
#include "quadrat/cells/counting.hpp"
#include "quadrat/cells/grid_cells.hpp"
#include "quadrat/distributed/halo.hpp"
#include "quadrat/models/distributed_circles.hpp"
#include "quadrat/parallel/workspace.hpp"

namespace quadrat::detail {

/// The agents of one rank and its ghosts.
template <typename Context, typename T, int D>
class circles_share final : public model_share<circles<Context, T, D>> {
 public:
  circles_share(const Context& context, communicator& ranks, const circles_setup<T, D>& setup);

  void set(const circles_state<T, D>& state) override;
  int advance(std::size_t steps, const std::function<int()>& wish) override;
  /// See distributed_circles.
  int record(std::size_t steps, const std::function<int()>& wish, std::vector<circles_record>& records);
  void check() override { throw_circles_fault(first_fault(context_, ranks_, fault_)); }
  [[nodiscard]] circles_state<T, D> gather() override;

  [[nodiscard]] std::uint64_t step() const override { return step_; }
  [[nodiscard]] std::size_t own() const override { return own_; }
  [[nodiscard]] rank_report report() const override { return exchange_.report(own_, borders_.ghosts()); }
  [[nodiscard]] std::size_t bytes() const override;

 private:
  using record_type = agent_record<T, D>;
  using cell_list = typename cell_methods::counting::type<Context, T, D>;
  /// Of the reach: how much farther ghosts are chosen. More of them are sent in each step; with fewer, agents change
  /// ranks more often.
  static constexpr double skin = 0.25;

  [[nodiscard]] points_view<T, D> points(const array<record_type, Context>& agents, std::size_t count) const {
    return points_of_records<T, D>(agents.data(), count);
  }
  void exchange();
  [[nodiscard]] circles_record recorded();
  void prepare_step(int wish);
  void send_ghosts();
  void receive_ghosts();
  void move(bool more, std::uint32_t* neighbors);
  template <typename Law>
  void move_by(const Law& law, bool more, std::uint32_t* neighbors);
  template <typename Law>
  void enqueue_move(const Context& context, const Law& law, circles_part part, std::uint32_t* neighbors);

  Context context_;
  communicator& ranks_;
  circles_setup<T, D> setup_;
  T reach_;
  T skin_;
  circles_sine_law<T, D> sine_law_;
  circles_original_law<T, D> original_law_;
  circles_fixed_law<T, D> fixed_law_;
  cell_list cells_;
  rank_exchange<Context, T, D> exchange_;
  priority_stream<Context> border_stream_;
  halo<Context, T, D> borders_;
  bool traveling_ = false;   ///< ghosts are on their way
  bool has_ghosts_ = false;  ///< of this step, or they are on their way
  std::size_t own_ = 0;
  array<record_type, Context> agents_, before_, carried_;
  array<record_type, Context> last_;  ///< before a recorded step
  array<std::uint32_t, Context> neighbors_;
  array<std::uint64_t, Context> fault_;
  workspace<Context> scratch_;
  std::uint64_t step_ = 0;
};

}  // namespace quadrat::detail
