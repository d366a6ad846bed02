// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/models/granular.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "core/backend.hpp"
#include "core/point_checks.hpp"
#include "models/granular/engine.hpp"
#include "models/granular/meter.hpp"
#include "models/granular/methods.hpp"
#include "models/granular/setup.hpp"
#include "models/granular/ways.hpp"
#include "models/storage_order.hpp"
#include "models/ways_in_use.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat {

namespace {

template <typename T>
[[nodiscard]] double largest_speed(const std::vector<vec<T, 3>>& velocities) {
  double squared = 0;
  for (const vec<T, 3>& velocity : velocities) {
    squared = std::max(squared, static_cast<double>(squared_norm(velocity)));
  }
  return std::sqrt(squared);
}

/// That grains will have soon, of which only the start is known.
[[nodiscard]] double speed_to_come(const granular_parameters& parameters) {
  constexpr double steps = 50;
  const std::array<double, 3>& g = parameters.gravity;
  return steps * parameters.time_step * std::hypot(g[0], g[1], g[2]);
}

}  // namespace

template <typename Context, typename T>
struct granular<Context, T>::implementation {
  static constexpr bool on_cuda = std::is_same_v<Context, cuda_context>;

  implementation(const Context& chosen, const granular_options& asked, std::size_t number)
      : context(chosen),
        options(detail::completed_options(chosen, asked)),
        setup(detail::make_granular_setup<T>(options, number)),
        // Where nothing is named.
        chooses_way(asked.method.empty() && !asked.cells) {
    if (!chooses_way) {
      ways.engine.use("named",
                      [&] { return detail::make_granular_engine<Context, T>(options.method, context, setup); });
    }
  }

  void set(const granular_state<T>& state) {
    detail::check_grains<T>(setup.space.domain, state.positions, state.velocities);
    if (chooses_way) begin_choice(state);
    ways.engine->set(state.positions, state.velocities, state.storage_order, state.step);
    step = state.step;
  }
  /// Copies the grains of the last step to device memory, in the order of grains.
  void gather() {
    ways.check();
    static_cast<void>(gathered());
  }

  /// Makes the engine of the way that suits the state, or of the one that it names.
  void begin_choice(const granular_state<T>& state);
  [[nodiscard]] std::vector<double> expected(const std::vector<vec<T, 3>>& taken, double fastest) const;

  // For ways_in_use.
  void change_way(std::size_t way);
  void use_way(std::size_t way);
  [[nodiscard]] const vec<T, 3>* gathered() {
    positions.resize_discarding(context, setup.count);
    velocities.resize_discarding(context, setup.count);
    ways.engine->gather(positions.data(), velocities.data());
    return positions.data();
  }
  [[nodiscard]] std::vector<double> expected(const std::vector<vec<T, 3>>& taken) {
    // On CUDA no way depends on the speed.
    return expected(taken, on_cuda ? 0 : largest_speed(to_host(context, velocities)));
  }

  Context context;
  granular_options options;
  detail::granular_setup<T> setup;
  bool chooses_way;
  detail::ways_in_use<Context, granular_engine<Context, T>, T, 3> ways;
  std::unique_ptr<detail::granular_meter<Context, T>> meter;
  array<vec<T, 3>, Context> positions;
  array<vec<T, 3>, Context> velocities;
  array<particle_id, Context> order;
  std::uint64_t step = 0;
};

template <typename Context, typename T>
std::vector<double> granular<Context, T>::implementation::expected(const std::vector<vec<T, 3>>& taken,
                                                                   double fastest) const {
  const granular_parameters& p = options.parameters;
  const double edge = detail::company_edge(on_cuda);
  const double company =
      detail::company_of(taken, setup.count, setup.space.domain, 2 * p.radius * edge) / (edge * edge * edge);
  const double remade = detail::share_remade(fastest * p.time_step / (2 * p.radius));
  const detail::granular_load load{static_cast<double>(setup.count),  company, remade,
                                   detail::threads_for_ways(context), on_cuda, detail::cells_in_all(*options.cells)};
  std::vector<double> result = detail::expected_granular_ms(load, profile_of(context));
  for (std::size_t k = 0; k < result.size(); ++k) {
    const bool serves = detail::granular_ways(on_cuda)[k].reproducible >= context.reproducibility();
    if (!serves) result[k] = std::numeric_limits<double>::infinity();
  }
  return result;
}

template <typename Context, typename T>
void granular<Context, T>::implementation::begin_choice(const granular_state<T>& state) {
  const auto all = detail::granular_ways(on_cuda);
  const auto serves = [&](const detail::granular_way& way) { return way.reproducible >= context.reproducibility(); };
  std::vector<std::string_view> names;
  for (const detail::granular_way& way : all) names.push_back(way.name);
  const double fastest = largest_speed(state.velocities);
  const std::vector<double> expected_ms =
      expected(detail::taken_of(state.positions), fastest > 0 ? fastest : speed_to_come(options.parameters));
  detail::online_choice fresh(names, expected_ms, detail::ways_by_time(context),
                              on_cuda ? detail::late_limits(std::ranges::min(expected_ms)) : detail::online_limits());
  // Without times of a profile the first way is taken, which need not serve.
  if (!serves(all[fresh.current()])) static_cast<void>(fresh.take(std::ranges::find_if(all, serves)->name));
  detail::take_way_of_state(fresh, state.way, detail::granular_ways(!on_cuda));
  ways.begin(*this, std::move(fresh));
}

template <typename Context, typename T>
void granular<Context, T>::implementation::change_way(std::size_t way) {
  if (detail::granular_ways(on_cuda)[way].name == ways.engine.method()) return;
  static_cast<void>(gathered());
  order.resize_discarding(context, setup.count);
  const bool ordered = ways.engine->gather_order(order.data());
  const std::uint64_t* const fault = ways.engine->fault();
  use_way(way);
  ways.engine->place({positions.data(), velocities.data(), ordered ? order.data() : nullptr, step, fault});
}

template <typename Context, typename T>
void granular<Context, T>::implementation::use_way(std::size_t way) {
  const detail::granular_way& one = detail::granular_ways(on_cuda)[way];
  granular_options next = options;
  next.method = one.method;
  next.cells = detail::cells_of(one, *options.cells);
  ways.engine.try_method(one.name, [&] {
    detail::require_room_for_trial(context, ways.engine ? ways.engine->bytes() : 0);
    const auto next_setup = detail::make_granular_setup<T>(next, setup.count);
    return detail::make_granular_engine<Context, T>(next.method, context, next_setup);
  });
  // Statistics stay those of the finest grid.
  options.method = one.method;
}

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
  implementation& own = *implementation_;
  own.ways.advance(own.context, own, size(), own.step, steps);
}

template <typename Context, typename T>
void granular<Context, T>::check() {
  implementation_->ways.check();
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
          own.ways.engine->storage_order(), std::string(own.ways.choice ? own.ways.choice->name_to_keep() : "")};
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
  return own.ways.engine.bytes() + own.positions.bytes() + own.velocities.bytes() + own.order.bytes() + meter;
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
explanation granular<Context, T>::explanation() const {
  const implementation& own = *implementation_;
  if (own.ways.choice) return own.ways.choice->explain("way of the granular model", profile_of(own.context).origin);
  quadrat::explanation result;
  result.what = "way of the granular model";
  result.chosen = own.options.method;
  result.reason = "named, or the default here";
  return result;
}

template <typename Context, typename T>
const Context& granular<Context, T>::context() const {
  return implementation_->context;
}

template class granular<backend_context, float>;
template class granular<backend_context, double>;

}  // namespace quadrat
