// SPDX-License-Identifier: BSD-3-Clause
#include "program/electrostatics/sum.hpp"

#include <algorithm>
#include <cmath>

#include "program/data_place.hpp"
#include "program/process/stopwatch.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::program {
namespace {

/// Converts a number of the file to the precision of the computation.
template <typename T>
T rounded(double number, std::size_t point, const char* what) {
  const T result = static_cast<T>(number);
  if (std::isfinite(result) || !std::isfinite(number)) return result;
  throw data_error(message("point ", point, " has the ", what, " ", number,
                           ", which float cannot hold (ask for --precision double)"),
                   point);
}

template <typename T>
std::vector<vec<T, 3>> positions_in(const charged_systems& systems) {
  std::vector<vec<T, 3>> positions(systems.size());
  for (std::size_t i = 0; i < positions.size(); ++i) {
    for (int axis = 0; axis < 3; ++axis) positions[i][axis] = rounded<T>(systems.positions[i][axis], i, "coordinate");
  }
  return positions;
}

template <typename T>
std::vector<T> charges_in(const charged_systems& systems) {
  std::vector<T> charges(systems.size());
  for (std::size_t i = 0; i < charges.size(); ++i) charges[i] = rounded<T>(systems.charges[i], i, "charge");
  return charges;
}

template <typename T>
std::vector<lattice<T, 3>> cells_in(const charged_systems& systems) {
  std::vector<lattice<T, 3>> cells;
  for (const lattice<double, 3>& cell : systems.cells) {
    const auto vectors = make_vec<vec<T, 3>, 3>([&](int k) { return cast<T>(cell.vectors[k]); });
    cells.push_back(make_lattice(cast<T>(cell.origin), vectors, cell.periodic));
  }
  return cells;
}

/// Repeats the computation until it has run `most` times or taken `enough` seconds; at least once.
template <typename F>
void repeat(electrostatics_outcome& result, F&& compute) {
  constexpr std::size_t most = 5;
  constexpr double enough = 0.5;
  std::vector<double> times;
  double total = 0;
  while (times.size() < most && total < enough) {
    double seconds = 0;
    {
      const stopwatch time(seconds);
      compute();
    }
    times.push_back(seconds);
    total += seconds;
  }
  std::ranges::sort(times);
  result.compute_seconds = times[times.size() / 2];
  result.repetitions = times.size();
}

/// The root mean square over all points of the reference forces of their systems, to which errors are relative.
double reference_force_of(const electrostatics_options& options, const charged_systems& systems) {
  std::vector<double> points(systems.cells.size(), 0.0), squares(systems.cells.size(), 0.0);
  for (std::size_t i = 0; i < systems.size(); ++i) {
    points[systems.system_of_point[i]] += 1;
    squares[systems.system_of_point[i]] += systems.charges[i] * systems.charges[i];
  }
  double sum = 0;
  for (std::size_t k = 0; k < points.size(); ++k) {
    if (points[k] == 0) continue;
    double volume = 0;
    (void)detail::reciprocal(systems.cells[k].vectors, volume);
    const double exponent = options.law == pair_law::coulomb ? 2.0 / 3 : 7.0 / 3;
    const double force = squares[k] / points[k] / std::pow(std::fabs(volume) / points[k], exponent);
    sum += points[k] * force * force;
  }
  const double n = static_cast<double>(systems.size());
  return n > 0 ? std::fabs(options.coulomb_constant) * std::sqrt(sum / n) : 0;
}

template <typename T>
void measure_forces(const charged_systems& systems, const std::vector<T>& forces, electrostatics_outcome& result) {
  std::vector<vec<double, 3>> net(systems.cells.size(), vec<double, 3>{});
  double squares = 0;
  for (std::size_t i = 0; i < systems.size(); ++i) {
    const auto force = make_vec<double, 3>(
        [&](int axis) { return static_cast<double>(forces[3 * i + static_cast<std::size_t>(axis)]); });
    net[systems.system_of_point[i]] += force;
    squares += squared_norm(force);
  }
  if (systems.size() > 0) result.rms_force = std::sqrt(squares / static_cast<double>(systems.size()));
  for (const vec<double, 3>& sum : net) result.net_force = std::max(result.net_force, std::sqrt(squared_norm(sum)));
}

template <typename T, typename Context>
electrostatics_outcome sum_on(const Context& context, const electrostatics_task& task, const charged_systems& systems,
                              const std::vector<scaled_pair>& scaled_pairs) {
  const std::size_t n = systems.size(), count = systems.cells.size();
  const auto cells = cells_in<T>(systems);
  const auto positions = to_device(context, positions_in<T>(systems));
  const auto charges = to_device(context, charges_in<T>(systems));
  const auto system_of_point = to_device(context, systems.system_of_point);
  array<vec<T, 3>, Context> forces(context, n);
  array<T, Context> energies(context, task.energies ? n : 0), potentials(context, task.potentials ? n : 0);
  array<double, Context> energy(context, count), virial(context, task.virial ? 9 * count : 0);

  electrostatics_input<T> input;
  input.points = points_of(positions.data(), n);
  input.charges = charges.data();
  input.cells = cells;
  input.system_of_point = count == 1 ? nullptr : system_of_point.data();
  input.scaled_pairs = scaled_pairs;
  const electrostatics_output<T> output{forces.data(), potentials.data(), energies.data(), energy.data(),
                                        virial.data()};
  electrostatics_outcome result;
  electrostatics<Context, T> sum(context, task.options);
  {
    const stopwatch time(result.prepare_seconds);
    sum.prepare(input);
  }
  repeat(result, [&] { sum.compute(input, output); });
  result.report = sum.report();
  result.method = result.report.method;
  result.reason = result.report.reason;
  result.explanation = sum.explanation();
  result.memory_bytes = sum.bytes() + positions.bytes() + charges.bytes() + system_of_point.bytes() + forces.bytes() +
                        energies.bytes() + potentials.bytes() + energy.bytes() + virial.bytes();
  result.energy = to_host(context, energy);
  result.virial = to_host(context, virial);
  auto components = to_host(context, reinterpret_cast<const T*>(forces.data()), 3 * n);
  measure_forces(systems, components, result);
  result.reference_force = reference_force_of(task.options, systems);
  result.forces = std::move(components);
  result.energies = to_host(context, energies);
  result.potentials = to_host(context, potentials);
  result.device = used(context);
  return result;
}

}  // namespace

electrostatics_outcome sum_charges(const electrostatics_task& task, const device_options& device,
                                   const charged_systems& systems, const std::vector<scaled_pair>& scaled_pairs) {
  return naming_places(systems.file, systems.lines, [&] {
    return on_device(device, [&](const auto& context) {
      return task.single ? sum_on<float>(context, task, systems, scaled_pairs)
                         : sum_on<double>(context, task, systems, scaled_pairs);
    });
  });
}

}  // namespace quadrat::program
