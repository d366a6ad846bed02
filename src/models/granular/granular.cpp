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
#include "models/chosen_engine.hpp"
#include "models/granular/engine.hpp"
#include "models/granular/meter.hpp"
#include "models/granular/methods.hpp"
#include "models/granular/setup.hpp"
#include "models/granular/variants.hpp"
#include "models/storage_order.hpp"
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

/// The expected speed of grains soon after the start, when only the start is known.
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
        // If the options name neither.
        chooses(detail::is_automatic(asked.method) && !asked.cells) {
    detail::require_autotune(asked.autotune, chosen.reproducibility());
    if (!chooses) use.engine = detail::make_granular_engine<Context, T>(options.method, context, setup);
  }

  void set(const granular_state<T>& state) {
    detail::check_grains<T>(setup.space.domain, state.positions, state.velocities);
    if (chooses) begin_choice(state);
    use.engine->set(state.positions, state.velocities, state.storage_order, state.step);
    step = state.step;
  }
  /// Copies the grains of the last step to device memory, in the order of grains.
  void gather() {
    use.check();
    static_cast<void>(gathered());
  }

  /// Makes the engine of the variant that the state names, or of the one that suits it.
  void begin_choice(const granular_state<T>& state);
  [[nodiscard]] std::vector<double> expected(const std::vector<vec<T, 3>>& taken, double fastest) const;

  // For chosen_engine.
  void make(std::size_t variant);
  void change(std::size_t variant);
  [[nodiscard]] const vec<T, 3>* gathered() {
    positions.resize_discarding(context, setup.count);
    velocities.resize_discarding(context, setup.count);
    use.engine->gather(positions.data(), velocities.data());
    return positions.data();
  }
  [[nodiscard]] std::vector<double> expected(const std::vector<vec<T, 3>>& taken) {
    // On CUDA no variant depends on the speed.
    return expected(taken, on_cuda ? 0 : largest_speed(to_host(context, velocities)));
  }

  Context context;
  granular_options options;
  detail::granular_setup<T> setup;
  bool chooses;
  detail::chosen_engine<Context, granular_engine<Context, T>, T, 3> use;
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
  const double edge = detail::occupancy_edge(on_cuda);
  const double occupancy =
      detail::occupancy_of(taken, setup.count, setup.space.domain, 2 * p.radius * edge) / (edge * edge * edge);
  const double remade = detail::share_remade(fastest * p.time_step / (2 * p.radius));
  const detail::granular_load load{
      static_cast<double>(setup.count),         occupancy, remade,
      detail::choice_place_of(context).threads, on_cuda,   detail::cells_in_all(*options.cells)};
  std::vector<double> result = detail::expected_granular_ms(load, profile_of(context));
  for (std::size_t k = 0; k < result.size(); ++k) {
    const bool serves = detail::granular_variants(on_cuda)[k].reproducible >= context.reproducibility();
    if (!serves) result[k] = std::numeric_limits<double>::infinity();
  }
  return result;
}

template <typename Context, typename T>
void granular<Context, T>::implementation::begin_choice(const granular_state<T>& state) {
  const double fastest = largest_speed(state.velocities);
  detail::engine_candidates candidates{
      {},
      expected(detail::taken_of(state.positions), fastest > 0 ? fastest : speed_to_come(options.parameters)),
      state.variant,
      options.autotune};
  for (const detail::granular_variant& one : detail::granular_variants(on_cuda)) candidates.names.push_back(one.name);
  detail::require_variant(state.variant, detail::granular_variants(on_cuda), detail::granular_variants(!on_cuda));
  use.begin(*this, candidates);
}

template <typename Context, typename T>
void granular<Context, T>::implementation::make(std::size_t variant) {
  const detail::granular_variant& chosen = detail::granular_variants(on_cuda)[variant];
  granular_options next = options;
  next.method = chosen.method;
  next.cells = detail::cells_of(chosen, *options.cells);
  use.engine =
      detail::make_granular_engine<Context, T>(next.method, context, detail::make_granular_setup<T>(next, setup.count));
  // Statistics still refer to the finest grid.
  options.method = chosen.method;
}

template <typename Context, typename T>
void granular<Context, T>::implementation::change(std::size_t variant) {
  detail::require_room_for_another(context, use.engine->bytes());
  static_cast<void>(gathered());
  order.resize_discarding(context, setup.count);
  const bool ordered = use.engine->gather_order(order.data());
  std::unique_ptr<granular_engine<Context, T>> before = std::exchange(use.engine, nullptr);
  try {
    make(variant);
    use.engine->place({positions.data(), velocities.data(), ordered ? order.data() : nullptr, step, before->fault()});
  } catch (...) {
    use.engine = std::move(before);
    throw;
  }
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
void granular<Context, T>::advance(std::size_t steps) {
  implementation& own = *implementation_;
  own.use.advance(own.context, own, size(), own.step, steps,
                  [&](std::size_t count) { own.use.engine->advance(count); });
}

template <typename Context, typename T>
void granular<Context, T>::check() {
  implementation_->use.check();
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
          own.use.engine->storage_order(), own.use.name()};
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
  return own.use.engine->bytes() + own.positions.bytes() + own.velocities.bytes() + own.order.bytes() + meter;
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
  if (own.use.is_chosen()) return own.use.explain("variant of the granular model", profile_of(own.context).origin);
  quadrat::explanation result;
  result.what = "variant of the granular model";
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
