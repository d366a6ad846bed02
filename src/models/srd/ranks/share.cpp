// SPDX-License-Identifier: BSD-3-Clause
#include "models/srd/ranks/share.hpp"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "core/backend.hpp"
#include "distributed/gathered.hpp"
#include "models/ranks/make_room.hpp"
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

/// The shifted grid where its shift is 0: along an axis with walls it has one layer more than the box.
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
srd_share<Context, T, D>::srd_share(const Context& context, communicator& ranks, const srd_options<D>& options,
                                    std::size_t fluid, std::span<const double> solute_masses)
    : context_(context),
      ranks_(ranks),
      setup_(make_srd_setup<T, D>(options, fluid, solute_masses)),
      floating_(options.sums == srd_sums::floating),
      sort_every_(options.sort_every),
      room_(srd_room(options, fluid, setup_.particles)),
      exchange_(context, ranks, shifted_grid(setup_)),
      few_(context, ranks),
      border_stream_(context),
      borders_(border_stream_.context(), ranks),
      solute_masses_(to_device(context, relative_masses<T>(solute_masses, options.mass))),
      strayed_(context, 1),
      fault_(context, 1) {
  double heaviest = 1;
  for (const double mass : solute_masses) heaviest = std::max(heaviest, mass / options.mass);
  fixed_ = make_fixed_sums<T>(setup_, heaviest, room_, srd_step_extremes(setup_));
  fixed_.kinds.racing = srd_racing(context);
}

template <typename Context, typename T, int D>
srd_own_present<T, D> srd_share<Context, T, D>::present() {
  return {setup_,        window_,     {positions_.data(), velocities_.data(), ids_.data(), solute_masses_.data()},
          turns_.data(), last_shift_, pending_};
}

/// For the present blocks.
template <typename Context, typename T, int D>
void srd_share<Context, T, D>::plan_cells() {
  std::vector<cell_window<D>> windows;
  // The shift moves particles up by as much as one cell.
  for (int rank = 0; rank < ranks_.size(); ++rank) {
    windows.push_back(window_of(exchange_.shares(), rank, layers, layers + 1));
  }
  window_ = windows[static_cast<std::size_t>(ranks_.rank())];
  border_stream_.wait_for(context_);
  borders_.plan(exchange_.shares(), windows);
  border_stream_.make_wait(context_);
  const std::size_t one = floating_ ? sizeof(srd_floating_cell<T>) : fixed::words * sizeof(std::int64_t);
  turns_.resize_discarding(context_, window_.size());
  sums_.resize_discarding(context_, window_.size() * one);
}

template <typename Context, typename T, int D>
void srd_share<Context, T, D>::set(const srd_state<T, D>& state) {
  const std::size_t count = state.positions.size();
  std::vector<std::uint32_t> ids(count);
  for (std::size_t i = 0; i < count; ++i) ids[i] = static_cast<std::uint32_t>(i);
  step_ = all_values(ranks_, state.step)[0];
  pending_ = false;
  together(ranks_, [&] {
    own_ = count;
    positions_ = to_device(context_, state.positions);
    velocities_ = to_device(context_, state.velocities);
    ids_ = to_device(context_, ids);
    fill_bytes(context_, fault_.data(), 0xff, fault_.bytes());
  });
  exchange_.balance(points());
  plan_cells();
  exchange();
}

/// Sends each particle to the owner of its cell; there they come in order of cells.
template <typename Context, typename T, int D>
void srd_share<Context, T, D>::exchange() {
  exchange_.leave(points());
  own_ = exchange_.arriving();
  exchange_.carry(positions_.data(), spare_positions_);
  exchange_.carry(velocities_.data(), spare_velocities_);
  exchange_.carry(ids_.data(), spare_ids_);
  exchange_.sort(points_of(spare_positions_.data(), own_));
  positions_.resize_discarding(context_, own_);
  velocities_.resize_discarding(context_, own_);
  ids_.resize_discarding(context_, own_);
  exchange_.reorder(spare_positions_.data(), positions_.data());
  exchange_.reorder(spare_velocities_.data(), velocities_.data());
  exchange_.reorder(spare_ids_.data(), ids_.data());
  fill_bytes(context_, sums_.data(), 0, sums_.bytes());
  exchanged_at_ = step_;
}

