// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/distributed/electrostatics.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <optional>
#include <vector>

#include "core/backend.hpp"
#include "core/point_checks.hpp"
#include "distributed/electrostatics/electrostatics_choice.hpp"
#include "distributed/electrostatics/electrostatics_kernels.hpp"
#include "distributed/fft/transposed_transform.hpp"
#include "distributed/particles/near_block.hpp"
#include "distributed/particles/own_points.hpp"
#include "distributed/ranks/gathered.hpp"
#include "ewald/choice/choice.hpp"
#include "ewald/crowding.hpp"
#include "ewald/domains.hpp"
#include "ewald/long_range/mesh_part.hpp"
#include "ewald/methods.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/distributed/fft.hpp"
#include "quadrat/distributed/halo.hpp"
#include "quadrat/distributed/spread_plan.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/reduce.hpp"

namespace quadrat {

namespace {

/// The outputs that any rank asks for: a rank without charges may pass null arrays.
struct wanted_sums {
  bool forces, potentials, energy, virial;
};

template <typename T>
[[nodiscard]] wanted_sums wanted_by_all(communicator& ranks, const electrostatics_output<T>& output) {
  const wanted_sums mine{output.forces != nullptr,
                         output.potentials != nullptr || output.energies != nullptr || output.energy != nullptr,
                         output.energy != nullptr, output.virial != nullptr};
  wanted_sums all{};
  for (const wanted_sums& one : all_values(ranks, mine)) {
    all = {all.forces || one.forces, all.potentials || one.potentials, all.energy || one.energy,
           all.virial || one.virial};
  }
  return all;
}

[[nodiscard]] electrostatics_options near_options(electrostatics_options options, const electrostatics_report& report) {
  options.method = report.method;
  options.parameters = report.parameters;
  options.parts = ewald_parts::short_range;
  options.remove_net_force = false;
  return options;
}

}  // namespace

template <typename Context, typename T>
struct distributed_electrostatics<Context, T>::implementation {
  implementation(const Context& chosen, communicator& group, const grid<T, 3>& cells,
                 const electrostatics_options& wanted);

  void set(const decomposition<3>& shares, const points_view<T, 3>& points, const T* given, T skin);
  void compute(const points_view<T, 3>& points, const electrostatics_output<T>& output);

  Context context;
  communicator& ranks;
  grid<T, 3> space;
  electrostatics_options options;
  electrostatics_report report;
  std::size_t own = 0;
  halo<Context, T, 3> borders;
  bool ready = false;

  [[nodiscard]] std::size_t bytes() const;

 private:
  void check(const decomposition<3>& shares, const points_view<T, 3>& points, const T* given, T skin);
  void choose(const points_view<T, 3>& points, const T* given);
  void make_long_range();
  void make_spreading(const decomposition<3>& shares, T skin);
  void add_short_range(double* virial);
  [[nodiscard]] vec<double, 9> short_range_virial(const T* some_charges);
  void add_long_range(bool potentials_wanted, vec<double, 6>* virial);
  void deliver(const electrostatics_output<T>& output, const wanted_sums& wanted, const vec<double, 9>& virial);
  [[nodiscard]] detail::modes_of_rank<T> modes() const;
  [[nodiscard]] std::size_t with_ghosts() const { return own + borders.ghosts(); }
  [[nodiscard]] double constant() const {
    return options.law == pair_law::coulomb ? options.coulomb_constant : -options.coulomb_constant;
  }
  [[nodiscard]] bool slab() const { return !space.domain.periodic[2]; }
  [[nodiscard]] bool short_range() const { return options.parts != ewald_parts::long_range; }
  [[nodiscard]] bool long_range() const { return options.parts != ewald_parts::short_range; }
  [[nodiscard]] double sum(double mine) { return sum_in_rank_order(ranks, mine); }

