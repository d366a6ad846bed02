// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <quadrat/core/array.hpp>
#include <quadrat/core/error.hpp>
#include <quadrat/ewald/electrostatics.hpp>
#include <quadrat/search/make_neighbor_list.hpp>
#include <quadrat/search/visit_list.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numbers>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "settle.hpp"

// Molecular dynamics of rigid water, SPC/E: velocity Verlet with SETTLE. One pass over the pairs of a neighbor list
// gives the forces of Lennard-Jones and the short-range forces of charges, without the pairs of a molecule; a mesh
// gives the rest. The same for cpu_context and cuda_context. Positions and velocities are in double precision, forces
// in T. Units: angstroms, femtoseconds, kJ/mol, elementary charges, g/mol. Atoms are O, H, H of each molecule in turn.

namespace water {

// H. Berendsen, J. Grigera, T. Straatsma, J. Phys. Chem. 91, 6269 (1987), Table 1: bonds of 1 angstrom and the angle of
// a tetrahedron, which settle.hpp has.
constexpr double oxygen_charge = -0.8476, hydrogen_charge = 0.4238;
constexpr double sigma = 3.166, epsilon = 0.650;
constexpr double coulomb_constant = 1389.35457644, boltzmann = 0.00831446262;  // kJ/mol angstrom; kJ/mol/K
constexpr double molecules_per_volume = 0.602214076 / 18.0154;                 // 1 g/cm^3
constexpr double cutoff = 9, skin = 1, temperature = 298, dt = 2;

struct water_options {
  int edge = 12;  // molecules along an edge of the lattice at the start
  int steps = 2000;
  bool single_precision = true;
  double accuracy = 1e-4;  // of electrostatic forces
  std::string output{};    // of the last positions and forces
};

inline water_options options_of(int argc, char** argv) {
  water_options options;
  if (argc > 1) options.edge = std::atoi(argv[1]);
  if (argc > 2) options.steps = std::atoi(argv[2]);
  const std::string_view precision = argc > 3 ? argv[3] : "float";
  options.single_precision = precision == "float";
  if (argc > 4) options.accuracy = std::atof(argv[4]);
  if (argc > 5) options.output = argv[5];
  quadrat::require(options.edge >= 8 && options.edge <= 200 && options.steps >= 0 && argc <= 6 &&
                       (precision == "float" || precision == "double"),
                   "usage: water [molecules along an edge: 8 to 200] [steps] [float or double] [accuracy of "
                   "electrostatic forces] [file for positions and forces]");
  return options;
}

/// Both interactions of a pair, and the exclusion of pairs in a molecule.
template <typename T>
struct water_pair {
  quadrat::ewald_pair<T> coulomb;

  QUADRAT_HD quadrat::interaction<T, 3> operator()(quadrat::particle_id i, quadrat::particle_id j,
                                                   const quadrat::vec<T, 3>& r, T rr) const {
    const bool oxygen_i = i % 3 == 0, oxygen_j = j % 3 == 0;
    const T q = (oxygen_i ? T(oxygen_charge) : T(hydrogen_charge)) * (oxygen_j ? T(oxygen_charge) : T(hydrogen_charge));
    if (i / 3 == j / 3) {
      const auto excluded = coulomb.at(rr, T(0));
      return quadrat::make_interaction(r, rr, q * excluded.energy, 2 * q * excluded.slope);
    }
    const auto charges = coulomb.at(rr);
    T energy = q * charges.energy, slope = 2 * q * charges.slope;
    if (oxygen_i && oxygen_j && rr < T(cutoff * cutoff)) {
      const T s = T(sigma * sigma) / rr, s6 = s * s * s;
      energy += T(4 * epsilon) * s6 * (s6 - 1);
      slope -= T(24 * epsilon) * s6 * (2 * s6 - 1) / rr;
    }
    return quadrat::make_interaction(r, rr, energy, slope);
  }
};

/// The energy of Lennard-Jones beyond the cutoff, where oxygens have their mean density.
[[nodiscard]] inline double dispersion_correction(std::size_t molecules, double volume) {
  const double n = static_cast<double>(molecules), s3 = std::pow(sigma / cutoff, 3);
  return 8 * std::numbers::pi * n * n / volume * epsilon * std::pow(sigma, 3) * (s3 * s3 * s3 / 9 - s3 / 3);
}

/// What the kernels below read and write. Index of each kernel: molecule.
template <typename T>
struct molecules_view {
  vector* positions;
  vector* velocities;
  quadrat::vec<T, 3>* points;  ///< positions, rounded for the forces
  const quadrat::interaction<T, 3>* pairs;
  const quadrat::vec<T, 3>* mesh;
  quadrat::box<double, 3> box;

