// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "models/srd/kernels.hpp"
#include "models/srd/options.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/sort.hpp"
#include "quadrat/parallel/workspace.hpp"

namespace quadrat::detail {

/// The particles and cells of a simulation, and the passes over them.
template <typename Context, typename T, int D>
class srd_storage {
 public:
  srd_storage(const Context& context, const srd_options<D>& options, std::size_t fluid,
              std::span<const double> solute_masses);

  /// Sets a checked state, and clears the fault. Waits.
  void set(const srd_state<T, D>& state);
  /// The same for the solutes. Waits.
  void set_solutes(std::span<const vec<T, D>> positions, std::span<const vec<T, D>> velocities, std::uint64_t step);
  /// Sorts the fluid by cell. Does not wait, and does not reallocate memory that steps use.
  void sort();
  /// Enqueues one step: two launches.
  void enqueue();

  [[nodiscard]] const srd_setup<T, D>& setup() const { return setup_; }
  [[nodiscard]] srd_present<T, D> present() { return {setup_, slots(), turns_.data(), clock_.data()}; }
  /// The largest mass of a particle.
  [[nodiscard]] double heaviest() const { return heaviest_; }
  /// Positions and velocities by id. Wait.
  [[nodiscard]] std::vector<vec<T, D>> positions();
  [[nodiscard]] std::vector<vec<T, D>> velocities();
  /// The word of the run_fault. Waits.
  [[nodiscard]] std::uint64_t fault() const { return to_host(context_, fault_)[0]; }
  [[nodiscard]] std::size_t bytes() const;

 private:
  using floating = srd_floating_sums<T, D>;
  using fixed = srd_fixed_sums<T, D>;

  [[nodiscard]] srd_slots<T, D> slots();
  [[nodiscard]] std::size_t shifted_cells() const;
  [[nodiscard]] std::size_t sum_bytes() const;
  template <typename Sums>
  void enqueue_with(const Sums& sums);
  void start_clock(std::uint64_t step);