/// The same, but those that stay keep their places in memory, and others take the places of those that leave.
template <typename Context, typename T, int D>
void srd_share<Context, T, D>::exchange_in_place() {
  const waiting_time time(exchange_.communication_seconds());
  owners_.resize_discarding(context_, own_);
  find_owners(context_, exchange_.on_device(), exchange_.space(), points(), owners_.data());
  few_.build(owners_.data(), own_);
  const auto move = [&](auto& elements) {
    make_room(context_, elements, own_, few_.size());
    few_.apply(elements.data());
  };
  move(positions_);
  move(velocities_);
  move(ids_);
  own_ = few_.size();
  ++in_place_;
  fill_bytes(context_, sums_.data(), 0, sums_.bytes());
}

/// The sums of the window, as a kernel sees them.
template <typename Context, typename T, int D>
template <typename Sums>
Sums srd_share<Context, T, D>::sums() {
  if constexpr (std::is_same_v<Sums, floating>) {
    return {reinterpret_cast<srd_floating_cell<T>*>(sums_.data()), fixed_.kinds};
  } else {
    Sums result = fixed_;
    result.values = reinterpret_cast<std::int64_t*>(sums_.data());
    return result;
  }
}

/// Moves the particles, and adds them to the cells of this shift, but for those that have left the window.
template <typename Context, typename T, int D>
template <typename Sums>
void srd_share<Context, T, D>::move(const vec<T, D>& shift) {
  fill_bytes(context_, strayed_.data(), 0, strayed_.bytes());
  for_each(
      context_, "srd.move own", own_,
      srd_move_own<T, D, Sums>{present(), {sums<Sums>(), shift, strayed_.data()}, step_, srd_fault{fault_.data()}});
  some_strayed_.request(context_, strayed_.data());
  pending_ = false;
}

/// The collisions of the rank's cells, and of those in which it meets others: sums of the latter travel while the
/// others are decided.
template <typename Context, typename T, int D>
template <typename Sums>
void srd_share<Context, T, D>::decide() {
  using value = std::conditional_t<std::is_same_v<Sums, floating>, T, std::int64_t>;
  constexpr std::size_t width =
      std::is_same_v<Sums, floating> ? sizeof(srd_floating_cell<T>) / sizeof(T) : fixed::words;
  auto* const values = reinterpret_cast<value*>(sums_.data());
  const srd_decide_own<T, D, Sums> body{
      setup_, window_, sums<Sums>(), turns_.data(), step_, room_, srd_fault{fault_.data()}};
  border_stream_.wait_for(context_);
  // On a GPU before ranks talk, so that it has work meanwhile.
  if constexpr (!std::is_same_v<Context, cpu_context>) decide_inner(body);
  const auto communicate = [&](const auto& part) {
    const waiting_time time(exchange_.communication_seconds());
    part();
  };
  communicate([&] { borders_.start_add(values, width); });
  if constexpr (std::is_same_v<Context, cpu_context>) decide_inner(body);
  communicate([&] { borders_.finish_add(values, width); });
  for_each(border_stream_.context(), "srd.decide shared", borders_.shared().size(),
           srd_decide_shared<T, D, Sums>{body, borders_.shared().data()});
  communicate([&] { borders_.fetch(reinterpret_cast<T*>(turns_.data()), sizeof(srd_turn<T, D>) / sizeof(T)); });
  border_stream_.make_wait(context_);
}

