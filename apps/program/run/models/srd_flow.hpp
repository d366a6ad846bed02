// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "program/run/simulation.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/io/checkpoint.hpp"
#include "quadrat/io/srd_scene.hpp"

/// Measurements during a run of the SRD fluid, and their comparison with theory.
namespace quadrat::program {

/// The kinematic viscosity of theory: srd_transport and srd_long_time_tail.
struct flow_theory {
  double viscosity, with_thermostat, tail;
};

/// A velocity profile, averaged over samples. Velocities are means over a step: h g / 2 less than at its end.
class mean_profile {
 public:
  explicit mean_profile(const io::srd_scene& scene);

  /// One bin of one sample.
  struct slice {
    double count = 0;
    vec<double, 3> velocity{};
  };
  void add(const std::vector<slice>& sample);

  [[nodiscard]] std::uint64_t samples() const { return samples_; }
  /// A row for each bin: position, velocity components (one per dimension), density, and velocity components of theory,
  /// if there are any.
  [[nodiscard]] std::string as_csv() const;
  [[nodiscard]] run_result result() const;

  void save(io::checkpoint& state) const;
  void restore(const io::checkpoint& state);

 private:
  /// A fluid between two plates, and the theory of its velocity along `component`.
  struct plates {
    int component;
    double acceleration;
    flow_theory theory;
    double lower, upper;
  };
  [[nodiscard]] std::optional<plates> find_plates() const;
  [[nodiscard]] double position(std::size_t bin) const;
  [[nodiscard]] double velocity(std::size_t bin, int component) const;
  /// Points (position, velocity) of the bins that are not empty.
  [[nodiscard]] std::vector<vec<double, 2>> points(int component) const;
  [[nodiscard]] double theory(const plates& flow, double at) const;
  [[nodiscard]] run_result driven_result(const plates& flow) const;
  [[nodiscard]] run_result sheared_result(const plates& flow) const;

  io::srd_scene scene_;
  int axis_;
  double height_;
  std::uint64_t samples_ = 0;
  std::vector<slice> sums_;  ///< velocity holds the sum over all particles
  std::optional<plates> plates_;
};

/// The decay of a shear wave.
class wave_decay {
 public:
  explicit wave_decay(const io::srd_scene& scene);

  void add(std::uint64_t step, double amplitude) { samples_.push_back({static_cast<double>(step), amplitude}); }
  /// A row for each sample: step, time, amplitude, amplitude of theory.
  [[nodiscard]] std::string as_csv() const;
  [[nodiscard]] run_result result() const;

  void save(io::checkpoint& state) const;
  void restore(const io::checkpoint& state);

 private:
  double time_step_, amplitude_, wave_number_;  ///< the last is k
  flow_theory theory_;
  std::vector<vec<double, 2>> samples_;  ///< (step, amplitude)
};

}  // namespace quadrat::program
