// SPDX-License-Identifier: BSD-3-Clause
#include <array>

#include "models/srd/fluid.hpp"
#include "models/srd/operations.hpp"

namespace quadrat::bench {

std::vector<srd_sums> wanted_srd_sums(const session& s) {
  std::vector<srd_sums> all{srd_sums::floating, srd_sums::fixed};
  if (!s.on_cuda()) std::swap(all[0], all[1]);
  std::erase_if(all, [&](srd_sums sums) { return !s.wants_method(srd_sums_names[static_cast<std::size_t>(sums)]); });
  return all;
}

int srd_side(const session& s) { return !s.full() ? 8 : (s.on_cuda() ? 100 : 32); }

const srd_particles<3>& srd_particles_at_start(const session& s) {
  return s.once<srd_particles<3>>("particles of srd", [&] {
    srd_options<3> options;
    options.cells = vec<int, 3>::filled(srd_side(s));
    const auto side = static_cast<std::size_t>(srd_side(s));
    return srd_start(options, 10 * side * side * side);
  });
}

template <int D>
row identify_srd(std::string_view operation, const srd_options<D>& options, std::string_view precision, std::size_t n,
                 std::string_view distribution) {
  std::size_t cells = 1;
  for (int axis = 0; axis < D; ++axis) cells *= static_cast<std::size_t>(options.cells[axis]);
  row identity =
      identify(operation, srd_sums_names[static_cast<std::size_t>(options.sums)], precision, n, cells, distribution);
  identity["time_step"] = options.time_step;
  identity["angle"] = options.rotation_angle;
  identity["thermostat"] = options.thermostat;
  if (options.sums == srd_sums::fixed) identity["determinism"] = "run_to_run";
  return identity;
}

template row identify_srd(std::string_view, const srd_options<2>&, std::string_view, std::size_t, std::string_view);
template row identify_srd(std::string_view, const srd_options<3>&, std::string_view, std::size_t, std::string_view);

namespace {

srd_options<3> fluid_options(const session& s, srd_sums sums, double time_step) {
  srd_options<3> options;
  options.cells = vec<int, 3>::filled(srd_side(s));
  options.time_step = time_step;
  options.sums = sums;
  return options;
}

/// A whole number of sorting intervals.
srd_stretch step_stretch(const session& s) {
  if (!s.full()) return {0, srd_default_sort_every, 3};
  if (!s.on_cuda()) return {srd_default_sort_every, srd_default_sort_every, 5};
  return {200, 4 * srd_default_sort_every, 9};
}

template <typename T, typename Context>
void time_step_of(const session& s, const Context& context, srd_sums sums, double time_step, bool thermostat = true) {
  srd_options<3> options = fluid_options(s, sums, time_step);
  options.thermostat = thermostat;
  const std::size_t n = srd_particles_at_start(s).positions.size();
  const char* const precision = sizeof(T) == 4 ? "float" : "double";
  time_fluid<T>(s, context, options, identify_srd("step", options, precision, n, "uniform"), step_stretch(s));
}

std::vector<std::size_t> sort_intervals(const session& s) {
  if (!s.full()) return {1, 10, never_sorted};
  return {1, 2, 5, 10, 20, 50, 100, 200, never_sorted};
}

template <typename Context>
void sweep_sort_every(const session& s, const Context& context, double time_step) {
  const std::vector<srd_sums> sums = wanted_srd_sums(s);
  if (sums.empty()) return;
  const std::size_t n = srd_particles_at_start(s).positions.size();
  for (const std::size_t interval : sort_intervals(s)) {
    srd_options<3> options = fluid_options(s, sums.front(), time_step);
    options.sort_every = interval;
    row identity = identify_srd("sort_every", options, "float", n, "uniform");
    if (interval == never_sorted) {
      identity["sort_every"] = "never";
    } else {
      identity["sort_every"] = interval;
    }
    const srd_stretch stretch = s.full() ? srd_stretch{200, 200, 5} : srd_stretch{0, 20, 3};
    time_fluid<float>(s, context, options, identity, stretch);
  }
}

}  // namespace

void run_srd_step(const session& s) {
  with_context(s, [&](const auto& context) {
    for (const srd_sums sums : wanted_srd_sums(s)) {
      time_step_of<float>(s, context, sums, 0.1);
      time_step_of<double>(s, context, sums, 0.1);
      time_step_of<float>(s, context, sums, 1);
      time_step_of<float>(s, context, sums, 0.1, false);
    }
  });
}

void run_srd_sort_every(const session& s) {
  with_context(s, [&](const auto& context) {
    for (const double time_step : {0.1, 1.0}) sweep_sort_every(s, context, time_step);
  });
}

}  // namespace quadrat::bench