  QUADRAT_HD void half_kick(std::size_t m) const {
    for (std::size_t k = 0; k < 3; ++k) {
      const auto force = quadrat::cast<double>(pairs[3 * m + k].force) + quadrat::cast<double>(mesh[3 * m + k]);
      velocities[3 * m + k] +=
          force * (dt / 2 * 1e-4 / mass_of(static_cast<int>(k)));  // 1 kJ/mol = 1e-4 g/mol angstrom^2/fs^2
    }
  }
};
template <typename T>
struct kick_and_move {
  molecules_view<T> of;
  QUADRAT_HD void operator()(std::size_t m) const {
    of.half_kick(m);
    vector* const x = of.positions + 3 * m;
    vector* const v = of.velocities + 3 * m;
    const vector before[3] = {x[0], x[1], x[2]};
    vector free[3], after[3];
    for (int k = 0; k < 3; ++k) free[k] = after[k] = before[k] + v[k] * dt;
    settle_positions(before, after);
    const vector wrap = of.box.wrap(after[0]) - after[0];  // molecules stay whole
    for (int k = 0; k < 3; ++k) {
      v[k] += (after[k] - free[k]) / dt;
      x[k] = after[k] + wrap;
      of.points[3 * m + static_cast<std::size_t>(k)] = quadrat::cast<T>(x[k]);
    }
  }
};
template <typename T>
struct kick_and_settle {
  molecules_view<T> of;
  QUADRAT_HD void operator()(std::size_t m) const {
    of.half_kick(m);
    settle_velocities(of.positions + 3 * m, of.velocities + 3 * m);
  }
};
struct project_velocities {
  const vector* positions;
  vector* velocities;
  QUADRAT_HD void operator()(std::size_t m) const { settle_velocities(positions + 3 * m, velocities + 3 * m); }
};
struct scale {
  vector* velocities;
  double factor;
  QUADRAT_HD void operator()(std::size_t i) const { velocities[i] *= factor; }
};
struct kinetic_energy {
  const vector* velocities;
  QUADRAT_HD double operator()(std::size_t i) const {
    return mass_of(static_cast<int>(i % 3)) * 1e4 * squared_norm(velocities[i]) / 2;
  }
};
/// The largest relative error of the three distances.
struct distance_error {
  const vector* positions;
  QUADRAT_HD double operator()(std::size_t m) const {
    double most = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      const double error =
          std::fabs(norm(positions[3 * m + (k + 1) % 3] - positions[3 * m + k]) / distance_of(static_cast<int>(k)) - 1);
      most = error > most ? error : most;
    }
    return most;
  }
};

struct energies {
  double kinetic = 0, pairs = 0, mesh = 0, dispersion = 0;
  [[nodiscard]] double potential() const { return pairs + mesh + dispersion; }
  [[nodiscard]] double total() const { return kinetic + potential(); }
};

/// Positions and velocities at the start: a lattice of molecules, turned at random.
struct start {
  double length;
  std::vector<vector> positions, velocities;

  explicit start(int edge) : length(edge / std::cbrt(molecules_per_volume)) {
    std::mt19937_64 random(1);
    const auto uniform = [&] { return (static_cast<double>(random() >> 11) + 0.5) * 0x1p-53; };
    const auto normal = [&] {
      return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * std::numbers::pi * uniform());
    };
    const auto random_vector = [&] { return vector{normal(), normal(), normal()}; };
    vector momentum{};
    for (int m = 0; m < edge * edge * edge; ++m) {
      const vector place{m % edge + 0.5, m / edge % edge + 0.5, m / edge / edge + 0.5};
      const vector oxygen = place * (length / edge), axis = unit(random_vector());
      const vector side = unit(cross(axis, random_vector()));
      const vector middle = oxygen + axis * hydrogen_height, half = side * (hydrogen_distance / 2);
      positions.insert(positions.end(), {oxygen, middle + half, middle - half});
      for (int k = 0; k < 3; ++k) {
        velocities.push_back(random_vector() * std::sqrt(boltzmann * temperature * 1e-4 / mass_of(k)));
        momentum += velocities.back() * mass_of(k);
      }
    }
    const double mass = molecule_mass * std::pow(edge, 3);
    for (vector& velocity : velocities) velocity -= momentum / mass;
  }
};

