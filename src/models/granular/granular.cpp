// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/models/granular.hpp"

#include <cmath>

#include "core/backend.hpp"
#include "core/point_checks.hpp"
#include "models/granular/engine.hpp"
#include "models/granular/meter.hpp"
#include "models/granular/methods.hpp"
#include "models/storage_order.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat {

namespace {

[[nodiscard]] vec<double, 3> to_vec(const std::array<double, 3>& a) { return {a[0], a[1], a[2]}; }

[[nodiscard]] box<double, 3> box_of(const granular_options& options) {
  return make_box(to_vec(options.lower), to_vec(options.upper), vec<bool, 3>::filled(false));
}

/// The options with defaults filled in. Throws argument_error for impossible options.
template <typename Context>
[[nodiscard]] granular_options completed(const Context& context, granular_options options) {
  check(options.parameters);
  const double diameter = 2 * options.parameters.radius;
  const box<double, 3> domain = box_of(options);
  // A box of exactly n grains must get n cells although the division may round down.
  const auto finest = make_grid_for_cutoff(domain, diameter * (1 - 1e-12), any_number_of_cells).cells;
  if (!options.cells) options.cells = {finest[0], finest[1], finest[2]};
  for (int axis = 0; axis < 3; ++axis) {
    const int cells = (*options.cells)[static_cast<std::size_t>(axis)];
    require(domain.length[axis] >= diameter * (1 - 1e-12), "the box is ", domain.length[axis], " long along axis ",
            axis, "; a grain of radius ", options.parameters.radius, " does not fit");
    require(cells <= 1 || domain.length[axis] / cells >= diameter * (1 - 1e-12), "there are ", cells,
            " cells along axis ", axis, ", which are smaller than a grain; at most ", finest[axis], " are possible");
  }
  require(options.capacity <= max_count, "the capacity of a cell is ", options.capacity, "; at most ", max_count,
          " is possible");
  if (options.method.empty()) options.method = granular_default_method(context);
  return options;
}

template <typename T>
[[nodiscard]] detail::granular_motion<T> make_motion(const granular_options& options) {
  const granular_parameters& p = options.parameters;
  detail::granular_motion<T> motion{};
  motion.time_step = static_cast<T>(p.time_step);
  motion.global_damping = static_cast<T>(p.global_damping);
  motion.restitution = static_cast<T>(p.wall_restitution);
  for (int axis = 0; axis < 3; ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    motion.velocity_gain[axis] = static_cast<T>(p.gravity[a] * p.time_step);
    motion.lowest[axis] = static_cast<T>(options.lower[a] + p.radius);
    motion.highest[axis] = static_cast<T>(options.upper[a] - p.radius);
    motion.longest_move[axis] = static_cast<T>(std::fmax((options.upper[a] - options.lower[a]) / 2, 4 * p.radius));
  }
  return motion;
}

template <typename T>
[[nodiscard]] detail::granular_law<T> make_law(const granular_parameters& p) {
  const T diameter = static_cast<T>(2 * p.radius);
  return {diameter,
          diameter * diameter,
          static_cast<T>(p.spring),
          static_cast<T>(p.shear),
          static_cast<T>(p.damping + p.shear),
          static_cast<T>(p.attraction)};
}

template <typename T>
[[nodiscard]] detail::granular_setup<T> make_setup(const granular_options& options, std::size_t count) {
  const granular_parameters& p = options.parameters;
  const auto& cells = *options.cells;
  const auto domain =
      make_box(cast<T>(to_vec(options.lower)), cast<T>(to_vec(options.upper)), vec<bool, 3>::filled(false));
  detail::granular_setup<T> setup{};
  // No finer than rounding allows.
  setup.space = make_grid(domain, make_vec<int, 3>([&](int axis) {
                            const double most = std::fmax(detail::most_distinct_cells(domain, axis), 1.0);
                            return static_cast<int>(std::fmin(cells[static_cast<std::size_t>(axis)], most));
                          }),
                          any_number_of_cells);
  setup.radius = static_cast<T>(p.radius);
  setup.motion = make_motion<T>(options);
  setup.law = make_law<T>(p);
  if (p.collider) {
    setup.obstacle = {cast<T>(to_vec(p.collider->center)), static_cast<T>(p.collider->radius + p.radius)};
  }
  setup.count = count;
  setup.capacity = static_cast<std::uint32_t>(options.capacity);
  return setup;
}

/// Throws data_error for the first grain with an invalid position or velocity.
template <typename T>
void check_grains(const box<T, 3>& domain, std::span<const vec<T, 3>> positions,
                  std::span<const vec<T, 3>> velocities) {
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const bool inside = domain.contains(positions[i]);
    if (inside && (velocities.empty() || detail::is_finite(velocities[i]))) continue;
    const vec<T, 3>& shown = inside ? velocities[i] : positions[i];
    throw data_error(message(inside ? "the velocity of grain " : "the position of grain ", i, " is ",
                             detail::vector_text(shown),
                             detail::is_finite(shown) ? ", which is outside the box" : ", which is not finite"));
  }
}

