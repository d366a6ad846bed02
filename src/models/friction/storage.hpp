// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "models/friction/kernels.hpp"
#include "models/friction/laws.hpp"
#include "models/friction/mesh_rows.hpp"
#include "models/friction/setup.hpp"
#include "quadrat/contacts/contact_matcher.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/folding.hpp"
#include "quadrat/core/grid.hpp"
#include "quadrat/core/lattice.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/sort.hpp"
#include "quadrat/parallel/workspace.hpp"
#include "quadrat/search/neighbor_list.hpp"

namespace quadrat::detail {

/// The grains of a simulation, sorted by cell, with their neighbor list and the histories of contacts. Grains are
/// double-buffered: a step reads one set and writes the other. So are lists: a rebuild carries histories from one to
/// the other.
template <typename Context, typename T>
class friction_storage {
 public:
  friction_storage(const Context& context, const friction_setup<T>& setup);

  /// Sets a checked state: builds the list at the state's listed positions, then moves grains to the present ones.
  /// Throws what the neighbor list throws.
  void set(const granular_friction_state<T>& state, std::span<const T> radii);
  /// Sorts the grains and builds the list at their present positions. Throws what the neighbor list throws.
  void rebuild();

  /// Calls `action` with the forces on the grains of a set: the present ones, or those that a step has written to the
  /// other set.
  template <typename Action>
  decltype(auto) with_forces(int set_of_grains, Action&& action) {
    const friction_partners<T> near{offsets_,
                                    partners_[list_set_].data(),
                                    memories_[list_set_].data(),
                                    wall_memories_[list_set_].data(),
                                    count_,
                                    setup_.layers()};
    const std::uint32_t* const materials = materials_[list_set_].data();
    if (meshes_.empty()) return laws_.with_forces(grains(set_of_grains), near, materials, action);
    return action(laws_.forces_on_meshes(grains(set_of_grains), near, materials, meshes_.view(list_set_)));
  }
  [[nodiscard]] moving_grains<T> grains(int set);
  [[nodiscard]] const vec<T, 3>* listed() const { return listed_.data(); }
  [[nodiscard]] int set_of_grains() const { return grain_set_; }
  [[nodiscard]] int set_of_list() const { return list_set_; }
  /// Makes the other set the present one.
  void pass_on() { grain_set_ = 1 - grain_set_; }
  /// Changes whenever memory used by steps is reallocated.
  [[nodiscard]] std::uint64_t version() const { return version_; }
  [[nodiscard]] std::uint64_t rebuilds() const { return rebuilds_; }

  /// The state, except `step`. Synchronizes.
  [[nodiscard]] granular_friction_state<T> state();
  /// The grains of any set, by particle. Synchronizes.
  [[nodiscard]] granular_friction_state<T> bring_home(const moving_grains<T>& grains);
  [[nodiscard]] std::size_t bytes() const;

 private:
  void set_contacts(const granular_friction_state<T>& state);
  void sort();
  void carry(const neighbor_list_view<T, 3>& list, std::size_t entries);
  void grow(std::size_t entries);
  void add_contacts(granular_friction_state<T>& state);

  Context context_;
  friction_setup<T> setup_;
  std::size_t count_;
  grid<T, 3> cells_;
  lattice<T, 3> box_;
  neighbor_list<Context, T, 3> list_;
  contact_matcher<Context> matcher_;
  friction_laws<Context, T> laws_;
  friction_mesh_rows<Context, T> meshes_;

  array<grain_place<T>, Context> places_[2];
  array<grain_velocity<T>, Context> velocities_[2];
  array<grain_spin<T>, Context> spins_[2];
  array<vec<T, 3>, Context> remainders_[2];
  array<vec<T, 3>, Context> listed_;
  array<T, Context> radii_;  // by slot

  array<std::uint32_t, Context> partners_[2];
  array<contact_memory<T>, Context> memories_[2];
  array<contact_memory<T>, Context> wall_memories_[2];
  array<std::uint32_t, Context> materials_[2];  // by slot, for each list; none for one material
  const std::uint64_t* offsets_ = nullptr;

