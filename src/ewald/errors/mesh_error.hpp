// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "ewald/splitting.hpp"
#include "mesh/window_fit.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/mesh/window.hpp"

/// The errors of a mesh, from sums over modes and their aliases: Ballenegger, Cerda and Holm 2012, eqs. 20 to 30, for
/// forces that are gradients of the interpolated potential. The influence function is that of the mesh part: the
/// transform divided by the squares of sums over aliases, axis by axis.
namespace quadrat::detail {

/// Gauss-Legendre quadrature on (-1/2, 1/2) with 4, 8 or 16 nodes.
[[nodiscard]] const std::vector<quadrature_node>& quadrature(int count);

/// The effect of a window on a wave of `frequency` periods per mesh point, from -1/2 to 1/2, along one axis: sums over
/// its aliases frequency + m. r_m is the window's transform there relative to that at the frequency itself.
struct alias_sums {
  double excess;  ///< of r_m^2, m != 0
  double first;   ///< of m r_m^2
  double second;  ///< of m^2 r_m^2
  double self;    ///< of r_m r_(m-1)
};

class window_aliases {
 public:
  virtual ~window_aliases() = default;
  [[nodiscard]] virtual alias_sums at(double frequency) const = 0;
};

[[nodiscard]] const window_aliases& bspline_aliases(int order);
/// A table for a prolate window with this band limit (of the half width).
[[nodiscard]] std::unique_ptr<window_aliases> prolate_aliases(int order, double band);

/// k^2 times a splitting's transform, in a table by k^2.
class split_spectrum {
 public:
  explicit split_spectrum(const ewald_splitting& splitting);
  /// The spectrum of splitting.scaled(factor * cutoff).
  [[nodiscard]] split_spectrum scaled(double factor) const;
  /// The wave number from which on the transform is 0, or below rounding.
  [[nodiscard]] double largest() const { return largest_; }
  /// Aliases of modes above this are negligible compared with those of lower modes.
  [[nodiscard]] double bulk() const { return bulk_; }
  /// k^2 transform(k).
  [[nodiscard]] double at(double square) const {
    const double place = square * per_square_;
    if (place >= intervals) return 0;
    const auto i = static_cast<std::size_t>(place);
    return unit_ * (values_[i] + (place - static_cast<double>(i)) * (values_[i + 1] - values_[i]));
  }

  /// The trace of a mode's virial relative to its energy: 3 plus twice the logarithmic derivative of the transform by
  /// k^2.
  [[nodiscard]] double trace(double square) const {
    const double place = square * per_square_;
    if (place >= intervals) return 0;
    const auto i = static_cast<std::size_t>(place);
    const double value = values_[i] + (place - static_cast<double>(i)) * (values_[i + 1] - values_[i]);
    return value > 0 ? 1 + 2 * place * (values_[i + 1] - values_[i]) / value : 0;
  }

 private:
  static constexpr int intervals = 160;
  double largest_;
  double bulk_;
  double per_square_;
  double unit_ = 1;
  bool coulomb_;
  std::vector<double> values_;
};

/// Errors of the energy of two unit charges and of its virial; a charge gets half.
struct mesh_energy_errors {
  double energy = 0;       ///< mean square, at random places
  double virial = 0;       ///< the same for the virial's trace, or for a component if larger
  double self_energy = 0;  ///< of a charge and itself: the mean error
  double self_virial = 0;
  double self_ripple = 0;  ///< mean square of the part that varies with the place
};

/// Errors of forces for unit charges.
struct mesh_force_errors {
  double pair;         ///< mean square of the error of the force between two charges at random places
  double self;         ///< mean square of the force of a charge on itself
  double scatter = 0;  ///< relative standard deviation of `pair`: larger if fewer modes make it
  mesh_energy_errors energies{};
};

/// The mean square of the trace of a virial, or of its components where that is larger, over that of the energy.
[[nodiscard]] inline double virial_of_modes(double trace) {
  return std::max(trace * trace, 0.8 - 0.8 / 1.5 * trace + 0.2 * trace * trace);
}

/// `vectors`: of the cell. `long_waves`: the weight of the longest waves in errors of pairs, relative to others.
/// `nodes`: along half an axis; 4 are right to a tenth, 8 or 16 to a hundredth.
[[nodiscard]] mesh_force_errors mesh_errors(const split_spectrum& spectrum, const window_aliases& window,
                                            const vec<vec<double, 3>, 3>& vectors, const vec<int, 3>& mesh,
                                            double long_waves, int nodes);

/// The errors of omitting modes above last[i] along any axis, and one of the two at last[i] (the highest modes of an
/// even mesh). Charges have no force on themselves.
[[nodiscard]] mesh_force_errors truncation_errors(const split_spectrum& spectrum, const vec<vec<double, 3>, 3>& vectors,
                                                  const vec<double, 3>& last);

}  // namespace quadrat::detail
