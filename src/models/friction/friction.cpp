// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/models/granular_friction.hpp"

#include <cmath>
#include <exception>

#include "core/backend.hpp"
#include "core/point_checks.hpp"
#include "models/friction/meter.hpp"
#include "models/friction/options.hpp"
#include "models/friction/setup.hpp"
#include "models/friction/storage.hpp"
#include "models/replay.hpp"
#include "parallel/host_mirror.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/parallel/reduce.hpp"

namespace quadrat {

namespace {

/// One radius for each grain.
[[nodiscard]] std::vector<double> radius_of_each(std::span<const double> radii, std::size_t count) {
  require(radii.size() == count || radii.size() == 1, "there are ", count, " positions, but ", radii.size(),
          " radii; one, or one for each, is needed");
  if (radii.size() == count) return {radii.begin(), radii.end()};
  return std::vector<double>(count, radii[0]);
}

template <typename T>
[[nodiscard]] std::vector<vec<T, 3>> in_precision(std::span<const vec<double, 3>> values, std::size_t count) {
  std::vector<vec<T, 3>> result(count, vec<T, 3>{});
  for (std::size_t i = 0; i < values.size(); ++i) result[i] = cast<T>(values[i]);
  return result;
}

template <typename T>
void check_finite(const char* name, const std::vector<vec<T, 3>>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (detail::is_finite(values[i])) continue;
    throw data_error(
        message("the ", name, " of grain ", i, " is ", detail::vector_text(values[i]), ", which is not finite"), i);
  }
}

/// Throws data_error for the first grain with invalid numbers.
template <typename T>
void check_grains(const granular_friction_options& options, const granular_friction_state<T>& state) {
  check_finite("position", state.positions);
  check_finite("position", state.remainders);
  check_finite("position in the list", state.listed_positions);
  check_finite("velocity", state.velocities);
  check_finite("angular velocity", state.angular_velocities);
  for (std::size_t i = 0; i < state.positions.size(); ++i) {
    for (std::size_t k = 0; k < options.walls.size(); ++k) {
      const double height = detail::height_before(options.walls[k], cast<double>(state.positions[i]));
      if (height >= 0) continue;
      throw data_error(message("the center of grain ", i, " lies ", -height, " m behind wall ", k), i);
    }
  }
}

template <typename T>
void check_contacts(const granular_friction_state<T>& state, std::size_t count, std::size_t walls,
                    std::size_t triangles) {
  const granular_contact_memory<T>* before = nullptr;
  for (const granular_contact_memory<T>& one : state.contacts) {
    const bool known = one.second < count || (one.second >= first_plane && one.second - first_plane < walls) ||
                       (one.second >= first_granular_triangle && one.second - first_granular_triangle < triangles);
    require(one.first < count && known && one.first != one.second, "the state has a contact of ", one.first, " and ",
            one.second, "; there are ", count, " grains, from 0, ", walls, " walls, from ", first_plane, ", and ",
            triangles, " triangles, from ", first_granular_triangle);
    require(
        before == nullptr || before->first < one.first || (before->first == one.first && before->second < one.second),
        "the contacts of the state are not in order at that of ", one.first, " and ", one.second);
    before = &one;
  }
}

/// Resets the listed positions to the present ones if a grain has moved too far since for this skin: the state then
/// comes from other options.
template <typename T>
[[nodiscard]] granular_friction_state<T> listed_near(granular_friction_state<T> state, T skin) {
  for (std::size_t i = 0; i < state.positions.size(); ++i) {
    if (squared_norm(state.positions[i] - state.listed_positions[i]) <= skin * skin / 4) continue;
    state.listed_positions = state.positions;
    break;
  }
  return state;
}

}  // namespace

template <typename Context, typename T>
struct granular_friction<Context, T>::implementation {
  implementation(const Context& chosen, const granular_friction_options& asked, const std::vector<double>& radii,
                 std::span<const std::uint32_t> materials)
      : context(chosen),
        options(detail::completed(asked, radii)),
        setup(detail::make_friction_setup<T>(options, radii, materials)),
        storage(context, setup),
        words(context, detail::friction_words),
        reports(context, radii.size()) {}

  void set(const granular_friction_state<T>& state);
  void advance(std::size_t steps);
  void enqueue(std::size_t steps);
  void launch(std::size_t steps);
  void check();
  [[nodiscard]] detail::moving_grains<T> kicked(T time);
  [[nodiscard]] granular_friction_statistics measure();
  [[nodiscard]] granular_friction_state<T> synchronous();

  Context context;
  granular_friction_options options;
  detail::friction_setup<T> setup;
  detail::friction_storage<Context, T> storage;
  array<std::uint64_t, Context> words;
  array<detail::grain_report<T>, Context> reports;
  detail::host_mirror<Context> mirror;
  detail::replay<Context> graphs[2][2];  // by grain set and list set
  std::uint64_t graph_version = 0;
  bool warm = false;
  workspace<Context> scratch;
  std::uint64_t step = 0;
  std::exception_ptr failure;

 private:
  /// On the CPU, checking after every step costs nothing.
  static constexpr std::size_t batch = std::is_same_v<Context, cpu_context> ? 1 : detail::most_friction_steps;
};