  lattice<T, 3> cell;
  detail::ewald_domain<T> made{};  ///< of a slab: with room between its periodic images
  std::uint64_t chosen_for = 0;    ///< number of charges of all ranks, plus 1; 0: no parameters chosen yet
  detail::ewald_setup setup{};
  decomposition<3> owned{};  ///< the decomposition for which the spreading plan was made
  T owned_skin = T(0);
  std::optional<electrostatics<Context, T>> near;
  std::optional<distributed_spread_plan<Context, T, 3>> spreading;
  std::optional<distributed_real_fft<Context, T>> fft;
  detail::long_range_modes<T> law{};
  T self = T(0);
  vec<double, 3> middle{};  ///< of the block
  array<detail::ewald_domain<T>, Context> domain;
  array<T, Context> factors, charges, some, potentials, smooth_potentials, mesh, zero;
  array<vec<T, 3>, Context> positions, placed, forces, smooth_gradients;
  array<detail::moved_number<T>, Context> spectrum;
  array<double, Context> totals;
  detail::own_points_check<Context> check_own;
  workspace<Context> scratch;
};

template <typename Context, typename T>
distributed_electrostatics<Context, T>::implementation::implementation(const Context& chosen, communicator& group,
                                                                       const grid<T, 3>& cells,
                                                                       const electrostatics_options& wanted)
    : context(chosen),
      ranks(group),
      space(cells),
      options(wanted),
      borders(chosen, group),
      cell(make_lattice(cells.domain)),
      domain(chosen, 1),
      zero(chosen, 1),
      totals(chosen, 9) {
  static_cast<void>(electrostatics<Context, T>(chosen, wanted));  // checks the options
  require(wanted.method != detail::ewald_methods::direct::name,
          "over several ranks charges are summed by the methods spme and esp, not by direct");
  for (int axis = 0; axis < 2; ++axis) {
    require(cells.domain.periodic[axis], "the box is open along axis ", axis,
            "; over several ranks it must be periodic along all three, or along the first two (a slab)");
  }
  require(!slab() || wanted.law == pair_law::coulomb,
          "the box is open along axis 2; sums of 1/r^6 need boxes that are periodic along all three");
  const std::span<const lattice<T, 3>> given(&cell, 1);
  const auto periodic = detail::periodic_cells<T>(given, wanted.accuracy, wanted.parameters.mesh[0] > 0);
  made = detail::make_domains<T>(given, periodic, {1, 1, 1, false}).front();
}

template <typename Context, typename T>
void distributed_electrostatics<Context, T>::implementation::check(const decomposition<3>& shares,
                                                                   const points_view<T, 3>& points, const T* given,
                                                                   T skin) {
  require_pointer(given, points.count, "charges");
  require(skin >= T(0) && std::isfinite(skin), "the skin is ", skin, "; it must be finite and not negative");
  check_own(context, ranks, space, shares, points);
}

/// Waits.
template <typename Context, typename T>
void distributed_electrostatics<Context, T>::implementation::choose(const points_view<T, 3>& points, const T* given) {
  std::uint64_t count = points.count;
  ranks.add_up(&count, 1);
  if (chosen_for == count + 1) return;
  chosen_for = 0;
  const auto boxes = detail::make_crowding_boxes<T>({made.shape}, static_cast<double>(count));
  std::vector<detail::measured_charge<T>> mine(points.count);
  together(ranks, [&] {
    const auto boxes_there = to_device(context, boxes);
    array<std::uint32_t, Context> box(context, points.count);
    for_each(context, "ewald.crowding", points.count,
             detail::find_crowding_box<T>{points, nullptr, boxes_there.data(), 1, box.data()});
    const auto found = to_host(context, box);
    const auto all_charges = to_host(context, given, points.count);
    for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = {all_charges[i], found[i]};
  });
  const auto all = detail::gathered(ranks, mine);
  detail::chosen_sums found{};
  together(ranks, [&] {
    if (ranks.rank() == 0) found = detail::choose_from(options, detail::choice_place_of(context), boxes, all);
  });
  found = all_values(ranks, found)[0];
  using namespace detail::ewald_methods;
  setup = {found.prolate ? esp::name : spme::name, options.law, found.parameters};
  report = {setup.method,
            "as one rank would, of the methods that sum over ranks",
            found.parameters,
            found.neighbors,
            found.short_range_error,
            found.mesh_error,
            found.error,
            found.energy_error,
            found.virial_error};
  together(ranks, [&] { near.emplace(context, near_options(options, report)); });
  spreading.reset();
  if (long_range()) make_long_range();
  chosen_for = count + 1;
}

/// Sets what does not depend on which rank owns which charges.
template <typename Context, typename T>
void distributed_electrostatics<Context, T>::implementation::make_long_range() {
  const ewald_parameters& parameters = setup.parameters;
  fft.emplace(context, ranks, parameters.mesh, distributed_fft_options{.transposed = true, .library = {}});
  together(ranks, [&] {
    const detail::ewald_splitting splitting(setup.law, detail::split_shape_of(setup.method), parameters.cutoff,
                                            parameters.splitting);
    law = detail::make_long_range_modes<T>(splitting);
    self = static_cast<T>(splitting.long_range(0));
    const mesh_window<T> window = detail::window_of<T>(setup);
    std::vector<T> host;
    for (int axis = 0; axis < 3; ++axis) {
      for (const double factor : detail::deconvolution(window, parameters.mesh[axis])) {
        host.push_back(static_cast<T>(factor));
      }
    }
    factors = to_device(context, host);
    domain = to_device(context, std::vector{made});
    mesh.resize_discarding(context, fft->mesh_size());
    spectrum.resize_discarding(context, fft->room());
  });
}

template <typename Context, typename T>
void distributed_electrostatics<Context, T>::implementation::make_spreading(const decomposition<3>& shares, T skin) {
  if (spreading && owned_skin == skin && owned.blocks == shares.blocks) return;
  spreading.reset();
  const vec<bool, 3> periodic = vec<bool, 3>::filled(true);
  const vec<int, 3>& extents = setup.parameters.mesh;
  const auto layout = fft->in_pencils() ? pencil_decomposition(extents, ranks.size(), periodic)
                                        : slab_decomposition(extents, ranks.size(), periodic);
  spread_options how;
  how.uses = 4;
  const box<T, 3> all = make_box_from_lengths(
      space.domain.lower, make_vec<T, 3>([&](int axis) { return made.shape.vectors[axis][axis]; }), periodic);
  spreading.emplace(context, ranks, extents, detail::window_of<T>(setup), layout, all, space, shares, skin / 2, how);
  owned = shares;
  owned_skin = skin;
}

template <typename Context, typename T>
void distributed_electrostatics<Context, T>::implementation::set(const decomposition<3>& shares,
                                                                 const points_view<T, 3>& points, const T* given,
                                                                 T skin) {
  ready = false;
  together(ranks, [&] { check(shares, points, given, skin); });
  choose(points, given);
  own = points.count;
  const device_decomposition<Context, 3> there(context, shares);
  T reach = short_range() ? static_cast<T>(setup.parameters.cutoff) + skin : T(0);
  // With a cutoff beyond the room between a slab's images, charges at opposite faces would interact across it.
  const T room = made.height - space.domain.length[2];
  if (slab() && short_range() && reach > room) reach = std::max(reach, made.height);
  borders.build(space, there.view(), points, {reach});
  together(ranks, [&] {
    const std::size_t all = with_ghosts();
    charges.resize_discarding(context, all);
    positions.resize_discarding(context, all);
    potentials.resize_discarding(context, all);
    forces.resize_discarding(context, all);
    placed.resize_discarding(context, own);
    smooth_potentials.resize_discarding(context, own);
    smooth_gradients.resize_discarding(context, own);
    copy_bytes(context, given, charges.data(), own * sizeof(T));
  });
  borders.forward(charges.data());
  if (long_range()) make_spreading(shares, skin);
  middle = detail::middle_of(space, shares.blocks[static_cast<std::size_t>(ranks.rank())]);
  ready = true;
}

/// The virial of these charges as if there were no others. Each rank computes its own, so it is not collective.
template <typename Context, typename T>
vec<double, 9> distributed_electrostatics<Context, T>::implementation::short_range_virial(const T* some_charges) {
  electrostatics_input<T> input;
  input.points = points_of(positions.data(), with_ghosts());
  input.charges = some_charges;
  input.cells = {&cell, 1};
  electrostatics_output<T> output;
  output.virial = totals.data();
  near->compute(input, output);
  const auto found = to_host(context, totals);
  vec<double, 9> result{};
  for (int k = 0; k < 9; ++k) result[k] = found[static_cast<std::size_t>(k)];
  return result;
}

/// Sums over own charges and ghosts; results of ghosts are dropped. `virial`: nullptr, or 9 numbers of this rank.
template <typename Context, typename T>
void distributed_electrostatics<Context, T>::implementation::add_short_range(double* virial) {
  electrostatics_input<T> input;
  input.points = points_of(positions.data(), with_ghosts());
  input.charges = charges.data();
  input.cells = {&cell, 1};
  electrostatics_output<T> output;
  output.forces = forces.data();
  output.potentials = potentials.data();
  near->compute(input, output);
  if (virial == nullptr) return;
  // A pair counts in full if both charges are own, and half if only one is. With V the virial of some charges, that is
  // (V(all) + V(own) - V(ghosts)) / 2.
  const vec<double, 9> all = short_range_virial(charges.data());
  some.resize_discarding(context, with_ghosts());
  const auto alone = [&](bool of_own) {
    for_each(context, "ewald.keep", with_ghosts(),
             detail::keep_some_charges<T>{charges.data(), own, of_own, some.data()});
    return short_range_virial(some.data());
  };
  const vec<double, 9> of_own = alone(true), of_ghosts = alone(false);
  for (int k = 0; k < 9; ++k) virial[k] += (all[k] + of_own[k] - of_ghosts[k]) / 2;
}

template <typename Context, typename T>
detail::modes_of_rank<T> distributed_electrostatics<Context, T>::implementation::modes() const {
  detail::mesh_modes<T> result{};
  result.domains = domain.data();
  result.law = law;
  const T* factor = factors.data();
  for (int axis = 0; axis < 3; ++axis) {
    result.extent[axis] = setup.parameters.mesh[axis];
    result.factors[axis] = factor;
    factor += setup.parameters.mesh[axis] / 2 + 1;
  }
  return {result, fft->mode_block()};
}

/// `virial`: that of this rank's modes; nullptr if not wanted.
template <typename Context, typename T>
void distributed_electrostatics<Context, T>::implementation::add_long_range(bool potentials_wanted,
                                                                            vec<double, 6>* virial) {
  for_each(context, "ewald.place own", own,
           detail::place_near_block<T, 3>{points_of(positions.data(), own), middle, cast<double>(space.domain.length),
                                          space.domain.periodic, placed.data()});
  spreading->set_points(points_of(placed.data(), own));
  spreading->spread_async(charges.data(), mesh.data());
  fft->forward_async(mesh.data(), reinterpret_cast<std::complex<T>*>(spectrum.data()));
  const detail::modes_of_rank<T> all = modes();
  std::size_t count = 1;
  for (int axis = 0; axis < 3; ++axis) count *= static_cast<std::size_t>(all.block.end[axis] - all.block.first[axis]);
  T* const numbers = reinterpret_cast<T*>(spectrum.data());
  if (virial != nullptr) {
    *virial = reduce(context, "ewald.virial", count, detail::virial_of_own_mode<T>{all, numbers}, plus_operation{},
                     vec<double, 6>{}, scratch);
  }
  fill_bytes(context, zero.data(), 0, zero.bytes());
  for_each(context, "ewald.influence", count, detail::multiply_own_modes<T>{all, numbers, zero.data()});
  fft->inverse_async(reinterpret_cast<std::complex<T>*>(spectrum.data()), mesh.data());
  spreading->interpolate_with_gradient_async(mesh.data(), smooth_potentials.data(), smooth_gradients.data());
  T at_zero = T(0);
  if (potentials_wanted) {
    // One rank has this mode; the others contribute zeros.
    for (const T one : all_values(ranks, to_host(context, zero)[0])) at_zero += one;
  }
  detail::slab_terms<T> terms{};
  if (slab()) {
    const T lower = space.domain.lower[2];
    const auto mine =
        reduce(context, "ewald.slab", own, detail::own_slab_share<T>{charges.data(), positions.data(), lower},
               plus_operation{}, vec<double, 3>{}, scratch);
    const double factor = 4 * std::numbers::pi * static_cast<double>(made.inverse_volume);
    terms = {{sum(mine[0]), sum(mine[1]), sum(mine[2])}, factor, static_cast<double>(made.height), lower};
    // The virial is summed over ranks later, so each adds an equal share.
    const double each = terms.virial() / ranks.size();
    if (virial != nullptr) *virial += vec<double, 6>{each, 0, 0, each, 0, -each};
  }
  for_each(
      context, "ewald.combine", own,
      detail::add_long_range<T>{charges.data(), static_cast<T>(constant()), self, at_zero, terms, positions.data(),
                                smooth_potentials.data(), smooth_gradients.data(), potentials.data(), forces.data()});
}

template <typename Context, typename T>
void distributed_electrostatics<Context, T>::implementation::deliver(const electrostatics_output<T>& output,
                                                                     const wanted_sums& wanted,
                                                                     const vec<double, 9>& virial) {
  vec<double, 3> mean{};
  const bool removes = options.remove_net_force && wanted.forces;
  if (wanted.energy || removes) {
    const auto mine = reduce(context, "ewald.totals", own,
                             detail::energy_and_force<T>{charges.data(), potentials.data(), forces.data()},
                             plus_operation{}, vec<double, 4>{}, scratch);
    const double energy = sum(mine[0]);
    for (int axis = 0; axis < 3 && removes; ++axis) {
      mean[axis] = sum(mine[axis + 1]) / std::max(1.0, static_cast<double>(chosen_for - 1));
    }
    if (output.energy != nullptr) copy_bytes(context, &energy, output.energy, sizeof(energy));
  }
  if (wanted.virial) {
    vec<double, 9> all{};
    for (int k = 0; k < 9; ++k) all[k] = sum(virial[k]);
    if (output.virial != nullptr) copy_bytes(context, all.component, output.virial, sizeof(all));
  }
  for_each(context, "ewald.deliver", own,
           detail::deliver_own<T>{charges.data(), potentials.data(), forces.data(), mean, output.forces,
                                  output.potentials, output.energies});
  context.synchronize();
}

template <typename Context, typename T>
void distributed_electrostatics<Context, T>::implementation::compute(const points_view<T, 3>& points,
                                                                     const electrostatics_output<T>& output) {
  together(ranks, [&] {
    require(ready, "set has not been called, or has failed; it says which charges there are");
    detail::require_points(points, "points");
    require(points.count == own, "there are ", points.count, " points; the last call of set was for ", own);
    for_each(context, "ewald.copy", own, detail::copy_points<T>{points, positions.data()});
  });
  const wanted_sums wanted = wanted_by_all(ranks, output);
  vec<double, 9> virial{};
  if (short_range()) {
    borders.forward(positions.data());
    together(ranks, [&] { add_short_range(wanted.virial ? virial.component : nullptr); });
  } else {
    fill_bytes(context, potentials.data(), 0, potentials.bytes());
    fill_bytes(context, forces.data(), 0, forces.bytes());
  }
  if (long_range()) {
    vec<double, 6> smooth{};
    add_long_range(wanted.potentials, wanted.virial ? &smooth : nullptr);
    int k = 0;
    for (int a = 0; a < 3; ++a) {
      for (int b = a; b < 3; ++b, ++k) {
        virial[3 * a + b] += constant() * smooth[k];
        if (a != b) virial[3 * b + a] += constant() * smooth[k];
      }
    }
  }
  deliver(output, wanted, virial);
}

template <typename Context, typename T>
std::size_t distributed_electrostatics<Context, T>::implementation::bytes() const {
  return borders.bytes() + (near ? near->bytes() : 0) + (spreading ? spreading->bytes() : 0) +
         (fft ? fft->bytes() : 0) + domain.bytes() + factors.bytes() + charges.bytes() + some.bytes() +
         potentials.bytes() + smooth_potentials.bytes() + mesh.bytes() + zero.bytes() + positions.bytes() +
         placed.bytes() + forces.bytes() + smooth_gradients.bytes() + spectrum.bytes() + totals.bytes() +
         check_own.bytes() + scratch.bytes();
}

template <typename Context, typename T>
distributed_electrostatics<Context, T>::distributed_electrostatics(const Context& context, communicator& ranks,
                                                                   const grid<T, 3>& space,
                                                                   const electrostatics_options& options) {
  together(ranks, [&] { implementation_ = std::make_unique<implementation>(context, ranks, space, options); });
}

template <typename Context, typename T>
void distributed_electrostatics<Context, T>::set(const decomposition<3>& shares, const points_view<T, 3>& points,
                                                 const T* charges, T skin) {
  implementation_->set(shares, points, charges, skin);
}
template <typename Context, typename T>
void distributed_electrostatics<Context, T>::compute(const points_view<T, 3>& points,
                                                     const electrostatics_output<T>& output) {
  implementation_->compute(points, output);
}
template <typename Context, typename T>
const electrostatics_report& distributed_electrostatics<Context, T>::report() const {
  require(implementation_->ready, "set has not been called, or has failed; it chooses the parameters");
  return implementation_->report;
}
template <typename Context, typename T>
std::size_t distributed_electrostatics<Context, T>::own() const {
  return implementation_->own;
}
template <typename Context, typename T>
std::size_t distributed_electrostatics<Context, T>::ghosts() const {
  return implementation_->borders.ghosts();
}
template <typename Context, typename T>
std::size_t distributed_electrostatics<Context, T>::bytes() const {
  return implementation_->bytes();
}

template class distributed_electrostatics<backend_context, float>;
template class distributed_electrostatics<backend_context, double>;

}  // namespace quadrat
