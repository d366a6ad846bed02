// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <quadrat/core/array.hpp>
#include <quadrat/core/error.hpp>
#include <quadrat/ewald/electrostatics.hpp>
#include <quadrat/search/make_neighbor_list.hpp>
#include <quadrat/search/pair_histogram.hpp>
#include <quadrat/search/visit_list.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <random>
#include <string>
#include <vector>

// Molten NaCl: velocity Verlet, with Coulomb's forces from particle-mesh Ewald sums and the short-range forces from a
// neighbor list. The same for cpu_context and cuda_context. The crystal melts at 3000 K, is brought to 1200 K, and then
// runs at constant energy. Units: angstroms, femtoseconds, eV, elementary charges.

using vector = quadrat::vec<double, 3>;
using pair_sum = quadrat::interaction<double, 3>;

constexpr double coulomb_constant = 14.399645, boltzmann = 8.617333e-5,
                 gigapascal = 1 / 160.2177;                                 // eV A; eV/K; eV/A^3
constexpr double sodium = 22.990 * 103.6427, chlorine = 35.453 * 103.6427;  // masses, eV fs^2 / A^2
constexpr double temperature = 1200, dt = 1;
constexpr double ions_per_volume = 0.03066;  // 1.488 g/cm^3, the density of the melt at 1200 K and normal pressure
constexpr double cutoff = 9, skin = 1;

struct salt_options {
  int edge = 10;     // ions along an edge of the crystal that melts
  int steps = 4000;  // at constant energy
  std::string output = "rdf.csv";
};

inline salt_options options_of(int argc, char** argv) {
  salt_options options;
  if (argc > 1) options.edge = std::atoi(argv[1]);
  if (argc > 2) options.steps = std::atoi(argv[2]);
  if (argc > 3) options.output = argv[3];
  quadrat::require(options.edge >= 8 && options.edge <= 200 && options.edge % 2 == 0 && options.steps > 0 && argc <= 4,
                   "usage: molten_salt [ions along an edge: even, 8 to 200] [steps] [file for g(r)]");
  return options;
}

/// Fumi and Tosi, J. Phys. Chem. Solids 25, 31 and 45 (1964), of Na-Na, Na-Cl and Cl-Cl, by the sum of the species:
/// a exp((sigma - r) / rho) - c / r^6 - d / r^8. Zero at the cutoff.
struct born_mayer_huggins {
  struct parameters {
    double a, sigma, c, d, at_cutoff;
  };
  const std::uint32_t* species;  // 0: Na, 1: Cl
  parameters of_pair[3];

  explicit born_mayer_huggins(const std::uint32_t* of_ions)
      : species(of_ions),
        of_pair{{0.26370, 2.340, 1.0486, 0.4993, 0},
                {0.21096, 2.755, 6.9905, 8.6757, 0},
                {0.15822, 3.170, 72.402, 145.43, 0}} {
    for (parameters& p : of_pair) p.at_cutoff = value(p, cutoff * cutoff).energy;
  }
  struct value_and_slope {
    double energy, slope;  // slope: the derivative by the distance, divided by the distance
  };
  [[nodiscard]] QUADRAT_HD static value_and_slope value(const parameters& p, double rr) {
    constexpr double rho = 0.317;
    const double r = std::sqrt(rr), s = 1 / rr, s6 = s * s * s;
    const double repulsion = p.a * std::exp((p.sigma - r) / rho), c = p.c * s6, d = p.d * s6 * s;
    return {repulsion - c - d - p.at_cutoff, -repulsion / (rho * r) + (6 * c + 8 * d) * s};
  }
  QUADRAT_HD pair_sum operator()(quadrat::particle_id i, quadrat::particle_id j, const vector& r, double rr) const {
    const value_and_slope u = value(of_pair[species[i] + species[j]], rr);
    return quadrat::make_interaction(r, rr, u.energy, u.slope);
  }
};

QUADRAT_HD inline double mass(std::uint32_t species) { return species == 0 ? sodium : chlorine; }

