// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/models/circles.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "core/backend.hpp"
#include "core/point_checks.hpp"
#include "models/chosen_engine.hpp"
#include "models/circles/engine.hpp"
#include "models/circles/setup.hpp"
#include "models/circles/variants.hpp"
#include "models/storage_order.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat {

namespace {

/// Whether the model chooses its order and grid: if the options name nothing. Not at `canonical`, because the number of
/// candidates would depend on the choice.
template <typename Context>
[[nodiscard]] bool chooses_variant(const Context& context, const circles_options& options) {
  return context.reproducibility() != determinism::canonical && detail::is_automatic(options.order) &&
         detail::is_automatic(options.cell_list) && options.cells_per_reach == 0 && options.cells_per_reach_x == 0 &&
         !options.queue_neighbors.value_or(false);
}

/// `queue`: the requested value; if empty, it follows from the variant.
[[nodiscard]] circles_options with_variant(circles_options options, const detail::circles_variant& variant,
                                           std::optional<bool> queue) {
  options.order = variant.order;
  options.cell_list = circles_default_cell_list;
  options.cells_per_reach = variant.cells_per_reach;
  options.cells_per_reach_x = variant.cells_per_reach_x;
  options.queue_neighbors = queue;
  return options;
}

/// Throws data_error for the first agent with an invalid position.
template <typename T, int D>
void check_agents(const circles_parameters& parameters, const box<T, D>& domain, std::span<const vec<T, D>> positions,
                  bool start) {
  const bool inside_only = start || parameters.form == circles_form::original;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    if (domain.contains(positions[i])) continue;
    const bool finite = detail::is_finite(positions[i]);
    if (finite && !inside_only) continue;
    throw data_error(message("the position of agent ", i, " is ", detail::vector_text(positions[i]),
                             finite ? ", which is outside the box" : ", which is not finite"),
                     i);
  }
}

/// Positions in the precision of the run.
template <typename T, int D>
[[nodiscard]] circles_state<T, D> first_state(const box<T, D>& domain, std::span<const vec<double, D>> positions) {
  circles_state<T, D> state;
  state.positions.resize(positions.size());
  for (std::size_t i = 0; i < positions.size(); ++i) {
    for (int axis = 0; axis < D; ++axis) {
      // Rounding must not push an agent out of the box.
      const T x = static_cast<T>(positions[i][axis]);
      state.positions[i][axis] = std::fmin(std::fmax(x, domain.lower[axis]), domain.upper(axis));
    }
  }
  return state;
}

}  // namespace

template <typename Context, typename T, int D>
struct circles<Context, T, D>::implementation {
  static constexpr bool on_cuda = std::is_same_v<Context, cuda_context>;

  implementation(const Context& chosen, const circles_options& asked, std::size_t number)
      : context(chosen),
        options(detail::complete_circles(chosen, asked)),
        setup(detail::make_circles_setup<T, D>(options, number)),
        asked_queue(asked.queue_neighbors),
        chooses(chooses_variant(chosen, asked)) {
    detail::require_autotune(asked.autotune, chosen.reproducibility());
    if (!chooses) use.engine = make_engine(options, setup);
  }

  void set(const circles_state<T, D>& state) {
    if (chooses) begin_choice(state);
    use.engine->set(state.positions, state.storage_order, state.step);
    step = state.step;
  }
  /// Copies the agents of the last step to device memory, in the order of agents.
  void gather() {
    use.check();
    static_cast<void>(gathered());
  }

  /// Makes the engine of the variant that the state names, or of the one that suits it.
  void begin_choice(const circles_state<T, D>& state);
  [[nodiscard]] auto make_engine(const circles_options& given, const detail::circles_setup<T, D>& given_setup) {
    return detail::make_circles_engine<Context, T, D>(given.order, given.cell_list, context, given_setup);
  }
  [[nodiscard]] std::vector<double> expected(const std::vector<vec<T, D>>& taken) const;

  // For chosen_engine.
  void make(std::size_t variant);
  void change(std::size_t variant);
  [[nodiscard]] const vec<T, D>* gathered() {
    positions.resize_discarding(context, setup.count);
    use.engine->gather(positions.data());
    return positions.data();
  }

  Context context;
  circles_options options;
  detail::circles_setup<T, D> setup;
  std::optional<bool> asked_queue;
  bool chooses;
  detail::chosen_engine<Context, circles_engine<Context, T, D>, T, D> use;
  array<vec<T, D>, Context> positions;
  array<particle_id, Context> order;
  std::uint64_t step = 0;
};

template <typename Context, typename T, int D>
std::vector<double> circles<Context, T, D>::implementation::expected(const std::vector<vec<T, D>>& taken) const {
  const auto [occupancy, growth] =
      detail::growing_occupancy_of(taken, setup.count, setup.space.domain, options.parameters.reach());
  const detail::circles_load load{static_cast<double>(setup.count),         D,      occupancy, growth,
                                  detail::choice_place_of(context).threads, on_cuda};
  return detail::expected_circles_ms(load, profile_of(context));
}

template <typename Context, typename T, int D>
void circles<Context, T, D>::implementation::begin_choice(const circles_state<T, D>& state) {
  detail::engine_candidates candidates{
      {}, expected(detail::taken_of(state.positions)), state.variant, options.autotune};
  for (const detail::circles_variant& one : detail::circles_variants(on_cuda)) candidates.names.push_back(one.name);
  detail::require_variant(state.variant, detail::circles_variants(on_cuda), detail::circles_variants(!on_cuda));
  use.begin(*this, candidates);
}

