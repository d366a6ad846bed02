// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/ewald/electrostatics.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "core/backend.hpp"
#include "core/built_backend.hpp"
#include "core/point_checks.hpp"
#include "ewald/choice/cost.hpp"
#include "ewald/crowding.hpp"
#include "ewald/implementation.hpp"
#include "ewald/long_range/direct_part.hpp"
#include "ewald/long_range/mesh_part.hpp"
#include "ewald/place.hpp"
#include "ewald/results.hpp"
#include "ewald/scaled_pairs.hpp"
#include "ewald/short_range/cpu/pairs.hpp"
#include "ewald/short_range/cpu/short_range.hpp"
#include "ewald/short_range/cuda/short_range.hpp"
#include "ewald/short_range/short_range.hpp"
#include "ewald/system_sums.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/parallel/fault.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/reduce.hpp"
#include "search/cell_walk.hpp"
#include "search/list.hpp"
#include "search/point_complaint.hpp"

namespace quadrat {

namespace {

[[nodiscard]] bool same_pairs(const std::vector<scaled_pair>& a, std::span<const scaled_pair> b) {
  return std::ranges::equal(a, b, [](const scaled_pair& x, const scaled_pair& y) {
    return x.first == y.first && x.second == y.second && x.scale == y.scale;
  });
}

}  // namespace

template <typename Context, typename T>
void electrostatics<Context, T>::implementation::check_input(const electrostatics_input<T>& input) const {
  detail::require_points(input.points, "points");
  require_pointer(input.charges, input.points.count, "charges");
  detail::require_cells(input.cells, options.law);
  require(input.system_of_point != nullptr || input.cells.size() == 1, "there are ", input.cells.size(),
          " boxes, but no system of each point");
  detail::require_count(input.cells.size(), "systems", 1 << 20);
}

template <typename Context, typename T>
bool electrostatics<Context, T>::implementation::serves(const electrostatics_input<T>& input) const {
  return prepared && points == input.points.count && given_systems == (input.system_of_point != nullptr) &&
         detail::same_boxes(cells, input.cells) && same_pairs(pairs, input.scaled_pairs);
}

/// The input of the estimates for all systems: the spread of charges and the crowding of positions. Synchronizes.
template <typename Context, typename T>
detail::measured_charges electrostatics<Context, T>::implementation::measured(
    const electrostatics_input<T>& input, const std::vector<lattice<T, 3>>& periodic) const {
  const std::size_t count = input.points.count;
  const auto boxes =
      detail::make_crowding_boxes<T>(periodic, static_cast<double>(count) / static_cast<double>(input.cells.size()));
  const auto boxes_there = to_device(context, boxes);
  array<std::uint32_t, Context> box(context, count);
  for_each(context, "ewald.crowding", count,
           detail::find_crowding_box<T>{input.points, input.system_of_point, boxes_there.data(),
                                        static_cast<std::uint32_t>(boxes.size()), box.data()});
  return detail::measured_systems<T>(boxes, to_host(context, box), to_host(context, input.charges, count));
}

/// Whether the choice serves other cells: accurate enough, and not much more accurate than requested.
template <typename Context, typename T>
bool electrostatics<Context, T>::implementation::still_accurate(const detail::measured_charges& measured) {
  const detail::ewald_errors worst = detail::predicted_errors(setup, measured.systems).errors;
  const double allowed = options.accuracy * measured.strictness;
  if (worst.total() > allowed || worst.total() < allowed / 8) return false;
  describe_errors(worst, measured.strictness);
  return true;
}

template <typename Context, typename T>
void electrostatics<Context, T>::implementation::describe_errors(const detail::ewald_errors& errors,
                                                                 double strictness) {
  report.short_range_error = errors.short_range / strictness;
  report.mesh_error = errors.mesh / strictness;
  report.error = errors.total() / strictness;
  report.energy_error = errors.energy / std::sqrt(strictness);
  report.virial_error = errors.virial / std::sqrt(strictness);
}

template <typename Context, typename T>
void electrostatics<Context, T>::implementation::choose(const electrostatics_input<T>& input) {
  const auto periodic = detail::periodic_cells<T>(input.cells, options.accuracy, options.parameters.mesh[0] > 0);
  const auto found = measured(input, periodic);
  const bool same_size = chosen && points == input.points.count && cells.size() == input.cells.size();
  if (!same_size || !still_accurate(found)) choose_parameters(found);
  std::size_t mesh_points = input.cells.size();
  for (int axis = 0; axis < 3; ++axis) mesh_points *= static_cast<std::size_t>(setup.parameters.mesh[axis]);
  constexpr bool cuda = std::is_same_v<Context, cuda_context>;
  const double cutoff = setup.parameters.cutoff, neighbors = detail::mean_neighbors(found.systems, cutoff);
  const auto made =
      detail::make_domains<T>(input.cells, periodic, {cutoff, neighbors, input.points.count, cuda, mesh_points});
  row_candidates = detail::best_walk(neighbors, cuda).row_candidates(neighbors);
  cell_count = made.back().grid.cells.first_cell + made.back().grid.cell_count();
  slabs = std::ranges::any_of(made, &detail::ewald_domain<T>::slab);
  domains = to_device(context, made);
  only_domain = made.front();
  const double share = std::max(1.0, static_cast<double>(input.points.count) / static_cast<double>(made.size()));
  reach = cutoff;
  for (const auto& domain : made) {
    for (int axis = 0; axis < 3; ++axis) {
      reach = std::min(reach, 0.25 * static_cast<double>(domain.shape.height(axis)));
    }
    reach = std::min(reach, 0.5 / std::cbrt(static_cast<double>(domain.inverse_volume) * share));
  }
}

template <typename Context, typename T>
void electrostatics<Context, T>::implementation::choose_parameters(const detail::measured_charges& measured) {
  chosen = false;
  const auto& systems = measured.systems;
  const double least = std::min(options.accuracy, sizeof(T) == 4 ? 1e-6 : 1e-14);
  const double accuracy = std::max(options.accuracy * measured.strictness, least);
  smooth_stream.join(context);
  smooth.reset();
  auto choice = detail::choose_ewald({options.method, options.law, accuracy, options.parameters,
                                      detail::choice_place_of(context), sizeof(T) == 4, accuracy / options.accuracy},
                                     systems);
  setup = choice.setup;
  candidates = std::move(choice.candidates);
  expected_pairs = choice.pairs;
  const ewald_parameters& parameters = setup.parameters;
  report.method = setup.method;
  report.reason = choice.reason;
  report.parameters = parameters;
  const detail::charged_system& worst = systems[choice.worst];
  report.neighbors = 4 * std::numbers::pi / 3 * std::pow(parameters.cutoff, 3) * worst.points / worst.volume();
  constexpr double most_neighbors = 1e8;
  require(report.neighbors <= most_neighbors || !short_range(), "the cutoff ", parameters.cutoff, " reaches ",
          report.neighbors, " points from each; at most ", most_neighbors, " are possible");
  describe_errors(choice.errors, measured.strictness);
  const Context& where = in_two_streams() ? smooth_stream.context() : context;
  if (long_range() && setup.method == "direct") {
    smooth = std::make_unique<detail::direct_part<Context, T>>(where, setup, systems.size());
  } else if (long_range()) {
    smooth = std::make_unique<detail::mesh_part<Context, T>>(where, setup, systems.size(), options.most_bytes);
  }
  const detail::ewald_splitting splitting(setup.law, detail::split_shape_of(setup.method), parameters.cutoff,
                                          parameters.splitting);
  split = detail::make_split_polynomial<T>(splitting, options.accuracy / 10);
  self = static_cast<T>(splitting.long_range(0));
  chosen = true;
}

template <typename Context, typename T>
explanation electrostatics<Context, T>::implementation::explanation() const {
  quadrat::explanation why;
  why.what = "parameters of Ewald sums";
  why.chosen = detail::ewald_candidate_name(setup.method, setup.parameters.order);
  why.reason = report.reason;
  why.candidates = candidates;
  const vec<int, 3>& mesh = setup.parameters.mesh;
  why.load = {{"points", static_cast<double>(points)},
              {"systems", static_cast<double>(cells.size())},
              {"accuracy", options.accuracy},
              {"cutoff", setup.parameters.cutoff},
              {"splitting", setup.parameters.splitting},
              {"pairs", expected_pairs},
              {"mesh_x", static_cast<double>(mesh[0])},
              {"mesh_y", static_cast<double>(mesh[1])},
              {"mesh_z", static_cast<double>(mesh[2])}};
  why.profile = profile_of(context).origin;
  return why;
}

template <typename Context, typename T>
void electrostatics<Context, T>::implementation::set_pairs(const electrostatics_input<T>& input) {
  const auto rows = detail::make_scaled_partners<T>(input.scaled_pairs, input.points.count);
  partner_offsets = to_device(context, rows.offsets);
  partners = to_device(context, rows.partners);
  pairs.assign(input.scaled_pairs.begin(), input.scaled_pairs.end());
}

template <typename Context, typename T>
void electrostatics<Context, T>::implementation::make_room(const electrostatics_input<T>& input) {
  const std::size_t count = input.points.count, systems = input.cells.size();
  charges_by_cell.resize_discarding(context, count);
  fractions.resize_discarding(context, count);
  charges.resize_discarding(context, count);
  if (!uses_cells()) own_order.resize_discarding(context, count);
  if (input.system_of_point != nullptr) system_of.resize_discarding(context, count);
  if (!pairs.empty()) slots.resize_discarding(context, count);
  potentials.resize_discarding(context, count);
  smooth_potentials.resize_discarding(context, count);
  fields.resize_discarding(context, count);
  smooth_gradients.resize_discarding(context, count);
  virials.resize_discarding(context, 6 * count);
  zero_potentials.resize_discarding(context, systems);
  smooth_virials.resize_discarding(context, systems);
  slab_sums.resize_discarding(context, systems);
  net_forces.resize_discarding(context, systems);
  totals.resize_discarding(context, systems);
}

template <typename Context, typename T>
void electrostatics<Context, T>::implementation::prepare(const electrostatics_input<T>& input) {
  check_input(input);
  prepared = false;
  ++preparations;
  set_pairs(input);
  choose(input);
  points = input.points.count;
  cells.assign(input.cells.begin(), input.cells.end());
  given_systems = input.system_of_point != nullptr;
  make_room(input);
  faults.clear(context);
  place(input);
  last = input;
  prepared = true;
  check();
  prepared = false;
  if (long_range()) smooth->prepare(smooth_points());
  prepared = true;
}

template <typename Context, typename T>
detail::placed_charges<T> electrostatics<Context, T>::implementation::placed() const {
  const auto view = buckets.view();
  return {domains.data(),
          static_cast<std::uint32_t>(cells.size()),
          static_cast<std::uint32_t>(points),
          view.offsets,
          uses_cells() ? view.elements : own_order.data(),
          given_systems ? system_of.data() : nullptr,
          charges_by_cell.data()};
}

template <typename Context, typename T>
detail::smooth_input<T> electrostatics<Context, T>::implementation::smooth_points() const {
  return {placed(), points_of(fractions.data(), points), charges.data()};
}

template <typename Context, typename T>
void electrostatics<Context, T>::implementation::place(const electrostatics_input<T>& input) {
  const detail::given_charges<T> given{input.points, input.charges, input.system_of_point, domains.data(),
                                       static_cast<std::uint32_t>(cells.size())};
  const detail::charge_key<T> key{given, faults.flag()};
  const detail::place_charges<T> place_charge{given,
                                              charges_by_cell.data(),
                                              fractions.data(),
                                              charges.data(),
                                              given_systems ? system_of.data() : nullptr,
                                              pairs.empty() ? nullptr : slots.data()};
  if (uses_cells()) {
    buckets.build(context, points, cell_count, key, faults.flag(), place_charge);
  } else {
    for_each(context, "ewald.place", points, detail::keep_and_place<T>{{key, own_order.data()}, place_charge});
  }
}

template <typename Context, typename T>
void electrostatics<Context, T>::implementation::enqueue(const electrostatics_input<T>& input,
                                                         const electrostatics_output<T>& output) {
  last = input;
  place(input);
  const bool virial = output.virial != nullptr;
  const detail::placed_charges<T> all = placed();
  repeated_parts.run(context, {preparations, virial, all.ids, all.offsets}, [&] { add_parts(virial); });
  const bool zeros = long_range() && smooth->has_zero_potentials();
  deliver(output,
          {all, static_cast<T>(constant()), self, short_range(), long_range(), smooth_potentials.data(),
           smooth_gradients.data(), zeros ? zero_potentials.data() : nullptr, slab_sums.data(), pair_sums(virial)});
}

template <typename Context, typename T>
void electrostatics<Context, T>::implementation::add_parts(bool virial) {
  if (in_two_streams()) smooth_stream.wait_for(context);
  const bool coulomb = options.law == pair_law::coulomb;
  const detail::placed_charges<T> all = placed();
  const T squared_close = pairs.empty() ? T(0) : static_cast<T>(reach * reach);
  detail::scaled_partners<T> scaled{};
  if (!pairs.empty()) scaled = {partner_offsets.data(), partners.data()};
  if (short_range()) add_short_range({all, split, coulomb, squared_close, scaled, faults.flag(), pair_sums(virial)});
  if (short_range() && !pairs.empty()) {
    for_each(context, "ewald.scaled_pairs", points,
             detail::add_scaled_pairs<T>{all, slots.data(), split, coulomb, squared_close, scaled, faults.flag(),
                                         pair_sums(virial)});
  }
  if (long_range()) {
    smooth->compute(smooth_points(), {smooth_potentials.data(), smooth_gradients.data(),
                                      virial ? smooth_virials.data() : nullptr, zero_potentials.data()});
  }
  if (long_range() && slabs) {
    detail::sum_by_system(context, all, cells.size(), points, detail::slab_share<T>{all}, slab_sums.data(),
                          scratch_of_parts);
  }
  if (in_two_streams()) smooth_stream.make_wait(context);
}

template <typename Context, typename T>
void electrostatics<Context, T>::implementation::add_short_range(const detail::add_short_range<T>& task) {
#if QUADRAT_BACKEND_CUDA && QUADRAT_HAS_CUDA
  if (cells.size() == 1 && task.sums.virials == nullptr &&
      detail::enqueue_short_range(context, task, only_domain, row_candidates)) {
    return;
  }
#endif
  if constexpr (std::is_same_v<Context, cpu_context>) {
    auto* const components = scratch.request(context, 4 * (points + detail::pair_lanes_beyond) * sizeof(T));
    detail::sum_short_range(context, task, reinterpret_cast<T*>(components));
  } else {
    for_each(context, "ewald.short_range", points, task);
  }
}

template <typename Context, typename T>
void electrostatics<Context, T>::implementation::deliver(const electrostatics_output<T>& output,
                                                         const detail::combine_parts<T>& combine) {
  const detail::placed_charges<T>& all = combine.all;
  const detail::charge_sums<T>& sums = combine.sums;
  detail::deliver_results<T> to_caller{all, sums, nullptr, output.forces, output.potentials, output.energies};
  if (options.remove_net_force && output.forces != nullptr) {
    for_each(context, "ewald.combine", points, combine);
    detail::sum_by_system(context, all, cells.size(), points, detail::force_of_slot<T>{fields.data()},
                          net_forces.data(), scratch);
    to_caller.net_forces = net_forces.data();
    for_each(context, "ewald.deliver", points, to_caller);
  } else {
    const detail::combine_and_deliver<T> pass{combine, to_caller};
    if (cells.size() == 1 && output.energy != nullptr && output.virial == nullptr) {
      return reduce_into(context, "ewald.combine", points, detail::combine_for_energy<T>{pass}, plus_operation{}, 0.0,
                         output.energy, scratch);
    }
    for_each(context, "ewald.combine", points, pass);
  }
  if (output.energy == nullptr && output.virial == nullptr) return;
  detail::sum_by_system(context, all, cells.size(), points, detail::total_of_slot<T>{all, sums, short_range()},
                        totals.data(), scratch);
  for_each(context, "ewald.totals", cells.size(),
           detail::deliver_totals<T>{domains.data(), constant(), long_range(), totals.data(), smooth_virials.data(),
                                     slab_sums.data(), output.energy, output.virial});
}

template <typename Context, typename T>
void electrostatics<Context, T>::implementation::compute(const electrostatics_input<T>& input,
                                                         const electrostatics_output<T>& output) {
  check_input(input);
  if (!serves(input)) prepare(input);
  enqueue(input, output);
  check();
}

template <typename Context, typename T>
void electrostatics<Context, T>::implementation::compute_async(const electrostatics_input<T>& input,
                                                               const electrostatics_output<T>& output) {
  check_input(input);
  require(prepared, "neither prepare nor compute has been called; they choose parameters and allocate memory");
  require(serves(input),
          "the cells, the scaled pairs or the number of points or systems are not those of the last prepare or "
          "compute; call one of them");
  enqueue(input, output);
  if constexpr (std::is_same_v<Context, cpu_context>) check();
}

template <typename Context, typename T>
void electrostatics<Context, T>::implementation::check() {
  if (!prepared) return;
  if (*mirror.read(context, faults.flag().first, 1) == ~std::uint64_t{0}) return;
  const fault_report found = faults.read(context);
  faults.clear(context);
  const std::uint64_t index = found.index % detail::pair_fault_base;
  throw data_error(complaint(found), index);
}

template <typename Context, typename T>
std::string electrostatics<Context, T>::implementation::complaint(const fault_report& found) const {
  if (found.index >= detail::pair_fault_base) {
    const std::uint64_t i = found.index - detail::pair_fault_base;
    if (found.kind == fault_kind::key_range)
      return message("point ", i, " is in a scaled pair with one of another system");
    return message("point ", i, " is in the same place as another one, and that pair is not excluded");
  }
  const auto i = static_cast<std::size_t>(found.index);
  if (i >= last.points.count) return message("point ", i, " of an earlier call was not valid");
  if (found.kind == fault_kind::key_range) {
    return message("point ", i, " belongs to system ", to_host(context, last.system_of_point + i, 1)[0], "; there are ",
                   cells.size());
  }
  if (found.kind == fault_kind::value_range) {
    return message("the charge of point ", i, " is ", to_host(context, last.charges + i, 1)[0], "; it must be finite");
  }
  const std::size_t system = given_systems ? to_host(context, last.system_of_point + i, 1)[0] : 0;
  return detail::point_complaint(context, cells[system], last.points, "point ", i);
}

template <typename Context, typename T>
std::size_t electrostatics<Context, T>::implementation::bytes() const {
  std::size_t sum = smooth == nullptr ? 0 : smooth->bytes();
  sum += domains.bytes() + buckets.bytes() + charges_by_cell.bytes() + fractions.bytes() + charges.bytes() +
         own_order.bytes() + system_of.bytes() + slots.bytes() + partner_offsets.bytes() + partners.bytes() +
         potentials.bytes() + smooth_potentials.bytes() + virials.bytes() + fields.bytes() + smooth_gradients.bytes() +
         zero_potentials.bytes() + smooth_virials.bytes() + slab_sums.bytes() + net_forces.bytes() + totals.bytes() +
         scratch.bytes() + scratch_of_parts.bytes();
  return sum;
}

template <typename Context, typename T>
electrostatics<Context, T>::electrostatics(const Context& context, const electrostatics_options& options)
    : implementation_(std::make_unique<implementation>(context, options)) {}

template <typename Context, typename T>
void electrostatics<Context, T>::prepare(const electrostatics_input<T>& input) {
  implementation_->prepare(input);
}
template <typename Context, typename T>
void electrostatics<Context, T>::compute(const electrostatics_input<T>& input, const electrostatics_output<T>& output) {
  implementation_->compute(input, output);
}
template <typename Context, typename T>
void electrostatics<Context, T>::compute_async(const electrostatics_input<T>& input,
                                               const electrostatics_output<T>& output) {
  implementation_->compute_async(input, output);
}
template <typename Context, typename T>
void electrostatics<Context, T>::check() {
  implementation_->check();
}
template <typename Context, typename T>
const electrostatics_report& electrostatics<Context, T>::report() const {
  require(implementation_->prepared, "nothing has been prepared or computed yet");
  return implementation_->report;
}
template <typename Context, typename T>
explanation electrostatics<Context, T>::explanation() const {
  require(implementation_->prepared, "nothing has been prepared or computed yet");
  return implementation_->explanation();
}
template <typename Context, typename T>
ewald_pair<T> electrostatics<Context, T>::pair() const {
  require(implementation_->prepared, "nothing has been prepared or computed yet");
  return implementation_->pair();
}
template <typename Context, typename T>
std::size_t electrostatics<Context, T>::bytes() const {
  return implementation_->bytes();
}
template <typename Context, typename T>
const electrostatics_options& electrostatics<Context, T>::options() const {
  return implementation_->options;
}

template class electrostatics<backend_context, float>;
template class electrostatics<backend_context, double>;

}  // namespace quadrat
