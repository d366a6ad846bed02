// SPDX-License-Identifier: BSD-3-Clause
#include "models/electrolyte/ranks/ions_of_rank.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "core/backend.hpp"
#include "models/electrolyte/setup.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/search/visit.hpp"

namespace quadrat::detail {

namespace {

/// An ion on its way to rank 0.
template <typename T>
struct sent_ion {
  vec<T, 3> position, velocity;
  particle_id id;
};

/// The edge of the mean volume per ion, as a cube.
[[nodiscard]] double spacing_of_ions(const electrolyte_options& options) {
  const double volume = options.box[0] * options.box[1] * options.box[2];
  return std::cbrt(volume / std::max(1.0, static_cast<double>(ions_of(options))));
}

/// The cells of which ranks own blocks, with about 8 ions each.
template <typename T>
[[nodiscard]] grid<T, 3> cells_of_ions(const electrolyte_options& options, const box<T, 3>& domain) {
  const double edge = 2 * spacing_of_ions(options);
  vec<int, 3> cells{};
  for (int axis = 0; axis < 3; ++axis) {
    cells[axis] = static_cast<int>(std::clamp(std::floor(options.box[axis] / edge), 1.0, 512.0));
  }
  return make_grid(domain, cells);
}

/// The skin: ions move by a small part of their diameter in a step.
template <typename T>
[[nodiscard]] T skin_of_ions(const electrolyte_options& options) {
  return static_cast<T>(std::max(0.3 * largest_diameter(options), 0.2 * spacing_of_ions(options)));
}

template <typename T>
[[nodiscard]] box<T, 3> box_of_ions(const electrolyte_options& options) {
  return make_box_from_lengths<T, 3>({}, cast<T>(options.box), vec<bool, 3>::filled(true));
}

}  // namespace

template <typename Context, typename T>
ions_of_rank<Context, T>::ions_of_rank(const Context& context, communicator& ranks, const electrolyte_options& options,
                                       const electrostatics_options& sums)
    : base(context, ranks, cells_of_ions(options, box_of_ions<T>(options))),
      options_(options),
      domain_(box_of_ions<T>(options)),
      reach_(reach_of_repulsion<T>(options)),
      skin_(skin_of_ions<T>(options)),
      borders_(context, ranks),
      cells_(context, make_lattice(domain_), {reach_, false}),
      sums_(context, ranks, exchange_.space(), sums) {}

template <typename Context, typename T>
void ions_of_rank<Context, T>::load(const electrolyte_state<T>& state, std::size_t /*first*/) {
  own_ = state.positions.size();
  std::vector<ion_kept<T>> kept;
  for (const ion_species& kind : options_.species) {
    for (std::size_t i = 0; i < kind.count && kept.size() < own_; ++i) {
      kept.push_back({static_cast<T>(kind.charge), static_cast<T>(kind.mass), static_cast<T>(0.5 * kind.diameter),
                      static_cast<particle_id>(kept.size())});
    }
  }
  positions_ = to_device(context_, state.positions);
  velocities_ = to_device(context_, state.velocities);
  kept_ = to_device(context_, kept);
}

template <typename Context, typename T>
void ions_of_rank<Context, T>::start() {
  exchange(true);
  find_forces();
}

/// Chooses the ghosts and makes room for them behind the own ions.
template <typename Context, typename T>
void ions_of_rank<Context, T>::exchange(bool /*balanced*/) {
  exchange_.leave(points());
  own_ = exchange_.arriving();
  exchange_.travel(std::tie(positions_, velocities_, kept_));
  const waiting_time time(exchange_.communication_seconds());
  borders_.build(exchange_.space(), exchange_.on_device(), points(), {reach_ + skin_});
  const std::size_t all = own_ + borders_.ghosts();
  before_.resize_discarding(context_, own_);
  copy_bytes(context_, positions_.data(), before_.data(), own_ * sizeof(vec<T, 3>));
  make_room(context_, positions_, own_, all);
  radii_.resize_discarding(context_, all);
  repulsion_.resize_discarding(context_, all);
  charges_.resize_discarding(context_, own_);
  masses_.resize_discarding(context_, own_);
  coulomb_.resize_discarding(context_, own_);
  for_each(context_, "electrolyte.unpack", own_,
           unpack_ion<T>{kept_.data(), charges_.data(), masses_.data(), radii_.data()});
  borders_.forward(radii_.data());
  sums_.set(exchange_.shares(), points(), charges_.data(), skin_);
}

template <typename Context, typename T>
bool ions_of_rank<Context, T>::move(bool /*more*/) {
  const T farthest = std::min({domain_.length[0], domain_.length[1], domain_.length[2]}) / T(2);
  for_each(context_, "electrolyte.move own", own_,
           electrolyte_move_own<T>{{ions(), thermostat_of<T>(options_), domain_, static_cast<T>(options_.time_step),
                                    farthest, step_words{nullptr, nullptr, {faults_.data()}}},
                                   kept_.data(),
                                   step_});
  return this->far_from(points_of(before_.data(), own_), points(), skin_, "electrolyte.moved");
}

template <typename Context, typename T>
void ions_of_rank<Context, T>::finish(bool /*more*/) {
  find_forces();
  for_each(context_, "electrolyte.kick own", own_,
           electrolyte_kick_own<T>{
               {ions(), static_cast<T>(options_.time_step), step_words{nullptr, nullptr, {faults_.data()}}},
               kept_.data(),
               step_});
}

template <typename Context, typename T>
void ions_of_rank<Context, T>::find_forces() {
  {
    const waiting_time time(exchange_.communication_seconds());
    borders_.forward(positions_.data());
  }
  const points_view<T, 3> all = points_of(positions_.data(), own_ + borders_.ghosts());
  cells_.reserve(all.size());
  cells_.build_async(all);
  accumulate_neighbors_async(context_, cells_.view(), all, reach_, repulsion_.data(),
                             electrolyte_repulsion<T>{radii_.data(), static_cast<T>(options_.repulsion)});
  electrostatics_output<T> output;
  output.forces = coulomb_.data();
  sums_.compute(points(), output);
}

template <typename Context, typename T>
data_error ions_of_rank<Context, T>::blown_up(const data_error& error) const {
  const std::string text = message("the run blew up by step ", step_, ": ", error.what());
  return error.index() ? data_error(text, *error.index()) : data_error(text);
}

template <typename Context, typename T>
void ions_of_rank<Context, T>::gather(electrolyte_state<T>& state) {
  const auto positions = to_host(context_, positions_.data(), own_);
  const auto velocities = to_host(context_, velocities_.data(), own_);
  const auto kept = to_host(context_, kept_.data(), own_);
  std::vector<sent_ion<T>> mine(own_);
  for (std::size_t i = 0; i < own_; ++i) mine[i] = {positions[i], velocities[i], kept[i].id};
  const auto all = gathered(ranks_, mine);
  place_by_id(all, &sent_ion<T>::position, state.positions);
  place_by_id(all, &sent_ion<T>::velocity, state.velocities);
}

template <typename Context, typename T>
std::size_t ions_of_rank<Context, T>::bytes() const {
  return borders_.bytes() + cells_.bytes() + sums_.bytes() + positions_.bytes() + velocities_.bytes() +
         before_.bytes() + coulomb_.bytes() + kept_.bytes() + charges_.bytes() + masses_.bytes() + radii_.bytes() +
         repulsion_.bytes();
}

template class ions_of_rank<backend_context, float>;
template class ions_of_rank<backend_context, double>;

}  // namespace quadrat::detail
