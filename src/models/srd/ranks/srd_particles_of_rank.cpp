// SPDX-License-Identifier: BSD-3-Clause
#include "models/srd/ranks/srd_particles_of_rank.hpp"

#include <algorithm>
#include <array>
#include <type_traits>
#include <vector>

#include "core/backend.hpp"
#include "models/srd/ranks/strays.hpp"
#include "models/srd/storage.hpp"

namespace quadrat::detail {

namespace {

/// A particle on its way to rank 0.
template <typename T, int D>
struct sent_srd_particle {
  vec<T, D> position;
  vec<T, D> velocity;
  std::uint32_t id;
};

/// The shifted grid at shift 0. Along an axis with walls it has one layer more than the box.
template <typename T, int D>
[[nodiscard]] grid<T, D> shifted_grid(const srd_setup<T, D>& setup) {
  vec<T, D> length{};
  for (int axis = 0; axis < D; ++axis) length[axis] = setup.size[axis] + (setup.periodic[axis] ? T(0) : setup.edge);
  return make_grid(make_box_from_lengths(vec<T, D>{}, length, setup.periodic), setup.shifted_cells, max_count);
}

template <typename T>
[[nodiscard]] std::vector<T> relative_masses(std::span<const double> solute_masses, double fluid_mass) {
  std::vector<T> relative;
  for (const double mass : solute_masses) relative.push_back(static_cast<T>(mass / fluid_mass));
  return relative;
}

}  // namespace

template <typename Context, typename T, int D>
srd_particles_of_rank<Context, T, D>::srd_particles_of_rank(const Context& context, communicator& ranks,
                                                            const srd_options<D>& options, std::size_t fluid,
                                                            std::span<const double> solute_masses)
    : base(context, ranks, shifted_grid(make_srd_setup<T, D>(options, fluid, solute_masses))),
      setup_(make_srd_setup<T, D>(options, fluid, solute_masses)),
      floating_(options.sums == srd_sums::floating),
      sort_every_(options.sort_every),
      room_(srd_room(options, fluid, setup_.particles)),
      border_stream_(context),
      borders_(border_stream_.context(), ranks),
      solute_masses_(to_device(context, relative_masses<T>(solute_masses, options.mass))),
      words_(context, 2),
      strays_(context, srd_stray_list::most) {
  double heaviest = 1;
  for (const double mass : solute_masses) heaviest = std::max(heaviest, mass / options.mass);
  fixed_ = make_fixed_sums<T>(setup_, heaviest, room_, srd_step_extremes(setup_));
  fixed_.kinds.racing = srd_racing(context);
}

template <typename Context, typename T, int D>
srd_own_present<T, D> srd_particles_of_rank<Context, T, D>::present() {
  srd_own_particles<T, D> particles{};
  for (std::size_t axis = 0; axis < D; ++axis) {
    particles.position[axis] = components_[axis].data();
    particles.velocity[axis] = components_[D + axis].data();
  }
  particles.ids = ids_.data();
  particles.solute_masses = solute_masses_.data();
  return {setup_, window_, particles, turns_.data(), last_shift_, pending_};
}

template <typename Context, typename T, int D>
points_view<T, D> srd_particles_of_rank<Context, T, D>::points() const {
  std::array<const T*, D> positions{};
  for (std::size_t axis = 0; axis < D; ++axis) positions[axis] = components_[axis].data();
  return component_points(positions, own_);
}

/// Plans the exchange of cells for the present blocks.
template <typename Context, typename T, int D>
void srd_particles_of_rank<Context, T, D>::plan_cells() {
  std::vector<cell_window<D>> windows, reaches;
  // The shift moves particles up by at most one cell.
  for (int rank = 0; rank < ranks_.size(); ++rank) {
    windows.push_back(window_of(exchange_.shares(), rank, layers, layers + 1));
    reaches.push_back(window_of(exchange_.shares(), rank, layers + 1, layers + 2));
  }
  window_ = windows[static_cast<std::size_t>(ranks_.rank())];
  border_stream_.wait_for(context_);
  borders_.plan(exchange_.shares(), windows, reaches,
                floating_ ? values<floating>().used * sizeof(T) : values<fixed>().used * sizeof(std::int64_t));
  border_stream_.make_wait(context_);
  const std::size_t one = floating_ ? sizeof(srd_floating_cell<T>) : fixed::words * sizeof(std::int64_t);
  turns_.resize_discarding(context_, window_.size());
  sums_.resize_discarding(context_, window_.size() * one);
}

template <typename Context, typename T, int D>
void srd_particles_of_rank<Context, T, D>::load(const srd_state<T, D>& state, std::size_t first) {
  own_ = state.positions.size();
  std::vector<T> component(own_);
  for (int c = 0; c < 2 * D; ++c) {
    for (std::size_t i = 0; i < own_; ++i) component[i] = c < D ? state.positions[i][c] : state.velocities[i][c - D];
    components_[static_cast<std::size_t>(c)] = to_device(context_, component);
  }
  std::vector<std::uint32_t> ids(own_);
  for (std::size_t i = 0; i < own_; ++i) ids[i] = static_cast<std::uint32_t>(first + i);
  ids_ = to_device(context_, ids);
  fill_bytes(context_, words_.data(), 0, words_.bytes());
  pending_ = false;
}

template <typename Context, typename T, int D>
void srd_particles_of_rank<Context, T, D>::start() {
  plan_cells();
  change_ranks();
  fill_bytes(context_, sums_.data(), 0, sums_.bytes());
}

template <typename Context, typename T, int D>
void srd_particles_of_rank<Context, T, D>::change_ranks() {
  exchange_.leave(points());
  own_ = exchange_.arriving();
  exchange_.template travel<D>(traveling());
  exchanged_at_ = step_;
}

/// The sums of the window, in the form that kernels take.
template <typename Context, typename T, int D>
template <typename Sums>
Sums srd_particles_of_rank<Context, T, D>::sums() {
  if constexpr (std::is_same_v<Sums, floating>) {
    return {reinterpret_cast<srd_floating_cell<T>*>(sums_.data()), fixed_.kinds};
  } else {
    Sums result = fixed_;
    result.values = reinterpret_cast<std::int64_t*>(sums_.data());
    return result;
  }
}

template <typename Context, typename T, int D>
template <typename Sums>
auto srd_particles_of_rank<Context, T, D>::values() -> cell_values<value_of<Sums>> {
  constexpr std::size_t width =
      std::is_same_v<Sums, floating> ? sizeof(srd_floating_cell<T>) / sizeof(T) : fixed::words;
  // Momentum, energy and count come first, the mass last.
  const std::size_t used = fixed_.kinds.mass ? cell_values<T>::most : D + 2;
  return {reinterpret_cast<value_of<Sums>*>(sums_.data()), width, used};
}

/// Moves the particles and adds them to the cells of this shift, except particles that have left the window.
template <typename Context, typename T, int D>
template <typename Sums>
void srd_particles_of_rank<Context, T, D>::stream() {
  shift_ = srd_shift(setup_, step_);
  for_each(
      context_, "srd.move own", own_,
      srd_move_own<T, D, Sums>{present(), {sums<Sums>(), shift_, strays()}, words(), step_, run_fault{faults_.data()}});
  pending_ = false;
}

/// Computes the collisions of the rank's own cells, and of the cells that it shares with other ranks. Parts of sums
/// travel while own cells are computed. `only_shared`: own cells are done already.
template <typename Context, typename T, int D>
template <typename Sums>
void srd_particles_of_rank<Context, T, D>::decide(bool only_shared) {
  const srd_decide_own<T, D, Sums> body{
      setup_, window_, sums<Sums>(), turns_.data(), step_, room_, run_fault{faults_.data()}};
  border_stream_.wait_for(context_);
  // On a GPU before ranks communicate, so that the GPU has work meanwhile.
  if (!std::is_same_v<Context, cpu_context> && !only_shared) decide_inner(body);
  {
    const waiting_time time(exchange_.communication_seconds());
    borders_.start(values<Sums>(), words(), step_);
  }
  if (std::is_same_v<Context, cpu_context> && !only_shared) decide_inner(body);
  {
    const waiting_time time(exchange_.communication_seconds());
    borders_.finish();
  }
  // With at least one call, the check whether the step halts is made even if no cell is shared.
  for_each(border_stream_.context(), "srd.decide shared", std::max<std::size_t>(borders_.shared().size(), 1),
           srd_decide_shared<T, D, Sums, value_of<Sums>>{body, borders_.shared().data(), borders_.shared().size(),
                                                         borders_.parts(values<Sums>()), borders_.flags(words())});
  border_stream_.make_wait(context_);
}

template <typename Context, typename T, int D>
template <typename Sums>
void srd_particles_of_rank<Context, T, D>::decide_inner(const srd_decide_own<T, D, Sums>& body) {
  for_each(context_, "srd.decide inner", window_.size(), srd_decide_inner<T, D, Sums>{body, borders_.marks(), words()});
}

/// Adds particles that have left windows to their cells. Fails if they are too many, or in cells that are already
/// decided.
template <typename Context, typename T, int D>
template <typename Sums>
bool srd_particles_of_rank<Context, T, D>::add_strays() {
  const waiting_time time(exchange_.communication_seconds());
  std::vector<srd_stray<T, D>> here;
  const srd_describe_strays<T, D> describe{present().particles, setup_, shift_, strays_.data(), nullptr};
  if (!find_strays(context_, ranks_, describe, words().strays, exchange_.block(), here)) return false;
  const bool fine =
      std::all_of(here.begin(), here.end(), [&](const auto& stray) { return borders_.has(window_.index(stray.cell)); });
  const auto all = all_values(ranks_, fine ? 1 : 0);
  if (std::find(all.begin(), all.end(), 0) != all.end()) return false;
  const auto on_device = to_device(context_, here);
  for_each(context_, "srd.add strays", here.size(),
           srd_add_strays<T, D, Sums>{sums<Sums>(), window_, on_device.data()});
  return true;
}

/// Particles change ranks after they have moved. If the sums of shared cells are kept and strays can be added, nothing
/// else is redone. Otherwise all cells are summed and decided again.
template <typename Context, typename T, int D>
template <typename Sums>
void srd_particles_of_rank<Context, T, D>::meet_again(bool balanced) {
  const bool complete = kept_ && !balanced && add_strays<Sums>();
  fill_bytes(context_, words_.data(), 0, words_.bytes());
  if (balanced) plan_cells();
  if (balanced || sorted_) {
    change_ranks();
  } else {
    own_ = exchange_.travel_in_place(points(), traveling());
  }
  if (!complete) {
    fill_bytes(context_, sums_.data(), 0, sums_.bytes());
    for_each(context_, "srd.add own", own_, srd_add_own<T, D, Sums>{present(), {sums<Sums>(), shift_, strays()}});
  }
  decide<Sums>(complete);
  decided_ = true;
}

template <typename Context, typename T, int D>
void srd_particles_of_rank<Context, T, D>::redo() {
  shift_ = srd_shift(setup_, step_);
  pending_ = false;
  sorted_ = false;
  kept_ = true;
}

template <typename Context, typename T, int D>
void srd_particles_of_rank<Context, T, D>::end_step() {
  last_shift_ = shift_;
  pending_ = true;
}

/// On a GPU collisions are enqueued before the host knows whether particles have left their windows, so that the device
/// does not wait for ranks to agree. If some have, collisions are computed again from complete sums.
template <typename Context, typename T, int D>
template <typename Sums>
void srd_particles_of_rank<Context, T, D>::begin_step() {
  stream<Sums>();
  some_strayed_.request(context_, words().strays);
  if (decided_) decide<Sums>();
}

template <typename Context, typename T, int D>
bool srd_particles_of_rank<Context, T, D>::move(bool /*more*/) {
  kept_ = false;
  sorted_ = to_be_sorted();
  decided_ = std::is_same_v<Context, cuda_context> && !sorted_;
  floating_ ? begin_step<floating>() : begin_step<fixed>();
  return some_strayed_.wait() != 0 || sorted_;
}

template <typename Context, typename T, int D>
void srd_particles_of_rank<Context, T, D>::finish(bool /*more*/) {
  if (!decided_) floating_ ? decide<floating>() : decide<fixed>();
  end_step();
}

template <typename Context, typename T, int D>
template <typename Sums>
void srd_particles_of_rank<Context, T, D>::enqueue_step() {
  stream<Sums>();
  decide<Sums>();
  halted_[step_ % most_ahead].request(border_stream_.context(), words().halted);
  end_step();
}

template <typename Context, typename T, int D>
void srd_particles_of_rank<Context, T, D>::exchange(bool balanced) {
  floating_ ? meet_again<floating>(balanced) : meet_again<fixed>(balanced);
}

template <typename Context, typename T, int D>
void srd_particles_of_rank<Context, T, D>::move_ahead() {
  floating_ ? enqueue_step<floating>() : enqueue_step<fixed>();
}

template <typename Context, typename T, int D>
void srd_particles_of_rank<Context, T, D>::gather(srd_state<T, D>& state) {
  array<vec<T, D>, Context> present_velocities(context_, own_);
  for_each(context_, "srd.finish own", own_, srd_finish_own<T, D>{present(), present_velocities.data()});
  const auto velocities = to_host(context_, present_velocities.data(), own_);
  const auto ids = to_host(context_, ids_.data(), own_);
  std::vector<sent_srd_particle<T, D>> mine(own_);
  for (int axis = 0; axis < D; ++axis) {
    const auto positions = to_host(context_, components_[static_cast<std::size_t>(axis)].data(), own_);
    for (std::size_t i = 0; i < own_; ++i) mine[i].position[axis] = positions[i];
  }
  for (std::size_t i = 0; i < own_; ++i) {
    mine[i].velocity = velocities[i];
    mine[i].id = ids[i];
  }
  const auto all = gathered(ranks_, mine);
  place_by_id(all, &sent_srd_particle<T, D>::position, state.positions);
  place_by_id(all, &sent_srd_particle<T, D>::velocity, state.velocities);
}

template <typename Context, typename T, int D>
std::size_t srd_particles_of_rank<Context, T, D>::bytes() const {
  std::size_t sum = borders_.bytes() + ids_.bytes() + solute_masses_.bytes() + turns_.bytes() + sums_.bytes() +
                    words_.bytes() + strays_.bytes();
  for (const auto& one : components_) sum += one.bytes();
  return sum;
}

template class srd_particles_of_rank<backend_context, float, 2>;
template class srd_particles_of_rank<backend_context, float, 3>;
template class srd_particles_of_rank<backend_context, double, 2>;
template class srd_particles_of_rank<backend_context, double, 3>;

}  // namespace quadrat::detail
