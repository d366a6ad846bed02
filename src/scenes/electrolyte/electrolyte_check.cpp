// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/suggestion.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/io/electrolyte_scene.hpp"
#include "scenes/demands.hpp"

namespace quadrat::io {
namespace {

std::vector<ion_kind> kinds_of(const electrolyte_scene& scene) {
  if (!scene.ions.species.empty()) return scene.ions.species;
  return {{500, 1, 1, 1}, {500, -1, 1, 1}};
}

class electrolyte_checker : private scene_demands<electrolyte_scene> {
 public:
  using scene_demands::scene_demands;

  void run() const {
    all_finite();
    name();
    species();
    box();
    const auto& ions = scene_.ions;
    demand(ions.temperature >= 0, "ions.temperature", "is ", ions.temperature, ", but must not be negative");
    demand(ions.seed >= 0, "ions.seed", "is ", ions.seed, ", but must not be negative");
    electrostatics();
    physics();
    running();
    output();
    demand(scene_.camera.speed >= 0, "camera.speed", "is ", scene_.camera.speed, ", but must not be negative");
  }

 private:
  void species() const {
    constexpr std::size_t most_kinds = 64;
    const std::vector<ion_kind> kinds = kinds_of(scene_);
    demand(kinds.size() <= most_kinds, "ions.species", "has ", kinds.size(), " kinds; at most ", most_kinds,
           " are possible");
    double ions = 0, net = 0, sizes = 0;
    for (std::size_t k = 0; k < kinds.size(); ++k) {
      const ion_kind& kind = kinds[k];
      const auto one = [&](bool condition, const char* key, const auto& value, const char* wanted) {
        demand(condition, "ions.species", "has ", key, " = ", value, " for kind ", k, " (from 0), but it must be ",
               wanted);
      };
      one(kind.count >= 0, "count", kind.count, "0 or more");
      one(std::isfinite(kind.charge), "charge", kind.charge, "finite");
      one(kind.mass > 0 && std::isfinite(kind.mass), "mass", kind.mass, "positive and finite");
      one(kind.diameter > 0 && std::isfinite(kind.diameter), "diameter", kind.diameter, "positive and finite");
      ions += static_cast<double>(kind.count);
      net += static_cast<double>(kind.count) * kind.charge;
      sizes += static_cast<double>(kind.count) * std::fabs(kind.charge);
    }
    demand(ions >= 2, "ions.species", "has ", ions, " ions in all, but at least 2 are needed");
    demand(ions <= static_cast<double>(max_count), "ions.species", "has ", ions,
           " ions in all, but one simulation holds fewer than 2^31 (2147483648)");
    demand(sizes > 0 && std::isfinite(sizes), "ions.species", "has charges of which none, or too large ones, remain");
    demand(scene_.electrostatics.background || std::fabs(net) <= 1e-9 * sizes, "ions.species",
           "has charges that add up to ", net,
           ", but they must add up to 0 (or background = true in [electrostatics] balances them)");
  }

  void box() const {
    double largest = 0, count = 0, room = 1;
    for (const ion_kind& kind : kinds_of(scene_)) {
      largest = std::max(largest, kind.diameter);
      count += static_cast<double>(kind.count);
    }
    const double least = 2 * std::pow(2, 1.0 / 6) * largest;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double edge = scene_.box.size[axis];
      demand(edge >= least, "box.size", "is ", edge, " along ", "xyz"[axis], ", but must be at least ", least,
             ": 2^(7/6) of the largest diameter");
      room *= std::floor(edge / largest * (1 + 1e-12));
    }
    demand(count <= room, "ions.species", "has ", count, " ions, but the box holds only ", room,
           " on a lattice of spacing ", largest, ", the largest diameter; use fewer, a larger box or smaller ions");
  }

  void electrostatics() const {
    const auto& e = scene_.electrostatics;
    positive("electrostatics.coulomb_constant", e.coulomb_constant);
    demand(e.accuracy >= 1e-14 && e.accuracy <= 0.5, "electrostatics.accuracy", "is ", e.accuracy,
           ", but must lie between 1e-14 and 0.5");
    std::vector<std::string_view> names{"auto"};
    for (const method_info& method : electrostatics_methods()) names.push_back(method.name);
    demand(std::ranges::find(names, e.method) != names.end(), "electrostatics.method", "cannot be \"", e.method, "\"; ",
           detail::valid_names(names));
  }

  void physics() const {
    const auto& p = scene_.physics;
    positive("physics.time_step", p.time_step);
    positive("physics.repulsion", p.repulsion);
    demand(p.friction >= 0, "physics.friction", "is ", p.friction, ", but must not be negative");
    demand(p.equilibration >= 0, "physics.equilibration", "is ", p.equilibration, ", but must not be negative");
    demand(p.equilibration == 0 || p.dynamics == electrolyte_dynamics::verlet, "physics.equilibration",
           "belongs to dynamics = \"verlet\": with \"langevin\" all steps have a thermostat");
  }

  void positive(const std::string& key, double value) const {
    demand(value > 0, key, "is ", value, ", but must be positive");
  }
};

}  // namespace

void check(const electrolyte_scene& scene, const scene_places& places) { electrolyte_checker(scene, places).run(); }

void complete(electrolyte_scene& scene, const scene_places& places) {
  scene.ions.species = kinds_of(scene);
  complete_names(scene, places);
}

electrolyte_options options_of(const electrolyte_scene& scene) {
  electrolyte_options options;
  options.box = {scene.box.size[0], scene.box.size[1], scene.box.size[2]};
  for (const ion_kind& kind : kinds_of(scene)) {
    options.species.push_back({static_cast<std::size_t>(kind.count), kind.charge, kind.mass, kind.diameter});
  }
  options.coulomb_constant = scene.electrostatics.coulomb_constant;
  options.accuracy = scene.electrostatics.accuracy;
  options.method = scene.electrostatics.method;
  options.background = scene.electrostatics.background;
  options.repulsion = scene.physics.repulsion;
  options.temperature = scene.ions.temperature;
  options.dynamics = scene.physics.dynamics;
  options.friction = scene.physics.friction;
  options.equilibration = static_cast<std::uint64_t>(scene.physics.equilibration);
  options.time_step = scene.physics.time_step;
  options.seed = static_cast<std::uint64_t>(scene.ions.seed);
  return options;
}

}  // namespace quadrat::io