/// A liquid in the memory of a context.
template <typename Context, typename T>
class liquid {
 public:
  liquid(const Context& context, int edge, double accuracy) : context_(context) {
    const start from(edge);
    count_ = from.positions.size();
    length_ = from.length;
    box_ = quadrat::make_box<double, 3>({0, 0, 0}, {length_, length_, length_}, {true, true, true});
    const auto edge_t = static_cast<T>(length_);
    const auto box = quadrat::make_box<T, 3>({0, 0, 0}, {edge_t, edge_t, edge_t}, {true, true, true});
    cell_ = quadrat::make_lattice(box);
    positions_ = to_device(context_, from.positions);
    velocities_ = to_device(context_, from.velocities);
    std::vector<quadrat::vec<T, 3>> points;
    std::vector<T> charges;
    for (std::size_t i = 0; i < count_; ++i) {
      points.push_back(quadrat::cast<T>(from.positions[i]));
      charges.push_back(static_cast<T>(i % 3 == 0 ? oxygen_charge : hydrogen_charge));
    }
    points_ = to_device(context_, points);
    charges_ = to_device(context_, charges);
    pairs_ = {context_, count_};
    total_ = {context_, 1};
    mesh_ = {context_, count_};
    mesh_energy_ = {context_, 1};
    quadrat::electrostatics_options options;
    options.accuracy = accuracy;
    options.coulomb_constant = coulomb_constant;
    options.parameters.cutoff = cutoff;  // that of Lennard-Jones, so that one list has all pairs
    options.parts = quadrat::ewald_parts::long_range;
    coulomb_.emplace(context_, options);
    coulomb_->prepare(input());
    // Half lists are faster on CPUs, full lists on GPUs.
    constexpr bool on_cpu = std::is_same_v<Context, quadrat::cpu_context>;
    list_.emplace(
        make_neighbor_list(context_, box,
                           {.cutoff = T(cutoff),
                            .skin = T(skin),
                            .pairs = on_cpu ? quadrat::neighbor_pairs::half : quadrat::neighbor_pairs::full}));
    for_each(context_, "water.project", count_ / 3, project_velocities{positions_.data(), velocities_.data()});
    find_forces();
  }

  void step() {
    for_each(context_, "water.move", count_ / 3, kick_and_move<T>{view()});
    find_forces();
    for_each(context_, "water.settle", count_ / 3, kick_and_settle<T>{view()});
  }
  [[nodiscard]] energies measure() {
    coulomb_->check();
    energies result;
    result.kinetic = reduce_sum(context_, "water.kinetic", count_, kinetic_energy{velocities_.data()}, scratch_);
    result.pairs = static_cast<double>(to_host(context_, total_)[0].energy);
    result.mesh = to_host(context_, mesh_energy_)[0];
    result.dispersion = dispersion_correction(count_ / 3, length_ * length_ * length_);
    return result;
  }
  [[nodiscard]] double kelvin(const energies& of) const {  // 6 degrees of freedom of each molecule
    return 2 * of.kinetic / (boltzmann * (2 * static_cast<double>(count_) - 3));
  }
  /// Rescales velocities to the temperature.
  void rescale() {
    const double factor = std::sqrt(temperature / kelvin(measure()));
    for_each(context_, "water.scale", count_, scale{velocities_.data(), factor});
  }
  [[nodiscard]] double constraint_error() {
    return reduce(context_, "water.distances", count_ / 3, distance_error{positions_.data()},
                  quadrat::maximum_operation{}, 0.0, scratch_);
  }
  [[nodiscard]] std::vector<vector> positions() const { return to_host(context_, positions_); }
  [[nodiscard]] std::vector<vector> forces() const {
    const auto pairs = to_host(context_, pairs_);
    const auto mesh = to_host(context_, mesh_);
    std::vector<vector> result;
    for (std::size_t i = 0; i < count_; ++i) {
      result.push_back(quadrat::cast<double>(pairs[i].force) + quadrat::cast<double>(mesh[i]));
    }
    return result;
  }
  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] double length() const { return length_; }
  [[nodiscard]] int lists() const { return lists_; }
  [[nodiscard]] const quadrat::electrostatics_report& choice() const { return coulomb_->report(); }

 private:
  [[nodiscard]] quadrat::electrostatics_input<T> input() const {
    quadrat::electrostatics_input<T> result;
    result.points = points_of(points_.data(), count_);
    result.charges = charges_.data();
    result.cells = {&cell_, 1};
    return result;
  }
  void find_forces() {
    lists_ += list_->update(points_of(points_.data(), count_)) ? 1 : 0;
    accumulate_pairs_async(*list_, pairs_.data(), total_.data(), water_pair<T>{coulomb_->pair()});
    quadrat::electrostatics_output<T> output;
    output.forces = mesh_.data();
    output.energy = mesh_energy_.data();
    coulomb_->compute_async(input(), output);
  }
  [[nodiscard]] molecules_view<T> view() {
    return {positions_.data(), velocities_.data(), points_.data(), pairs_.data(), mesh_.data(), box_};
  }

  template <typename Element>
  using array = quadrat::array<Element, Context>;
  Context context_;
  std::size_t count_ = 0;
  double length_ = 0;
  int lists_ = 0;
  quadrat::box<double, 3> box_{};
  quadrat::lattice<T, 3> cell_{};
  array<vector> positions_, velocities_;
  array<quadrat::vec<T, 3>> points_, mesh_;
  array<T> charges_;
  array<double> mesh_energy_;
  array<quadrat::interaction<T, 3>> pairs_, total_;
  quadrat::workspace<Context> scratch_;
  std::optional<quadrat::neighbor_list<Context, T, 3>> list_;
  std::optional<quadrat::electrostatics<Context, T>> coulomb_;
};