template <typename Context, typename T>
void granular_friction<Context, T>::implementation::set(const granular_friction_state<T>& state) {
  check_grains(options, state);
  failure = std::make_exception_ptr(data_error("the state was only partly restored"));
  step = state.step;
  fill_bytes(context, words.data(), 0, words.bytes());
  fill_bytes(context, words.data() + detail::fault_word, 0xff, sizeof(std::uint64_t));
  storage.set(listed_near(state, setup.skin), setup.radii);
  failure = nullptr;
}

/// The present grains with the velocities `time` later, in the other set.
template <typename Context, typename T>
detail::moving_grains<T> granular_friction<Context, T>::implementation::kicked(T time) {
  const detail::moving_grains<T> other = storage.grains(1 - storage.set_of_grains());
  storage.with_forces(storage.set_of_grains(), [&]<typename M>(const detail::friction_forces<T, M>& forces) {
    for_each(context, "friction.kick", setup.radii.size(),
             detail::friction_kick<T, M>{forces, setup.gravity, time, other.velocities, other.spins, reports.data()});
  });
  detail::moving_grains<T> grains = storage.grains(storage.set_of_grains());
  grains.velocities = other.velocities;
  grains.spins = other.spins;
  return grains;
}

template <typename Context, typename T>
void granular_friction<Context, T>::implementation::enqueue(std::size_t steps) {
  fill_bytes(context, words.data() + detail::done_word, 0, (steps + 2) * sizeof(std::uint64_t));
  for (std::size_t k = 0; k < steps; ++k) {
    const int from = storage.set_of_grains() ^ static_cast<int>(k & 1);
    storage.with_forces(from, [&]<typename M>(const detail::friction_forces<T, M>& forces) {
      const detail::friction_step<T, M> body{
          forces, storage.grains(1 - from), storage.listed(), words.data(), k, setup.gravity, setup.skin / 2};
      for_each(context, "friction.step", setup.radii.size(), body);
    });
  }
}

template <typename Context, typename T>
void granular_friction<Context, T>::implementation::launch(std::size_t steps) {
  // The first steps load the kernels, which is not allowed in a capture.
  if (steps < batch || batch == 1 || !warm) {
    warm = true;
    return enqueue(steps);
  }
  if (graph_version != storage.version()) {
    for (auto& of_set : graphs) {
      for (auto& graph : of_set) graph = {};
    }
    graph_version = storage.version();
  }
  graphs[storage.set_of_grains()][storage.set_of_list()].run(context, [&] { enqueue(steps); });
}

template <typename Context, typename T>
void granular_friction<Context, T>::implementation::advance(std::size_t steps) {
  while (steps > 0 && failure == nullptr && !setup.radii.empty()) {
    const std::size_t asked = std::min(steps, batch);
    launch(asked);
    const std::uint64_t* found = mirror.read(context, words.data(), detail::done_word + 1);
    const std::uint64_t fault = found[detail::fault_word];
    const bool stale = found[detail::stale_word] != 0;
    const std::uint64_t done = found[detail::done_word];
    if (fault != detail::no_run_fault) {
      failure = std::make_exception_ptr(detail::friction_blow_up(step + (fault >> 32), fault & 0xffffffffu));
      break;
    }
    if (done % 2 == 1) storage.pass_on();
    step += done;
    steps -= done;
    if (!stale) continue;
    try {
      storage.rebuild();
    } catch (const data_error&) {
      failure = std::current_exception();
    } catch (...) {
      failure = std::current_exception();  // for example out of memory: grains and list no longer match
      throw;
    }
    fill_bytes(context, words.data() + detail::stale_word, 0, sizeof(std::uint64_t));
  }
  step += steps;
}

template <typename Context, typename T>
void granular_friction<Context, T>::implementation::check() {
  if (failure != nullptr) std::rethrow_exception(failure);
}

template <typename Context, typename T>
granular_friction_statistics granular_friction<Context, T>::implementation::measure() {
  check();
  const detail::moving_grains<T> now = kicked(setup.time_step() / 2);
  const vec<double, 3> gravity = detail::to_vec(options.gravity);
  const double strength = std::sqrt(squared_norm(gravity));
  const vec<double, 3> up = strength > 0 ? gravity * (-1 / strength) : vec<double, 3>{};
  const detail::friction_totals totals =
      storage.with_forces(storage.set_of_grains(), [&]<typename M>(const detail::friction_forces<T, M>& forces) {
        const detail::measure_friction<T, M> body{forces, now, reports.data(), detail::to_vec(options.lower), up};
        return reduce(context, "friction.measure", setup.radii.size(), body, detail::join_friction_totals{},
                      detail::friction_totals{}, scratch);
      });
  const double count = std::max(static_cast<double>(setup.radii.size()), 1.0);
  granular_friction_statistics result;
  result.step = step;
  result.time = static_cast<double>(step) * options.time_step;
  result.kinetic_energy = totals.kinetic_energy;
  result.rotational_energy = totals.rotational_energy;
  result.elastic_energy = totals.elastic_energy;
  for (int axis = 0; axis < 3; ++axis) result.gravitational_energy -= gravity[axis] * totals.moment[axis];
  result.mean_height = totals.height / count;
  result.contacts_per_particle = static_cast<double>(totals.contacts) / count;
  result.largest_overlap = totals.largest_overlap;
  result.max_speed = std::sqrt(totals.largest_squared_speed);
  result.passed = totals.passed;
  result.rebuilds = storage.rebuilds();
  return result;
}

