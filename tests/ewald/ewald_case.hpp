// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "quadrat/core/array.hpp"
#include "quadrat/core/lattice.hpp"
#include "quadrat/ewald/electrostatics.hpp"
#include "support/backend.hpp"

/// Systems of charges for tests, and what the library makes of them.
namespace quadrat::test {

template <typename T>
struct ewald_case {
  std::vector<vec<T, 3>> points;
  std::vector<T> charges;
  std::vector<lattice<T, 3>> cells;
  std::vector<std::uint32_t> system_of_point{};
  std::vector<scaled_pair> pairs{};
};

template <typename T>
struct ewald_results {
  std::vector<vec<T, 3>> forces;
  std::vector<T> potentials;
  std::vector<T> energies;
  std::vector<double> energy;
  std::vector<double> virial;
  electrostatics_report report{};
};

/// The arrays of a case in the memory of a context.
template <typename T>
class ewald_arrays {
 public:
  ewald_arrays(const backend_context& context, const ewald_case<T>& of)
      : context_(context),
        of_(of),
        points_(to_device(context, of.points)),
        charges_(to_device(context, of.charges)),
        systems_(to_device(context, of.system_of_point)),
        forces_(context, of.points.size()),
        potentials_(context, of.points.size()),
        energies_(context, of.points.size()),
        energy_(context, of.cells.size()),
        virial_(context, 9 * of.cells.size()) {}

  [[nodiscard]] electrostatics_input<T> input() const {
    electrostatics_input<T> result;
    result.points = points_of(points_.data(), points_.size());
    result.charges = charges_.data();
    result.cells = of_.cells;
    result.system_of_point = of_.system_of_point.empty() ? nullptr : systems_.data();
    result.scaled_pairs = of_.pairs;
    return result;
  }
  [[nodiscard]] electrostatics_output<T> output() {
    return {forces_.data(), potentials_.data(), energies_.data(), energy_.data(), virial_.data()};
  }
  void move(const std::vector<vec<T, 3>>& points) {
    copy_bytes(context_, points.data(), points_.data(), points.size() * sizeof(vec<T, 3>));
    context_.synchronize();  // the sums run on a stream of their own
  }
  [[nodiscard]] ewald_results<T> results() const {
    return {to_host(context_, forces_), to_host(context_, potentials_), to_host(context_, energies_),
            to_host(context_, energy_), to_host(context_, virial_)};
  }

 private:
  backend_context context_;
  const ewald_case<T>& of_;
  array<vec<T, 3>, backend_context> points_;
  array<T, backend_context> charges_;
  array<std::uint32_t, backend_context> systems_;
  array<vec<T, 3>, backend_context> forces_;
  array<T, backend_context> potentials_, energies_;
  array<double, backend_context> energy_, virial_;
};

template <typename T>
[[nodiscard]] ewald_results<T> compute_ewald(const ewald_case<T>& of, const electrostatics_options& options,
                                             const backend_context& context = {}) {
  electrostatics<backend_context, T> sums(context, options);
  ewald_arrays<T> arrays(context, of);
  sums.compute(arrays.input(), arrays.output());
  ewald_results<T> results = arrays.results();
  results.report = sums.report();
  return results;
}

[[nodiscard]] inline lattice<double, 3> cell_of(const vec<double, 3>& a, const vec<double, 3>& b,
                                                const vec<double, 3>& c, bool slab = false) {
  return make_lattice<double, 3>({0.3, -0.2, 0.1}, {a, b, c}, {true, true, !slab});
}

}  // namespace quadrat::test