struct kick {
  vector* velocities;
  const std::uint32_t* species;
  const pair_sum* short_range;
  const vector* coulomb;
  QUADRAT_HD void operator()(std::size_t i) const {
    velocities[i] += (short_range[i].force + coulomb[i]) * (dt / 2 / mass(species[i]));
  }
};
struct move {
  vector* positions;
  const vector* velocities;
  quadrat::box<double, 3> box;
  QUADRAT_HD void operator()(std::size_t i) const { positions[i] = box.wrap(positions[i] + velocities[i] * dt); }
};
struct scale {
  vector* velocities;
  double factor;
  QUADRAT_HD void operator()(std::size_t i) const { velocities[i] *= factor; }
};
struct kinetic_energy {
  const vector* velocities;
  const std::uint32_t* species;
  QUADRAT_HD double operator()(std::size_t i) const { return mass(species[i]) * squared_norm(velocities[i]) / 2; }
};

/// A system in the memory of a context.
template <typename Context>
class salt {
 public:
  salt(const Context& context, int edge) : context_(context) {
    const double spacing = std::cbrt(1 / ions_per_volume);
    std::mt19937_64 random(1);
    std::normal_distribution<double> normal(0, 1);
    std::vector<vector> start, motion;
    std::vector<std::uint32_t> species;
    std::vector<double> charges;
    for (int k = 0; k < edge * edge * edge; ++k) {
      const int x = k % edge, y = k / edge % edge, z = k / edge / edge;
      start.push_back(vector{x + 0.5, y + 0.5, z + 0.5} * spacing);
      species.push_back(static_cast<std::uint32_t>((x + y + z) % 2));
      charges.push_back(species.back() == 0 ? 1 : -1);
      const double speed = std::sqrt(boltzmann * temperature / mass(species.back()));
      motion.push_back(vector{normal(random), normal(random), normal(random)} * speed);
    }
    count_ = start.size();
    length_ = spacing * edge;
    box_ = quadrat::make_box<double, 3>({0, 0, 0}, {length_, length_, length_}, {true, true, true});
    cell_ = quadrat::make_lattice(box_);
    positions_ = to_device(context_, start);
    velocities_ = to_device(context_, motion);
    species_ = to_device(context_, species);
    charges_ = to_device(context_, charges);
    short_range_ = {context_, count_};
    total_ = {context_, 1};
    coulomb_forces_ = {context_, count_};
    coulomb_energy_ = {context_, 1};
    list_.emplace(make_neighbor_list(context_, box_, {.cutoff = cutoff, .skin = skin}));
    quadrat::electrostatics_options options;
    options.coulomb_constant = coulomb_constant;
    options.remove_net_force = true;
    coulomb_.emplace(context_, options);
    coulomb_->prepare(input());
    find_forces();
  }

  void step() {
    half_kick();
    for_each(context_, "move", count_, move{positions_.data(), velocities_.data(), box_});
    find_forces();
    half_kick();
    ++steps_;
  }
  [[nodiscard]] double kinetic() {
    return reduce_sum(context_, "kinetic", count_, kinetic_energy{velocities_.data(), species_.data()}, scratch_);
  }
  /// Rescales velocities to that temperature.
  void rescale(double kelvin) {
    const double wanted = 1.5 * boltzmann * kelvin * static_cast<double>(count_);
    for_each(context_, "scale", count_, scale{velocities_.data(), std::sqrt(wanted / kinetic())});
  }
  /// Prints a line; returns the energy of an ion.
  double report(const char* what) {
    coulomb_->check();
    const double n = static_cast<double>(count_), k = kinetic();
    const pair_sum pairs = to_host(context_, total_)[0];
    const double coulomb = to_host(context_, coulomb_energy_)[0], energy = (k + pairs.energy + coulomb) / n;
    // The virial of 1 / r is its energy.
    const double pressure = (2 * k + pairs.virial + coulomb) / (3 * length_ * length_ * length_) / gigapascal;
    std::printf("%s %6d: energy %.6f eV an ion, temperature %4.0f K, pressure %5.2f GPa\n", what, steps_, energy,
                2 * k / (3 * n * boltzmann), pressure);
    return energy;
  }
  void count_distances(quadrat::pair_histogram<Context, double, 3>& histogram) const {
    histogram.add(points_of(positions_.data(), count_), cell_, species_.data());
  }
  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] const quadrat::electrostatics_report& choice() const { return coulomb_->report(); }
  [[nodiscard]] int lists() const { return lists_; }

 private:
  [[nodiscard]] quadrat::electrostatics_input<double> input() const {
    quadrat::electrostatics_input<double> result;
    result.points = points_of(positions_.data(), count_);
    result.charges = charges_.data();
    result.cells = {&cell_, 1};
    return result;
  }
  void find_forces() {
    lists_ += list_->update(points_of(positions_.data(), count_)) ? 1 : 0;
    accumulate_pairs_async(*list_, short_range_.data(), total_.data(), born_mayer_huggins(species_.data()));
    quadrat::electrostatics_output<double> output;
    output.forces = coulomb_forces_.data();
    output.energy = coulomb_energy_.data();
    coulomb_->compute_async(input(), output);
  }
  void half_kick() {
    for_each(context_, "kick", count_,
             kick{velocities_.data(), species_.data(), short_range_.data(), coulomb_forces_.data()});
  }

  template <typename T>
  using array = quadrat::array<T, Context>;
  Context context_;
  std::size_t count_ = 0;
  double length_ = 0;
  int steps_ = 0, lists_ = 0;
  quadrat::box<double, 3> box_{};
  quadrat::lattice<double, 3> cell_{};
  array<vector> positions_, velocities_, coulomb_forces_;
  array<std::uint32_t> species_;
  array<double> charges_, coulomb_energy_;
  array<pair_sum> short_range_, total_;
  quadrat::workspace<Context> scratch_;
  std::optional<quadrat::neighbor_list<Context, double, 3>> list_;
  std::optional<quadrat::electrostatics<Context, double>> coulomb_;
};