template <typename Context, typename T, int D>
void circles<Context, T, D>::implementation::make(std::size_t variant) {
  const detail::circles_variant& chosen = detail::circles_variants(on_cuda)[variant];
  const circles_options next = detail::complete_circles(context, with_variant(options, chosen, asked_queue));
  auto next_setup = detail::make_circles_setup<T, D>(next, setup.count);
  next_setup.queues = false;
  use.engine = make_engine(next, next_setup);
  setup = next_setup;
  options = next;
}

template <typename Context, typename T, int D>
void circles<Context, T, D>::implementation::change(std::size_t variant) {
  detail::require_room_for_another(context, use.engine->bytes());
  static_cast<void>(gathered());
  order.resize_discarding(context, setup.count);
  use.engine->gather_order(order.data());
  std::unique_ptr<circles_engine<Context, T, D>> before = std::exchange(use.engine, nullptr);
  try {
    make(variant);
    use.engine->place({positions.data(), order.data(), step, before->fault()});
  } catch (...) {
    use.engine = std::move(before);
    throw;
  }
}

template <typename Context, typename T, int D>
circles<Context, T, D>::circles(const Context& context, const circles_options& options,
                                std::span<const vec<double, D>> positions) {
  detail::require_count(positions.size(), "agents");
  implementation_ = std::make_unique<implementation>(context, options, positions.size());
  check_agents(options.parameters, circles_box<D>(options.parameters), positions, true);
  implementation_->set(first_state<T, D>(space().domain, positions));
}

template <typename Context, typename T, int D>
void circles<Context, T, D>::advance(std::size_t steps) {
  implementation& own = *implementation_;
  own.use.advance(own.context, own, size(), own.step, steps,
                  [&](std::size_t count) { own.use.engine->advance(count); });
}

template <typename Context, typename T, int D>
std::vector<circles_record> circles<Context, T, D>::record(std::size_t steps) {
  implementation& own = *implementation_;
  std::vector<circles_record> records;
  records.reserve(steps);
  const std::uint64_t first = own.step;
  own.use.advance(own.context, own, size(), own.step, steps,
                  [&](std::size_t count) { own.use.engine->record(count, records); });
  for (circles_record& one : records) one.step += first;
  own.use.check();
  return records;
}

template <typename Context, typename T, int D>
void circles<Context, T, D>::check() {
  implementation_->use.check();
}

template <typename Context, typename T, int D>
circles_statistics circles<Context, T, D>::measure() {
  implementation_->use.check();
  circles_statistics result = implementation_->use.engine->measure();
  result.step = implementation_->step;
  return result;
}

template <typename Context, typename T, int D>
std::vector<vec<T, D>> circles<Context, T, D>::positions() {
  implementation_->gather();
  return to_host(implementation_->context, implementation_->positions);
}

template <typename Context, typename T, int D>
std::vector<std::uint32_t> circles<Context, T, D>::neighbors() {
  implementation& own = *implementation_;
  own.use.check();
  array<std::uint32_t, Context> counts(own.context, size());
  own.use.engine->gather_neighbors(counts.data());
  return to_host(own.context, counts);
}

template <typename Context, typename T, int D>
circles_state<T, D> circles<Context, T, D>::state() {
  implementation& own = *implementation_;
  own.gather();
  return {own.step, to_host(own.context, own.positions), own.use.engine->storage_order(), own.use.name()};
}

template <typename Context, typename T, int D>
void circles<Context, T, D>::restore(const circles_state<T, D>& state) {
  require(state.positions.size() == size(), "the state has ", state.positions.size(), " positions; the simulation has ",
          size(), " agents");
  detail::check_storage_order(state.storage_order, size(), "agent");
  check_agents<T, D>(options().parameters, space().domain, state.positions, false);
  implementation_->set(state);
}

template <typename Context, typename T, int D>
std::uint64_t circles<Context, T, D>::step() const {
  return implementation_->step;
}

template <typename Context, typename T, int D>
std::size_t circles<Context, T, D>::size() const {
  return implementation_->setup.count;
}

template <typename Context, typename T, int D>
std::size_t circles<Context, T, D>::bytes() const {
  return implementation_->use.engine->bytes() + implementation_->positions.bytes() + implementation_->order.bytes();
}

template <typename Context, typename T, int D>
const grid<T, D>& circles<Context, T, D>::space() const {
  return implementation_->setup.space;
}

template <typename Context, typename T, int D>
const circles_options& circles<Context, T, D>::options() const {
  return implementation_->options;
}

template <typename Context, typename T, int D>
explanation circles<Context, T, D>::explanation() const {
  const implementation& own = *implementation_;
  if (own.use.is_chosen()) return own.use.explain("variant of the Circles model", profile_of(own.context).origin);
  quadrat::explanation result;
  result.what = "variant of the Circles model";
  result.chosen = message(own.options.order, " over ", own.options.cell_list);
  result.reason = "named, or the default here";
  return result;
}

template <typename Context, typename T, int D>
const Context& circles<Context, T, D>::context() const {
  return implementation_->context;
}

template class circles<backend_context, float, 2>;
template class circles<backend_context, float, 3>;
template class circles<backend_context, double, 2>;
template class circles<backend_context, double, 3>;

}  // namespace quadrat
