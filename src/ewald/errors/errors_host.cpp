// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <numeric>
#include <vector>

#include "ewald/choice/choice.hpp"
#include "ewald/errors/error_model.hpp"
#include "mesh/window_fit.hpp"

namespace quadrat::detail {

namespace {

/// The sum of fourth powers, at least that of equal charges.
[[nodiscard]] double fourth_powers(const charged_system& system) {
  return std::max(system.sum_of_fourth_powers, system.sum_of_squares * system.sum_of_squares / system.points);
}

/// The integral of a function of the distance and the short-range force over all space beyond the cutoff.
template <typename F>
[[nodiscard]] double beyond_cutoff(const ewald_splitting& splitting, const F& f) {
  // The force decays as exp(-alpha^2 r^2): nodes in w, with r^2 = cutoff^2 + w / (2 alpha^2).
  const double rc = splitting.cutoff(), rate = 2 * splitting.parameter() * splitting.parameter();
  constexpr double far = 32;
  double sum = 0;
  for (const quadrature_node& node : quadrature(16)) {
    const double r = std::sqrt(rc * rc + far * (0.5 + node.place) / rate);
    sum += node.weight * far / (2 * rate) * 4 * pi * r * f(r, splitting.short_range_force(r));
  }
  return sum;
}

/// The integral of the squared force (the closed form of Kolafa and Perram 1992 is its leading term).
[[nodiscard]] double force_beyond_cutoff(const ewald_splitting& splitting) {
  return beyond_cutoff(splitting, [](double, double force) { return force * force; });
}

/// The margin for an error with few sources, where the mean over arrangements says little about a single one: a count
/// with mean n rarely exceeds n + 4 sqrt(n) + 4.
[[nodiscard]] double margin_of_few(double n) { return 1 + 4 / std::sqrt(n) + 4 / n; }

/// The approximate number of modes that make most of the error of omitting those beyond `last`: some planes at each
/// face, and the middle of each plane, because the transform falls as exp(-k^2 / 4 alpha^2).
[[nodiscard]] double modes_at_edge(const charged_system& system, const vec<int, 3>& last, double alpha) {
  vec<double, 3> spacing{};
  for (int a = 0; a < 3; ++a) spacing[a] = 2 * pi / norm(system.vectors[a]);
  double modes = 0;
  for (int a = 0; a < 3; ++a) {
    const double across = 4 * pi * alpha * alpha / (spacing[(a + 1) % 3] * spacing[(a + 2) % 3]);
    const double planes = 2 * alpha * alpha / ((last[a] + 1) * spacing[a] * spacing[a]);
    modes += std::max(1.0, across) * std::max(1.0, planes);
  }
  return modes;
}

/// The volume at distances of about the cutoff, from which errors come, over that of the cell.
[[nodiscard]] double cutoff_shell(const charged_system& system, double cutoff, double alpha) {
  return pi * cutoff / (alpha * alpha) / system.volume();
}

/// Within such a shell a cluster has no more points than all of them.
[[nodiscard]] double crowding_at_cutoff(const charged_system& system, double shell) {
  return std::clamp(system.crowding, 1.0, 1 + 1 / shell);
}

/// A charged cluster acts as a whole, and clusters differ.
[[nodiscard]] double weight_of_clusters(const charged_system& system, double crowding) {
  return crowding * std::min(crowding, 2.0) * system.coherence;
}

/// The factor from the mean square error of the force between two unit charges to that of a charge's force, in units of
/// the reference force. Charges at random places add as squares.
[[nodiscard]] double pair_weight(const charged_system& system, pair_law law, double cutoff, double alpha) {
  const double squares = system.sum_of_squares, reference = system.reference_force(law);
  if (!(reference > 0)) return 0;
  const double shell = cutoff_shell(system, cutoff, alpha), crowding = crowding_at_cutoff(system, shell);
  const double fourth = fourth_powers(system), charges = squares * squares / fourth;
  const double pairs = std::max(0.5 * charges * (charges - 1), 0.5) * std::min(1.0, shell * crowding);
  const double few = margin_of_few(pairs), force = error_margin / reference;
  const double random = squares * squares - fourth;
  return std::max(0.0, random) / system.points * weight_of_clusters(system, crowding) * few * force * force;
}

}  // namespace

double gaussian_splitting(split_shape shape, double cutoff, double parameter) {
  if (shape == split_shape::gaussian) return parameter;
  return std::sqrt(parameter / 2) / cutoff;  // psi is about exp(-c x^2 / 2)
}

double charged_system::volume() const { return std::fabs(dot(vectors[0], cross(vectors[1], vectors[2]))); }

double charged_system::crowding_within(double distance) const {
  if (wider_crowding.empty()) return std::max(1.0, crowding);
  // A sphere has the volume of a cube of 1.6 times its radius. Between two sizes of boxes, a power law.
  const double size = std::log2(std::max(1.0, 1.6 * distance / box));
  const auto at = [&](std::size_t i) {
    return i == 0 ? std::max(1.0, crowding) : i > wider_crowding.size() ? 1.0 : std::max(1.0, wider_crowding[i - 1]);
  };
  const auto below = static_cast<std::size_t>(size);
  return at(below) * std::pow(at(below + 1) / at(below), size - static_cast<double>(below));
}

double charged_system::reference_force(pair_law law) const {
  if (points == 0) return 0;
  return sum_of_squares / points / std::pow(std::cbrt(volume() / points), law == pair_law::coulomb ? 2 : 7);
}

double ewald_errors::total() const { return std::hypot(short_range, mesh); }

double short_range_error(const ewald_splitting& splitting, const charged_system& system) {
  if (splitting.shape() == split_shape::prolate) return 0;
  const double weight = pair_weight(system, splitting.law(), splitting.cutoff(), splitting.parameter());
  return std::sqrt(weight * force_beyond_cutoff(splitting) / system.volume());
}

/// Mean square of the force between two unit charges due to the modes above c / cutoff.
[[nodiscard]] static double left_out_square(double cutoff, double band, const charged_system& system) {
  return 16 * pi * band * std::exp(-2 * band) * (1 - 0.25 / band) / (system.volume() * cutoff);
}

double left_out_error(double cutoff, double band, const charged_system& system) {
  const double alpha = gaussian_splitting(split_shape::prolate, cutoff, band);
  return std::sqrt(pair_weight(system, pair_law::coulomb, cutoff, alpha) * left_out_square(cutoff, band, system));
}

namespace {

/// Larger if few modes make the error.
[[nodiscard]] mesh_force_errors mesh_force_errors_of(const split_spectrum& spectrum, const window_aliases* window,
                                                     const vec<int, 3>& mesh, const charged_system& system,
                                                     double cutoff, double alpha, int nodes) {
  mesh_force_errors errors{};
  double scatter = 0;
  if (window != nullptr) {
    // On a fine mesh the longest waves make most of the error. The boxes of `crowding` are too small to show them.
    const double crowding = crowding_at_cutoff(system, cutoff_shell(system, cutoff, alpha));
    const double long_waves = std::max(1.0, system.long_waves) / weight_of_clusters(system, crowding);
    errors = mesh_errors(spectrum, *window, system.vectors, mesh, long_waves, nodes);
    // Aliases of more modes scatter less. Most come from modes at the edge; on a fine mesh, from the longest waves.
    scatter = std::max(8 / modes_at_edge(system, mesh / 2, alpha), 2 * errors.scatter);
  } else {
    errors = truncation_errors(spectrum, system.vectors, cast<double>(mesh) + vec<double, 3>::filled(0.5));
    scatter = 20 / modes_at_edge(system, mesh, alpha);  // few modes scatter
  }
  errors.pair *= 1 + scatter;
  errors.energies.energy *= 1 + scatter;
  errors.energies.virial *= 1 + scatter;
  return errors;
}

}  // namespace

double mesh_error(const ewald_splitting& splitting, const split_spectrum& spectrum, const window_aliases* window,
                  const vec<int, 3>& mesh, const charged_system& system, int nodes) {
  const double squares = system.sum_of_squares, reference = system.reference_force(splitting.law());
  if (!(reference > 0)) return 0;
  const double rc = splitting.cutoff(), band = splitting.parameter();
  const double alpha = gaussian_splitting(splitting.shape(), rc, band);
  const mesh_force_errors errors = mesh_force_errors_of(spectrum, window, mesh, system, rc, alpha, nodes);
  // The force of a charge on itself: at most twice the mean square, if all charges are at the worst places.
  const double fourth = fourth_powers(system), margin = error_margin / reference;
  // ... and of a cluster's charge on each of its own.
  const double together = 1 + (system.coherence - 1) * system.companions;
  const double self = fourth / system.points * (1 + std::sqrt(fourth) / squares) * together * margin * margin;
  const double left_out = splitting.shape() == split_shape::prolate ? left_out_error(rc, band, system) : 0;
  return std::sqrt(pair_weight(system, splitting.law(), rc, alpha) * errors.pair + self * errors.self +
                   left_out * left_out);
}

namespace {

/// Adds the error of the modes that a prolate splitting omits.
void add_left_out(const ewald_splitting& splitting, const split_spectrum& spectrum, const charged_system& system,
                  mesh_energy_errors& pair) {
  const double rc = splitting.cutoff();
  // The omitted modes: the force over the wave number, and times the cutoff.
  const double band = splitting.parameter(), largest = band / rc;
  const double square = left_out_square(rc, band, system) * rc * rc;
  pair.energy += square / (band * band);
  pair.virial += square;
  // Beyond the largest mode the transform continues with its last value, in waves of length pi / cutoff. For ordered
  // charges, the omitted part is in few reflections, as much as in a shell of this width. In measured lattices the
  // virial is ten times that, because it depends on the phase of the waves.
  constexpr double reflections = 10;
  const double edge = spectrum.at(0.999999 * largest * largest) / (2 * pi * pi * rc);
  pair.self_energy += edge;
  pair.self_virial += reflections * band * edge;
}

/// Adds the error of the pairs that a Gaussian splitting omits. Returns the energy and virial of a charge from all
/// others, if these are evenly spread.
[[nodiscard]] vec<double, 2> add_beyond_cutoff(const ewald_splitting& splitting, const charged_system& system,
                                               mesh_energy_errors& pair) {
  const double volume = system.volume();
  // Beyond the cutoff the energy is about the force over its decay.
  const double rate = 2 * splitting.parameter() * splitting.parameter();
  const auto energy = [&](double r, double force) { return force / (rate * r); };
  const auto virial = [](double r, double force) { return force * r; };
  const auto integral = [&](const auto& of, int power) {
    return beyond_cutoff(splitting, [&](double r, double force) { return std::pow(of(r, force), power); }) / volume;
  };
  pair.energy += integral(energy, 2);
  pair.virial += integral(virial, 2);
  return std::fabs(system.net_charge) * vec<double, 2>{integral(energy, 1), integral(virial, 1)};
}

}  // namespace

ewald_errors energy_errors(const ewald_splitting& splitting, const split_spectrum& spectrum,
                           const window_aliases* window, const vec<int, 3>& mesh, const charged_system& system) {
  const double reference = system.reference_force(splitting.law());
  if (!(reference > 0)) return {};
  const double rc = splitting.cutoff(), spacing = std::cbrt(system.volume() / system.points);
  const double alpha = gaussian_splitting(splitting.shape(), rc, splitting.parameter());
  mesh_energy_errors pair = mesh_force_errors_of(spectrum, window, mesh, system, rc, alpha, 8).energies;
  vec<double, 2> mean{};
  if (splitting.shape() == split_shape::prolate) {
    add_left_out(splitting, spectrum, system, pair);
  } else {
    mean = add_beyond_cutoff(splitting, system, pair);
  }
  // A charge gets half of each pair's energy.
  const double fourth = fourth_powers(system) / system.points, squares = system.sum_of_squares / system.points;
  const double weight = pair_weight(system, splitting.law(), rc, alpha) * reference * reference;
  constexpr double order = 1.5;  // for ordered neighbors in crystals and melts, whose errors add up
  const double margin = order * error_margin / (2 * reference * spacing);
  const auto total = [&](double square, double self, double ripple, double all) {
    return std::sqrt(weight * square / (error_margin * error_margin) + fourth * (self * self + ripple) +
                     squares * all * all) *
           margin;
  };
  ewald_errors errors;
  errors.energy = total(pair.energy, pair.self_energy, pair.self_ripple, mean[0]);
  errors.virial = total(pair.virial, pair.self_virial, pair.self_ripple, mean[1]);
  return errors;
}

double window_band(int order, double splitting) { return std::min(1.2 * splitting + 2.6, 0.95 * pi * order); }

split_shape split_shape_of(std::string_view method) {
  return method == "esp" ? split_shape::prolate : split_shape::gaussian;
}

template <typename T>
mesh_window<T> window_of(const ewald_setup& setup) {
  const int order = setup.parameters.order;
  if (split_shape_of(setup.method) == split_shape::gaussian) return bspline_window<T>(order);
  const double band = window_band(order, setup.parameters.splitting);
  return prolate_window<T>(order, band, 0.02 * prolate_function(band)(1));
}

template mesh_window<float> window_of(const ewald_setup& setup);
template mesh_window<double> window_of(const ewald_setup& setup);

/// The systems that may have the largest error: all, if there are few.
[[nodiscard]] static std::vector<std::size_t> suspects(const ewald_setup& setup,
                                                       const std::vector<charged_system>& systems) {
  constexpr std::size_t most = 16;
  std::vector<std::size_t> numbers(systems.size());
  std::iota(numbers.begin(), numbers.end(), std::size_t{0});
  if (systems.size() <= most) return numbers;
  const double rc = setup.parameters.cutoff;
  const double alpha = gaussian_splitting(split_shape_of(setup.method), rc, setup.parameters.splitting);
  std::vector<double> sparse, coarse;  // grow with the errors of the short-range part, and of the mesh
  for (const charged_system& it : systems) {
    double spacing = 0;
    for (int axis = 0; axis < 3; ++axis) spacing += std::pow(norm(it.vectors[axis]) / setup.parameters.mesh[axis], 8);
    sparse.push_back(pair_weight(it, setup.law, rc, alpha) / it.volume());
    coarse.push_back(sparse.back() * spacing);
  }
  std::vector<std::size_t> chosen;
  for (const auto* key : {&sparse, &coarse}) {
    std::partial_sort(numbers.begin(), numbers.begin() + most / 2, numbers.end(),
                      [&](std::size_t a, std::size_t b) { return (*key)[a] > (*key)[b]; });
    chosen.insert(chosen.end(), numbers.begin(), numbers.begin() + most / 2);
  }
  return chosen;
}

largest_errors predicted_errors(const ewald_setup& setup, const std::vector<charged_system>& systems) {
  const ewald_parameters& given = setup.parameters;
  const split_shape shape = split_shape_of(setup.method);
  const ewald_splitting splitting(setup.law, shape, given.cutoff, given.splitting);
  const split_spectrum spectrum(splitting);
  std::unique_ptr<window_aliases> prolate;
  if (shape == split_shape::prolate) {
    prolate = prolate_aliases(given.order, window_band(given.order, given.splitting));
  }
  const window_aliases* window = setup.method == "direct"        ? nullptr
                                 : shape == split_shape::prolate ? prolate.get()
                                                                 : &bspline_aliases(given.order);
  largest_errors largest;
  double energy = 0, virial = 0;
  for (const std::size_t i : suspects(setup, systems)) {
    const ewald_errors errors{short_range_error(splitting, systems[i]),
                              mesh_error(splitting, spectrum, window, given.mesh, systems[i], 8)};
    if (errors.total() > largest.errors.total()) largest = {errors, i};
    const ewald_errors energies = energy_errors(splitting, spectrum, window, given.mesh, systems[i]);
    energy = std::max(energy, energies.energy);
    virial = std::max(virial, energies.virial);
  }
  largest.errors.energy = energy;
  largest.errors.virial = virial;
  return largest;
}

ewald_errors predicted_errors(const ewald_setup& setup, const charged_system& system) {
  return predicted_errors(setup, std::vector<charged_system>{system}).errors;
}

}  // namespace quadrat::detail
