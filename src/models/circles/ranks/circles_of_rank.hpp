// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "models/circles/engine.hpp"
#include "models/circles/fixed_sum.hpp"
#include "models/circles/ranks/kernels.hpp"
#include "models/ranks/ranked_steps.hpp"
#include "models/ranks/traveling_ghosts.hpp"
#include "quadrat/cells/carry.hpp"
#include "quadrat/cells/counting.hpp"
#include "quadrat/cells/grid_cells.hpp"
#include "quadrat/models/distributed_circles.hpp"

namespace quadrat::detail {

/// The agents of one rank and its ghosts.
template <typename Context, typename T, int D>
class circles_of_rank : public particles_of_rank<Context, T, D> {
 public:
  using base = particles_of_rank<Context, T, D>;
  using base::context_, base::ranks_, base::exchange_, base::own_, base::step_, base::faults_, base::scratch_;
  using whole_type = circles<Context, T, D>;

  circles_of_rank(const Context& context, communicator& ranks, const circles_setup<T, D>& setup);

  void load(const circles_state<T, D>& state, std::size_t first);
  [[nodiscard]] points_view<T, D> points() const { return points_of_records<T, D>(agents_.data(), own_); }
  void start() { exchange(true); }
  [[nodiscard]] bool move(bool more);
  void settle() { ghosts_.receive(); }
  void exchange(bool balanced);
  void finish(bool more);
  static void throw_fault(std::uint64_t word) { throw_circles_fault(word); }
  void gather(circles_state<T, D>& state);
  [[nodiscard]] rank_report report() const { return exchange_.report(own_, ghosts_.number()); }
  [[nodiscard]] std::size_t bytes() const;

  /// Whether steps keep the data that `recorded` needs.
  void keep_records(bool kept) { records_ = kept; }
  /// The record of the last step.
  [[nodiscard]] circles_record recorded();

 private:
  using record_type = agent_record<T, D>;
  using cell_list = typename cell_methods::counting::type<Context, T, D>;
  /// The additional reach of ghosts, as a fraction of the reach. A larger skin sends more ghosts per step; with a
  /// smaller one agents change ranks more often.
  static constexpr double skin = 0.25;

  template <typename Law>
  void walk(const Law& law, bool more);
  template <typename Law>
  void enqueue_walk(const Context& context, const Law& law, circles_part part);

  circles_setup<T, D> setup_;
  T reach_;
  T skin_;
  circles_sine_law<T, D> sine_law_;
  circles_original_law<T, D> original_law_;
  circles_fixed_law<T, D> fixed_law_;
  cell_list cells_;
  traveling_ghosts<Context, T, D> ghosts_;
  bool sent_ = false;     ///< the ghosts of the next step
  bool records_ = false;  ///< see keep_records
  array<record_type, Context> agents_, before_, carried_;
  array<record_type, Context> last_;  ///< before a recorded step
  array<std::uint32_t, Context> neighbors_;
};

}  // namespace quadrat::detail
