// SPDX-License-Identifier: BSD-3-Clause
#include "neighbors/lj_liquid.hpp"

#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "core/backend.hpp"
#include "harness/points.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/reduce.hpp"
#include "quadrat/search/make_neighbor_list.hpp"
#include "quadrat/search/visit_list.hpp"

namespace quadrat::bench {

namespace {

constexpr double cutoff = 2.5, skin = 0.3, density = 0.8442, temperature = 1.44, time_step = 0.005;

template <typename T>
struct lj_force {
  QUADRAT_HD vec<T, 3> operator()(particle_id, particle_id, const vec<T, 3>& r, T rr) const {
    const T s = 1 / rr, s6 = s * s * s;
    return r * (s6 * (T(24) - T(48) * s6) * s);
  }
};

template <typename T>
struct lj_interaction {
  T at_cutoff;
  QUADRAT_HD interaction<T, 3> operator()(particle_id, particle_id, const vec<T, 3>& r, T rr) const {
    const T s = 1 / rr, s6 = s * s * s;
    return make_interaction(r, rr, 4 * s6 * (s6 - 1) - at_cutoff, s6 * (T(24) - T(48) * s6) * s);
  }
};

/// Joins the second half kick of one step with the first of the next.
template <typename T>
struct kick_and_move {
  vec<T, 3>* positions;
  vec<T, 3>* velocities;
  const vec<T, 3>* forces;
  box<T, 3> domain;
  T kick;
  T step;

  QUADRAT_HD void operator()(std::size_t i) const {
    velocities[i] += forces[i] * kick;
    if (step != T(0)) positions[i] = domain.wrap(positions[i] + velocities[i] * step);
  }
};

/// Twice the kinetic energy, the potential energy, the virial.
template <typename T>
struct read_energies {
  const vec<T, 3>* velocities;
  const interaction<T, 3>* sums;
  QUADRAT_HD vec<double, 3> operator()(std::size_t i) const {
    return {squared_norm(cast<double>(velocities[i])), static_cast<double>(sums[i].energy),
            static_cast<double>(sums[i].virial)};
  }
};

template <typename T>
[[nodiscard]] std::vector<vec<T, 3>> fcc_lattice(int side, double edge) {
  const double places[4][3] = {{0, 0, 0}, {0.5, 0.5, 0}, {0.5, 0, 0.5}, {0, 0.5, 0.5}};
  std::vector<vec<T, 3>> points;
  for (int k = 0; k < 4 * side * side * side; ++k) {
    const int cell[3] = {k / 4 % side, k / 4 / side % side, k / 4 / side / side};
    points.push_back(
        make_vec<T, 3>([&](int axis) { return static_cast<T>((cell[axis] + places[k % 4][axis]) * edge); }));
  }
  return points;
}

/// Normal, with total momentum 0, scaled to the temperature.
template <typename T>
[[nodiscard]] std::vector<vec<T, 3>> thermal_velocities(std::size_t n) {
  std::vector<vec<double, 3>> drawn(n);
  vec<double, 3> mean{};
  std::uint64_t draw = 0;
  for (auto& velocity : drawn) {
    for (int axis = 0; axis < 3; ++axis, ++draw) {
      velocity[axis] =
          std::sqrt(-2 * std::log(1 - random_unit(21, draw))) * std::cos(2 * std::numbers::pi * random_unit(22, draw));
    }
    mean += velocity / static_cast<double>(n);
  }
  double sum = 0;
  for (auto& velocity : drawn) sum += squared_norm(velocity -= mean);
  const double scale = std::sqrt(3 * static_cast<double>(n) * temperature / sum);
  std::vector<vec<T, 3>> result;
  for (const auto& velocity : drawn) result.push_back(cast<T>(velocity * scale));
  return result;
}

template <typename Context, typename T>
class liquid final : public lj_liquid {
 public:
  liquid(const Context& context, int side, neighbor_pairs pairs)
      : context_(context),
        cell_(std::cbrt(4 / density)),
        domain_(make_box<T, 3>({}, vec<T, 3>::filled(static_cast<T>(side * cell_)), vec<bool, 3>::filled(true))),
        list_(make_neighbor_list(context, domain_,
                                 {.cutoff = static_cast<T>(cutoff), .skin = static_cast<T>(skin), .pairs = pairs})),
        positions_(to_device(context, fcc_lattice<T>(side, cell_))),
        velocities_(to_device(context, thermal_velocities<T>(positions_.size()))),
        forces_(context, positions_.size()),
        sums_(context, positions_.size()) {
    find_forces();
    rebuilds_ = 0;
  }

  void run(int steps) override {
    for (int step = 0; step < steps; ++step) {
      integrate(step == 0 ? 0.5 : 1, 1);
      find_forces();
    }
    integrate(0.5, 0);
  }
  liquid_state measure() override {
    const double inside = std::pow(cutoff, -6);
    accumulate_pairs_async(list_, sums_.data(), lj_interaction<T>{static_cast<T>(4 * inside * (inside - 1))});
    const auto sums =
        reduce_sum(context_, "bench: energies", atoms(), read_energies<T>{velocities_.data(), sums_.data()}, scratch_);
    const double n = static_cast<double>(atoms()), volume = n / density;
    return {(sums[0] / 2 + sums[1]) / n, sums[0] / (3 * n), sums[2] / n, (sums[0] + sums[2]) / (3 * volume)};
  }
  [[nodiscard]] std::size_t atoms() const override { return positions_.size(); }
  [[nodiscard]] int rebuilds() const override { return rebuilds_; }
  [[nodiscard]] double pairs_per_atom() override {
    return static_cast<double>(list_.size()) / static_cast<double>(atoms());
  }
  [[nodiscard]] std::size_t bytes() const override { return list_.bytes(); }

 private:
  void find_forces() {
    rebuilds_ += list_.update(points_of(positions_)) ? 1 : 0;
    accumulate_pairs_async(list_, forces_.data(), lj_force<T>{});
  }
  void integrate(double kick, double step) {
    for_each(context_, "bench: integrate", atoms(),
             kick_and_move<T>{positions_.data(), velocities_.data(), forces_.data(), domain_,
                              static_cast<T>(kick * time_step), static_cast<T>(step * time_step)});
  }

  Context context_;
  double cell_;  // edge of a unit cell
  box<T, 3> domain_;
  neighbor_list<Context, T, 3> list_;
  array<vec<T, 3>, Context> positions_, velocities_, forces_;
  array<interaction<T, 3>, Context> sums_;
  workspace<Context> scratch_;
  int rebuilds_ = 0;
};

}  // namespace

template <typename Context, typename T>
std::unique_ptr<lj_liquid> make_lj_liquid(const Context& context, int side, neighbor_pairs pairs) {
  return std::make_unique<liquid<Context, T>>(context, side, pairs);
}

template std::unique_ptr<lj_liquid> make_lj_liquid<backend_context, float>(const backend_context&, int, neighbor_pairs);
template std::unique_ptr<lj_liquid> make_lj_liquid<backend_context, double>(const backend_context&, int,
                                                                            neighbor_pairs);

}  // namespace quadrat::bench