/// JSON: energies, and arrays of 3 numbers for each atom.
template <typename Liquid>
void write_state(Liquid& liquid, double steps_per_second, const std::string& file) {
  std::FILE* const out = std::fopen(file.c_str(), "w");
  quadrat::require(out != nullptr, "cannot write ", file);
  const energies found = liquid.measure();
  std::fprintf(out, "{\"length\": %.17g, \"pairs\": %.17g, \"mesh\": %.17g, \"dispersion\": %.17g", liquid.length(),
               found.pairs, found.mesh, found.dispersion);
  std::fprintf(out, ", \"steps_per_second\": %.6g", steps_per_second);
  const auto write = [&](const char* name, const std::vector<vector>& values) {
    std::fprintf(out, ",\n\"%s\": [", name);
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::fprintf(out, "%s[%.17g, %.17g, %.17g]", i == 0 ? "" : ",\n", values[i][0], values[i][1], values[i][2]);
    }
    std::fputs("]", out);
  };
  write("positions", liquid.positions());
  write("forces", liquid.forces());
  std::fputs("}\n", out);
  const bool written = std::ferror(out) == 0;
  quadrat::require(std::fclose(out) == 0 && written, "cannot write ", file);
}

template <typename T, typename Context>
int run_with(const Context& context, const water_options& options) {
  liquid<Context, T> system(context, options.edge, options.accuracy);
  const auto& chosen = system.choice();
  const double molecules = static_cast<double>(system.size()) / 3;
  std::printf("%.0f molecules; charges by %s: mesh %d^3, order %d, predicted error %.1e\n", molecules,
              chosen.method.data(), chosen.parameters.mesh[0], chosen.parameters.order, chosen.error);
  const auto report = [&](int step) {
    const energies found = system.measure();
    std::printf("step %6d: pairs %.4f, mesh %.4f, dispersion %.4f, kinetic %.4f, total %.5f kJ/mol; %.1f K\n", step,
                found.pairs / molecules, found.mesh / molecules, found.dispersion / molecules,
                found.kinetic / molecules, found.total() / molecules, system.kelvin(found));
    return found.total() / molecules;
  };
  for (int k = 0; k < options.steps; ++k) {  // the lattice melts
    if (k % 10 == 0) system.rescale();
    system.step();
  }
  const double first = report(0);
  double last = first;
  const int lists = system.lists();
  const auto began = std::chrono::steady_clock::now();
  for (int k = 1; k <= options.steps; ++k) {
    system.step();
    if (k % 500 == 0 || k == options.steps) last = report(k);
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - began;
  const double rate = options.steps / std::max(seconds.count(), 1e-9), error = system.constraint_error();
  const double drift = (last - first) / (boltzmann * temperature);
  std::printf(
      "%.1f steps a second, %d neighbor lists; drift of the energy %.1e kT a molecule in %.1f ps; distances in "
      "molecules are right to %.1e\n",
      rate, system.lists() - lists, drift, options.steps * dt / 1000, error);
  if (!options.output.empty()) write_state(system, rate, options.output);
  return std::fabs(drift) < 2e-2 && error < 1e-6 ? 0 : 1;
}

template <typename Context>
int run(const Context& context, const water_options& options) {
  return options.single_precision ? run_with<float>(context, options) : run_with<double>(context, options);
}

}  // namespace water
