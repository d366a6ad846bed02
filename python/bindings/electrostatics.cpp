// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/ewald/electrostatics.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "modules.hpp"

namespace quadrat::python {

namespace {

template <typename T>
class ewald_sums {
 public:
  ewald_sums(double accuracy, bool dispersion, const std::string& method, double constant, bool remove_net_force,
             bool run_to_run, int threads)
      : context_(context_with(threads, run_to_run)),
        sums_(context_, options(accuracy, dispersion, method, constant, remove_net_force)) {}

  /// Energy (B,), forces (N, 3), potentials (N,), virial (B, 3, 3); None for what is not wanted.
  [[nodiscard]] nb::tuple compute(const points_in<T, 3>& points, const array_in<T>& charges, const boxes_in& boxes,
                                  const systems_in& systems, const std::vector<scaled_pair>& pairs, bool forces,
                                  bool potentials, bool virial) {
    const std::size_t count = points.shape(0), systems_count = boxes.vectors.shape(0);
    std::optional<new_array<double>> energy_out, virial_out;
    std::optional<new_array<T>> forces_out, potentials_out;
    {
      const nb::gil_scoped_release unlocked;
      const std::vector<lattice<T, 3>> cells = boxes.lattices<T, 3>();
      electrostatics_input<T> input;
      input.points = view_of<T, 3>(points);
      input.charges = charges.data();
      input.cells = cells;
      input.system_of_point = pointer_of(systems);
      input.scaled_pairs = pairs;
      electrostatics_output<T> output;
      output.energy = energy_out.emplace(std::vector{systems_count}).data();
      if (forces) {
        T* const first = forces_out.emplace(std::vector<std::size_t>{count, 3}).data();
        output.forces = reinterpret_cast<vec<T, 3>*>(first);
      }
      if (potentials) output.potentials = potentials_out.emplace(std::vector{count}).data();
      if (virial) output.virial = virial_out.emplace(std::vector<std::size_t>{systems_count, 3, 3}).data();
      sums_.compute(input, output);
    }
    const auto given = [](auto& array) -> nb::object { return array ? array->release() : nb::object(nb::none()); };
    return nb::make_tuple(given(energy_out), given(forces_out), given(potentials_out), given(virial_out));
  }

  [[nodiscard]] nb::dict report() const {
    const electrostatics_report& found = sums_.report();
    nb::dict result;
    result["method"] = std::string(found.method);
    result["reason"] = std::string(found.reason);
    result["cutoff"] = found.parameters.cutoff;
    result["splitting"] = found.parameters.splitting;
    result["mesh"] = nb::make_tuple(found.parameters.mesh[0], found.parameters.mesh[1], found.parameters.mesh[2]);
    result["order"] = found.parameters.order;
    result["error"] = found.error;
    return result;
  }

 private:
  static electrostatics_options options(double accuracy, bool dispersion, const std::string& method, double constant,
                                        bool remove_net_force) {
    electrostatics_options result;
    result.law = dispersion ? pair_law::dispersion : pair_law::coulomb;
    result.method = method;
    result.accuracy = accuracy;
    result.coulomb_constant = constant;
    result.remove_net_force = remove_net_force;
    return result;
  }

  cpu_context context_;
  electrostatics<cpu_context, T> sums_;
};

/// Pairs (P, 2) of indices, with their scales (P,).
using pairs_in = nb::ndarray<const std::int64_t, nb::shape<-1, 2>, nb::c_contig, nb::device::cpu>;

[[nodiscard]] std::vector<scaled_pair> pairs_of(const std::optional<pairs_in>& pairs,
                                                const std::optional<array_in<double>>& scales) {
  std::vector<scaled_pair> result;
  if (!pairs) return result;
  for (std::size_t p = 0; p < pairs->shape(0); ++p) {
    const auto id = [&](std::size_t k) { return static_cast<particle_id>((*pairs)(p, k)); };
    result.push_back({id(0), id(1), scales ? scales->data()[p] : 0.0});
  }
  return result;
}

template <typename T>
void add_ewald(nb::module_& module, const char* name) {
  using e = ewald_sums<T>;
  nb::class_<e>(module, name)
      .def(nb::init<double, bool, const std::string&, double, bool, bool, int>())
      .def(
          "compute",
          [](e& self, const points_in<T, 3>& points, const array_in<T>& charges, const boxes_in& boxes,
             const systems_in& systems, const std::optional<pairs_in>& pairs,
             const std::optional<array_in<double>>& scales, bool forces, bool potentials, bool virial) {
            return self.compute(points, charges, boxes, systems, pairs_of(pairs, scales), forces, potentials, virial);
          },
          nb::arg("points"), nb::arg("charges"), nb::arg("boxes"), nb::arg("systems").none(), nb::arg("pairs").none(),
          nb::arg("scales").none(), nb::arg("forces"), nb::arg("potentials"), nb::arg("virial"))
      .def("report", &e::report);
}

}  // namespace

void add_electrostatics(nb::module_& module) {
  add_ewald<float>(module, "Ewald_float32");
  add_ewald<double>(module, "Ewald_float64");
}

}  // namespace quadrat::python
