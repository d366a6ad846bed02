// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/models/brownian.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "core/backend.hpp"
#include "core/finite.hpp"
#include "core/point_checks.hpp"
#include "models/brownian/kernels.hpp"
#include "models/brownian/operator.hpp"
#include "models/brownian/options.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/reduce.hpp"
#include "quadrat/parallel/workspace.hpp"

namespace quadrat {

namespace {

/// The random draws of measurements are separate from those of steps.
constexpr std::uint64_t brownian_measured_draw = std::uint64_t{1} << 63;

template <typename T>
[[nodiscard]] brownian_state<T> first_brownian_state(const box<T, 3>& domain,
                                                     std::span<const vec<double, 3>> positions) {
  brownian_state<T> state;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    if (!detail::is_finite(positions[i])) {
      throw data_error(
          message("the position of sphere ", i, " is ", detail::vector_text(positions[i]), ", which is not finite"), i);
    }
    // In double precision first, so that a distant image keeps its digits.
    vec<double, 3> place = positions[i];
    for (int axis = 0; axis < 3; ++axis) {
      const auto length = static_cast<double>(domain.length[axis]);
      place[axis] -= std::floor(place[axis] / length) * length;
    }
    state.positions.push_back(domain.wrap(cast<T>(place)));
  }
  state.images.assign(positions.size(), {});
  state.origins = state.positions;
  return state;
}

template <typename T>
void check_brownian_state(const box<T, 3>& domain, const brownian_state<T>& state, std::size_t count) {
  require(state.positions.size() == count && state.images.size() == count && state.origins.size() == count,
          "the state has ", state.positions.size(), " positions, ", state.images.size(), " images and ",
          state.origins.size(), " origins; the simulation has ", count, " spheres");
  for (const auto* places : {&state.positions, &state.origins}) {
    for (std::size_t i = 0; i < count; ++i) {
      const vec<T, 3>& place = (*places)[i];
      if (detail::is_finite(place) && domain.wrap(place) == place) continue;
      throw data_error(message(places == &state.positions ? "the position" : "the origin", " of sphere ", i, " is ",
                               detail::vector_text(place), ", which is not in the box"),
                       i);
    }
  }
}

}  // namespace

template <typename Context, typename T>
struct brownian<Context, T>::implementation {
  implementation(const Context& chosen, const brownian_options& asked, std::size_t number);

  void set(const brownian_state<T>& state);
  void advance();
  void euler_maruyama();
  void midpoint();
  void check();
  void enqueue_forces(const vec<T, 3>* places, T* energies);
  void enqueue_move(const detail::brownian_velocities<T>& velocities);
  [[nodiscard]] detail::brownian_totals totals();

  [[nodiscard]] points_view<T, 3> points(const vec<T, 3>* places) const { return points_of(places, count); }
  [[nodiscard]] detail::run_fault fault_flag() { return detail::run_fault{fault.data()}; }
  [[nodiscard]] detail::brownian_displacements<T> displacements() {
    return {options.box, positions.data(), images.data(), origins.data()};
  }
  /// Whether there are forces at all.
  [[nodiscard]] bool pushed() const { return !forces.empty() || options.force != vec<double, 3>{}; }

  Context context;
  brownian_options options;
  std::size_t count;
  box<T, 3> domain;
  double theory;  ///< mean mobility of a sphere
  std::vector<std::unique_ptr<brownian_force<Context, T>>> forces;
  detail::brownian_operator<Context, T> mobility;
  array<vec<T, 3>, Context> positions;
  array<vec<std::int32_t, 3>, Context> images;
  array<vec<T, 3>, Context> origins;
  array<vec<T, 3>, Context> force_sums;
  array<vec<T, 3>, Context> velocities;  ///< from forces; for Euler-Maruyama and measurements also from noise
  array<vec<T, 3>, Context> noise[2];    ///< of midpoint steps
  array<vec<T, 3>, Context> predicted;   ///< of midpoint steps
  array<T, Context> energies;
  array<std::uint64_t, Context> fault;
  workspace<Context> scratch;
  std::uint64_t step = 0;
};

