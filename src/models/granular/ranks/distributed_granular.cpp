// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/models/distributed_granular.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/backend.hpp"
#include "core/point_checks.hpp"
#include "models/granular/meter.hpp"
#include "models/granular/ranks/grains_of_rank.hpp"
#include "models/granular/setup.hpp"
#include "models/storage_order.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat {

namespace {

/// A grain on its way to rank 0.
template <typename T>
struct sent_grain {
  vec<T, 3> position;
  vec<T, 3> velocity;
  std::uint64_t id;
};

/// The options for one rank of several.
template <typename Context>
[[nodiscard]] granular_options options_of_rank(const Context& context, granular_options options) {
  require(options.method.empty() || options.method == "counting", "the method is ", options.method,
          "; over several ranks it is counting");
  options.method = "counting";
  return detail::completed_options(context, options);
}

[[nodiscard]] double checked_skin(double skin) {
  require(skin >= 0 && std::isfinite(skin), "the skin is ", skin, "; it must be finite and not negative");
  return skin;
}

/// The elements of all ranks on rank 0, in order of rank; none on others. Host memory. Collective.
template <typename E>
[[nodiscard]] std::vector<E> gathered(communicator& ranks, const std::vector<E>& mine) {
  const std::vector<std::size_t> counts = all_values(ranks, mine.size());
  std::vector<E> all;
  std::vector<outgoing_message> sends;
  std::vector<incoming_message> receives;
  together(ranks, [&] {
    if (ranks.rank() == 0) all.resize(std::accumulate(counts.begin(), counts.end(), std::size_t{0}));
  });
  if (!mine.empty()) sends.push_back({0, mine.data(), mine.size() * sizeof(E)});
  E* place = all.data();
  for (int rank = 0; rank < ranks.size() && ranks.rank() == 0; ++rank) {
    const std::size_t count = counts[static_cast<std::size_t>(rank)];
    if (count > 0) receives.push_back({rank, place, count * sizeof(E)});
    place += count;
  }
  ranks.exchange(cpu_context(), sends, receives);
  return all;
}

}  // namespace

template <typename Context, typename T>
struct distributed_granular<Context, T>::implementation {
  implementation(const Context& chosen, communicator& group, const granular_options& asked, std::size_t count,
                 double skin)
      : context(chosen),
        ranks(group),
        options(options_of_rank(chosen, asked)),
        setup(detail::make_granular_setup<T>(options, count)),
        grains(chosen, group, setup, static_cast<T>(checked_skin(skin) * 2 * options.parameters.radius)) {}

  /// Rank 0 gives all.
  void set(const granular_state<T>& state) {
    std::vector<packed_record<T, 3>> positions;
    std::vector<detail::velocity_record<T>> velocities;
    together(ranks, [&] {
      if (ranks.rank() != 0) return;
      detail::check_grains<T>(setup.space.domain, state.positions, state.velocities);
      positions.resize(setup.count);
      velocities.resize(setup.count);
      for (std::size_t i = 0; i < setup.count; ++i) {
        positions[i] = {state.positions[i], no_particle};
        velocities[i] = {state.velocities[i], static_cast<particle_id>(i)};
      }
    });
    step = all_values(ranks, state.step)[0];
    grains.set(positions, velocities);
  }

  [[nodiscard]] granular_state<T> gather() {
    const auto positions = to_host(context, grains.positions(), grains.own());
    const auto velocities = to_host(context, grains.velocities(), grains.own());
    std::vector<sent_grain<T>> mine(grains.own());
    for (std::size_t i = 0; i < mine.size(); ++i) {
      mine[i] = {positions[i].position, velocities[i].velocity, velocities[i].id};
    }
    const auto all = gathered(ranks, mine);
    granular_state<T> state;
    if (ranks.rank() != 0) return state;
    state.step = step;
    state.positions.resize(setup.count);
    state.velocities.resize(setup.count);
    for (const sent_grain<T>& one : all) {
      state.positions[one.id] = one.position;
      state.velocities[one.id] = one.velocity;
    }
    return state;
  }

  /// On rank 0.
  [[nodiscard]] granular_statistics measure(const granular_state<T>& state) {
    if (meter == nullptr) meter = std::make_unique<detail::granular_meter<Context, T>>(context, setup);
    const auto positions = to_device(context, state.positions);
    const auto velocities = to_device(context, state.velocities);
    granular_statistics result = meter->measure(context, options.parameters, positions.data(), velocities.data());
    result.step = step;
    return result;
  }

