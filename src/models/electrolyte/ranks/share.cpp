// SPDX-License-Identifier: BSD-3-Clause
#include "models/electrolyte/ranks/share.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/backend.hpp"
#include "distributed/ranks/gathered.hpp"
#include "models/electrolyte/setup.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/parallel/reduce.hpp"
#include "quadrat/search/visit.hpp"

namespace quadrat::detail {

namespace {

/// An ion on its way to rank 0.
template <typename T>
struct sent_ion {
  vec<T, 3> position, velocity;
  particle_id id;
};

/// The edge of the cube that an ion has on average.
[[nodiscard]] double spacing_of_ions(const electrolyte_options& options) {
  const double volume = options.box[0] * options.box[1] * options.box[2];
  return std::cbrt(volume / std::max(1.0, static_cast<double>(ions_of(options))));
}

/// Cells of some 8 ions, of which ranks own blocks.
template <typename T>
[[nodiscard]] grid<T, 3> cells_of_ions(const electrolyte_options& options, const box<T, 3>& domain) {
  const double edge = 2 * spacing_of_ions(options);
  vec<int, 3> cells{};
  for (int axis = 0; axis < 3; ++axis) {
    cells[axis] = static_cast<int>(std::clamp(std::floor(options.box[axis] / edge), 1.0, 512.0));
  }
  return make_grid(domain, cells);
}

/// Ions move by a small part of their diameter in a step.
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
    : context_(context),
      ranks_(ranks),
      options_(options),
      domain_(box_of_ions<T>(options)),
      reach_(reach_of_repulsion<T>(options)),
      skin_(skin_of_ions<T>(options)),
      exchange_(context, ranks, cells_of_ions(options, domain_)),
      borders_(context, ranks),
      cells_(context, make_lattice(domain_), {reach_, false}),
      sums_(context, ranks, exchange_.space(), sums),
      fault_(context, 1) {}

/// Rank 0 has all ions, by id, until they leave.
template <typename Context, typename T>
void ions_of_rank<Context, T>::set(const electrolyte_state<T>& state) {
  const std::size_t count = state.positions.size();
  step_ = all_values(ranks_, state.step)[0];
  broken_.reset();
  together(ranks_, [&] {
    std::vector<ion_kept<T>> kept;
    for (const ion_species& kind : options_.species) {
      for (std::size_t i = 0; i < kind.count && kept.size() < count; ++i) {
        kept.push_back({static_cast<T>(kind.charge), static_cast<T>(kind.mass), static_cast<T>(0.5 * kind.diameter),
                        static_cast<particle_id>(kept.size())});
      }
    }
    own_ = count;
    positions_ = to_device(context_, state.positions);
    velocities_ = to_device(context_, state.velocities);
    kept_ = to_device(context_, kept);
    fill_bytes(context_, fault_.data(), 0xff, fault_.bytes());
    context_.synchronize();
  });
  exchange_.balance(points(own_));
  exchange();
  find_forces();
}

/// Sends each ion to the owner of its cell; there they come in order of cells. Chooses ghosts, and makes room for them
/// behind the own ions.
template <typename Context, typename T>
void ions_of_rank<Context, T>::exchange() {
  exchange_.leave(points(own_));
  own_ = exchange_.arriving();
  exchange_.carry(positions_.data(), spare_positions_);
  exchange_.carry(velocities_.data(), spare_velocities_);
  exchange_.carry(kept_.data(), spare_kept_);
  exchange_.sort(points_of(spare_positions_.data(), own_));
  before_.resize_discarding(context_, own_);
  velocities_.resize_discarding(context_, own_);
  kept_.resize_discarding(context_, own_);
  exchange_.reorder(spare_positions_.data(), before_.data());
  exchange_.reorder(spare_velocities_.data(), velocities_.data());
  exchange_.reorder(spare_kept_.data(), kept_.data());
  const waiting_time time(exchange_.communication_seconds());
  borders_.build(exchange_.space(), exchange_.on_device(), points_of(before_.data(), own_), {reach_ + skin_});
  const std::size_t all = own_ + borders_.ghosts();
  positions_.resize_discarding(context_, all);
  radii_.resize_discarding(context_, all);
  repulsion_.resize_discarding(context_, all);
  charges_.resize_discarding(context_, own_);
  masses_.resize_discarding(context_, own_);
  coulomb_.resize_discarding(context_, own_);
  copy_bytes(context_, before_.data(), positions_.data(), own_ * sizeof(vec<T, 3>));
  for_each(context_, "electrolyte.unpack", own_,
           unpack_ion<T>{kept_.data(), charges_.data(), masses_.data(), radii_.data()});
  borders_.forward(radii_.data());
  sums_.set(exchange_.shares(), points(own_), charges_.data(), skin_);
}

template <typename Context, typename T>
int ions_of_rank<Context, T>::advance(std::size_t steps, const std::function<int()>& wish) {
  for (std::size_t k = 0; k < steps && !broken_; ++k) {
    try {
      take_step(wish());
    } catch (const data_error& error) {  // the same on all ranks
      const std::string text = message("the run blew up by step ", step_ + 1, ": ", error.what());
      broken_ = error.index() ? data_error(text, *error.index()) : data_error(text);
    }
    ++step_;
    if (exchange_.wish() != 0) return static_cast<int>(exchange_.wish());
  }
  return 0;
}

template <typename Context, typename T>
void ions_of_rank<Context, T>::take_step(int wish) {
  const T time_step = static_cast<T>(options_.time_step);
  const T farthest = std::min({domain_.length[0], domain_.length[1], domain_.length[2]}) / T(2);
  const step_words words{nullptr, nullptr, {fault_.data()}};
  for_each(context_, "electrolyte.move own", own_,
           electrolyte_move_own<T>{
               {ions(), thermostat_of<T>(options_), domain_, time_step, farthest, words}, kept_.data(), step_});
  const T moved = reduce_maximum(context_, "electrolyte.moved", own_,
                                 distance_of_ion<T>{domain_, positions_.data(), before_.data()}, scratch_);
  // Rounding is in the reach of the halo.
  if (exchange_.due(own_ > 0 && 2 * moved >= skin_, own_, wish)) {
    exchange_.balance_if_worth(points(own_));
    exchange();
  }
  find_forces();
  for_each(context_, "electrolyte.kick own", own_,
           electrolyte_kick_own<T>{{ions(), time_step, words}, kept_.data(), step_});
}

template <typename Context, typename T>
void ions_of_rank<Context, T>::find_forces() {
  {
    const waiting_time time(exchange_.communication_seconds());
    borders_.forward(positions_.data());
  }
  const points_view<T, 3> all = points(own_ + borders_.ghosts());
  cells_.build(context_, all);
  accumulate_neighbors(context_, cells_.view(), all, reach_, repulsion_.data(),
                       electrolyte_repulsion<T>{radii_.data(), static_cast<T>(options_.repulsion)});
  electrostatics_output<T> output;
  output.forces = coulomb_.data();
  sums_.compute(points(own_), output);
}

template <typename Context, typename T>
void ions_of_rank<Context, T>::check() {
  throw_electrolyte_fault(first_fault(context_, ranks_, fault_));
  if (broken_) throw *broken_;
  together(ranks_, [&] { cells_.check(context_); });
}

template <typename Context, typename T>
electrolyte_state<T> ions_of_rank<Context, T>::gather() {
  const auto positions = to_host(context_, positions_.data(), own_);
  const auto velocities = to_host(context_, velocities_.data(), own_);
  const auto kept = to_host(context_, kept_.data(), own_);
  std::vector<sent_ion<T>> mine(own_);
  for (std::size_t i = 0; i < own_; ++i) mine[i] = {positions[i], velocities[i], kept[i].id};
  const auto all = gathered(ranks_, mine);
  electrolyte_state<T> state;
  if (ranks_.rank() != 0) return state;
  state.step = step_;
  state.positions.resize(all.size());
  state.velocities.resize(all.size());
  for (const sent_ion<T>& one : all) {
    state.positions[one.id] = one.position;
    state.velocities[one.id] = one.velocity;
  }
  return state;
}

template <typename Context, typename T>
std::size_t ions_of_rank<Context, T>::bytes() const {
  return exchange_.bytes() + borders_.bytes() + cells_.bytes() + sums_.bytes() + positions_.bytes() +
         velocities_.bytes() + before_.bytes() + spare_positions_.bytes() + spare_velocities_.bytes() +
         coulomb_.bytes() + kept_.bytes() + spare_kept_.bytes() + charges_.bytes() + masses_.bytes() + radii_.bytes() +
         repulsion_.bytes() + fault_.bytes() + scratch_.bytes();
}

template class ions_of_rank<backend_context, float>;
template class ions_of_rank<backend_context, double>;

}  // namespace quadrat::detail
