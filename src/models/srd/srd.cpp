// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/models/srd.hpp"

#include <algorithm>
#include <numbers>
#include <type_traits>

#include "core/backend.hpp"
#include "core/point_checks.hpp"
#include "models/replay.hpp"
#include "models/srd/meter.hpp"
#include "models/srd/options.hpp"
#include "models/srd/storage.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/parallel/reduce.hpp"

namespace quadrat {

namespace {

/// The number of fluid particles.
template <int D>
[[nodiscard]] std::size_t fluid_of(const srd_particles<D>& particles) {
  const std::size_t count = particles.positions.size();
  require(particles.velocities.size() == count, "there are ", count, " positions, but ", particles.velocities.size(),
          " velocities");
  require(particles.solute_masses.size() <= count, "there are ", particles.solute_masses.size(), " solutes, but only ",
          count, " particles");
  detail::require_count(count, "particles");
  return count - particles.solute_masses.size();
}

template <typename T, int D>
[[nodiscard]] std::vector<vec<T, D>> rounded(const std::vector<vec<double, D>>& values) {
  std::vector<vec<T, D>> result;
  result.reserve(values.size());
  for (const vec<double, D>& value : values) result.push_back(cast<T>(value));
  return result;
}

}  // namespace

template <typename Context, typename T, int D>
struct srd<Context, T, D>::implementation {
  static constexpr bool on_cuda = std::is_same_v<Context, cuda_context>;
  /// Steps per captured graph, so that the host keeps ahead even for small fluids.
  static constexpr std::size_t batch = on_cuda ? 16 : 1;

  implementation(const Context& chosen, const srd_options<D>& asked, const srd_particles<D>& particles)
      : context(chosen),
        options(detail::completed(asked, fluid_of(particles), chosen.reproducibility(), on_cuda)),
        storage(context, options, fluid_of(particles), particles.solute_masses) {}

  void set(const srd_state<T, D>& state);
  void advance(std::size_t steps);
  void launch(std::size_t steps);
  void check();

