// SPDX-License-Identifier: BSD-3-Clause
#include "models/friction/ranks/friction_grains_of_rank.hpp"

#include <algorithm>
#include <tuple>

#include "core/backend.hpp"
#include "models/friction/storage.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/parallel/scan.hpp"

namespace quadrat::detail {

template <typename Context, typename T>
struct friction_grains_of_rank<Context, T>::sent_grain {
  vec<T, 3> position, remainder, velocity, spin, listed;
  particle_id id;
};

namespace {

/// Rows are sorted here by the key that one rank would use.
template <typename T>
[[nodiscard]] neighbor_options<T> unsorted_friction_list(const friction_setup<T>& setup) {
  neighbor_options<T> options = friction_list_options(setup);
  options.sorted = false;
  return options;
}

}  // namespace

template <typename Context, typename T>
friction_grains_of_rank<Context, T>::friction_grains_of_rank(const Context& context, communicator& ranks,
                                                             const friction_setup<T>& setup, std::size_t count)
    : base(context, ranks, friction_grid(setup), 0),
      setup_(setup),
      cells_(friction_cells(setup, count)),
      box_(make_lattice(setup.domain)),
      histories_(context, ranks),
      ghosts_(context, ranks, exchange_),
      list_(context, unsorted_friction_list(setup)),
      matcher_(context),
      laws_(context, setup),
      words_(context, friction_words) {}

template <typename Context, typename T>
moving_grains<T> friction_grains_of_rank<Context, T>::grains(int set) {
  return {places_[set].data(), velocities_[set].data(), spins_[set].data(), remainders_[set].data()};
}

template <typename Context, typename T>
friction_partners<T> friction_grains_of_rank<Context, T>::near() {
  return {offsets_, partners_.data(), memories_.data(), wall_memories_.data(), own_, setup_.layers()};
}

template <typename Context, typename T>
void friction_grains_of_rank<Context, T>::load(const granular_friction_state<T>& state, std::size_t first) {
  own_ = state.positions.size();
  std::vector<grain_place<T>> places(own_);
  std::vector<grain_velocity<T>> velocities(own_);
  std::vector<grain_spin<T>> spins(own_);
  std::vector<contact_memory<T>> wall_memories(own_ * wall_planes());
  std::vector<traveling_memory<T>> histories;
  for (std::size_t i = 0; i < own_; ++i) {
    places[i] = {state.listed_positions[i], setup_.radii[i]};
    velocities[i] = {state.velocities[i], static_cast<particle_id>(first + i)};
    spins[i] = {state.angular_velocities[i], 0};
  }
  for (const granular_contact_memory<T>& one : state.contacts) {
    if (one.second < first_plane) {
      histories.push_back({one.displacement, one.scale, one.first, one.second, one.rolling});
      continue;
    }
    spins[one.first].walls |= 1u << (one.second - first_plane);
    const std::size_t wall = one.second - first_plane;
    wall_memories[wall * own_ + one.first] = {one.displacement, one.scale};
    if (setup_.rolling_springs) wall_memories[(laws_.walls() + wall) * own_ + one.first] = {one.rolling, 0};
  }
  places_[now_] = to_device(context_, places);
  velocities_[now_] = to_device(context_, velocities);
  spins_[now_] = to_device(context_, spins);
  remainders_[now_] = to_device(context_, state.remainders);
  wall_memories_ = to_device(context_, wall_memories);
  if (!setup_.plain) materials_ = to_device(context_, setup_.materials);
  leaving_ = to_device(context_, histories);
  present_ = to_device(context_, state.positions);
  fault_ = no_run_fault;
}

template <typename Context, typename T>
void friction_grains_of_rank<Context, T>::start() {
  rebuild(true);
  for_each(context_, "friction.displace", own_, displace_own<T>{present_.data(), places_[now_].data()});
  fetch_ghosts();
  present_ = {};
}

/// Data that travels with the grains: the histories of their contacts, each to the owner of its first grain.
template <typename Context, typename T>
void friction_grains_of_rank<Context, T>::pack_histories(bool restoring) {
  if (restoring) {
    destinations_.resize_discarding(context_, leaving_.size());
    for_each(context_, "friction.send", leaving_.size(),
             send_memories<T>{leaving_.data(), exchange_.destinations(), destinations_.data()});
    return;
  }
  counts_.resize_discarding(context_, own_ + 1);
  if (own_ > 0) for_each(context_, "friction.histories", own_, count_memories<T>{near(), counts_.data()});
  exclusive_scan_with_total(context_, counts_.data(), counts_.data(), own_, scratch_);
  const std::size_t count = to_host(context_, counts_.data() + own_, 1)[0];
  leaving_.resize_discarding(context_, count);
  destinations_.resize_discarding(context_, count);
  for_each(context_, "friction.pack", own_,
           pack_memories<T>{near(), velocities_[now_].data(), exchange_.destinations(), counts_.data(), leaving_.data(),
                            destinations_.data()});
}

template <typename Context, typename T>
void friction_grains_of_rank<Context, T>::send_histories() {
  const waiting_time time(exchange_.communication_seconds());
  histories_.build(destinations_.data(), leaving_.size());
  arrived_.resize_discarding(context_, histories_.arriving());
  histories_.apply(leaving_.data(), arrived_.data());
}

template <typename Context, typename T>
void friction_grains_of_rank<Context, T>::send_grains(bool restoring) {
  const std::size_t before = own_;
  own_ = exchange_.arriving();
  exchange_.travel(std::tie(places_[now_], velocities_[now_], spins_[now_], remainders_[now_]));
  if (restoring) exchange_.pass_on(present_);
  if (!setup_.plain) exchange_.pass_on(materials_);
  spare_wall_memories_.resize_discarding(context_, own_ * wall_planes());
  for (std::size_t k = 0; k < wall_planes(); ++k) {
    exchange_.carry(wall_memories_.data() + k * before, spare_wall_memories_.data() + k * own_);
  }
  wall_memories_.resize_discarding(context_, own_ * wall_planes());
  for (std::size_t k = 0; k < wall_planes(); ++k) {
    exchange_.reorder(spare_wall_memories_.data() + k * own_, wall_memories_.data() + k * own_);
  }
}

/// Makes room for ghosts behind the own grains, in both sets.
template <typename Context, typename T>
void friction_grains_of_rank<Context, T>::choose_ghosts() {
  ghosts_.choose(points(), {2 * setup_.largest_radius + setup_.skin});
  const std::size_t all = own_ + ghosts_.number();
  const auto grow = [&](auto& sets) {
    make_room(context_, sets[now_], own_, all);
    sets[1 - now_].resize_discarding(context_, all);
  };
  grow(places_);
  grow(velocities_);
  grow(spins_);
  remainders_[1 - now_].resize_discarding(context_, own_);
  if (!setup_.plain) {
    make_room(context_, materials_, own_, all);
    ghosts_.fetch(materials_);
  }
  fetch_ghosts();
}

template <typename Context, typename T>
void friction_grains_of_rank<Context, T>::fetch_ghosts() {
  ghosts_.fetch(places_[now_], velocities_[now_], spins_[now_]);
  has_ghosts_ = true;
}

template <typename Context, typename T>
void friction_grains_of_rank<Context, T>::build_list() {
  const std::size_t all = own_ + ghosts_.number();
  listed_.resize_discarding(context_, all);
  radii_.resize_discarding(context_, all);
  ranks_in_order_.resize_discarding(context_, all);
  for_each(context_, "friction.list", all,
           list_grains<T>{cells_, grains(now_), listed_.data(), radii_.data(), ranks_in_order_.data()});
  together(ranks_, [&] {
    neighbor_input<T, 3> input;
    input.points = points_of(listed_.data(), all);
    input.boxes = std::span(&box_, 1);
    input.radii = radii_.data();
    list_.build(input);
  });
  const neighbor_list_view<T, 3> view = list_.view();
  offsets_ = view.offsets;
  const std::size_t entries = own_ == 0 ? 0 : to_host(context_, offsets_ + own_, 1)[0];
  partners_.resize_discarding(context_, entries);
  memories_.resize_discarding(context_, entries * setup_.layers());
  first_.resize_discarding(context_, entries);
  second_.resize_discarding(context_, entries);
  for_each(context_, "friction.sort", own_,
           sort_partners<T>{offsets_, view.neighbors, velocities_[now_].data(), ranks_in_order_.data(),
                            partners_.data(), first_.data(), second_.data()});
}

/// Copies the arrived histories to the rows of the new list.
template <typename Context, typename T>
void friction_grains_of_rank<Context, T>::recall() {
  matcher_.clear();
  matcher_.reserve(std::max(arrived_.size(), first_.size()), false);
  if (arrived_.size() > 0) {
    constexpr std::size_t stride = sizeof(traveling_memory<T>) / sizeof(particle_id);
    matcher_.match_async({&arrived_.data()->first, &arrived_.data()->second, nullptr, stride, arrived_.size()});
  }
  matcher_.match_async({first_.data(), second_.data(), nullptr, 1, first_.size()});
  for_each(
      context_, "friction.recall", first_.size(),
      recall_memories<T>{matcher_.previous(), arrived_.data(), partners_.data(), memories_.data(), setup_.layers()});
}

template <typename Context, typename T>
void friction_grains_of_rank<Context, T>::rebuild(bool restoring) {
  exchange_.leave(points());
  pack_histories(restoring);
  send_histories();
  send_grains(restoring);
  choose_ghosts();
  build_list();
  recall();
  ++rebuilds_;
}

template <typename Context, typename T>
void friction_grains_of_rank<Context, T>::exchange(bool /*balanced*/) {
  rebuild(false);
}

/// The whole step. Its forces use ghosts that have already arrived.
template <typename Context, typename T>
bool friction_grains_of_rank<Context, T>::move(bool /*more*/) {
  fill_bytes(context_, words_.data(), 0, words_.bytes());
  fill_bytes(context_, words_.data() + fault_word, 0xff, sizeof(std::uint64_t));
  has_ghosts_ = worth_hiding_messages<Context>(ranks_);
  const moving_grains<T> from = grains(now_);
  now_ = 1 - now_;
  laws_.with_forces(from, near(), materials_.data(), [&]<typename M>(const friction_forces<T, M>& forces) {
    const friction_step<T, M> body{forces, grains(now_),   listed_.data(), words_.data(),
                                   0,      setup_.gravity, setup_.skin / 2};
    if (has_ghosts_) {
      ghosts_.send_first("friction.step own", body, places_[now_], velocities_[now_], spins_[now_]);
    } else {
      for_each(context_, "friction.step own", own_, body);
    }
  });
  const auto words = to_host(context_, words_.data(), stale_word + 1);
  // Replaces steps of the batch by steps of the run.
  if (words[fault_word] != no_run_fault) fault_ = std::min(fault_, (step_ << 32) + words[fault_word]);
  return words[stale_word] != 0;
}

/// Sends the ghosts of the next step.
template <typename Context, typename T>
void friction_grains_of_rank<Context, T>::finish(bool /*more*/) {
  has_ghosts_ ? ghosts_.receive() : fetch_ghosts();
}

template <typename Context, typename T>
std::vector<granular_contact_memory<T>> friction_grains_of_rank<Context, T>::own_contacts() {
  std::vector<granular_contact_memory<T>> contacts;
  if (own_ == 0) return contacts;
  const auto velocities = to_host(context_, velocities_[now_]);
  const auto spins = to_host(context_, spins_[now_].data(), own_);
  const auto offsets = to_host(context_, offsets_, own_ + 1);
  const auto partners = to_host(context_, partners_);
  const auto memories = to_host(context_, memories_);
  const auto wall_memories = to_host(context_, wall_memories_);
  const std::size_t layers = setup_.layers();
  for (std::size_t slot = 0; slot < own_; ++slot) {
    const particle_id id = velocities[slot].id;
    for (std::uint64_t entry = offsets[slot]; entry < offsets[slot + 1]; ++entry) {
      if ((partners[entry] & remembers) == 0) continue;
      const particle_id other = velocities[partners[entry] & ~remembers].id;
      contacts.push_back(remembered(id, other, &memories[entry * layers], 1, layers));
    }
    for (std::size_t k = 0; k < laws_.walls(); ++k) {
      if ((spins[slot].walls >> k & 1u) == 0) continue;
      contacts.push_back(remembered(id, static_cast<particle_id>(first_plane + k), &wall_memories[k * own_ + slot],
                                    laws_.walls() * own_, layers));
    }
  }
  return contacts;
}

template <typename Context, typename T>
void friction_grains_of_rank<Context, T>::gather(granular_friction_state<T>& state) {
  const auto places = to_host(context_, places_[now_].data(), own_);
  const auto velocities = to_host(context_, velocities_[now_].data(), own_);
  const auto spins = to_host(context_, spins_[now_].data(), own_);
  const auto remainders = to_host(context_, remainders_[now_].data(), own_);
  const auto listed = to_host(context_, listed_.data(), own_);
  std::vector<sent_grain> mine(own_);
  for (std::size_t i = 0; i < own_; ++i) {
    mine[i] = {places[i].position, remainders[i], velocities[i].velocity, spins[i].spin, listed[i], velocities[i].id};
  }
  const auto all = gathered(ranks_, mine);
  place_by_id(all, &sent_grain::position, state.positions);
  place_by_id(all, &sent_grain::remainder, state.remainders);
  place_by_id(all, &sent_grain::velocity, state.velocities);
  place_by_id(all, &sent_grain::spin, state.angular_velocities);
  place_by_id(all, &sent_grain::listed, state.listed_positions);
  state.contacts = gathered(ranks_, own_contacts());
  std::sort(state.contacts.begin(), state.contacts.end(),
            [](const auto& a, const auto& b) { return a.first != b.first ? a.first < b.first : a.second < b.second; });
}

template <typename Context, typename T>
std::size_t friction_grains_of_rank<Context, T>::bytes() const {
  std::size_t sum = histories_.bytes() + ghosts_.bytes() + list_.bytes() + matcher_.bytes() + laws_.bytes() +
                    wall_memories_.bytes() + spare_wall_memories_.bytes() + listed_.bytes() + present_.bytes() +
                    radii_.bytes() + materials_.bytes() + ranks_in_order_.bytes() + partners_.bytes() +
                    counts_.bytes() + destinations_.bytes() + memories_.bytes() + leaving_.bytes() + arrived_.bytes() +
                    first_.bytes() + second_.bytes() + words_.bytes();
  for (int set = 0; set < 2; ++set) {
    sum += places_[set].bytes() + velocities_[set].bytes() + spins_[set].bytes() + remainders_[set].bytes();
  }
  return sum;
}

template class friction_grains_of_rank<backend_context, float>;
template class friction_grains_of_rank<backend_context, double>;

}  // namespace quadrat::detail