template <typename Context, typename T>
brownian<Context, T>::implementation::implementation(const Context& chosen, const brownian_options& asked,
                                                     std::size_t number)
    : context(chosen),
      options(detail::completed(asked, number, chosen.reproducibility())),
      count(number),
      domain(make_box_from_lengths<T, 3>({}, cast<T>(options.box), vec<bool, 3>::filled(true))),
      theory(detail::mean_self_mobility(options)),
      mobility(context, options, number),
      positions(context, number),
      images(context, number),
      origins(context, number),
      force_sums(context, number),
      velocities(context, number),
      energies(context, number),
      fault(context, 1) {
  const double finest = static_cast<double>(std::numeric_limits<T>::epsilon()) *
                        std::max({options.box[0], options.box[1], options.box[2]});
  const double move = brownian_move(options);
  require(options.temperature == 0 || move >= 8 * finest, "in the time step ", options.time_step, " spheres move by ",
          move, " at random, but positions in this box have steps of ", finest, "; use longer time steps",
          std::is_same_v<T, float> ? ", or double precision" : "");
  // Displacements and positions must agree about the box.
  options.box = cast<double>(domain.length);
  if (options.scheme == brownian_scheme::midpoint) {
    for (auto& one : noise) one = array<vec<T, 3>, Context>(context, number);
    predicted = array<vec<T, 3>, Context>(context, number);
  }
  if (options.repulsion > 0) {
    const soft_repulsion<T> law{static_cast<T>(options.repulsion), static_cast<T>(options.repulsion_range)};
    forces.push_back(
        std::make_unique<brownian_pair_force<Context, T, soft_repulsion<T>>>(context, domain, law.range, law));
  }
  if (options.spring > 0 && !options.bonds.empty()) {
    const harmonic_spring<T> law{static_cast<T>(options.spring), static_cast<T>(options.spring_length)};
    forces.push_back(std::make_unique<brownian_bond_force<Context, T, harmonic_spring<T>>>(context, domain, number,
                                                                                           options.bonds, law));
  }
}

template <typename Context, typename T>
void brownian<Context, T>::implementation::set(const brownian_state<T>& state) {
  check_brownian_state(domain, state, count);
  const auto upload = [&](const auto& from, auto& to) {
    copy_bytes(context, from.data(), to.data(), count * sizeof(from[0]));
  };
  upload(state.positions, positions);
  upload(state.images, images);
  upload(state.origins, origins);
  const std::uint64_t none = detail::no_run_fault;
  copy_bytes(context, &none, fault.data(), sizeof(none));
  context.synchronize();
  step = state.step;
}

template <typename Context, typename T>
void brownian<Context, T>::implementation::enqueue_forces(const vec<T, 3>* places, T* energy_of) {
  for_each(context, "brownian.set_forces", count,
           detail::set_brownian_forces<T>{cast<T>(options.force), force_sums.data(), energy_of});
  if (count == 0) return;
  for (const auto& one : forces) one->add(context, points(places), force_sums.data(), energy_of);
}

template <typename Context, typename T>
void brownian<Context, T>::implementation::enqueue_move(const detail::brownian_velocities<T>& by) {
  for_each(context, "brownian.move", count,
           detail::move_brownian<T>{domain, by, step + 1, fault_flag(), positions.data(), images.data()});
}

template <typename Context, typename T>
void brownian<Context, T>::implementation::advance() {
  mobility.set_points(points(positions.data()));
  if (options.scheme == brownian_scheme::midpoint) {
    midpoint();
  } else {
    euler_maruyama();
  }
  ++step;
}

template <typename Context, typename T>
void brownian<Context, T>::implementation::euler_maruyama() {
  const double h = options.time_step;
  const mobility_noise draw{options.seed, step, std::sqrt(2 * options.temperature / h)};
  if (pushed()) enqueue_forces(positions.data(), nullptr);
  if (!pushed()) {
    if (options.temperature == 0) return;
    mobility.square_root(draw, velocities.data());
  } else if (options.temperature > 0) {
    mobility.velocities(force_sums.data(), draw, velocities.data());
  } else {
    mobility.multiply(force_sums.data(), velocities.data());
  }
  enqueue_move({{velocities.data(), nullptr, nullptr}, {static_cast<T>(h), T(0), T(0)}});
}

template <typename Context, typename T>
void brownian<Context, T>::implementation::midpoint() {
  const auto h = static_cast<T>(options.time_step);
  const bool noisy = options.temperature > 0;
  const vec<T, 3>* z[2]{};
  for (std::size_t k = 0; noisy && k < 2; ++k) {
    const mobility_noise draw{options.seed, 2 * step + k, std::sqrt(options.temperature / options.time_step)};
    mobility.square_root(draw, noise[k].data());
    z[k] = noise[k].data();
  }
  if (pushed()) {
    enqueue_forces(positions.data(), nullptr);
    mobility.multiply(force_sums.data(), velocities.data());
    const detail::brownian_velocities<T> half{{velocities.data(), z[0], nullptr}, {h / T(2), h, T(0)}};
    for_each(context, "brownian.predict", count,
             detail::predict_brownian<T>{domain, half, step + 1, fault_flag(), positions.data(), predicted.data()});
    mobility.set_points(points(predicted.data()));
    enqueue_forces(predicted.data(), nullptr);
    mobility.multiply(force_sums.data(), velocities.data());
  }
  enqueue_move({{pushed() ? velocities.data() : nullptr, z[0], z[1]}, {h, h, h}});
}