  Context context;
  communicator& ranks;
  granular_options options;
  detail::granular_setup<T> setup;
  detail::grains_of_rank<Context, T> grains;
  std::unique_ptr<detail::granular_meter<Context, T>> meter;
  std::uint64_t step = 0;
};

template <typename Context, typename T>
distributed_granular<Context, T>::distributed_granular(const Context& context, communicator& ranks,
                                                       const granular_options& options,
                                                       std::span<const vec<double, 3>> positions,
                                                       std::span<const vec<double, 3>> velocities, double skin) {
  granular_state<T> first;
  const std::size_t count = all_values(ranks, positions.size())[0];
  together(ranks, [&] {
    require(ranks.rank() == 0 || positions.empty(), "rank ", ranks.rank(), " gives ", positions.size(),
            " grains; only rank 0 may");
    detail::require_count(positions.size(), "grains");
    require(velocities.empty() || velocities.size() == positions.size(), "there are ", positions.size(),
            " positions, but ", velocities.size(), " velocities");
    implementation_ = std::make_unique<implementation>(context, ranks, options, count, skin);
    detail::check_grains<double>(detail::box_of_grains(implementation_->options), positions, velocities);
    first = detail::first_grains<T>(implementation_->setup.space.domain, positions, velocities);
  });
  implementation_->set(first);
}

template <typename Context, typename T>
distributed_granular<Context, T>::distributed_granular(distributed_granular&&) noexcept = default;
template <typename Context, typename T>
distributed_granular<Context, T>& distributed_granular<Context, T>::operator=(distributed_granular&&) noexcept =
    default;
template <typename Context, typename T>
distributed_granular<Context, T>::~distributed_granular() = default;

template <typename Context, typename T>
void distributed_granular<Context, T>::advance(std::size_t steps) {
  implementation& self = *implementation_;
  for (std::size_t k = 0; k < steps; ++k) self.grains.advance(++self.step);
}

template <typename Context, typename T>
void distributed_granular<Context, T>::check() {
  detail::throw_if_blown_up(implementation_->grains.fault());
}

template <typename Context, typename T>
granular_statistics distributed_granular<Context, T>::measure() {
  check();
  implementation& self = *implementation_;
  const granular_state<T> all = self.gather();
  granular_statistics result;
  together(self.ranks, [&] {
    if (self.ranks.rank() == 0) result = self.measure(all);
  });
  return all_values(self.ranks, result)[0];
}

template <typename Context, typename T>
granular_state<T> distributed_granular<Context, T>::state() {
  check();
  return implementation_->gather();
}

template <typename Context, typename T>
void distributed_granular<Context, T>::restore(const granular_state<T>& state) {
  implementation& self = *implementation_;
  together(self.ranks, [&] {
    if (self.ranks.rank() != 0) return;
    require(state.positions.size() == size() && state.velocities.size() == size(), "the state has ",
            state.positions.size(), " positions and ", state.velocities.size(), " velocities; the simulation has ",
            size(), " grains");
    detail::check_storage_order(state.storage_order, size(), "grain");
  });
  self.set(state);
}

template <typename Context, typename T>
std::uint64_t distributed_granular<Context, T>::step() const {
  return implementation_->step;
}
template <typename Context, typename T>
std::size_t distributed_granular<Context, T>::size() const {
  return implementation_->setup.count;
}
template <typename Context, typename T>
std::size_t distributed_granular<Context, T>::own() const {
  return implementation_->grains.own();
}
template <typename Context, typename T>
std::vector<granular_rank_report> distributed_granular<Context, T>::report() {
  return all_values(implementation_->ranks, implementation_->grains.report());
}
template <typename Context, typename T>
std::size_t distributed_granular<Context, T>::bytes() const {
  const implementation& self = *implementation_;
  return self.grains.bytes() + (self.meter == nullptr ? 0 : self.meter->bytes());
}
template <typename Context, typename T>
const granular_options& distributed_granular<Context, T>::options() const {
  return implementation_->options;
}
template <typename Context, typename T>
const Context& distributed_granular<Context, T>::context() const {
  return implementation_->context;
}

template class distributed_granular<backend_context, float>;
template class distributed_granular<backend_context, double>;

}  // namespace quadrat