template <typename Context, typename T>
granular_friction_state<T> granular_friction<Context, T>::implementation::synchronous() {
  check();
  return storage.bring_home(kicked(setup.time_step() / 2));
}

template <typename Context, typename T>
granular_friction<Context, T>::granular_friction(const Context& context, const granular_friction_options& options,
                                                 std::span<const double> radii,
                                                 std::span<const vec<double, 3>> positions,
                                                 std::span<const vec<double, 3>> velocities,
                                                 std::span<const vec<double, 3>> angular_velocities,
                                                 std::span<const std::uint32_t> materials) {
  const std::size_t count = positions.size();
  detail::require_count(count, "grains");
  require(velocities.empty() || velocities.size() == count, "there are ", count, " positions, but ", velocities.size(),
          " velocities");
  require(angular_velocities.empty() || angular_velocities.size() == count, "there are ", count, " positions, but ",
          angular_velocities.size(), " angular velocities");
  require(materials.empty() || materials.size() == count, "there are ", count, " positions, but ", materials.size(),
          " materials");
  implementation_ = std::make_unique<implementation>(context, options, radius_of_each(radii, count), materials);
  granular_friction_state<T> state;
  state.positions = in_precision<T>(positions, count);
  state.remainders.resize(count, vec<T, 3>{});
  for (std::size_t i = 0; i < count; ++i) {
    state.remainders[i] = cast<T>(positions[i] - cast<double>(state.positions[i]));
  }
  state.listed_positions = state.positions;
  state.velocities = in_precision<T>(velocities, count);
  state.angular_velocities = in_precision<T>(angular_velocities, count);
  implementation& own = *implementation_;
  own.set(state);
  // Half a step back, where the first step expects velocities.
  const granular_friction_state<T> before = own.storage.bring_home(own.kicked(-own.setup.time_step() / 2));
  state.velocities = before.velocities;
  state.angular_velocities = before.angular_velocities;
  own.set(state);
}

template <typename Context, typename T>
void granular_friction<Context, T>::advance(std::size_t steps) {
  implementation_->advance(steps);
}

template <typename Context, typename T>
void granular_friction<Context, T>::check() {
  implementation_->check();
}

template <typename Context, typename T>
granular_friction_statistics granular_friction<Context, T>::measure() {
  return implementation_->measure();
}

template <typename Context, typename T>
std::vector<vec<T, 3>> granular_friction<Context, T>::positions() {
  return implementation_->synchronous().positions;
}

template <typename Context, typename T>
std::vector<vec<T, 3>> granular_friction<Context, T>::velocities() {
  return implementation_->synchronous().velocities;
}

template <typename Context, typename T>
std::vector<vec<T, 3>> granular_friction<Context, T>::angular_velocities() {
  return implementation_->synchronous().angular_velocities;
}

template <typename Context, typename T>
granular_friction_state<T> granular_friction<Context, T>::state() {
  implementation_->check();
  granular_friction_state<T> state = implementation_->storage.state();
  state.step = implementation_->step;
  return state;
}

template <typename Context, typename T>
void granular_friction<Context, T>::restore(const granular_friction_state<T>& state) {
  for (const auto* values :
       {&state.positions, &state.remainders, &state.velocities, &state.angular_velocities, &state.listed_positions}) {
    require(values->size() == size(), "the state has ", values->size(), " grains; the simulation has ", size());
  }
  check_contacts(state, size(), implementation_->options.walls.size(),
                 implementation_->setup.triangle_materials.size());
  implementation_->set(state);
}

template <typename Context, typename T>
std::uint64_t granular_friction<Context, T>::step() const {
  return implementation_->step;
}

template <typename Context, typename T>
std::size_t granular_friction<Context, T>::size() const {
  return implementation_->setup.radii.size();
}

template <typename Context, typename T>
const std::vector<T>& granular_friction<Context, T>::radii() const {
  return implementation_->setup.radii;
}

template <typename Context, typename T>
const std::vector<std::uint32_t>& granular_friction<Context, T>::materials() const {
  return implementation_->setup.materials;
}

template <typename Context, typename T>
std::size_t granular_friction<Context, T>::bytes() const {
  const implementation& own = *implementation_;
  return own.storage.bytes() + own.words.bytes() + own.reports.bytes() + own.scratch.bytes();
}

template <typename Context, typename T>
const granular_friction_options& granular_friction<Context, T>::options() const {
  return implementation_->options;
}

template <typename Context, typename T>
const Context& granular_friction<Context, T>::context() const {
  return implementation_->context;
}

template class granular_friction<backend_context, float>;
template class granular_friction<backend_context, double>;

}  // namespace quadrat
