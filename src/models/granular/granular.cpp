// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/models/granular.hpp"

#include "core/backend.hpp"
#include "core/point_checks.hpp"
#include "models/granular/engine.hpp"
#include "models/granular/meter.hpp"
#include "models/granular/methods.hpp"
#include "models/granular/setup.hpp"
#include "models/storage_order.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat {

template <typename Context, typename T>
struct granular<Context, T>::implementation {
  implementation(const Context& chosen, const granular_options& asked, std::size_t number)
      : context(chosen),
        options(detail::completed_options(chosen, asked)),
        setup(detail::make_granular_setup<T>(options, number)),
        engine(detail::make_granular_engine<Context, T>(options.method, context, setup)) {}

  void set(const granular_state<T>& state) {
    detail::check_grains<T>(setup.space.domain, state.positions, state.velocities);
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
  detail::check_grains<double>(detail::box_of_grains(implementation_->options), positions, velocities);
  implementation_->set(detail::first_grains<T>(space().domain, positions, velocities));
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
