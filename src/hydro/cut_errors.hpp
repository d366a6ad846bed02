// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>

/// The errors of a splitting from its cutoff and from its largest mode: velocities of spheres at random places under
/// random forces, relative to those of free spheres.
namespace quadrat::detail {

/// Lengths are in units of the radius.
class cut_errors {
 public:
  /// `density`: spheres per radius cubed, including crowding.
  cut_errors(double splitting, double density);

  [[nodiscard]] double near_error(double cutoff) const { return near_.at(cutoff); }
  [[nodiscard]] double wave_error(double most_mode) const { return wave_.at(most_mode); }
  /// The least cutoff, or largest mode, with an error of at most `error`.
  [[nodiscard]] double cutoff_for(double error) const { return near_.where(error); }
  [[nodiscard]] double most_mode_for(double error) const { return wave_.where(error); }

 private:
  /// A falling function, by samples of its logarithm.
  struct falling {
    static constexpr int samples = 40;
    double first = 0;
    double step = 0;
    std::array<double, samples> log{};

    void set(int i, double value);
    [[nodiscard]] double at(double x) const;
    [[nodiscard]] double where(double value) const;
  };

  falling near_;
  falling wave_;
};

}  // namespace quadrat::detail