template <typename Context, typename T, int D>
template <typename Sums>
void srd_share<Context, T, D>::decide_inner(const srd_decide_own<T, D, Sums>& body) {
  const cell_block<D>& block = exchange_.block();
  std::size_t cells = block.empty() ? 0 : 1;
  for (int axis = 0; axis < D && cells > 0; ++axis) {
    cells *= static_cast<std::size_t>(block.end[axis] - block.first[axis]);
  }
  for_each(context_, "srd.decide inner", cells, srd_decide_inner<T, D, Sums>{body, block, borders_.marks()});
}

/// On a GPU collisions are enqueued before the host knows whether particles have left their windows, so that the device
/// does not wait for ranks to agree. Where some have, they are decided again, from all sums.
template <typename Context, typename T, int D>
template <typename Sums>
void srd_share<Context, T, D>::take_step(int wish) {
  const vec<T, D> shift = srd_shift(setup_, step_);
  const bool to_be_sorted = step_ % sort_every_ == 0 && step_ != exchanged_at_;
  const bool early = std::is_same_v<Context, cuda_context> && !to_be_sorted;
  move<Sums>(shift);
  if (early) decide<Sums>();
  const bool due = exchange_.due(some_strayed_.wait() != 0 || to_be_sorted, own_, wish);
  if (due) {
    const bool balanced = exchange_.balance_if_worth(points());
    if (balanced) plan_cells();
    balanced || to_be_sorted ? exchange() : exchange_in_place();
    for_each(context_, "srd.add own", own_, srd_add_own<T, D, Sums>{present(), {sums<Sums>(), shift, strayed_.data()}});
  }
  if (due || !early) decide<Sums>();
  last_shift_ = shift;
  pending_ = true;
  ++step_;
}

template <typename Context, typename T, int D>
int srd_share<Context, T, D>::advance(std::size_t steps, const std::function<int()>& wish) {
  for (std::size_t k = 0; k < steps; ++k) {
    if (floating_) {
      take_step<floating>(wish());
    } else {
      take_step<fixed>(wish());
    }
    if (exchange_.wish() != 0) return static_cast<int>(exchange_.wish());
  }
  return 0;
}

template <typename Context, typename T, int D>
void srd_share<Context, T, D>::check() {
  throw_srd_fault(first_fault(context_, ranks_, fault_), setup_.fastest);
}

template <typename Context, typename T, int D>
srd_state<T, D> srd_share<Context, T, D>::gather() {
  spare_velocities_.resize_discarding(context_, own_);
  for_each(context_, "srd.finish own", own_, srd_finish_own<T, D>{present(), spare_velocities_.data()});
  const auto positions = to_host(context_, positions_.data(), own_);
  const auto velocities = to_host(context_, spare_velocities_.data(), own_);
  const auto ids = to_host(context_, ids_.data(), own_);
  std::vector<sent_srd_particle<T, D>> mine(own_);
  for (std::size_t i = 0; i < own_; ++i) mine[i] = {positions[i], velocities[i], ids[i]};
  const auto all = gathered(ranks_, mine);
  srd_state<T, D> state;
  if (ranks_.rank() != 0) return state;
  state.step = step_;
  state.positions.resize(all.size());
  state.velocities.resize(all.size());
  for (const auto& one : all) {
    state.positions[one.id] = one.position;
    state.velocities[one.id] = one.velocity;
  }
  return state;
}

template <typename Context, typename T, int D>
std::size_t srd_share<Context, T, D>::bytes() const {
  return exchange_.bytes() + borders_.bytes() + positions_.bytes() + velocities_.bytes() + spare_positions_.bytes() +
         spare_velocities_.bytes() + ids_.bytes() + spare_ids_.bytes() + solute_masses_.bytes() + turns_.bytes() +
         sums_.bytes() + strayed_.bytes() + fault_.bytes() + owners_.bytes() + few_.bytes();
}

template class srd_share<backend_context, float, 2>;
template class srd_share<backend_context, float, 3>;
template class srd_share<backend_context, double, 2>;
template class srd_share<backend_context, double, 3>;

}  // namespace quadrat::detail