  Context context;
  srd_options<D> options;
  detail::srd_storage<Context, T, D> storage;
  detail::replay<Context> graph;
  workspace<Context> scratch;
  std::uint64_t step = 0;
  std::uint64_t sorted_at = 0;
  bool warm = false;
};

template <typename Context, typename T, int D>
void srd<Context, T, D>::implementation::set(const srd_state<T, D>& state) {
  detail::check_particles<T, D>(storage.setup(), state.positions, state.velocities, "particle");
  step = state.step;
  sorted_at = state.step;
  storage.set(state);
}

/// Runs at most `batch` steps.
template <typename Context, typename T, int D>
void srd<Context, T, D>::implementation::launch(std::size_t steps) {
  const auto enqueue = [&] {
    for (std::size_t k = 0; k < steps; ++k) storage.enqueue();
  };
  // The first steps load the kernels, which a capture does not allow.
  if (steps == batch && warm) {
    graph.run(context, enqueue);
  } else {
    enqueue();
  }
  warm = true;
}

/// Particles are sorted at multiples of sort_every, however calls divide the steps.
template <typename Context, typename T, int D>
void srd<Context, T, D>::implementation::advance(std::size_t steps) {
  while (steps > 0) {
    const std::uint64_t since = step % options.sort_every;
    if (since == 0 && step != sorted_at) {
      storage.sort();
      sorted_at = step;
    }
    const std::size_t chunk = std::min({steps, batch, static_cast<std::size_t>(options.sort_every - since)});
    launch(chunk);
    step += chunk;
    steps -= chunk;
  }
}

template <typename Context, typename T, int D>
void srd<Context, T, D>::implementation::check() {
  detail::throw_srd_fault(storage.fault(), storage.setup().fastest);
}

template <typename Context, typename T, int D>
srd<Context, T, D>::srd(const Context& context, const srd_options<D>& options, const srd_particles<D>& particles)
    : implementation_(std::make_unique<implementation>(context, options, particles)) {
  srd_state<T, D> state;
  state.positions = rounded<T, D>(particles.positions);
  state.velocities = rounded<T, D>(particles.velocities);
  implementation_->set(state);
}

template <typename Context, typename T, int D>
void srd<Context, T, D>::advance(std::size_t steps) {
  implementation_->advance(steps);
}

template <typename Context, typename T, int D>
void srd<Context, T, D>::check() {
  implementation_->check();
}

template <typename Context, typename T, int D>
srd_statistics<D> srd<Context, T, D>::measure() {
  implementation& own = *implementation_;
  own.check();
  const detail::srd_totals<D> totals = detail::measure_srd(own.context, own.storage, own.scratch);
  double cells = 1;
  for (int axis = 0; axis < D; ++axis) cells *= own.options.cells[axis];
  srd_statistics<D> result;
  result.step = own.step;
  result.time = static_cast<double>(own.step) * own.options.time_step;
  result.kinetic_energy = own.options.mass * totals.energy;
  result.momentum = totals.momentum * own.options.mass;
  if (totals.freedom > 0) result.temperature = own.options.mass * 2 * totals.relative_energy / totals.freedom;
  result.particles_per_cell = static_cast<double>(size()) / cells;
  return result;
}

template <typename Context, typename T, int D>
std::vector<vec<T, D>> srd<Context, T, D>::positions() {
  implementation_->check();
  return implementation_->storage.positions();
}

template <typename Context, typename T, int D>
std::vector<vec<T, D>> srd<Context, T, D>::velocities() {
  implementation_->check();
  return implementation_->storage.velocities();
}

template <typename Context, typename T, int D>
srd_state<T, D> srd<Context, T, D>::state() {
  return {step(), positions(), velocities()};
}

template <typename Context, typename T, int D>
std::vector<srd_profile_bin<D>> srd<Context, T, D>::velocity_profile(int axis, int bins) {
  constexpr int most_bins = 65536;
  require(axis >= 0 && axis < D, "there is no axis ", axis, "; 0 to ", D - 1, " are possible");
  require(bins >= 1 && bins <= most_bins, "the profile has ", bins, " bins; 1 to ", most_bins, " are possible");
  implementation& own = *implementation_;
  own.check();
  const auto slices = detail::slice_srd(own.context, own.storage, axis, bins, own.scratch);
  const vec<double, D> size = box_size();
  const double width = size[axis] / bins;
  double volume = width / size[axis];
  for (int other = 0; other < D; ++other) volume *= size[other];
  std::vector<srd_profile_bin<D>> profile(slices.size());
  for (std::size_t bin = 0; bin < slices.size(); ++bin) {
    profile[bin].center = (static_cast<double>(bin) + 0.5) * width;
    profile[bin].count = static_cast<std::uint64_t>(slices[bin].count);
    profile[bin].density = slices[bin].count / volume;
    if (slices[bin].mass > 0) profile[bin].velocity = slices[bin].momentum * (1 / slices[bin].mass);
  }
  return profile;
}

template <typename Context, typename T, int D>
double srd<Context, T, D>::shear_amplitude() {
  implementation& own = *implementation_;
  own.check();
  const detail::srd_setup<T, D>& setup = own.storage.setup();
  if (setup.fluid == 0) return 0;
  const double fastest = detail::srd_fastest(own.context, own.storage, setup.fluid, own.scratch);
  const double scale = 0x1p60 / (4 * fastest * setup.fluid);
  const detail::srd_wave_part<T, D> part{own.storage.present(), 2 * std::numbers::pi / box_size()[1], scale};
  const std::int64_t sum = reduce_sum(own.context, "srd.wave", setup.fluid, part, own.scratch);
  return 2 * static_cast<double>(sum) / scale / setup.fluid;
}

template <typename Context, typename T, int D>
void srd<Context, T, D>::restore(const srd_state<T, D>& state) {
  for (const auto* values : {&state.positions, &state.velocities}) {
    require(values->size() == size(), "the state has ", values->size(), " particles; the simulation has ", size());
  }
  implementation_->set(state);
}

template <typename Context, typename T, int D>
void srd<Context, T, D>::set_solutes(std::span<const vec<T, D>> positions, std::span<const vec<T, D>> velocities) {
  implementation& own = *implementation_;
  require(positions.size() == solutes() && velocities.size() == solutes(), "there are ", positions.size(),
          " positions and ", velocities.size(), " velocities for ", solutes(), " solutes");
  detail::check_particles<T, D>(own.storage.setup(), positions, velocities, "solute");
  own.check();
  own.storage.set_solutes(positions, velocities, own.step);
}

template <typename Context, typename T, int D>
std::uint64_t srd<Context, T, D>::step() const {
  return implementation_->step;
}

template <typename Context, typename T, int D>
std::size_t srd<Context, T, D>::size() const {
  return implementation_->storage.setup().particles;
}

template <typename Context, typename T, int D>
std::size_t srd<Context, T, D>::solutes() const {
  return size() - implementation_->storage.setup().fluid;
}

template <typename Context, typename T, int D>
vec<double, D> srd<Context, T, D>::box_size() const {
  return cast<double>(implementation_->options.cells) * implementation_->options.cell_edge;
}

template <typename Context, typename T, int D>
std::size_t srd<Context, T, D>::bytes() const {
  return implementation_->storage.bytes() + implementation_->scratch.bytes();
}

template <typename Context, typename T, int D>
const srd_options<D>& srd<Context, T, D>::options() const {
  return implementation_->options;
}

template <typename Context, typename T, int D>
const Context& srd<Context, T, D>::context() const {
  return implementation_->context;
}

template class srd<backend_context, float, 2>;
template class srd<backend_context, float, 3>;
template class srd<backend_context, double, 2>;
template class srd<backend_context, double, 3>;

}  // namespace quadrat
