// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "quadrat/core/array.hpp"
#include "quadrat/hydro/mobility.hpp"
#include "reference/mobility.hpp"
#include "support/backend.hpp"
#include "support/random.hpp"

/// Spheres in a box, and what the library and the reference make of them.
namespace quadrat::test {

struct mobility_case {
  vec<double, 3> box{};
  std::vector<vec<double, 3>> points{};
  std::vector<vec<double, 3>> forces{};
  double radius = 1;
  double viscosity = 1;

  [[nodiscard]] double unit() const { return 1 / (6 * std::numbers::pi * viscosity * radius); }
  [[nodiscard]] reference::mobility_system system() const {
    reference::mobility_system result;
    result.box = {box[0], box[1], box[2]};
    result.radius = radius;
    result.viscosity = viscosity;
    for (const auto& point : points) result.points.push_back({point[0], point[1], point[2]});
    return result;
  }
  /// M forces, by the reference.
  [[nodiscard]] std::vector<vec<double, 3>> expected() const {
    std::vector<double> flat;
    for (const auto& force : forces) flat.insert(flat.end(), force.component, force.component + 3);
    const auto product = reference::product(reference::mobility_matrix(system()), flat);
    std::vector<vec<double, 3>> result;
    for (std::size_t i = 0; i < product.size(); i += 3) result.push_back({product[i], product[i + 1], product[i + 2]});
    return result;
  }
};

/// Spheres at random places, which may overlap and lie in other images of the box, under random forces.
[[nodiscard]] inline mobility_case random_spheres(std::size_t count, const vec<double, 3>& box, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  const auto unit = [&] { return random_unit<double>(generator); };
  mobility_case of;
  of.box = box;
  for (std::size_t i = 0; i < count; ++i) {
    of.points.push_back(make_vec<double, 3>([&](int axis) { return box[axis] * (3 * unit() - 1); }));
    of.forces.push_back(make_vec<double, 3>([&](int) { return std::sqrt(12.0) * (unit() - 0.5); }));
  }
  return of;
}

template <typename T>
class mobility_subject {
 public:
  /// By default with one thread: systems are so small that waking others takes most of the time.
  mobility_subject(const mobility_case& of, mobility_options options,
                   const backend_context& context = context_at(determinism::none, 1))
      : context_(context), count_(of.points.size()), operator_(context, cast<T>(of.box), filled(options, of)) {
    operator_.prepare(count_);
    move(of.points);
  }

  void move(const std::vector<vec<double, 3>>& points) {
    points_ = to_device(context_, converted(points));
    operator_.set_points(points_of(points_.data(), count_));
  }
  [[nodiscard]] std::vector<vec<double, 3>> product(const std::vector<vec<double, 3>>& forces) {
    const auto given = to_device(context_, converted(forces));
    array<vec<T, 3>, backend_context> result(context_, count_);
    operator_.multiply(given.data(), result.data());
    return back(result);
  }
  [[nodiscard]] std::vector<vec<double, 3>> noise(const mobility_noise& wanted) {
    array<vec<T, 3>, backend_context> result(context_, count_);
    operator_.square_root(wanted, result.data());
    return back(result);
  }
  [[nodiscard]] std::vector<vec<double, 3>> both(const std::vector<vec<double, 3>>& forces,
                                                 const mobility_noise& wanted) {
    const auto given = to_device(context_, converted(forces));
    array<vec<T, 3>, backend_context> result(context_, count_);
    operator_.velocities(given.data(), wanted, result.data());
    return back(result);
  }
  [[nodiscard]] const mobility_report& report() const { return operator_.report(); }
  [[nodiscard]] mobility<backend_context, T>& operation() { return operator_; }

 private:
  [[nodiscard]] static mobility_options filled(mobility_options options, const mobility_case& of) {
    options.radius = of.radius;
    options.viscosity = of.viscosity;
    return options;
  }
  [[nodiscard]] static std::vector<vec<T, 3>> converted(const std::vector<vec<double, 3>>& from) {
    std::vector<vec<T, 3>> result;
    for (const auto& value : from) result.push_back(cast<T>(value));
    return result;
  }
  [[nodiscard]] std::vector<vec<double, 3>> back(const array<vec<T, 3>, backend_context>& from) {
    std::vector<vec<double, 3>> result;
    for (const auto& value : to_host(context_, from)) result.push_back(cast<double>(value));
    return result;
  }

  backend_context context_;
  std::size_t count_;
  mobility<backend_context, T> operator_;
  array<vec<T, 3>, backend_context> points_;
};

/// Root mean square of the components of a - b.
[[nodiscard]] inline double rms_difference(const std::vector<vec<double, 3>>& a, const std::vector<vec<double, 3>>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += squared_norm(a[i] - b[i]);
  return std::sqrt(sum / 3 / static_cast<double>(a.size()));
}
[[nodiscard]] inline double rms_of(const std::vector<vec<double, 3>>& a) {
  return rms_difference(a, std::vector<vec<double, 3>>(a.size()));
}

}  // namespace quadrat::test
