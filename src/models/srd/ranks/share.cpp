// SPDX-License-Identifier: BSD-3-Clause
#include "models/srd/ranks/share.hpp"

#include <algorithm>
#include <array>
#include <type_traits>
#include <vector>

#include "core/backend.hpp"
#include "distributed/ranks/gathered.hpp"
#include "models/ranks/make_room.hpp"
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
      words_(context, 2),
      fault_(context, 1),
      strays_(context, srd_stray_list::most) {
  double heaviest = 1;
  for (const double mass : solute_masses) heaviest = std::max(heaviest, mass / options.mass);
  fixed_ = make_fixed_sums<T>(setup_, heaviest, room_, srd_step_extremes(setup_));
  fixed_.kinds.racing = srd_racing(context);
}

template <typename Context, typename T, int D>
srd_own_present<T, D> srd_share<Context, T, D>::present() {
  srd_own_particles<T, D> particles{};
  for (int axis = 0; axis < D; ++axis) {
    particles.position[axis] = components_[axis].data();
    particles.velocity[axis] = components_[D + axis].data();
  }
  particles.ids = ids_.data();
  particles.solute_masses = solute_masses_.data();
  return {setup_, window_, particles, turns_.data(), last_shift_, pending_};
}

template <typename Context, typename T, int D>
points_view<T, D> srd_share<Context, T, D>::points_in(const array<T, Context> (&components)[2 * D]) const {
  std::array<const T*, D> positions{};
  for (std::size_t axis = 0; axis < D; ++axis) positions[axis] = components[axis].data();
  return component_points(positions, own_);
}

