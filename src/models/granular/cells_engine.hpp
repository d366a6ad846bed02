// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <exception>
#include <span>
#include <vector>

#include "models/granular/engine.hpp"
#include "models/granular/kernels.hpp"
#include "models/replay.hpp"
#include "quadrat/cells/carry.hpp"
#include "quadrat/cells/grid_cells.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/parallel/for_each.hpp"

namespace quadrat {

namespace detail {

/// Whether a cell list can keep grains in the order of its cells (Green's optimization): neighbors are then close in
/// memory.
template <typename CellList, typename T>
concept carrying_cell_list =
    requires(CellList& cells, const points_view<T, 3>& points, std::span<const carried_array> arrays) {
      cells.build_and_carry_async(points, arrays);
    };

}  // namespace detail

/// Runs the model over any cell list. A step is a build of the cell list and one kernel, which adds the forces and also
/// makes the move of the next step, because that only needs the grain's state. Grains are double-buffered, so that
/// neighbors still read the old state.
template <typename CellList>
class granular_cells_engine final
    : public granular_engine<typename CellList::context_type, typename CellList::value_type> {
 public:
  using context_type = typename CellList::context_type;
  using T = typename CellList::value_type;

  granular_cells_engine(const context_type& context, const detail::granular_setup<T>& setup);

  void set(std::span<const vec<T, 3>> positions, std::span<const vec<T, 3>> velocities,
           std::span<const particle_id> storage_order, std::uint64_t step) override;
  void place(const detail::placed_grains<T>& grains) override;
  [[nodiscard]] const std::uint64_t* fault() const override { return words_.data() + 2; }
  void advance(std::size_t steps) override;
  void check() override;
  void gather(vec<T, 3>* positions, vec<T, 3>* velocities) override;
  [[nodiscard]] bool gather_order(particle_id* ids) override;
  [[nodiscard]] std::vector<particle_id> storage_order() override;
  [[nodiscard]] std::size_t bytes() const override;

 private:
  using view_type = typename CellList::view_type;
  static constexpr bool carried = detail::carrying_cell_list<CellList, T>;

  [[nodiscard]] detail::grain_records<T> grains(int set) { return {positions_[set].data(), velocities_[set].data()}; }
  /// The set that holds the grains between steps: always the first for carried grains.
  [[nodiscard]] int home() const { return carried ? 0 : steps_.parity(); }
  /// Builds the cell list over the grains of set `home`; returns the set to compute forces from.
  int build(int home);
  void enqueue_step(int parity, bool move);
  template <bool Canonical>
  void enqueue_forces(int from, int to, int parity, bool move);

  context_type context_;
  detail::granular_setup<T> setup_;
  CellList cells_;
  array<packed_record<T, 3>, context_type> positions_[2];
  array<detail::velocity_record<T>, context_type> velocities_[2];
  array<std::uint64_t, context_type> words_;  // the current step at even and at odd parity, then the fault
  detail::step_replay<context_type> steps_;
  std::exception_ptr failure_;
};

template <typename CellList>
granular_cells_engine<CellList>::granular_cells_engine(const context_type& context,
                                                       const detail::granular_setup<T>& setup)
    : context_(context),
      setup_(setup),
      cells_(context, setup.space,
             {.radius = setup.radius, .fixed_capacity = setup.capacity, .fold_reach = setup.law.diameter}),
      words_(context, 3) {
  if constexpr (requires { CellList::most_points; }) {
    require(setup.count <= CellList::most_points, CellList::name, " holds at most ", CellList::most_points,
            " grains, not ", setup.count);
  }
  for (int set = 0; set < 2; ++set) {
    positions_[set] = array<packed_record<T, 3>, context_type>(context, setup.count);
    velocities_[set] = array<detail::velocity_record<T>, context_type>(context, setup.count);
  }
}

template <typename CellList>
void granular_cells_engine<CellList>::set(std::span<const vec<T, 3>> positions, std::span<const vec<T, 3>> velocities,
                                          std::span<const particle_id> storage_order, std::uint64_t step) {
  const auto from_positions = to_device(context_, positions);
  const auto from_velocities = to_device(context_, velocities);
  const auto order = to_device(context_, storage_order);
  place({from_positions.data(), from_velocities.data(), order.data(), step, nullptr});
  context_.synchronize();
  failure_ = nullptr;
  try {
    cells_.check();
  } catch (const data_error&) {
    // Clears earlier faults.
  } catch (const overflow_error&) {
  }
}

template <typename CellList>
void granular_cells_engine<CellList>::place(const detail::placed_grains<T>& from) {
  const detail::place_grains<T> body{from.positions, from.velocities, carried ? from.order : nullptr, grains(home())};
  for_each(context_, "granular.place", setup_.count, body);
  for_each(context_, "granular.begin", 1, detail::begin_words{words_.data(), from.step + 1, from.fault});
}

template <typename CellList>
int granular_cells_engine<CellList>::build(int home) {
  const auto* first = positions_[home].data();
  const auto points = strided_points<3>(setup_.count == 0 ? static_cast<const T*>(nullptr) : first->position.component,
                                        setup_.count, 4);
  cells_.reserve(setup_.count);
  if constexpr (carried) {
    const carried_array arrays[] = {carry(first, positions_[1].data()),
                                    carry(velocities_[0].data(), velocities_[1].data())};
    cells_.build_and_carry_async(points, arrays);
    return 1;
  } else if constexpr (record_cell_list<view_type>) {
    cells_.build_async(positions_[home].data(), setup_.count);
    return home;
  } else {
    cells_.build_async(points);
    return home;
  }
}

template <typename CellList>
template <bool Canonical>
void granular_cells_engine<CellList>::enqueue_forces(int from, int to, int parity, bool move) {
  const detail::step_words words{words_.data() + parity, words_.data() + 1 - parity, {words_.data() + 2}};
  const detail::granular_step<view_type, T, carried, Canonical> body{
      cells_.view(), setup_.law, setup_.obstacle, setup_.motion, grains(from), grains(to), words, move};
  for_each(context_, "granular.forces", setup_.count, body);
}

template <typename CellList>
void granular_cells_engine<CellList>::enqueue_step(int parity, bool move) {
  const int from = build(carried ? 0 : parity);
  const int to = 1 - from;
  if (context_.reproducibility() == determinism::canonical) {
    enqueue_forces<true>(from, to, parity, move);
  } else {
    enqueue_forces<false>(from, to, parity, move);
  }
}

template <typename CellList>
void granular_cells_engine<CellList>::advance(std::size_t steps) {
  if (steps == 0 || failure_ != nullptr) return;
  const detail::granular_move<T> first_move{
      setup_.motion, grains(home()), words_.data() + steps_.parity(), {words_.data() + 2}};
  for_each(context_, "granular.move", setup_.count, first_move);
  // No move follows the last step.
  steps_.advance(context_, steps - 1, [&](int parity) { enqueue_step(parity, true); });
  enqueue_step(steps_.parity(), false);
  steps_.pass();
  steps_.set_warm();
}

template <typename CellList>
void granular_cells_engine<CellList>::check() {
  if (failure_ != nullptr) std::rethrow_exception(failure_);
  const std::uint64_t fault = to_host(context_, words_.data() + 2, 1)[0];
  try {
    detail::throw_if_blown_up(fault);
    cells_.check();
  } catch (const data_error&) {
    failure_ = std::current_exception();
    throw;
  } catch (const overflow_error&) {
    failure_ = std::current_exception();
    throw;
  }
}

template <typename CellList>
void granular_cells_engine<CellList>::gather(vec<T, 3>* positions, vec<T, 3>* velocities) {
  const detail::gather_grains<T> body{grains(home()), positions, velocities};
  for_each(context_, "granular.gather", setup_.count, body);
}

template <typename CellList>
bool granular_cells_engine<CellList>::gather_order(particle_id* ids) {
  if constexpr (!carried) return false;
  for_each(context_, "granular.ids", setup_.count, detail::read_ids<T>{velocities_[0].data(), ids});
  return true;
}

template <typename CellList>
std::vector<particle_id> granular_cells_engine<CellList>::storage_order() {
  if constexpr (!carried) return {};
  array<particle_id, context_type> ids(context_, setup_.count);
  static_cast<void>(gather_order(ids.data()));
  return to_host(context_, ids);
}

template <typename CellList>
std::size_t granular_cells_engine<CellList>::bytes() const {
  std::size_t sum = cells_.bytes() + words_.bytes();
  for (int set = 0; set < 2; ++set) sum += positions_[set].bytes() + velocities_[set].bytes();
  return sum;
}

}  // namespace quadrat
