// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/models/electrolyte.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "core/backend.hpp"
#include "models/electrolyte/kernels.hpp"
#include "models/electrolyte/options.hpp"
#include "models/electrolyte/setup.hpp"
#include "models/replay.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/core/lattice.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/reduce.hpp"
#include "quadrat/parallel/workspace.hpp"
#include "quadrat/search/lattice_cells.hpp"
#include "quadrat/search/visit.hpp"

namespace quadrat {

namespace {

[[nodiscard]] const electrolyte_options& checked(const electrolyte_options& options,
                                                 const electrolyte_particles& particles) {
  detail::check_electrolyte(options);
  const std::size_t ions = detail::ions_of(options);
  require(particles.positions.size() == ions && particles.velocities.size() == ions, "there are ",
          particles.positions.size(), " positions and ", particles.velocities.size(), " velocities for ", ions,
          " ions");
  return options;
}

template <typename T>
[[nodiscard]] std::vector<vec<T, 3>> rounded_ions(const std::vector<vec<double, 3>>& values) {
  std::vector<vec<T, 3>> result;
  result.reserve(values.size());
  for (const vec<double, 3>& value : values) result.push_back(cast<T>(value));
  return result;
}

}  // namespace

template <typename Context, typename T>
struct electrolyte<Context, T>::implementation {
  implementation(const Context& chosen, const electrolyte_options& asked, const electrolyte_particles& particles);

  void set(const electrolyte_state<T>& state);
  void check();
  void enqueue_step(int parity);
  void find_forces();
  [[nodiscard]] double coulomb_energy();
  /// Stores an error that a call throws at once on CPUs, and at its check on GPUs. check() rethrows it.
  template <typename Call>
  void keep_error(const Call& call) {
    try {
      call();
    } catch (const data_error& error) {
      if (!found) found = error;
    }
  }
  [[nodiscard]] electrostatics_input<T> input() const;
  [[nodiscard]] detail::electrolyte_ions<T> ions() {
    return {positions.data(), velocities.data(), masses.data(), repulsion.data(), coulomb.data()};
  }