/// For the present blocks.
template <typename Context, typename T, int D>
void srd_share<Context, T, D>::plan_cells() {
  std::vector<cell_window<D>> windows, reaches;
  // The shift moves particles up by as much as one cell.
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
void srd_share<Context, T, D>::set(const srd_state<T, D>& state) {
  const std::size_t count = state.positions.size();
  std::vector<std::uint32_t> ids(count);
  for (std::size_t i = 0; i < count; ++i) ids[i] = static_cast<std::uint32_t>(i);
  step_ = all_values(ranks_, state.step)[0];
  pending_ = false;
  together(ranks_, [&] {
    own_ = count;
    std::vector<T> component(count);
    for (int c = 0; c < 2 * D; ++c) {
      for (std::size_t i = 0; i < count; ++i) component[i] = c < D ? state.positions[i][c] : state.velocities[i][c - D];
      components_[c] = to_device(context_, component);
    }
    ids_ = to_device(context_, ids);
    fill_bytes(context_, words_.data(), 0, words_.bytes());
    fill_bytes(context_, fault_.data(), 0xff, fault_.bytes());
  });
  exchange_.balance(points());
  plan_cells();
  exchange();
  fill_bytes(context_, sums_.data(), 0, sums_.bytes());
}

/// Sends each particle to the owner of its cell; there they come in order of cells.
template <typename Context, typename T, int D>
void srd_share<Context, T, D>::exchange() {
  exchange_.leave(points());
  own_ = exchange_.arriving();
  for (int c = 0; c < 2 * D; ++c) exchange_.carry(components_[c].data(), spare_[c]);
  exchange_.carry(ids_.data(), spare_ids_);
  exchange_.sort(points_in(spare_));
  const auto reorder = [&](const auto& from, auto& to) {
    to.resize_discarding(context_, own_);
    exchange_.reorder(from.data(), to.data());
  };
  for (int c = 0; c < 2 * D; ++c) reorder(spare_[c], components_[c]);
  reorder(spare_ids_, ids_);
  exchanged_at_ = step_;
}

/// The same, but those that stay keep their places in memory, and others take the places of those that leave.
template <typename Context, typename T, int D>
void srd_share<Context, T, D>::exchange_in_place() {
  const waiting_time time(exchange_.communication_seconds());
  owners_.resize_discarding(context_, own_);
  find_owners(context_, exchange_.on_device(), exchange_.space(), points(), owners_.data());
  few_.build(owners_.data(), own_);
  std::vector<migrated_array> all;
  const auto add = [&](auto& elements) {
    make_room(context_, elements, own_, few_.size());
    all.push_back({elements.data(), sizeof(elements.data()[0])});
  };
  for (auto& component : components_) add(component);
  add(ids_);
  few_.apply(all);
  own_ = few_.size();
  ++in_place_;
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

template <typename Context, typename T, int D>
template <typename Sums>
auto srd_share<Context, T, D>::values() -> cell_values<value_of<Sums>> {
  constexpr std::size_t width =
      std::is_same_v<Sums, floating> ? sizeof(srd_floating_cell<T>) / sizeof(T) : fixed::words;
  // Momentum, energy and count; the mass is the last.
  const std::size_t used = fixed_.kinds.mass ? cell_values<T>::most : D + 2;
  return {reinterpret_cast<value_of<Sums>*>(sums_.data()), width, used};
}

/// Moves the particles, and adds them to the cells of this shift, but for those that have left the window.
template <typename Context, typename T, int D>
template <typename Sums>
void srd_share<Context, T, D>::move(const vec<T, D>& shift) {
  for_each(
      context_, "srd.move own", own_,
      srd_move_own<T, D, Sums>{present(), {sums<Sums>(), shift, strays()}, words(), step_, srd_fault{fault_.data()}});
  pending_ = false;
}

/// The collisions of the rank's cells, and of those in which it meets others: parts of sums travel while the others are
/// decided. `only_shared`: they are already.
template <typename Context, typename T, int D>
template <typename Sums>
void srd_share<Context, T, D>::decide(bool only_shared) {
  const srd_decide_own<T, D, Sums> body{
      setup_, window_, sums<Sums>(), turns_.data(), step_, room_, srd_fault{fault_.data()}};
  border_stream_.wait_for(context_);
  // On a GPU before ranks talk, so that it has work meanwhile.
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
  // One more looks whether the step ends here where no cell is shared.
  for_each(border_stream_.context(), "srd.decide shared", std::max<std::size_t>(borders_.shared().size(), 1),
           srd_decide_shared<T, D, Sums, value_of<Sums>>{body, borders_.shared().data(), borders_.shared().size(),
                                                         borders_.parts(values<Sums>()), borders_.flags(words())});
  border_stream_.make_wait(context_);
}

template <typename Context, typename T, int D>
template <typename Sums>
void srd_share<Context, T, D>::decide_inner(const srd_decide_own<T, D, Sums>& body) {
  for_each(context_, "srd.decide inner", window_.size(), srd_decide_inner<T, D, Sums>{body, borders_.marks(), words()});
}

/// Adds the particles that have left windows to their cells, if all are few and in cells that are still to be decided.
template <typename Context, typename T, int D>
template <typename Sums>
bool srd_share<Context, T, D>::add_strays(const vec<T, D>& shift) {
  const waiting_time time(exchange_.communication_seconds());
  std::vector<srd_stray<T, D>> here;
  const srd_describe_strays<T, D> describe{present().particles, setup_, shift, strays_.data(), nullptr};
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

/// Particles change ranks after they have moved. `kept`: the sums of shared cells are there, and other cells decided;
/// if strays can be added, that is all. Otherwise all cells are summed and decided again.
template <typename Context, typename T, int D>
template <typename Sums>
void srd_share<Context, T, D>::meet_again(const vec<T, D>& shift, bool sorted, bool kept) {
  const bool balanced = exchange_.balance_if_worth(points());
  const bool complete = kept && !balanced && add_strays<Sums>(shift);
  fill_bytes(context_, words_.data(), 0, words_.bytes());
  if (balanced) plan_cells();
  balanced || sorted ? exchange() : exchange_in_place();
  if (!complete) {
    fill_bytes(context_, sums_.data(), 0, sums_.bytes());
    for_each(context_, "srd.add own", own_, srd_add_own<T, D, Sums>{present(), {sums<Sums>(), shift, strays()}});
  }
  decide<Sums>(complete);
}

template <typename Context, typename T, int D>
void srd_share<Context, T, D>::end_step(const vec<T, D>& shift) {
  last_shift_ = shift;
  pending_ = true;
  ++step_;
}

/// On a GPU collisions are enqueued before the host knows whether particles have left their windows, so that the device
/// does not wait for ranks to agree. Where some have, they are decided again, from all sums.
template <typename Context, typename T, int D>
template <typename Sums>
void srd_share<Context, T, D>::take_step(int wish) {
  const vec<T, D> shift = srd_shift(setup_, step_);
  const bool sorted = to_be_sorted();
  const bool early = std::is_same_v<Context, cuda_context> && !sorted;
  move<Sums>(shift);
  some_strayed_.request(context_, words().strays);
  if (early) decide<Sums>();
  if (exchange_.due(some_strayed_.wait() != 0 || sorted, own_, wish)) {
    meet_again<Sums>(shift, sorted, false);
  } else if (!early) {
    decide<Sums>();
  }
  end_step(shift);
}

template <typename Context, typename T, int D>
template <typename Sums>
void srd_share<Context, T, D>::enqueue_step() {
  const vec<T, D> shift = srd_shift(setup_, step_);
  move<Sums>(shift);
  decide<Sums>();
  halted_[step_ % most_ahead].request(border_stream_.context(), words().halted);
  end_step(shift);
}

/// Where ranks write into each other's memory, each learns on its device in which step a particle of any rank has left
/// its window: all halt at the same one, and later steps that are enqueued do nothing. The host sees that late, ends
/// the step, and enqueues the later ones again.
template <typename Context, typename T, int D>
template <typename Sums>
int srd_share<Context, T, D>::take_steps(std::size_t steps, const std::function<int()>& wish) {
  std::uint64_t end = step_ + steps;
  std::uint64_t asked = step_, seen = step_;  // steps before these have been asked for wishes, and are whole
  int agreed = 0;
  while (seen < end) {
    const bool alone = !borders_.direct() || to_be_sorted();
    if (step_ < end && (alone ? step_ == seen : step_ - seen < most_ahead)) {
      const bool is_new = step_ == asked;
      const int mine = is_new ? wish() : 0;
      if (alone) {
        take_step<Sums>(mine);
        seen = step_;
      } else {
        if (is_new) static_cast<void>(exchange_.due(false, own_, mine));
        enqueue_step<Sums>();
      }
      if (!is_new) continue;
      ++asked;
      agreed = static_cast<int>(exchange_.wish());
      if (agreed != 0) end = step_;
    } else if (halted_[seen % most_ahead].wait() == 0) {
      ++seen;
    } else {
      step_ = seen;
      const vec<T, D> shift = srd_shift(setup_, step_);
      pending_ = false;
      meet_again<Sums>(shift, false, true);
      end_step(shift);
      ++seen;
    }
  }
  return agreed;
}

template <typename Context, typename T, int D>
int srd_share<Context, T, D>::advance(std::size_t steps, const std::function<int()>& wish) {
  return floating_ ? take_steps<floating>(steps, wish) : take_steps<fixed>(steps, wish);
}

template <typename Context, typename T, int D>
void srd_share<Context, T, D>::check() {
  throw_srd_fault(first_fault(context_, ranks_, fault_), setup_.fastest);
}

template <typename Context, typename T, int D>
srd_state<T, D> srd_share<Context, T, D>::gather() {
  array<vec<T, D>, Context> present_velocities(context_, own_);
  for_each(context_, "srd.finish own", own_, srd_finish_own<T, D>{present(), present_velocities.data()});
  const auto velocities = to_host(context_, present_velocities.data(), own_);
  const auto ids = to_host(context_, ids_.data(), own_);
  std::vector<sent_srd_particle<T, D>> mine(own_);
  for (int axis = 0; axis < D; ++axis) {
    const auto positions = to_host(context_, components_[axis].data(), own_);
    for (std::size_t i = 0; i < own_; ++i) mine[i].position[axis] = positions[i];
  }
  for (std::size_t i = 0; i < own_; ++i) {
    mine[i].velocity = velocities[i];
    mine[i].id = ids[i];
  }
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
  std::size_t sum = exchange_.bytes() + borders_.bytes() + ids_.bytes() + spare_ids_.bytes() + solute_masses_.bytes() +
                    turns_.bytes() + sums_.bytes() + words_.bytes() + fault_.bytes() + strays_.bytes() +
                    owners_.bytes() + few_.bytes();
  for (int c = 0; c < 2 * D; ++c) sum += components_[c].bytes() + spare_[c].bytes();
  return sum;
}

template class srd_share<backend_context, float, 2>;
template class srd_share<backend_context, float, 3>;
template class srd_share<backend_context, double, 2>;
template class srd_share<backend_context, double, 3>;

}  // namespace quadrat::detail