  Context context_;
  srd_setup<T, D> setup_;
  bool floating_;
  double heaviest_ = 1;
  double room_ = 0;
  fixed fixed_{};
  array<T, Context> position_[D];
  array<T, Context> velocity_[D];
  array<std::uint32_t, Context> ids_;
  array<T, Context> solute_masses_;
  array<srd_turn<T, D>, Context> turns_;
  array<std::byte, Context> sums_;
  array<srd_clock<T, D>, Context> clock_;
  array<std::uint64_t, Context> turn_step_;
  array<std::uint64_t, Context> fault_;
  array<std::uint32_t, Context> keys_;
  array<std::uint32_t, Context> order_;
  array<T, Context> spare_;
  workspace<Context> scratch_;
};

/// Whether several threads add to cells concurrently.
[[nodiscard]] inline bool srd_racing(const cpu_context& context) { return context.threads() > 1; }
[[nodiscard]] inline bool srd_racing(const cuda_context& /*context*/) { return true; }

template <typename Context, typename T, int D>
srd_storage<Context, T, D>::srd_storage(const Context& context, const srd_options<D>& options, std::size_t fluid,
                                        std::span<const double> solute_masses)
    : context_(context),
      setup_(make_srd_setup<T, D>(options, fluid, solute_masses)),
      floating_(options.sums == srd_sums::floating),
      ids_(context, fluid),
      turns_(context, shifted_cells()),
      sums_(context, sum_bytes()),
      clock_(context, 1),
      turn_step_(context, 1),
      fault_(context, 1),
      keys_(context, fluid),
      order_(context, fluid),
      spare_(context, fluid) {
  for (int axis = 0; axis < D; ++axis) {
    position_[axis] = array<T, Context>(context, setup_.particles);
    velocity_[axis] = array<T, Context>(context, setup_.particles);
  }
  std::vector<T> relative;
  double lightest = 1;
  for (const double mass : solute_masses) {
    relative.push_back(static_cast<T>(mass / options.mass));
    heaviest_ = std::max(heaviest_, mass / options.mass);
    lightest = std::min(lightest, mass / options.mass);
  }
  solute_masses_ = to_device(context, relative);
  room_ = srd_room(options, fluid, setup_.particles);
  fixed_ = make_fixed_sums<T>(setup_, heaviest_, room_, srd_step_extremes(setup_));
  if (!floating_) check_fixed_sums(fixed_, setup_, lightest);
  fixed_.values = reinterpret_cast<std::int64_t*>(sums_.data());
  fixed_.kinds.racing = srd_racing(context);
}

template <typename Context, typename T, int D>
std::size_t srd_storage<Context, T, D>::shifted_cells() const {
  std::size_t product = 1;
  for (int axis = 0; axis < D; ++axis) product *= static_cast<std::size_t>(setup_.shifted_cells[axis]);
  return product;
}

template <typename Context, typename T, int D>
std::size_t srd_storage<Context, T, D>::sum_bytes() const {
  const std::size_t one = floating_ ? sizeof(srd_floating_cell<T>) : fixed::words * sizeof(std::int64_t);
  return one * shifted_cells();
}

template <typename Context, typename T, int D>
srd_slots<T, D> srd_storage<Context, T, D>::slots() {
  srd_slots<T, D> result{};
  for (int axis = 0; axis < D; ++axis) {
    result.position[axis] = position_[axis].data();
    result.velocity[axis] = velocity_[axis].data();
  }
  result.ids = ids_.data();
  result.solute_masses = solute_masses_.data();
  return result;
}

template <typename Context, typename T, int D>
void srd_storage<Context, T, D>::start_clock(std::uint64_t step) {
  for_each(context_, "srd.clock", 1, srd_start_clock<T, D>{setup_, clock_.data(), step});
}

template <typename Context, typename T, int D>
void srd_storage<Context, T, D>::set(const srd_state<T, D>& state) {
  const auto positions = to_device(context_, state.positions);
  const auto velocities = to_device(context_, state.velocities);
  for_each(context_, "srd.place", setup_.particles, srd_place<T, D>{slots(), positions.data(), velocities.data(), 0});
  for_each(context_, "srd.ids", setup_.fluid, srd_count_up{ids_.data()});
  fill_bytes(context_, sums_.data(), 0, sums_.bytes());
  fill_bytes(context_, fault_.data(), 0xff, fault_.bytes());
  start_clock(state.step);
  sort();
  context_.synchronize();
}

template <typename Context, typename T, int D>
void srd_storage<Context, T, D>::set_solutes(std::span<const vec<T, D>> positions,
                                             std::span<const vec<T, D>> velocities, std::uint64_t step) {
  const auto new_positions = to_device(context_, positions);
  const auto new_velocities = to_device(context_, velocities);
  for_each(context_, "srd.finish", setup_.particles, srd_finish<T, D>{present()});
  for_each(context_, "srd.place", positions.size(),
           srd_place<T, D>{slots(), new_positions.data(), new_velocities.data(), setup_.fluid});
  start_clock(step);
  context_.synchronize();
}

/// Sorts component by component through one spare array. This needs no second copy of the particles, and keeps the
/// pointers that a graph has captured.
template <typename Context, typename T, int D>
void srd_storage<Context, T, D>::sort() {
  const std::size_t count = setup_.fluid;
  for_each(context_, "srd.keys", count, srd_sort_key<T, D>{setup_, slots(), keys_.data()});
  std::uint64_t cells = 1;
  for (int axis = 0; axis < D; ++axis) cells *= static_cast<std::uint64_t>(setup_.cells[axis]);
  sort_pairs(context_, keys_.data(), order_.data(), count, key_bits_for(cells), scratch_, sort_values::index);
  for (int i = 0; i < 2 * D; ++i) {
    T* const component = i < D ? position_[i].data() : velocity_[i - D].data();
    for_each(context_, "srd.gather", count, srd_gather<T>{order_.data(), component, spare_.data()});
    copy_bytes(context_, spare_.data(), component, count * sizeof(T));
  }
  for_each(context_, "srd.gather", count, srd_gather<std::uint32_t>{order_.data(), ids_.data(), keys_.data()});
  copy_bytes(context_, keys_.data(), ids_.data(), count * sizeof(std::uint32_t));
}

template <typename Context, typename T, int D>
template <typename Sums>
void srd_storage<Context, T, D>::enqueue_with(const Sums& sums) {
  const run_fault fault{fault_.data()};
  // Index 0 passes the step to the second pass, so at least one call is needed even without particles.
  for_each(context_, "srd.move", std::max<std::size_t>(setup_.particles, 1),
           srd_move<T, D, Sums>{present(), sums, turn_step_.data(), fault});
  for_each(context_, "srd.decide", shifted_cells(),
           srd_decide<T, D, Sums>{setup_, sums, turns_.data(), turn_step_.data(), clock_.data(), room_, fault});
}

template <typename Context, typename T, int D>
void srd_storage<Context, T, D>::enqueue() {
  if (floating_) {
    enqueue_with(floating{reinterpret_cast<srd_floating_cell<T>*>(sums_.data()), fixed_.kinds});
  } else {
    enqueue_with(fixed_);
  }
}

template <typename Context, typename T, int D>
std::vector<vec<T, D>> srd_storage<Context, T, D>::positions() {
  array<vec<T, D>, Context> home(context_, setup_.particles);
  for_each(context_, "srd.bring_home", setup_.particles, srd_bring_home<T, D>{present(), home.data(), nullptr});
  return to_host(context_, home);
}

template <typename Context, typename T, int D>
std::vector<vec<T, D>> srd_storage<Context, T, D>::velocities() {
  array<vec<T, D>, Context> home(context_, setup_.particles);
  for_each(context_, "srd.bring_home", setup_.particles, srd_bring_home<T, D>{present(), nullptr, home.data()});
  return to_host(context_, home);
}

template <typename Context, typename T, int D>
std::size_t srd_storage<Context, T, D>::bytes() const {
  std::size_t sum = ids_.bytes() + solute_masses_.bytes() + turns_.bytes() + sums_.bytes() + clock_.bytes() +
                    turn_step_.bytes() + fault_.bytes() + keys_.bytes() + order_.bytes() + spare_.bytes() +
                    scratch_.bytes();
  for (int axis = 0; axis < D; ++axis) sum += position_[axis].bytes() + velocity_[axis].bytes();
  return sum;
}

}  // namespace quadrat::detail