  array<std::uint32_t, Context> sorted_cells_;
  array<std::uint32_t, Context> ids_;
  array<std::uint32_t, Context> slots_;
  array<particle_id, Context> first_;
  array<particle_id, Context> second_;
  workspace<Context> scratch_;

  int grain_set_ = 0;
  int list_set_ = 0;
  std::uint64_t version_ = 0;
  std::uint64_t rebuilds_ = 0;
};

template <typename T>
[[nodiscard]] neighbor_options<T> friction_list_options(const friction_setup<T>& setup) {
  neighbor_options<T> options;
  options.cutoff = 2 * setup.largest_radius;
  options.skin = setup.skin;
  options.rule = cutoff_rule::sum_of_radii;
  options.accept_outside = true;
  options.sorted = true;  // forces are summed in the order of a row
  return options;
}

/// Cells as large as the cutoff of the list with its skin.
template <typename T>
[[nodiscard]] grid<T, 3> friction_grid(const friction_setup<T>& setup) {
  return make_grid_for_cutoff(setup.domain, 2 * setup.largest_radius + setup.skin, any_number_of_cells);
}

/// The grid for the order of this many grains in memory, and in sums of forces.
template <typename T>
[[nodiscard]] grid<T, 3> friction_cells(const friction_setup<T>& setup, std::size_t count) {
  return folded(friction_grid(setup), {count, 2 * setup.largest_radius + setup.skin});
}

template <typename Context, typename T>
friction_storage<Context, T>::friction_storage(const Context& context, const friction_setup<T>& setup)
    : context_(context),
      setup_(setup),
      count_(setup.radii.size()),
      cells_(friction_cells(setup, count_)),
      box_(make_lattice(setup.domain)),
      list_(context, friction_list_options(setup)),
      matcher_(context),
      laws_(context, setup),
      meshes_(context, setup),
      listed_(context, count_),
      radii_(context, count_),
      sorted_cells_(context, count_),
      ids_(context, count_),
      slots_(context, count_) {
  for (int set = 0; set < 2; ++set) {
    places_[set] = array<grain_place<T>, Context>(context, count_);
    velocities_[set] = array<grain_velocity<T>, Context>(context, count_);
    spins_[set] = array<grain_spin<T>, Context>(context, count_);
    remainders_[set] = array<vec<T, 3>, Context>(context, count_);
    wall_memories_[set] = array<contact_memory<T>, Context>(context, count_ * setup.walls.size() * setup.layers());
    if (!setup.plain) materials_[set] = array<std::uint32_t, Context>(context, count_);
  }
}

template <typename Context, typename T>
moving_grains<T> friction_storage<Context, T>::grains(int set) {
  return {places_[set].data(), velocities_[set].data(), spins_[set].data(), remainders_[set].data()};
}

/// Sorts grains by cell, then by particle: an order that depends on positions alone.
template <typename Context, typename T>
void friction_storage<Context, T>::sort() {
  const moving_grains<T> from = grains(grain_set_);
  for_each(context_, "friction.cells", count_, friction_sort_key<T>{cells_, from, sorted_cells_.data(), slots_.data()});
  sort_pairs(context_, sorted_cells_.data(), ids_.data(), count_, key_bits_for(cells_.size()), scratch_,
             sort_values::index);
  const friction_gather<T> body{ids_.data(),
                                slots_.data(),
                                from,
                                grains(1 - grain_set_),
                                wall_memories_[list_set_].data(),
                                wall_memories_[1 - list_set_].data(),
                                materials_[list_set_].data(),
                                materials_[1 - list_set_].data(),
                                count_,
                                static_cast<std::uint32_t>(laws_.walls()),
                                setup_.layers(),
                                listed_.data(),
                                radii_.data()};
  for_each(context_, "friction.gather", count_, body);
  grain_set_ = 1 - grain_set_;
}

template <typename Context, typename T>
void friction_storage<Context, T>::grow(std::size_t entries) {
  // The sizes differ if an allocation failed between the two.
  if (entries <= std::min(first_.size(), second_.size())) return;
  // With room to spare, since the number changes slightly with every rebuild.
  const std::size_t room = entries + entries / 4;
  first_.resize_discarding(context_, room);
  second_.resize_discarding(context_, room);
}

template <typename Context, typename T>
void friction_storage<Context, T>::carry(const neighbor_list_view<T, 3>& list, std::size_t entries) {
  const int to = 1 - list_set_;
  grow(entries);
  const std::size_t layers = setup_.layers();
  if (std::min(partners_[to].size(), memories_[to].size() / layers) < entries) {
    partners_[to].resize_discarding(context_, first_.size());
    memories_[to].resize_discarding(context_, first_.size() * layers);
    ++version_;
  }
  for_each(
      context_, "friction.keys", count_,
      friction_keys<T>{list.offsets, list.neighbors, velocities_[grain_set_].data(), first_.data(), second_.data()});
  matcher_.reserve(entries, false);
  matcher_.match_async({first_.data(), second_.data(), nullptr, 1, entries});
  for_each(context_, "friction.carry", entries,
           friction_carry<T>{matcher_.previous(), list.neighbors, partners_[list_set_].data(),
                             memories_[list_set_].data(), partners_[to].data(), memories_[to].data(), setup_.layers()});
  list_set_ = to;
}

template <typename Context, typename T>
void friction_storage<Context, T>::rebuild() {
  sort();
  neighbor_input<T, 3> input;
  input.points = points_of(listed_.data(), count_);
  input.boxes = std::span(&box_, 1);
  input.radii = radii_.data();
  list_.build(input);
  const neighbor_list_view<T, 3> view = list_.view();
  if (offsets_ != view.offsets) ++version_;
  offsets_ = view.offsets;
  carry(view, list_.size());
  const bool moved =
      meshes_.rebuild(list_set_, count_, listed_.data(), radii_.data(), setup_.skin, ids_.data(), slots_.data());
  if (moved) ++version_;
  ++rebuilds_;
}

/// The contacts of a state as entries of a list.
template <typename Context, typename T>
void friction_storage<Context, T>::set_contacts(const granular_friction_state<T>& state) {
  std::vector<particle_id> first;
  std::vector<particle_id> second;
  std::vector<contact_memory<T>> memories;
  std::vector<contact_memory<T>> wall_memories(count_ * laws_.walls() * setup_.layers());
  for (const granular_contact_memory<T>& one : state.contacts) {
    const contact_memory<T> layers[] = {{one.displacement, one.scale}, {one.rolling, 0}};
    if (one.second >= first_granular_triangle) continue;
    if (one.second >= first_plane) {
      for (std::size_t k = 0; k < setup_.layers(); ++k) {
        wall_memories[(k * laws_.walls() + one.second - first_plane) * count_ + one.first] = layers[k];
      }
      continue;
    }
    first.push_back(one.first);
    second.push_back(one.second);
    memories.insert(memories.end(), layers, layers + setup_.layers());
  }
  const std::size_t entries = first.size();
  const auto first_on_device = to_device(context_, first);
  const auto second_on_device = to_device(context_, second);
  matcher_.clear();
  matcher_.reserve(entries, false);
  matcher_.match_async({first_on_device.data(), second_on_device.data(), nullptr, 1, entries});
  partners_[list_set_] = to_device(context_, std::vector<std::uint32_t>(entries, remembers));
  memories_[list_set_] = to_device(context_, memories);
  wall_memories_[list_set_] = to_device(context_, wall_memories);
  if (!setup_.plain) materials_[list_set_] = to_device(context_, setup_.materials);
  meshes_.set(list_set_, count_, state.contacts);
  context_.synchronize();
}

template <typename Context, typename T>
void friction_storage<Context, T>::set(const granular_friction_state<T>& state, std::span<const T> radii) {
  set_contacts(state);
  std::vector<std::uint32_t> touched(count_, 0);
  for (const granular_contact_memory<T>& one : state.contacts) {
    if (one.second >= first_plane && one.second < first_granular_triangle)
      touched[one.first] |= 1u << (one.second - first_plane);
  }
  auto listed = to_device(context_, state.listed_positions);
  auto remainders = to_device(context_, state.remainders);
  auto velocities = to_device(context_, state.velocities);
  auto spins = to_device(context_, state.angular_velocities);
  const auto by_particle = to_device(context_, radii);
  const auto walls = to_device(context_, touched);
  for_each(context_, "friction.place", count_,
           friction_place<T>{{listed.data(), remainders.data(), velocities.data(), spins.data()},
                             by_particle.data(),
                             walls.data(),
                             grains(grain_set_)});
  rebuild();
  const auto positions = to_device(context_, state.positions);
  for_each(context_, "friction.displace", count_, friction_displace<T>{positions.data(), grains(grain_set_)});
  context_.synchronize();
  ++version_;
}

template <typename Context, typename T>
granular_friction_state<T> friction_storage<Context, T>::bring_home(const moving_grains<T>& grains) {
  array<vec<T, 3>, Context> home[5];
  for (auto& one : home) one = array<vec<T, 3>, Context>(context_, count_);
  for_each(
      context_, "friction.bring_home", count_,
      friction_bring_home<T>{
          grains, listed_.data(), {home[0].data(), home[1].data(), home[2].data(), home[3].data()}, home[4].data()});
  granular_friction_state<T> state;
  state.positions = to_host(context_, home[0]);
  state.remainders = to_host(context_, home[1]);
  state.velocities = to_host(context_, home[2]);
  state.angular_velocities = to_host(context_, home[3]);
  state.listed_positions = to_host(context_, home[4]);
  return state;
}

template <typename Context, typename T>
granular_friction_state<T> friction_storage<Context, T>::state() {
  granular_friction_state<T> state = bring_home(grains(grain_set_));
  add_contacts(state);
  return state;
}

template <typename Context, typename T>
void friction_storage<Context, T>::add_contacts(granular_friction_state<T>& state) {
  const auto grains_by_slot = to_host(context_, velocities_[grain_set_]);
  const auto spins = to_host(context_, spins_[grain_set_]);
  const auto offsets = to_host(context_, offsets_, count_ + 1);
  const auto partners = to_host(context_, partners_[list_set_].data(), offsets[count_]);
  const std::size_t layers = setup_.layers();
  const auto memories = to_host(context_, memories_[list_set_].data(), offsets[count_] * layers);
  const auto wall_memories = to_host(context_, wall_memories_[list_set_]);
  std::vector<particle_id> ids;
  for (std::size_t slot = 0; slot < count_; ++slot) {
    const particle_id id = ids.emplace_back(grains_by_slot[slot].id);
    for (std::uint64_t entry = offsets[slot]; entry < offsets[slot + 1]; ++entry) {
      if ((partners[entry] & remembers) == 0) continue;
      const particle_id other = grains_by_slot[partners[entry] & ~remembers].id;
      state.contacts.push_back(remembered(id, other, &memories[entry * layers], 1, layers));
    }
    for (std::size_t k = 0; k < laws_.walls(); ++k) {
      if ((spins[slot].walls >> k & 1u) == 0) continue;
      state.contacts.push_back(remembered(id, static_cast<particle_id>(first_plane + k),
                                          &wall_memories[k * count_ + slot], laws_.walls() * count_, layers));
    }
  }
  meshes_.add_contacts(list_set_, ids, state);
  std::sort(state.contacts.begin(), state.contacts.end(),
            [](const auto& a, const auto& b) { return a.first != b.first ? a.first < b.first : a.second < b.second; });
}

template <typename Context, typename T>
std::size_t friction_storage<Context, T>::bytes() const {
  std::size_t sum = list_.bytes() + matcher_.bytes() + laws_.bytes() + meshes_.bytes() + listed_.bytes() +
                    radii_.bytes() + sorted_cells_.bytes() + ids_.bytes() + slots_.bytes() + first_.bytes() +
                    second_.bytes() + scratch_.bytes();
  for (int set = 0; set < 2; ++set) {
    sum += places_[set].bytes() + velocities_[set].bytes() + spins_[set].bytes() + remainders_[set].bytes() +
           partners_[set].bytes() + memories_[set].bytes() + wall_memories_[set].bytes() + materials_[set].bytes();
  }
  return sum;
}

}  // namespace quadrat::detail