  Context context;
  electrolyte_options options;
  std::size_t count;
  box<T, 3> domain;
  lattice<T, 3> cell;
  T reach;
  lattice_cells<Context, T, 3> cells;
  electrostatics<Context, T> sums;
  array<T, Context> charges, masses, radii;
  array<vec<T, 3>, Context> positions, velocities, coulomb;
  array<interaction<T, 3>, Context> repulsion;
  array<double, Context> energy;
  array<std::uint64_t, Context> words;  // of the step, by parity
  array<std::uint64_t, Context> fault;
  workspace<Context> scratch;
  detail::step_replay<Context> replay;
  std::uint64_t step = 0;
  bool prepared = false;
  std::optional<data_error> found;   // error of cells or sums in some step
  std::optional<data_error> broken;  // why the simulation is invalid
};

template <typename Context, typename T>
electrolyte<Context, T>::implementation::implementation(const Context& chosen, const electrolyte_options& asked,
                                                        const electrolyte_particles& particles)
    : context(chosen),
      options(checked(asked, particles)),
      count(detail::ions_of(options)),
      domain(make_box_from_lengths<T, 3>({}, cast<T>(options.box), vec<bool, 3>::filled(true))),
      cell(make_lattice(domain)),
      reach(detail::reach_of_repulsion<T>(options)),
      cells(context, cell, {reach, false}),
      sums(context, detail::electrolyte_sums_of(options)),
      charges(to_device(context, detail::by_ion<T>(options, &ion_species::charge))),
      masses(to_device(context, detail::by_ion<T>(options, &ion_species::mass))),
      radii(to_device(context, detail::by_ion<T>(options, &ion_species::diameter, 0.5))),
      positions(context, count),
      velocities(context, count),
      coulomb(context, count),
      repulsion(context, count),
      energy(context, 1),
      words(context, 2),
      fault(context, 1) {
  set({0, rounded_ions<T>(particles.positions), rounded_ions<T>(particles.velocities)});
}

template <typename Context, typename T>
electrostatics_input<T> electrolyte<Context, T>::implementation::input() const {
  electrostatics_input<T> result;
  result.points = points_of(positions.data(), count);
  result.charges = charges.data();
  result.cells = {&cell, 1};
  return result;
}

template <typename Context, typename T>
void electrolyte<Context, T>::implementation::set(const electrolyte_state<T>& state) {
  detail::check_vectors(state.positions, "position");
  detail::check_vectors(state.velocities, "velocity");
  step = state.step;
  copy_bytes(context, state.positions.data(), positions.data(), positions.bytes());
  copy_bytes(context, state.velocities.data(), velocities.data(), velocities.bytes());
  const std::vector<std::uint64_t> now(2, step);
  copy_bytes(context, now.data(), words.data(), words.bytes());
  fill_bytes(context, fault.data(), 0xff, fault.bytes());
  for_each(context, "electrolyte.wrap", count, detail::electrolyte_wrap<T>{positions.data(), domain});
  context.synchronize();
  broken.reset();
  found.reset();
  // The method is chosen for the first state. Steps may be captured, so all memory is allocated here, that for energies
  // included.
  if (!prepared) sums.prepare(input());
  prepared = true;
  find_forces();
  static_cast<void>(coulomb_energy());
  check();
}

template <typename Context, typename T>
void electrolyte<Context, T>::implementation::find_forces() {
  const points_view<T, 3> points = points_of(positions.data(), count);
  cells.reserve(count);
  cells.build_async(points);
  accumulate_neighbors_async(context, cells.view(), points, reach, repulsion.data(),
                             detail::electrolyte_repulsion<T>{radii.data(), static_cast<T>(options.repulsion)});
  electrostatics_output<T> output;
  output.forces = coulomb.data();
  keep_error([&] { sums.compute_async(input(), output); });
}

template <typename Context, typename T>
void electrolyte<Context, T>::implementation::enqueue_step(int parity) {
  const T time_step = static_cast<T>(options.time_step);
  const T farthest = std::min({domain.length[0], domain.length[1], domain.length[2]}) / T(2);
  std::uint64_t* const now = words.data();
  const detail::step_words at{now + parity, now + (parity ^ 1), {fault.data()}};
  for_each(context, "electrolyte.move", count,
           detail::electrolyte_move<T>{ions(), detail::thermostat_of<T>(options), domain, time_step, farthest, at});
  find_forces();
  for_each(context, "electrolyte.kick", count, detail::electrolyte_kick<T>{ions(), time_step, at});
}

template <typename Context, typename T>
double electrolyte<Context, T>::implementation::coulomb_energy() {
  electrostatics_output<T> output;
  output.energy = energy.data();
  keep_error([&] { sums.compute_async(input(), output); });
  return to_host(context, energy)[0];
}

template <typename Context, typename T>
void electrolyte<Context, T>::implementation::check() {
  detail::throw_electrolyte_fault(to_host(context, fault)[0]);
  if (broken) throw *broken;
  keep_error([&] {
    cells.check();
    sums.check();
  });
  if (!found) return;
  const std::string text = message("the run blew up by step ", step, ": ", found->what());
  broken = found->index() ? data_error(text, *found->index()) : data_error(text);
  throw *broken;
}

template <typename Context, typename T>
electrolyte<Context, T>::electrolyte(const Context& context, const electrolyte_options& options,
                                     const electrolyte_particles& particles)
    : implementation_(std::make_unique<implementation>(context, options, particles)) {}

template <typename Context, typename T>
void electrolyte<Context, T>::advance(std::size_t steps) {
  implementation& own = *implementation_;
  own.replay.advance(own.context, steps, [&](int parity) { own.enqueue_step(parity); });
  own.step += steps;
}

template <typename Context, typename T>
void electrolyte<Context, T>::check() {
  implementation_->check();
}

template <typename Context, typename T>
electrolyte_statistics electrolyte<Context, T>::measure() {
  implementation& own = *implementation_;
  own.check();
  const auto share = detail::electrolyte_share<T>{own.ions()};
  const detail::electrolyte_sums all = reduce_sum(own.context, "electrolyte.measure", own.count, share, own.scratch);
  double mass = 0;
  for (const ion_species& kind : own.options.species) mass += static_cast<double>(kind.count) * kind.mass;
  const double freedom = 3 * static_cast<double>(own.count - 1);
  const double volume = own.options.box[0] * own.options.box[1] * own.options.box[2];
  electrolyte_statistics result;
  result.step = own.step;
  result.time = static_cast<double>(own.step) * own.options.time_step;
  result.kinetic_energy = all[0] / 2;
  result.momentum = {all[1], all[2], all[3]};
  result.coulomb_energy = own.coulomb_energy();
  result.repulsion_energy = all[4];
  result.potential_energy = result.coulomb_energy + result.repulsion_energy;
  result.total_energy = result.kinetic_energy + result.potential_energy;
  result.temperature = (all[0] - squared_norm(result.momentum) / mass) / freedom;
  // The virial of 1 / r equals its energy.
  result.pressure =
      (static_cast<double>(own.count) * result.temperature + (all[5] + result.coulomb_energy) / 3) / volume;
  return result;
}

template <typename Context, typename T>
std::vector<vec<T, 3>> electrolyte<Context, T>::positions() {
  implementation_->check();
  return to_host(implementation_->context, implementation_->positions);
}

template <typename Context, typename T>
std::vector<vec<T, 3>> electrolyte<Context, T>::velocities() {
  implementation_->check();
  return to_host(implementation_->context, implementation_->velocities);
}

template <typename Context, typename T>
electrolyte_state<T> electrolyte<Context, T>::state() {
  return {step(), positions(), velocities()};
}

template <typename Context, typename T>
std::vector<vec<T, 3>> electrolyte<Context, T>::forces() {
  implementation& own = *implementation_;
  own.check();
  array<vec<T, 3>, Context> result(own.context, own.count);
  for_each(own.context, "electrolyte.forces", own.count, detail::electrolyte_force<T>{own.ions(), result.data()});
  return to_host(own.context, result);
}

template <typename Context, typename T>
void electrolyte<Context, T>::restore(const electrolyte_state<T>& state) {
  for (const auto* values : {&state.positions, &state.velocities}) {
    require(values->size() == size(), "the state has ", values->size(), " ions; the simulation has ", size());
  }
  implementation_->set(state);
}

template <typename Context, typename T>
std::uint64_t electrolyte<Context, T>::step() const {
  return implementation_->step;
}

template <typename Context, typename T>
std::size_t electrolyte<Context, T>::size() const {
  return implementation_->count;
}

template <typename Context, typename T>
std::size_t electrolyte<Context, T>::bytes() const {
  const implementation& own = *implementation_;
  return own.cells.bytes() + own.sums.bytes() + own.charges.bytes() + own.masses.bytes() + own.radii.bytes() +
         own.positions.bytes() + own.velocities.bytes() + own.coulomb.bytes() + own.repulsion.bytes() +
         own.energy.bytes() + own.words.bytes() + own.fault.bytes() + own.scratch.bytes();
}

template <typename Context, typename T>
const electrolyte_options& electrolyte<Context, T>::options() const {
  return implementation_->options;
}

template <typename Context, typename T>
const electrostatics_report& electrolyte<Context, T>::report() const {
  return implementation_->sums.report();
}

template <typename Context, typename T>
const Context& electrolyte<Context, T>::context() const {
  return implementation_->context;
}

template class electrolyte<backend_context, float>;
template class electrolyte<backend_context, double>;

}  // namespace quadrat
