// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/models/distributed_granular.hpp"

#include <cmath>
#include <type_traits>

#include "core/backend.hpp"
#include "core/point_checks.hpp"
#include "distributed/ranks/gathered.hpp"
#include "models/granular/ranks/grains_of_rank.hpp"
#include "models/granular/ranks/rank_meter.hpp"
#include "models/granular/setup.hpp"
#include "models/storage_order.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat {

namespace {

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

template <typename Context>
[[nodiscard]] bool overlaps(const communicator& ranks, halo_overlap asked) {
  return asked == halo_overlap::automatic ? detail::worth_hiding_messages<Context>(ranks)
                                          : asked == halo_overlap::always;
}

/// Grains that ranks give, in order of rank.
struct given_grains {
  std::size_t first = 0;  ///< the id of the first of this rank
  std::size_t all = 0;

  given_grains(communicator& ranks, std::size_t mine) {
    const auto counts = all_values(ranks, mine);
    for (std::size_t rank = 0; rank < counts.size(); ++rank) {
      if (static_cast<int>(rank) < ranks.rank()) first += counts[rank];
      all += counts[rank];
    }
  }
};

}  // namespace

template <typename Context, typename T>
struct distributed_granular<Context, T>::implementation {
  implementation(const Context& chosen, communicator& group, const granular_options& asked, std::size_t count,
                 double skin, halo_overlap overlap)
      : context(chosen),
        ranks(group),
        options(options_of_rank(chosen, asked)),
        setup(detail::make_granular_setup<T>(options, count)),
        grains(chosen, group, setup, static_cast<T>(checked_skin(skin) * 2 * options.parameters.radius),
               overlaps<Context>(group, overlap)) {}

  /// `first`: the id of the first grain that this rank gives.
  void set(const granular_state<T>& state, std::size_t first) {
    const std::size_t count = state.positions.size();
    std::vector<packed_record<T, 3>> positions;
    std::vector<detail::velocity_record<T>> velocities;
    together(ranks, [&] {
      detail::check_grains<T>(setup.space.domain, state.positions, state.velocities, first);
      positions.resize(count);
      velocities.resize(count);
      for (std::size_t i = 0; i < count; ++i) {
        positions[i] = {state.positions[i], no_particle};
        velocities[i] = {state.velocities[i], static_cast<particle_id>(first + i)};
      }
    });
    step = all_values(ranks, state.step)[0];
    grains.set(positions, velocities);
  }

  [[nodiscard]] granular_state<T> gather() {
    const auto mine = to_host(context, detail::rows_of_grains(context, grains));
    const auto all = detail::gathered(ranks, mine);
    granular_state<T> state;
    if (ranks.rank() != 0) return state;
    state.step = step;
    state.positions.resize(setup.count);
    state.velocities.resize(setup.count);
    for (const detail::sent_grain<T>& one : all) {
      state.positions[one.id] = one.position;
      state.velocities[one.id] = one.velocity;
    }
    return state;
  }

  Context context;
  communicator& ranks;
  granular_options options;
  detail::granular_setup<T> setup;
  detail::grains_of_rank<Context, T> grains;
  std::uint64_t step = 0;
};

template <typename Context, typename T>
distributed_granular<Context, T>::distributed_granular(const Context& context, communicator& ranks,
                                                       const granular_options& options,
                                                       std::span<const vec<double, 3>> positions,
                                                       std::span<const vec<double, 3>> velocities, double skin,
                                                       halo_overlap overlap) {
  granular_state<T> mine;
  const given_grains given(ranks, positions.size());
  together(ranks, [&] {
    detail::require_count(given.all, "grains");
    require(velocities.empty() || velocities.size() == positions.size(), "there are ", positions.size(),
            " positions, but ", velocities.size(), " velocities");
    implementation_ = std::make_unique<implementation>(context, ranks, options, given.all, skin, overlap);
    detail::check_grains<double>(detail::box_of_grains(implementation_->options), positions, velocities, given.first);
    mine = detail::first_grains<T>(implementation_->setup.space.domain, positions, velocities);
  });
  implementation_->set(mine, given.first);
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
  for (std::size_t k = 0; k < steps; ++k) self.grains.advance(++self.step, k + 1 < steps);
}

template <typename Context, typename T>
int distributed_granular<Context, T>::advance(std::size_t steps, const std::function<int()>& wish) {
  implementation& self = *implementation_;
  std::int64_t agreed = 0;
  for (std::size_t k = 0; k < steps && agreed == 0; ++k) {
    agreed = self.grains.advance(++self.step, k + 1 < steps, wish());
  }
  return static_cast<int>(agreed);
}

template <typename Context, typename T>
void distributed_granular<Context, T>::check() {
  detail::throw_if_blown_up(implementation_->grains.fault());
}

template <typename Context, typename T>
granular_statistics distributed_granular<Context, T>::measure() {
  check();
  implementation& self = *implementation_;
  granular_statistics result =
      detail::measure_ranks(self.context, self.ranks, self.setup, self.options.parameters, self.grains);
  result.step = self.step;
  return result;
}

template <typename Context, typename T>
granular_state<T> distributed_granular<Context, T>::state() {
  check();
  return implementation_->gather();
}

template <typename Context, typename T>
granular_state<T> distributed_granular<Context, T>::share() {
  check();
  implementation& self = *implementation_;
  auto result = detail::grains_by_id(self.context, self.ranks, self.grains, size());
  result.step = self.step;
  return result;
}

template <typename Context, typename T>
void distributed_granular<Context, T>::restore(const granular_state<T>& state) {
  implementation& self = *implementation_;
  const std::size_t mine = state.positions.size();
  const given_grains given(self.ranks, mine);
  together(self.ranks, [&] {
    require(given.all == size() && state.velocities.size() == mine, "the state has ", given.all, " positions and ",
            given.all - mine + state.velocities.size(), " velocities; the simulation has ", size(), " grains");
    if (mine == size()) detail::check_storage_order(state.storage_order, size(), "grain");
  });
  self.set(state, given.first);
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
std::vector<rank_report> distributed_granular<Context, T>::report() {
  return all_values(implementation_->ranks, implementation_->grains.report());
}
template <typename Context, typename T>
std::size_t distributed_granular<Context, T>::bytes() const {
  const implementation& self = *implementation_;
  return self.grains.bytes();
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
