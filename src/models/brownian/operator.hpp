// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <numbers>
#include <optional>

#include "models/brownian/kernels.hpp"
#include "models/brownian/methods.hpp"
#include "models/brownian/options.hpp"
#include "quadrat/hydro/mobility.hpp"
#include "quadrat/models/brownian.hpp"
#include "quadrat/parallel/for_each.hpp"

namespace quadrat::detail {

/// The mobility of the model's spheres: that of quadrat/hydro/mobility.hpp, or that of free spheres.
template <typename Context, typename T>
class brownian_operator {
 public:
  brownian_operator(const Context& context, const brownian_options& options, std::size_t count)
      : context_(context),
        options_(options),
        count_(count),
        free_(1 / (6 * std::numbers::pi * options.viscosity * options.radius)) {
    if (!interacts()) return;
    mobility_.emplace(context, cast<T>(options.box), mobility_of(options));
    mobility_->prepare(count);
  }

  void set_points(const points_view<T, 3>& points) {
    if (interacts()) mobility_->set_points(points);
  }
  /// velocities = M forces
  void multiply(const vec<T, 3>* forces, vec<T, 3>* velocities) {
    if (interacts()) return mobility_->multiply_async(forces, velocities);
    enqueue_free(forces, {}, 0, velocities);
  }
  /// velocities = scale B z
  void square_root(const mobility_noise& noise, vec<T, 3>* velocities) {
    if (interacts()) return mobility_->square_root(noise, velocities);
    enqueue_free(nullptr, noise, noise.scale, velocities);
  }
  /// velocities = M forces + scale B z
  void velocities(const vec<T, 3>* forces, const mobility_noise& noise, vec<T, 3>* velocities) {
    if (interacts()) return mobility_->velocities(forces, noise, velocities);
    enqueue_free(forces, noise, noise.scale, velocities);
  }

  [[nodiscard]] mobility_report report() const {
    if (interacts()) return mobility_->report();
    mobility_report result;
    result.method = free_brownian_method;
    result.reason = "chosen by the options";
    return result;
  }
  void check() {
    if (interacts()) mobility_->check();
  }
  [[nodiscard]] std::size_t bytes() const { return interacts() ? mobility_->bytes() : 0; }

 private:
  [[nodiscard]] bool interacts() const { return options_.method != free_brownian_method && count_ > 0; }

  void enqueue_free(const vec<T, 3>* forces, const mobility_noise& noise, double scale, vec<T, 3>* velocities) const {
    const free_velocities<T> body{
        forces, static_cast<T>(free_), static_cast<T>(scale * std::sqrt(free_)), noise.seed, noise.step, velocities};
    for_each(context_, "brownian.free", count_, body);
  }

  Context context_;
  brownian_options options_;
  std::size_t count_;
  double free_;  ///< mobility of a free sphere
  std::optional<mobility<Context, T>> mobility_;
};

}  // namespace quadrat::detail