template <typename Context, typename T>
void brownian<Context, T>::implementation::check() {
  detail::throw_brownian_fault(to_host(context, fault)[0]);
  mobility.check();
}

template <typename Context, typename T>
detail::brownian_totals brownian<Context, T>::implementation::totals() {
  mobility.set_points(points(positions.data()));
  mobility.square_root({options.seed, brownian_measured_draw | step, 1}, velocities.data());
  enqueue_forces(positions.data(), energies.data());
  return reduce_sum(context, "brownian.measure", count,
                    detail::brownian_part<T>{displacements(), velocities.data(), energies.data()}, scratch);
}

template <typename Context, typename T>
brownian<Context, T>::brownian(const Context& context, const brownian_options& options,
                               std::span<const vec<double, 3>> positions)
    : implementation_(std::make_unique<implementation>(context, options, positions.size())) {
  implementation& own = *implementation_;
  own.set(first_brownian_state<T>(own.domain, positions));
}

template <typename Context, typename T>
void brownian<Context, T>::add_force(std::unique_ptr<brownian_force<Context, T>> force) {
  require(force != nullptr, "the force is a null pointer");
  implementation_->forces.push_back(std::move(force));
}

template <typename Context, typename T>
const box<T, 3>& brownian<Context, T>::domain() const {
  return implementation_->domain;
}

template <typename Context, typename T>
void brownian<Context, T>::advance(std::size_t steps) {
  for (std::size_t k = 0; k < steps; ++k) implementation_->advance();
}

template <typename Context, typename T>
void brownian<Context, T>::check() {
  implementation_->check();
}

template <typename Context, typename T>
brownian_statistics brownian<Context, T>::measure() {
  implementation& own = *implementation_;
  own.check();
  const brownian_options& o = own.options;
  brownian_statistics result;
  result.step = own.step;
  result.time = static_cast<double>(own.step) * o.time_step;
  result.short_time_theory = o.temperature * own.theory;
  if (own.count == 0) return result;
  const detail::brownian_totals sums = own.totals();
  const double share = 1 / static_cast<double>(own.count);
  result.mean_square_displacement = sums.square * share;
  result.mean_displacement = sums.displacement * share;
  result.short_time_diffusion = o.temperature * sums.draw_square * share / 3;
  result.energy = sums.energy;
  result.iterations = own.mobility.report().iterations;
  return result;
}

template <typename Context, typename T>
std::vector<vec<T, 3>> brownian<Context, T>::positions() {
  implementation_->check();
  return to_host(implementation_->context, implementation_->positions);
}

template <typename Context, typename T>
std::vector<vec<double, 3>> brownian<Context, T>::displacements() {
  const brownian_state<T> now = state();
  const detail::brownian_displacements<T> moved{implementation_->options.box, now.positions.data(), now.images.data(),
                                                now.origins.data()};
  std::vector<vec<double, 3>> result(size());
  for (std::size_t i = 0; i < size(); ++i) result[i] = moved(i);
  return result;
}

template <typename Context, typename T>
std::vector<vec<T, 3>> brownian<Context, T>::forces() {
  implementation& own = *implementation_;
  own.check();
  own.enqueue_forces(own.positions.data(), nullptr);
  return to_host(own.context, own.force_sums);
}

template <typename Context, typename T>
brownian_state<T> brownian<Context, T>::state() {
  implementation& own = *implementation_;
  own.check();
  return {own.step, to_host(own.context, own.positions), to_host(own.context, own.images),
          to_host(own.context, own.origins)};
}

template <typename Context, typename T>
void brownian<Context, T>::restore(const brownian_state<T>& state) {
  implementation_->set(state);
}

template <typename Context, typename T>
std::uint64_t brownian<Context, T>::step() const {
  return implementation_->step;
}

template <typename Context, typename T>
std::size_t brownian<Context, T>::size() const {
  return implementation_->count;
}

template <typename Context, typename T>
std::size_t brownian<Context, T>::bytes() const {
  const implementation& own = *implementation_;
  std::size_t sum = own.positions.bytes() + own.images.bytes() + own.origins.bytes() + own.force_sums.bytes() +
                    own.velocities.bytes() + own.noise[0].bytes() + own.noise[1].bytes() + own.predicted.bytes() +
                    own.energies.bytes() + own.fault.bytes() + own.scratch.bytes() + own.mobility.bytes();
  for (const auto& one : own.forces) sum += one->bytes();
  return sum;
}

template <typename Context, typename T>
mobility_report brownian<Context, T>::report() const {
  return implementation_->mobility.report();
}

template <typename Context, typename T>
const brownian_options& brownian<Context, T>::options() const {
  return implementation_->options;
}

template <typename Context, typename T>
const Context& brownian<Context, T>::context() const {
  return implementation_->context;
}

template class brownian<backend_context, float>;
template class brownian<backend_context, double>;

}  // namespace quadrat