/// Grains in the precision of the run, at rest unless velocities are given.
template <typename T>
[[nodiscard]] granular_state<T> first_state(const box<T, 3>& domain, std::span<const vec<double, 3>> positions,
                                            std::span<const vec<double, 3>> velocities) {
  granular_state<T> state;
  state.positions.resize(positions.size());
  state.velocities.resize(positions.size(), vec<T, 3>{});
  for (std::size_t i = 0; i < positions.size(); ++i) {
    for (int axis = 0; axis < 3; ++axis) {
      // Rounding must not push a grain out of the box.
      const T x = static_cast<T>(positions[i][axis]);
      state.positions[i][axis] = std::fmin(std::fmax(x, domain.lower[axis]), domain.upper(axis));
      if (!velocities.empty()) state.velocities[i][axis] = static_cast<T>(velocities[i][axis]);
    }
  }
  return state;
}

}  // namespace

template <typename Context, typename T>
struct granular<Context, T>::implementation {
  implementation(const Context& chosen, const granular_options& asked, std::size_t number)
      : context(chosen),
        options(completed(chosen, asked)),
        setup(make_setup<T>(options, number)),
        engine(detail::make_granular_engine<Context, T>(options.method, context, setup)) {}

  void set(const granular_state<T>& state) {
    check_grains<T>(setup.space.domain, state.positions, state.velocities);
    engine->set(state.positions, state.velocities, state.storage_order, state.step);
    step = state.step;
  }
  /// Copies the grains of the last step to device memory, in id order.
  void gather() {
    engine->check();
    positions.resize_discarding(context, setup.count);
    velocities.resize_discarding(context, setup.count);
    engine->gather(positions.data(), velocities.data());
  }

  Context context;
  granular_options options;
  detail::granular_setup<T> setup;
  std::unique_ptr<granular_engine<Context, T>> engine;
  std::unique_ptr<detail::granular_meter<Context, T>> meter;
  array<vec<T, 3>, Context> positions;
  array<vec<T, 3>, Context> velocities;
  std::uint64_t step = 0;
};

template <typename Context, typename T>
granular<Context, T>::granular(const Context& context, const granular_options& options,
                               std::span<const vec<double, 3>> positions, std::span<const vec<double, 3>> velocities) {
  detail::require_count(positions.size(), "grains");
  require(velocities.empty() || velocities.size() == positions.size(), "there are ", positions.size(),
          " positions, but ", velocities.size(), " velocities");
  implementation_ = std::make_unique<implementation>(context, options, positions.size());
  check_grains<double>(box_of(implementation_->options), positions, velocities);
  implementation_->set(first_state<T>(space().domain, positions, velocities));
}

template <typename Context, typename T>
granular<Context, T>::granular(granular&&) noexcept = default;
template <typename Context, typename T>
granular<Context, T>& granular<Context, T>::operator=(granular&&) noexcept = default;
template <typename Context, typename T>
granular<Context, T>::~granular() = default;

template <typename Context, typename T>
void granular<Context, T>::advance(std::size_t steps) {
  implementation_->engine->advance(steps);
  implementation_->step += steps;
}

template <typename Context, typename T>
void granular<Context, T>::check() {
  implementation_->engine->check();
}

template <typename Context, typename T>
granular_statistics granular<Context, T>::measure() {
  implementation& own = *implementation_;
  own.gather();
  if (own.meter == nullptr) own.meter = std::make_unique<detail::granular_meter<Context, T>>(own.context, own.setup);
  granular_statistics result =
      own.meter->measure(own.context, own.options.parameters, own.positions.data(), own.velocities.data());
  result.step = own.step;
  return result;
}

template <typename Context, typename T>
std::vector<vec<T, 3>> granular<Context, T>::positions() {
  implementation_->gather();
  return to_host(implementation_->context, implementation_->positions);
}

template <typename Context, typename T>
std::vector<vec<T, 3>> granular<Context, T>::velocities() {
  implementation_->gather();
  return to_host(implementation_->context, implementation_->velocities);
}

template <typename Context, typename T>
granular_state<T> granular<Context, T>::state() {
  implementation& own = *implementation_;
  own.gather();
  return {own.step, to_host(own.context, own.positions), to_host(own.context, own.velocities),
          own.engine->storage_order()};
}

template <typename Context, typename T>
void granular<Context, T>::restore(const granular_state<T>& state) {
  require(state.positions.size() == size() && state.velocities.size() == size(), "the state has ",
          state.positions.size(), " positions and ", state.velocities.size(), " velocities; the simulation has ",
          size(), " grains");
  detail::check_storage_order(state.storage_order, size(), "grain");
  implementation_->set(state);
}

template <typename Context, typename T>
std::uint64_t granular<Context, T>::step() const {
  return implementation_->step;
}

template <typename Context, typename T>
std::size_t granular<Context, T>::size() const {
  return implementation_->setup.count;
}

template <typename Context, typename T>
std::size_t granular<Context, T>::bytes() const {
  const implementation& own = *implementation_;
  const std::size_t meter = own.meter == nullptr ? 0 : own.meter->bytes();
  return own.engine->bytes() + own.positions.bytes() + own.velocities.bytes() + meter;
}

template <typename Context, typename T>
const grid<T, 3>& granular<Context, T>::space() const {
  return implementation_->setup.space;
}

template <typename Context, typename T>
const granular_options& granular<Context, T>::options() const {
  return implementation_->options;
}

template <typename Context, typename T>
const Context& granular<Context, T>::context() const {
  return implementation_->context;
}

template class granular<backend_context, float>;
template class granular<backend_context, double>;

}  // namespace quadrat