inline void write_table(const std::string& file, const quadrat::pair_histogram_result& found) {
  std::FILE* const out = std::fopen(file.c_str(), "w");
  quadrat::require(out != nullptr, "cannot write ", file);
  std::fputs("r,NaNa,NaCl,ClCl\n", out);
  for (std::size_t bin = 0; bin < found.bins; ++bin) {
    const double* const g = found.rdf.data() + bin;
    std::fprintf(out, "%.4f,%.5f,%.5f,%.5f\n", found.center(bin), g[0], g[found.bins], g[2 * found.bins]);
  }
  std::fclose(out);
}

inline double highest(const quadrat::pair_histogram_result& found, std::size_t curve) {
  std::size_t at = 0;
  for (std::size_t bin = 0; bin < found.bins; ++bin) {
    if (found.rdf[curve * found.bins + bin] > found.rdf[curve * found.bins + at]) at = bin;
  }
  return found.center(at);
}

template <typename Context>
int run(const Context& context, const salt_options& options) {
  salt<Context> system(context, options.edge);
  const auto& chosen = system.choice();
  std::printf("%zu ions; Coulomb's forces by %s: cutoff %.2f, splitting %.3f, mesh %d^3, order %d\n", system.size(),
              chosen.method.data(), chosen.parameters.cutoff, chosen.parameters.splitting, chosen.parameters.mesh[0],
              chosen.parameters.order);
  for (const double kelvin : {3000.0, temperature}) {
    for (int k = 0; k < options.steps / 4; ++k) {
      if (k % 10 == 0) system.rescale(kelvin);
      system.step();
    }
    (void)system.report(kelvin > temperature ? "melting" : "cooling");
  }
  quadrat::pair_histogram<Context, double, 3> histogram(context, {.cutoff = 12, .bins = 240, .types = 2});
  const double first = system.report("running");
  double last = first;
  for (int k = 1; k <= options.steps; ++k) {
    system.step();
    if (k % 10 == 0) system.count_distances(histogram);
    if (k % 500 == 0 || k == options.steps) last = system.report("running");
  }
  const double drift = (last - first) / (boltzmann * temperature);
  std::printf("drift of the energy: %.1e kT an ion in %d steps; %d neighbor lists\n", drift, options.steps,
              system.lists());
  if (options.steps < 10) return 0;
  const auto found = histogram.result();
  write_table(options.output, found);
  std::printf("g(r) is highest at %.2f (Na-Cl), %.2f (Na-Na) and %.2f (Cl-Cl) angstroms; %s has all of it\n",
              highest(found, 1), highest(found, 0), highest(found, 2), options.output.c_str());
  return std::fabs(drift) < 5e-3 ? 0 : 1;
}
